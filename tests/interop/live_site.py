"""Where the sites are, for the tests of every client."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.acceptance.servers import VARIANTS, database, scripted_site
from tests.live import LiveProcess, Site, free_port


@dataclass(frozen=True)
class Live:
    """The ASGI and the gRPC process of each site by its name, and the API keys of alice and bob.

    "main", "plain" and "strict" are the scripted site's variants, "several" is the site with several agents; the keys
    are good for these. "shop" is the example site, open to everybody.
    """

    asgi: Mapping[str, LiveProcess]
    grpc: Mapping[str, LiveProcess]
    keys: Mapping[str, str]

    @property
    def urls(self) -> dict[str, str]:
        return {name: process.url for name, process in self.asgi.items()}

    def logs(self) -> Iterator[tuple[str, str]]:
        """Return the ends of the logs, each with the name of its process."""
        for kind, processes in (("ASGI", self.asgi), ("gRPC", self.grpc)):
            for name, process in processes.items():
                yield f"{name}, {kind}", process.tail(40)


@contextmanager
def serving(server: str, folder: Path, names: Iterable[str] = (*VARIANTS, "several", "shop")) -> Iterator[Live]:
    """Start each site of ``names``: an ASGI server of the kind ``server`` and a gRPC server on one SQLite database."""
    keys = {name: f"{name}.{secrets.token_urlsafe(32)}" for name in ("alice", "bob")}
    asgi: dict[str, LiveProcess] = {}
    grpc: dict[str, LiveProcess] = {}
    with ExitStack() as stack:
        for name in names:
            # The site is told where it is, so that its cards are the same whichever process is asked for them.
            ports = free_port(), free_port()
            where = {"EXAMPLE_BASE_URL": f"http://127.0.0.1:{ports[0]}", "EXAMPLE_GRPC_URL": f"127.0.0.1:{ports[1]}"}
            site = stack.enter_context(_prepared(name, folder, where, keys))
            asgi[name] = stack.enter_context(site.server(server, port=ports[0]))
            grpc[name] = stack.enter_context(site.server("grpc", name=f"{name}-grpc", port=ports[1]))
        yield Live(asgi, grpc, keys)


@contextmanager
def _prepared(name: str, folder: Path, where: Mapping[str, str], keys: Mapping[str, str]) -> Iterator[Site]:
    """Yield a site with its database and its users."""
    with database("sqlite", folder, name) as url:
        if name == "shop":
            data = {**where, "EXAMPLE_DATA_DIR": str(folder), "EXAMPLE_DATABASE_URL": url}
            site = Site("example_project.settings", folder, data, name=name)
            site.manage("preparedemo")
        else:
            site = scripted_site(name if name in VARIANTS else "main", url, folder, where)
            if name == "several":
                site = replace(site, settings="tests.interop.several.settings", name=name)
            site.manage("migrate", "--verbosity", "0")
            site.manage("scriptedusers", *keys.values())
        yield site
