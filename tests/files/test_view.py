"""Who gets a file, and as what."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from a2a_django.access import create_api_key
from a2a_django.agents import Agent, registry
from a2a_django.agents.directory import directory
from a2a_django.bindings.views.files import PIECE
from a2a_django.engine.journal import Journal
from a2a_django.files import markers, store
from a2a_django.files.links import Links
from a2a_django.models import AgentSetting, StoredFile, Task
from tests.bindings.asgi import AsgiCall
from tests.bindings.carriers import CARRIERS
from tests.engine.kit import made_of
from tests.engine.writing import create, says, status
from tests.files.conftest import Folder
from tests.files.kit import DATA, fetch, wait_for
from tests.files.storages import Troubled

pytestmark = pytest.mark.usefixtures("sound_rows")

BIG = bytes(range(256)) * 4096


@pytest.fixture
def agent(register: Callable[[Agent], Agent]) -> Agent:
    """The agent of the tasks."""
    return register(made_of(lambda ctx: None))


@pytest.fixture(params=list(CARRIERS))
def application(request: pytest.FixtureRequest) -> Any:
    """The site, behind each carrier: the consumers leave these addresses to the views."""
    return CARRIERS[request.param]().application()


def kept(writer: Journal, data: bytes = DATA, *, owner: str = "", **about: str) -> StoredFile:
    """A file of a task of ``owner``."""
    task = create(writer, owner=owner).task
    marker = store.put(data, **about)
    StoredFile.objects.filter(pk=marker.file_id).update(task=task, due_at=None)
    writer.write(says(task, status(task, "COMPLETED")))
    return StoredFile.objects.select_related("task").get(pk=marker.file_id)


def url_of(file: StoredFile, owner: str | None = None) -> str:
    """The address of a file, as its owner is told it."""
    assert file.task is not None
    links = Links("http://testserver/a2a", file.task.owner if owner is None else owner)
    text = links.resolved(f'{{"url":"{markers.Marker(file.pk, file.secret)}"}}')
    return text[len('{"url":"') : -len('"}')]


keep = sync_to_async(kept)
KEYS = {"AUTHENTICATION_CLASSES": ["a2a_django.access.APIKeyAuthentication"]}
USERS = {**KEYS, "PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"]}


async def test_a_file_is_a_download_and_nothing_else(application: Any, agent: Agent, writer: Journal) -> None:
    file = await keep(writer, filename='../../a "b"\r\nX: y\u202e.html', media_type="text/html")
    found = await fetch(application, url_of(file))
    assert (found.status, found.body) == (200, DATA)
    assert found.headers["content-type"] == "application/octet-stream"
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert found.headers["cache-control"] == "private, no-store"
    assert found.headers["content-length"] == str(len(DATA))
    disposition = found.headers["content-disposition"]
    assert disposition.startswith("attachment; filename")
    assert not set(disposition) & set("/\\\r\n\u202e")
    plain = await keep(writer, filename="report.pdf", media_type="application/pdf")
    found = await fetch(application, url_of(plain))
    assert found.headers["content-type"] == "application/pdf"
    assert found.headers["content-disposition"] == 'attachment; filename="report.pdf"'
    nameless = await keep(writer, media_type="image/svg+xml")
    found = await fetch(application, url_of(nameless))
    assert found.headers["content-disposition"] == f'attachment; filename="{nameless.pk.hex}.bin"'
    assert found.headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize(
    ("asked", "status", "first", "end"),
    [
        ("bytes=0-9", 206, 0, 10),
        ("bytes=100-", 206, 100, None),
        ("bytes=-7", 206, -7, None),
        ("bytes=0-99999999999", 206, 0, None),
        ("bytes=300000-300009", 206, 300_000, 300_010),
        ("bytes=9-3", 200, 0, None),
        ("bytes=0-1,5-6", 200, 0, None),
        ("bytes=-", 200, 0, None),
        ("lines=0-9", 200, 0, None),
    ],
)
async def test_ranges(agent: Agent, writer: Journal, asked: str, status: int, first: int, end: int | None) -> None:
    application = CARRIERS["views"]().application()
    file = await keep(writer, BIG)
    found = await fetch(application, url_of(file), range=asked)
    assert (found.status, found.body) == (status, BIG[first:end])
    assert found.headers["content-length"] == str(len(found.body))
    if status == 206:
        begin = first % len(BIG)
        assert found.headers["content-range"] == f"bytes {begin}-{begin + len(found.body) - 1}/{len(BIG)}"
    head = await fetch(application, url_of(file), "HEAD", range=asked)
    assert (head.status, head.body) == (status, b"")
    assert head.headers["content-length"] == found.headers["content-length"]


async def test_conditions(application: Any, agent: Agent, writer: Journal) -> None:
    file = await keep(writer)
    url = url_of(file)
    tag = (await fetch(application, url)).headers["etag"]
    assert (await fetch(application, url, if_none_match=tag)).status == 304
    assert (await fetch(application, url, if_none_match='"x"')).status == 200
    assert (await fetch(application, url, range="bytes=0-1", if_range=tag)).status == 206
    assert (await fetch(application, url, range="bytes=0-1", if_range='"x"')).body == DATA
    beyond = await fetch(application, url, range=f"bytes={len(DATA)}-")
    assert (beyond.status, beyond.headers["content-range"]) == (416, f"bytes */{len(DATA)}")
    refused = await fetch(application, url, "POST")
    assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")


async def test_only_the_address_that_was_made_opens_it(
    application: Any, agent: Agent, writer: Journal, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    file, other = await keep(writer), await keep(writer)
    url = url_of(file)
    path, _, query = url.partition("?")
    expires, signature = query.split("&")
    wrong = [
        path,
        f"{path}?{expires}",
        f"{path}?{signature}",
        f"{path}?expires=99999999999&{signature}",
        f"{path}?{expires}&{signature[:-1]}",
        f"{path}?{expires}&signature=",
        f"{path}?expires=1e9&{signature}",
        f"{path}?expires=\u0661&{signature}",
        f"{path}?expires={'9' * 5000}&{signature}",
        url.replace(str(file.pk), str(other.pk)),
        url.replace(str(file.pk), "00000000-0000-0000-0000-000000000000"),
        url_of(file, owner="bob"),
        url_of(StoredFile(pk=file.pk, secret="0" * 32, task=file.task)),
    ]
    assert {(await fetch(application, each)).status for each in wrong} == {404}
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3599)
    assert (await fetch(application, url)).status == 200
    monkeypatch.setattr(time, "time", lambda: now + 3602)
    assert (await fetch(application, url)).status == 404
    monkeypatch.undo()
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another" * 10
    assert (await fetch(application, url)).status == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert (await fetch(application, url)).status == 404


async def test_the_credentials_of_the_owner_are_asked_for(
    application: Any, agent: Agent, writer: Journal, change: Callable[..., None]
) -> None:
    change(**USERS)
    keys = {}
    for name in ("alice", "bob"):
        user = await User.objects.acreate_user(name)
        _, key = await sync_to_async(create_api_key)(user, "k")
        keys[name] = f"Bearer {key}"
        owner = str(user.pk)
        if name == "alice":
            url = url_of(await keep(writer, owner=owner))
    assert (await fetch(application, url, authorization=keys["alice"])).body == DATA
    without = await fetch(application, url)
    assert (without.status, "www-authenticate" in without.headers) == (401, True)
    assert (await fetch(application, url, authorization="Bearer wrong")).status == 401
    stranger = await fetch(application, url, authorization=keys["bob"])
    nothing = await fetch(application, url.replace("files/", "files/0", 1)[:-1], authorization=keys["bob"])
    assert stranger.status == nothing.status == 404
    change(FILE_URL_AUTH=False)
    assert (await fetch(application, url)).body == DATA
    assert (await fetch(application, url.replace("signature=", "signature=x"))).status == 404


async def test_an_agent_that_is_off_or_gone_shows_nothing(application: Any, agent: Agent, writer: Journal) -> None:
    url = url_of(await keep(writer))
    assert (await fetch(application, url)).status == 200
    row = await AgentSetting.objects.acreate(slug=agent.slug, enabled=False)
    assert (await fetch(application, url)).status == 404
    await row.adelete()
    directory.forget()
    assert (await fetch(application, url)).status == 200
    registry._agents.clear()
    assert (await fetch(application, url)).status == 404


async def test_a_file_without_its_task_or_its_bytes(
    application: Any, agent: Agent, writer: Journal, trouble: Callable[..., None], folder: Folder
) -> None:
    file = await keep(writer)
    url = url_of(file)
    trouble("open")
    assert (await fetch(application, url)).status == 503
    trouble()
    (folder.path / file.name).rename(folder.path / "away")
    assert (await fetch(application, url)).status == 404
    (folder.path / "away").rename(folder.path / file.name)
    await Task.objects.all().adelete()
    assert (await fetch(application, url)).status == 404


def test_under_wsgi(agent: Agent, writer: Journal) -> None:
    url = url_of(kept(writer, BIG)).removeprefix("http://testserver")
    answer = Client().get(url, headers={"range": "bytes=10-"})
    assert answer.status_code == 206
    assert answer.getvalue() == BIG[10:]
    answer.close()
    assert Client().get(url.replace("expires", "expired")).status_code == 404


async def test_no_more_than_a_piece_is_in_memory(application: Any, agent: Agent, writer: Journal) -> None:
    path, _, query = url_of(await keep(writer, BIG)).removeprefix("http://testserver").partition("?")
    async with AsgiCall(application, "GET", path, query=query) as call:
        assert (await call.head())[1]["content-length"] == str(len(BIG))
        pieces = []
        while piece := await call.chunk():
            pieces.append(piece)
        assert max(map(len, pieces)) <= PIECE  # Django sends them in pieces of its own
        assert b"".join(pieces) == BIG


async def test_a_reader_who_leaves_closes_the_file(
    application: Any, agent: Agent, writer: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []
    real = Troubled._open

    def _open(self: Troubled, name: str, mode: str = "rb") -> Any:
        opened.append(real(self, name, mode))
        return opened[-1]

    monkeypatch.setattr(Troubled, "_open", _open)
    file = await keep(writer, BIG)
    path, _, query = url_of(file).removeprefix("http://testserver").partition("?")
    call = AsgiCall(application, "GET", path, query=query)
    async with call:
        assert (await call.head())[0] == 200
        assert await call.chunk()
    await wait_for(lambda: opened[0].closed)


async def test_other_calls_go_on_while_a_storage_is_slow(
    application: Any, agent: Agent, writer: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, reached = threading.Event(), threading.Event()
    real = Troubled._open

    def _open(self: Troubled, name: str, mode: str = "rb") -> Any:
        reached.set()
        assert gate.wait(10)
        return real(self, name, mode)

    monkeypatch.setattr(Troubled, "_open", _open)
    url = url_of(await keep(writer))
    slow = asyncio.create_task(fetch(application, url))
    assert await asyncio.to_thread(reached.wait, 10)
    card = await fetch(application, "http://testserver/.well-known/agent-card.json")
    assert card.status == 200
    gate.set()
    assert (await slow).body == DATA
