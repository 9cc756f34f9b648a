"""Which requests the consumers take, and that the site gets all others as they came."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from typing import Any

import pytest
from pytest_django import Settings

from a2a_django.asgi import get_asgi_application
from a2a_django.bindings.consumers import site
from a2a_django.bindings.consumers.application import Application
from tests.bindings.asgi import AsgiCall

pytestmark = pytest.mark.usefixtures("echo")

CARD = "/.well-known/agent-card.json"
SITE = "tests.bindings.consumers.urls_shadowed"


class Site:
    """Takes note of what it is asked."""

    def __init__(self) -> None:
        self.scopes: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 299, "headers": []})
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def asked(path: str, method: str = "OPTIONS", **options: Any) -> bool:
    """Whether the site was asked."""
    found = Site()
    async with AsgiCall(Application(found), method, path, **options) as call:
        status, __ = await call.head()
        await call.body()
    assert len(found.scopes) == (status == 299)
    assert status in (200, 299, 301, 404)
    return status == 299


@pytest.mark.parametrize(
    "path",
    ["/a2a", "/a2a/", "/a2a/tasks", "/a2a/x/y", "/a2a/x\ny", "/a2a/jwks.json", CARD, "/.well-known/agent-cards"],
)
async def test_the_protocols_addresses(path: str) -> None:
    assert not await asked(path)
    assert await asked("/agents/x" + path)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "",
        "/admin/",
        "/a2ab",
        "/A2A/",
        "/a2a\n",
        CARD + "/",
        "/.well-known/",
        "/x/a2a/",
        "//a2a/",
    ],
)
async def test_other_addresses(path: str) -> None:
    assert await asked(path)


async def test_a_prefix(settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.bindings.urls_prefix"
    assert not await asked("/agents/x/a2a/")
    assert not await asked("/agents/x" + CARD)
    assert await asked("/a2a/")


async def test_a_script_prefix(settings: Settings) -> None:
    scope = {"root_path": "/shop"}
    assert not await asked("/shop/a2a/", scope=scope)
    assert not await asked("/a2a/", scope=scope)  # some proxies take it away, and Django does not mind
    assert await asked("/shop/shop/a2a/", scope=scope)
    settings.FORCE_SCRIPT_NAME = "/forced"
    assert not await asked("/forced/a2a/", scope=scope)
    assert await asked("/shop/a2a/", scope=scope)


async def test_what_the_site_has_before_the_include_is_its_own(settings: Settings) -> None:
    settings.ROOT_URLCONF = SITE
    for path in ("/a2a/tasks/special", CARD, "/a2a/docs/", "/a2a-docs/"):
        assert await asked(path)
    for path in ("/a2a/tasks/other", "/a2a/", "/a2a/docs"):
        assert not await asked(path)


async def test_a_prefix_with_parameters_is_left_to_the_views(settings: Settings) -> None:
    settings.ROOT_URLCONF = SITE
    assert await asked("/flowers/a2a/")
    assert await asked("/flowers" + CARD)


async def test_scopes_that_are_not_http() -> None:
    for kind in ("websocket", "lifespan", "channel"):
        found = Site()
        scope = {"type": kind, "path": "/a2a/"}

        async def receive() -> Any:
            raise AssertionError

        await get_asgi_application(found)(scope, receive, receive)  # type: ignore[arg-type]
        assert found.scopes == [scope]


async def test_djangos_application_is_the_default() -> None:
    async with AsgiCall(get_asgi_application(), "GET", "/nosuch") as call:
        assert (await call.head())[0] == 404
        assert b"<h1>Not Found</h1>" in await call.body()


# -- what the site's settings refuse


async def test_hosts(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["shop.example", ".agents.example"]
    for host, served in (
        ("shop.example", True),
        ("SHOP.example:8000", True),
        ("x.agents.example", True),
        ("evil.example", False),
        ("shop.example@evil.example", False),
        ("shop.example.", True),
        ("", False),
        ("x" * 1000 + ".agents.example", True),
    ):
        for _ in range(2):
            assert await asked("/a2a/", headers={"host": host}) is not served, host
    settings.USE_X_FORWARDED_HOST = True
    assert await asked("/a2a/", headers={"host": "shop.example", "x-forwarded-host": "evil.example"})
    assert not await asked("/a2a/", headers={"host": "evil.example", "x-forwarded-host": "shop.example"})


async def test_without_a_host_the_servers_address_counts(settings: Settings) -> None:
    call = AsgiCall(get_asgi_application(), "GET", CARD, scope={"server": ["127.0.0.1", 8000]})
    call._scope["headers"] = []
    async with call:
        assert (await call.head())[0] == 200
        assert b"http://127.0.0.1:8000/a2a/" in await call.body()


async def test_addresses_follow_the_way_of_each_request() -> None:
    application = get_asgi_application()
    for scheme in ("http", "https"):
        for host in ("testserver", "shop.example:8000"):
            for prefix in ("", "/shop", "/ä"):
                scope = {"scheme": scheme, "root_path": prefix}
                async with AsgiCall(application, "GET", prefix + CARD, scope=scope, headers={"host": host}) as call:
                    await call.head()
                    card = json.loads(await call.body())
                    assert card["supportedInterfaces"][0]["url"] == f"{scheme}://{host}{prefix}/a2a/"


async def test_http_in_the_place_of_https(settings: Settings) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert await asked("/a2a/")
    assert not await asked("/a2a/", scope={"scheme": "https"})
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert not await asked("/a2a/", headers={"x-forwarded-proto": "https"})
    assert await asked("/a2a/", headers={"x-forwarded-proto": "http"}, scope={"scheme": "https"})
    settings.SECURE_REDIRECT_EXEMPT = ["^a2a/tasks"]
    assert await asked("/a2a/")
    assert not await asked("/a2a/tasks")
    assert await asked("/a2a/")


async def test_whom_the_site_does_not_serve(settings: Settings) -> None:
    settings.DISALLOWED_USER_AGENTS = [re.compile("^Bad")]
    assert await asked("/a2a/", headers={"user-agent": "BadBot/1.0"})
    assert not await asked("/a2a/", headers={"user-agent": "GoodBot/1.0"})
    settings.DISALLOWED_USER_AGENTS = []
    settings.PREPEND_WWW = True
    assert await asked("/a2a/")
    assert not await asked("/a2a/", headers={"host": "www.testserver"})
    settings.MIDDLEWARE = []  # without CommonMiddleware nobody cares
    assert not await asked("/a2a/")


async def test_a_query_that_is_no_text() -> None:
    call = AsgiCall(Application(Site()), "OPTIONS", "/a2a/")
    call._scope["query_string"] = b"x=\xff"
    async with call:
        assert (await call.head())[0] == 299
    assert not await asked("/a2a/")  # and it is not held against others


async def test_what_strangers_send_does_not_fill_the_memory() -> None:
    def remembered() -> tuple[int, int]:
        return len(site._rules().visits), site._find_address.cache_info().currsize

    before = remembered()
    assert not await asked("/a2a/tasks/" + "x" * 5000, headers={"host": "h" * 5000})
    assert remembered() == before
    for number in range(site.MOST_REMEMBERED + 5):
        assert not await asked(f"/a2a/tasks/{number}", headers={"host": f"h{number}.example"})
    assert max(remembered()) <= site.MOST_REMEMBERED


async def test_middleware_that_a_site_has_changed_is_not_asked(settings: Settings) -> None:
    """It may decide by anything, so nothing that it says could be remembered."""
    settings.MIDDLEWARE = [f"{__name__}.{name}" for name in ("OwnSecurity", "OwnHeaders", "function_middleware")]
    async with AsgiCall(get_asgi_application(Site()), "OPTIONS", "/a2a/") as call:
        status, headers = await call.head()
    assert status == 200
    assert headers["x-content-type-options"] == "nosniff"  # of the one whose answers are Django's
    assert "x-own" not in headers


def _own() -> tuple[type, type]:
    from django.middleware.security import SecurityMiddleware

    class Asking(SecurityMiddleware):
        def process_request(self, request: Any) -> Any:
            raise AssertionError

    class Adding(SecurityMiddleware):
        def process_response(self, request: Any, response: Any) -> Any:
            response.headers["X-Own"] = "1"
            return response

    return Asking, Adding


OwnSecurity, OwnHeaders = _own()


def function_middleware(get_response: Any) -> Any:
    raise AssertionError


# -- asgi.py


def test_asgi_py_may_import_it_first() -> None:
    code = (
        "from a2a_django.asgi import get_asgi_application; import os;"
        "os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings';"
        "application = get_asgi_application();"
        "from django.core.handlers.asgi import ASGIHandler;"
        "assert type(application.site) is ASGIHandler"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_several_requests_at_once_on_several_loops() -> None:
    """The same application serves tests with loops of their own, as here, and a server with one."""
    application = get_asgi_application()

    def serve() -> int:
        async def call() -> int:
            async with AsgiCall(application, "GET", CARD) as one:
                return (await one.head())[0]

        return asyncio.run(call())

    assert await asyncio.gather(*(asyncio.to_thread(serve) for _ in range(4))) == [200] * 4
