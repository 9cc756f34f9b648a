"""Where the scripted site is, for the tests of every client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.live import LiveProcess


@dataclass(frozen=True)
class Live:
    """The processes by name, and the API keys of alice and bob.

    "main", "plain" and "strict" are the scripted site's variants, "several" is the site with several agents; the keys
    are good for these. "shop" is the example site, open to everybody.
    """

    processes: Mapping[str, LiveProcess]
    keys: Mapping[str, str]

    @property
    def urls(self) -> dict[str, str]:
        return {name: process.url for name, process in self.processes.items()}
