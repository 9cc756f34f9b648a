"""Where the scripted site is, for the tests of every client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.live import LiveProcess


@dataclass(frozen=True)
class Live:
    """The processes by name: the scripted site's "main", "plain" and "strict", and the site with "several" agents.

    ``keys`` are the API keys of alice and bob, good for all of them.
    """

    processes: Mapping[str, LiveProcess]
    keys: Mapping[str, str]

    @property
    def urls(self) -> dict[str, str]:
        return {name: process.url for name, process in self.processes.items()}
