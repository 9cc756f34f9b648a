# ruff: noqa: RUF001 - the characters that look like others are what is tested
"""Where webhooks may be: every way to write a place that only this server can reach is refused (R-142)."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from pytest_django import Settings
from yarl import URL

from a2a_django.push import guard
from a2a_django.push.guard import Refused, check, is_entry, target
from a2a_django.push.names import Address, Resolver
from tests.checks.kit import found

pytestmark = pytest.mark.spec("13.2")

HTTPS_ONLY = "it has to begin with https://"
NOT_PUBLIC = "its host is not in the public network"
USUAL = "an address has to be written in its usual form, as in 192.0.2.1"
NO_NAME = "its host is no valid host name"
BLANK = "it has a blank or a control character in it"
USER = "it has a user name or a password in it"
NO_PORT = "its port is no number from 1 to 65535"
NO_URL = "it is no absolute URL with a host"

# What the tables below write as {} is an address that only this machine has, in all its spellings.
SPELLINGS = [
    ("127.0.0.1", NOT_PUBLIC),
    ("127.0.0.1.", NOT_PUBLIC),
    ("127.1", USUAL),
    ("127.0.1", USUAL),
    ("2130706433", USUAL),
    ("0x7f000001", USUAL),
    ("0X7F000001", USUAL),
    ("0x7f.1", USUAL),
    ("0x7f.0.0.0x1", USUAL),
    ("017700000001", USUAL),
    ("0177.0.0.1", USUAL),
    ("127.0.0.01", USUAL),
    ("00000000177.0.0.1", USUAL),
    ("127.0.0.1.1", USUAL),
    ("127.0.0.256", USUAL),
    ("4294967296", USUAL),
    ("0", USUAL),
    ("0x", USUAL),
    ("0.0.0.0", NOT_PUBLIC),
    ("%31%32%37.0.0.1", NO_NAME),
    ("127%2e0.0.1", NO_NAME),
    ("１２７.0.0.1", NOT_PUBLIC),
    ("127。0。0。1", NOT_PUBLIC),
    ("127．0．0．1", NOT_PUBLIC),
    ("127｡0｡0｡1", NOT_PUBLIC),
    ("①②⑦.⓪.⓪.①", NOT_PUBLIC),
    ("０x7f.1", USUAL),
    ("١٢٧.٠.٠.١", NO_NAME),
    ("127.0.0.1\u00ad", NOT_PUBLIC),
    ("127.0.0.1..", NO_NAME),
    ("[127.0.0.1]", NO_NAME),
    ("[::1]", NOT_PUBLIC),
    ("[0:0:0:0:0:0:0:1]", NOT_PUBLIC),
    ("[0000:0000::0001]", NOT_PUBLIC),
    ("[::]", NOT_PUBLIC),
    ("[::1%lo]", NOT_PUBLIC),
    ("[::1%25lo]", NOT_PUBLIC),
    ("[fe80::1%eth0]", NOT_PUBLIC),
    ("[2606:4700::1111%eth0]", NOT_PUBLIC),
    ("[::ffff:127.0.0.1]", NOT_PUBLIC),
    ("[::ffff:7f00:1]", NOT_PUBLIC),
    ("[::ffff:8.8.8.8]", NOT_PUBLIC),
    ("[::127.0.0.1]", NOT_PUBLIC),
    ("[::8.8.8.8]", NOT_PUBLIC),
    ("[::ffff:0:127.0.0.1]", NOT_PUBLIC),
    ("[64:ff9b::127.0.0.1]", NOT_PUBLIC),
    ("[64:ff9b::7f00:1]", NOT_PUBLIC),
    ("[64:ff9b:1::10.0.0.1]", NOT_PUBLIC),
    ("[2002:7f00:1::]", NOT_PUBLIC),
    ("[2002:a00:1::1]", NOT_PUBLIC),
    ("[2001:0:4136:e378:8000:63bf:80ff:fffe]", NOT_PUBLIC),
    ("[2606:4700::5efe:127.0.0.1]", NOT_PUBLIC),
    ("[2606:4700::200:5efe:10.0.0.1]", NOT_PUBLIC),
    ("[v1.1]", NO_NAME),
    ("[]", NO_NAME),
    ("::1", NO_PORT),
    ("localhost", NOT_PUBLIC),
    ("LOCALHOST", NOT_PUBLIC),
    ("localhost.", NOT_PUBLIC),
    ("ｌocalhost", NOT_PUBLIC),
    ("ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", NOT_PUBLIC),
    ("loc\u00adalhost", NOT_PUBLIC),
    ("a.localhost", NOT_PUBLIC),
    ("intranet", NOT_PUBLIC),
    ("user@127.0.0.1", USER),
    ("user:pw@127.0.0.1", USER),
    ("hook.example@127.0.0.1", USER),
    ("127.0.0.1\\@hook.example", USER),
    ("hook.example\\.internal", NO_NAME),
    ("hook.example:443@127.0.0.1", USER),
    ("127.0.0.1:80@hook.example", USER),
]


@pytest.mark.parametrize(("host", "reason"), SPELLINGS)
def test_no_spelling_of_a_place_that_is_not_public_passes(host: str, reason: str) -> None:
    for url in (f"https://{host}", f"https://{host}/x?y", f"HTTPS://{host}?", f"https://{host}#hook.example"):
        with pytest.raises(Refused) as refused:
            target(url)
        assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "it is empty"),
        ("not a url", BLANK),
        ("nothing", NO_URL),
        ("ftp://h.example/", HTTPS_ONLY),
        ("file:///etc/passwd", HTTPS_ONLY),
        ("javascript:1", NO_URL),
        ("http://", "it has no host"),
        ("https://", "it has no host"),
        ("https:///x", "it has no host"),
        ("https://?x", "it has no host"),
        ("https://:443/", "it has no host"),
        ("//h.example/x", NO_URL),
        ("/x", NO_URL),
        ("https:h.example", NO_URL),
        ("https:/h.example", NO_URL),
        ("https:\\\\h.example", NO_URL),
        ("http://hook.example/", HTTPS_ONLY),
        ("http://8.8.8.8/", HTTPS_ONLY),
        ("gopher://8.8.8.8/", HTTPS_ONLY),
        (" https://hook.example/", BLANK),
        ("https://hook.example/\r\nHost: x", BLANK),
        ("https://hook.example/\n", BLANK),
        ("https://hook.example/a b", BLANK),
        ("https://hook.example/\x00", BLANK),
        ("https://hook.example/\x7f", BLANK),
        ("https://hook.example/\u00a0", BLANK),
        ("https://hook.example/\u2028", BLANK),
        ("https://hook\t.example/", BLANK),
        ("https://hook.example/\ud800", "it has a character in it that is none"),
        ("https://hook.example:0/", NO_PORT),
        ("https://hook.example:65536/", NO_PORT),
        ("https://hook.example:/", NO_PORT),
        ("https://hook.example:x/", NO_PORT),
        ("https://hook.example:-1/", NO_PORT),
        ("https://hook.example:44３/", NO_PORT),
        ("https://[2606:4700::1111]x/", NO_URL),
        ("https://[2606:4700::1111/", NO_URL),
        ("https://hook..example/", NO_NAME),
        ("https://.hook.example/", NO_NAME),
        ("https://-hook.example/", NO_NAME),
        ("https://ho*k.example/", NO_NAME),
        (f"https://{'a' * 64}.example/", NO_NAME),
        (f"https://{'a.' * 130}example/", NO_NAME),
        (f"https://{'ü' * 3000}.example/", NO_NAME),
        (f"https://hook.example/?{'x' * 9000}", "it is too long"),
        (f"http://127.0.0.1/?{'x' * 9000}", "it is too long"),
    ],
)
def test_what_is_no_url_for_a_webhook(url: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        target(url)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("https://hook.example", "https://hook.example/"),
        ("HTTPS://Hook.Example:443/A?b=C#d", "https://hook.example/A?b=C"),
        ("https://hook.example.:8443/", "https://hook.example:8443/"),
        ("https://hook.example?", "https://hook.example/?"),
        ("https://hook.example/a%2Fb/../%zz?x=%20&u=https://127.0.0.1/@x", None),
        ("https://hook.example/a\\b|c", "https://hook.example/a%5Cb%7Cc"),
        ("https://bücher.example/ü?ä", "https://xn--bcher-kva.example/%C3%BC?%C3%A4"),
        ("https://xn--bcher-kva.example/", None),
        ("https://faß.example/", "https://xn--fa-hia.example/"),
        ("https://a_b.hook.example/", None),
        ("https://1.2.3.4.example/", None),
        ("https://0x7f.example/", None),
        ("https://8.8.8.8/", None),
        ("https://８.8.8.8./", "https://8.8.8.8/"),
        ("https://[2606:4700:0:0::1111]:8443/x", "https://[2606:4700::1111]:8443/x"),
        ("https://localhost.hook.example/", None),
    ],
)
def test_what_passes_and_how_it_is_written_then(url: str, normal: str | None) -> None:
    assert target(url).url == (normal or url)


NOT_PUBLIC_NETWORKS = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
    "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32",
    "::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64",
    "2001::/32", "2001:2::/48", "2001:10::/28", "2001:20::/28", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16",
    "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "4000::/3", "8000::/3",
]  # fmt: skip


def _host(address: Address) -> str:
    return f"[{address}]" if address.version == 6 else str(address)


@pytest.mark.parametrize("text", NOT_PUBLIC_NETWORKS)
async def test_no_network_but_the_public_one(text: str) -> None:
    network = ipaddress.ip_network(text)
    for address in (network[0], network[network.num_addresses // 2], network[-1]):
        with pytest.raises(Refused):
            target(f"https://{_host(address)}/")
        with pytest.raises(Refused) as refused:
            await check("https://hook.example/", names=names(str(address)))
        assert refused.value.reason == NOT_PUBLIC


@pytest.mark.parametrize(
    "text",
    [
        "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0",
        "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2001:200::1",
        "2001:4860:4860::8888", "2003::1", "2606:4700::1111", "2a00::1", "3ffe::1",
    ],
)  # fmt: skip
async def test_the_public_network_begins_next_door(text: str) -> None:
    address = ipaddress.ip_address(text)
    assert target(f"https://{_host(address)}/").address == address
    await check("https://hook.example/", names=names(text))


# --- Names -----------------------------------------------------------------------------------------------------------


def names(*addresses: str) -> Resolver:
    """Return a resolver that knows every name, with these addresses."""
    found = [ipaddress.ip_address(address) for address in addresses]
    return Resolver(lambda host: found, remember=0)


@pytest.mark.parametrize(
    "addresses",
    [
        ("127.0.0.1",),
        ("8.8.8.8", "127.0.0.1"),
        ("::1",),
        ("8.8.8.8", "2606:4700::1111", "fd00::1"),
        ("::ffff:127.0.0.1",),
        ("fe80::1%1",),
        ("2606:4700::1111%1",),
        ("169.254.169.254",),
    ],
)
async def test_every_address_of_a_name_has_to_be_public(addresses: tuple[str, ...]) -> None:
    with pytest.raises(Refused) as refused:
        await check("https://hook.example/", names=names(*addresses))
    assert refused.value.reason == NOT_PUBLIC  # and so names no address


async def test_the_names_of_this_machine_are_refused() -> None:
    own = socket.gethostname()
    with pytest.raises(Refused):
        await check("https://localhost/")
    if "." in own:
        with pytest.raises(Refused):
            await check(f"https://{own}/")


async def test_a_name_that_nobody_knows_is_not_refused() -> None:
    def unknown(host: str) -> Sequence[Address]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    await check("https://hook.example/", names=Resolver(unknown))
    await check("https://no-such-name.invalid/")


async def test_a_silent_name_server_does_not_hold_up_who_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LOOK_UP_SECONDS", 0.05)
    release = threading.Event()

    def silent(host: str) -> Sequence[Address]:
        release.wait(60)
        return [ipaddress.ip_address("127.0.0.1")]

    try:
        async with asyncio.timeout(30):
            await check("https://hook.example/", names=Resolver(silent))
    finally:
        release.set()


# --- The site's exceptions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "url", "passes"),
    [
        (["localhost"], "http://localhost/", True),
        (["localhost"], "http://LOCALHOST.:8000/", True),
        (["localhost"], "https://localhost/", True),
        (["localhost"], "http://a.localhost/", False),
        (["LocalHost."], "http://localhost/", True),
        (["localhost:8000"], "http://localhost:8000/", True),
        (["localhost:8000"], "http://localhost:8001/", False),
        (["localhost:80"], "http://localhost/", True),
        (["localhost:443"], "http://localhost/", False),
        ([".intra.example"], "http://a.b.intra.example/", True),
        ([".intra.example"], "http://intra.example/", True),
        ([".intra.example"], "http://xintra.example/", False),
        ([".intra.example"], "http://intra.example.evil.example/", False),
        ([".intra.example:8080"], "http://a.intra.example:8080/", True),
        ([".intra.example:8080"], "http://a.intra.example/", False),
        (["bücher.example"], "http://xn--bcher-kva.example/", True),
        (["127.0.0.1"], "http://127.0.0.1:1234/", True),
        (["127.0.0.1"], "https://127.0.0.1/", True),
        (["127.0.0.1"], "http://127.0.0.2/", False),
        (["127.0.0.1"], "http://2130706433/", False),
        (["127.0.0.1"], "http://[::ffff:127.0.0.1]/", False),
        (["127.0.0.1:8000"], "http://127.0.0.1:8000/", True),
        (["127.0.0.1:8000"], "http://127.0.0.1:8001/", False),
        (["::1"], "http://[::1]/", True),
        (["[::1]"], "http://[0:0::1]/", True),
        (["[::1]:8000"], "http://[::1]:8000/", True),
        (["[::1]:8000"], "http://[::1]/", False),
        (["10.0.0.0/8"], "http://10.1.2.3/", True),
        (["10.0.0.0/8"], "https://10.1.2.3/", True),
        (["10.0.0.0/8"], "http://11.1.2.3/", False),
        (["10.0.0.0/8"], "https://192.168.0.1/", False),
        (["10.0.0.0/8:8080"], "http://10.1.2.3:8080/", True),
        (["10.0.0.0/8:8080"], "http://10.1.2.3/", False),
        (["fd00::/8"], "http://[fd12::1]/", True),
        (["fe80::/10"], "http://[fe80::1%25eth0]/", False),
        (["64:ff9b::/96"], "https://[64:ff9b::808:808]/", True),
        (["0.0.0.0/0", "::/0"], "http://[::1]/", True),
        (["localhost"], "ftp://localhost/", False),
        (["localhost"], "http://user@localhost/", False),
        (["localhost"], "https://hook.example/", True),
        (["10.0.0.0/8"], "https://8.8.8.8/", True),
    ],
)
async def test_exceptions(settings: Settings, entries: list[str], url: str, passes: bool) -> None:
    settings.A2A = {"WEBHOOK_ALLOWED_HOSTS": entries}
    if passes:
        await check(url, names=names("8.8.8.8"))
    else:
        with pytest.raises(Refused):
            target(url)


async def test_a_listed_network_counts_whatever_the_name_is(settings: Settings) -> None:
    settings.A2A = {"WEBHOOK_ALLOWED_HOSTS": ["10.0.0.0/8", "127.0.0.1:8000"]}
    await check("http://hook.example/", names=names("10.0.0.1", "10.0.0.2"))
    await check("https://intranet/", names=names("10.0.0.1", "8.8.8.8"))
    await check("http://localhost:8000/", names=names("127.0.0.1"))
    for url, addresses, reason in (
        ("http://hook.example/", ("10.0.0.1", "8.8.8.8"), HTTPS_ONLY),  # http is for listed places only
        ("http://hook.example/", ("192.168.0.1",), HTTPS_ONLY),
        ("https://hook.example/", ("10.0.0.1", "192.168.0.1"), NOT_PUBLIC),
        ("http://localhost:8001/", ("127.0.0.1",), HTTPS_ONLY),
    ):
        with pytest.raises(Refused) as refused:
            await check(url, names=names(*addresses))
        assert refused.value.reason == reason


async def test_a_listed_name_may_have_any_address(settings: Settings) -> None:
    settings.A2A = {"WEBHOOK_ALLOWED_HOSTS": ["hook.example"]}
    await check("http://hook.example/", names=names("127.0.0.1", "fe80::1"))


async def test_http_where_the_site_allows_it(settings: Settings) -> None:
    settings.A2A = {"WEBHOOK_HTTPS_ONLY": False}
    assert target("http://hook.example:80/").url == "http://hook.example/"
    assert target("http://hook.example:443/").url == "http://hook.example:443/"
    await check("http://hook.example/", names=names("8.8.8.8"))
    for url in ("http://127.0.0.1/", "http://localhost/", "http://intranet/", "ftp://8.8.8.8/"):
        with pytest.raises(Refused):
            target(url)
    with pytest.raises(Refused):
        await check("http://hook.example/", names=names("127.0.0.1"))


WRONG_ENTRIES = [
    "", ".", "*", "*.example", "http://hook.example", "hook.example/", "hook.example:", "hook.example:0",
    "hook.example:70000", "127.1", "0x7f.1", "10.0.0.1/8", "10.0.0.0/33", "[::1", "[hook.example]:80", "a b", "a@b",
]  # fmt: skip


@pytest.mark.parametrize("entry", WRONG_ENTRIES)
def test_an_entry_that_is_none_is_said(settings: Settings, entry: str) -> None:
    settings.A2A = {"WEBHOOK_ALLOWED_HOSTS": ["localhost", entry]}
    assert "WEBHOOK_ALLOWED_HOSTS" in found()["E003"].msg
    with pytest.raises(ImproperlyConfigured, match="WEBHOOK_ALLOWED_HOSTS"):
        target("http://localhost/")
    assert not is_entry(entry)


# --- Properties ------------------------------------------------------------------------------------------------------

V4_NETWORKS = [ipaddress.IPv4Network(text) for text in NOT_PUBLIC_NETWORKS if ":" not in text]
V6_NETWORKS = [ipaddress.IPv6Network(text) for text in NOT_PUBLIC_NETWORKS if ":" in text]

private_v4 = st.sampled_from(V4_NETWORKS).flatmap(lambda network: st.ip_addresses(network=network))
private_v6 = st.sampled_from(V6_NETWORKS).flatmap(lambda network: st.ip_addresses(network=network))
any_v6 = st.ip_addresses(v=6)

WIDE = str.maketrans("0123456789abcdefx.", "０１２３４５６７８９ａｂｃｄｅｆｘ．")


@st.composite
def number(draw: st.DrawFn, value: int) -> str:
    """One part of an address as inet_aton reads it: decimal, octal or hexadecimal, with zeros in front."""
    zeros = "0" * draw(st.integers(0, 3))
    form: Callable[[int], str] = draw(
        st.sampled_from([str, lambda n: f"0{zeros}{n:o}", lambda n: f"0x{zeros}{n:x}", lambda n: f"0X{zeros}{n:X}"])
    )
    return form(value)


@st.composite
def v4_spelling(draw: st.DrawFn) -> str:
    """A private IPv4 address in one to four parts, maybe in wide characters, with a dot behind it or a % before it."""
    value = int(draw(private_v4))
    count = draw(st.integers(1, 4))
    last = value & ((1 << 8 * (5 - count)) - 1)
    parts = [*[value >> 24 & 255, value >> 16 & 255, value >> 8 & 255][: count - 1], last]
    text = ".".join([draw(number(part)) for part in parts])
    disguise: Callable[[str], str] = draw(
        st.sampled_from(
            [str, lambda t: t + ".", lambda t: t.translate(WIDE), lambda t: t.replace(".", "。"), lambda t: "%" + t]
        )
    )
    return disguise(text)


@st.composite
def v6_spelling(draw: st.DrawFn) -> str:
    """A private IPv6 address, or one that carries a private IPv4 address, in short, long or mixed form."""
    inner = int(draw(private_v4))
    carriers = [0xFFFF << 32 | inner, inner, 0x64FF9B << 96 | inner, 0x64FF9B0001 << 80 | inner]
    carriers += [0x2002 << 112 | inner << 80, 0x20010000 << 96 | ~inner & 0xFFFFFFFF]
    carriers += [int(draw(any_v6)) >> 64 << 64 | 0x5EFE << 32 | inner, int(draw(private_v6))]
    address = ipaddress.IPv6Address(draw(st.sampled_from(carriers)))
    mixed = f"{address.exploded[:30]}{ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)}"
    text = draw(st.sampled_from([str(address), address.exploded, address.exploded.upper(), mixed]))
    return f"[{text}{draw(st.sampled_from(['', '%1', '%25eth0']))}]"


@examples(deadline=None)
@given(st.one_of(v4_spelling(), v6_spelling()), st.sampled_from(["", ":443", ":80"]))
def test_no_spelling_made_of_a_private_address_passes(host: str, port: str) -> None:
    with pytest.raises(Refused):
        target(f"https://{host}{port}/")


HOSTS = st.text(st.sampled_from("0123456789abcdefxX.:[]%@\\/?#-_。．１ⓛü"), max_size=24)


@examples(deadline=None)
@given(st.one_of(HOSTS, st.text(max_size=24)), st.text(max_size=12))
def test_what_passes_means_one_host_to_every_reader(host: str, rest: str) -> None:
    try:
        found = target(f"https://{host}/{rest}")
    except Refused:
        return
    assert target(found.url).url == found.url  # nothing changes when it is read again
    assert found.url.isascii()
    assert urlsplit(found.url).hostname == found.host == URL(found.url, encoded=True).raw_host
    assert urlsplit(found.url).port in (None, found.port)
    assert URL(found.url).port == found.port
    try:
        numeric = socket.getaddrinfo(found.host, found.port, flags=socket.AI_NUMERICHOST)
    except OSError:
        return  # a name
    assert all(ipaddress.ip_address(entry[4][0]).is_global for entry in numeric)
    assert found.address is not None
