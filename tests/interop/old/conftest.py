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
    """The scripted site and the example site; old clients have no business with the others."""
    with serving(SERVER, tmp_path_factory.mktemp("interop-old"), names=("main", "shop")) as found:
        yield found


class Olds:
    """The clients that have been started."""

    def __init__(self, live: Live, folder: Path, stack: ExitStack) -> None:
        self._live, self._folder, self._stack = live, folder, stack
        self._made: dict[tuple[str, str, str], OldClient] = {}

    def __call__(self, language: str, binding: str, user: str = "alice") -> OldClient:
        """Return the client of a user."""
        key = (language, binding, user)
        if key not in self._made:
            name = "-".join(key).replace("+", "-")
            made = OldClient(
                language, binding, self._live.urls["main"], self._live.keys[user], self._folder / f"{name}.log"
            )
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
