"""The sites and the clients of version 0.3, one process for each client and binding."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.interop.conftest import SERVER
from tests.interop.live_site import Live, serving
from tests.interop.old.clients import OldClient

CLIENTS = [
    ("python", "JSONRPC"),
    ("python", "HTTP+JSON"),
    ("python", "GRPC"),
    ("js", "JSONRPC"),
    ("js", "HTTP+JSON"),
]


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """The scripted site, the one with several agents and the example site."""
    with serving(SERVER, tmp_path_factory.mktemp("interop-old"), names=("main", "several", "shop")) as found:
        yield found


class Olds:
    """The clients that have been started."""

    def __init__(self, live: Live, folder: Path, stack: ExitStack) -> None:
        self._live, self._folder, self._stack = live, folder, stack
        self._made: dict[tuple[str, ...], OldClient] = {}

    def __call__(self, language: str, binding: str, user: str = "alice", *, tenant: str = "") -> OldClient:
        """Return the client of a user; ``tenant`` is the agent whose card it goes by, on the site with several."""
        key = (language, binding, user, tenant)
        if key not in self._made:
            log = self._folder / f"{'-'.join(key)}.log"
            url = self._live.urls["several" if tenant else "main"]
            path = f"/a2a/{tenant}/.well-known/agent-card.json" if tenant else None
            made = OldClient(language, binding, url, self._live.keys[user], log, path=path)
            self._made[key] = self._stack.enter_context(made)
        return self._made[key]


@pytest.fixture(scope="session")
def olds(live: Live, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Olds]:
    """Return the function that starts clients, each once."""
    with ExitStack() as stack:
        yield Olds(live, tmp_path_factory.mktemp("old-clients"), stack)


@pytest.fixture(params=CLIENTS, ids=[f"{language}-{binding.lower()}" for language, binding in CLIENTS])
def old(request: pytest.FixtureRequest, olds: Olds) -> OldClient:
    """Each client with each binding that it speaks."""
    return olds(*request.param)
