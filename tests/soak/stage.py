"""What all parts of a soak share: doors, chance, counts, and the list of what went wrong."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.soak.doors import Door
from tests.soak.rows import Rows

#: Faults after which a soak gives up: more of them would say nothing new.
MAX_FAULTS = 25


@dataclass
class Stage:
    """See the module. ``over`` is set when no new stories may begin."""

    doors: list[Door]
    rows: Rows
    chance: random.Random
    folder: Path
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    diary: list[str] = field(default_factory=list)
    over: bool = False
    started: float = field(default_factory=time.monotonic)

    def now(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self.started

    def door(self, other_than: str = "") -> Door:
        """Return a door by chance."""
        doors = [door for door in self.doors if door.name != other_than] or self.doors
        return self.chance.choice(doors)

    def note(self, text: str) -> None:
        """Write into the diary, which is shown with the faults."""
        self.diary.append(f"{self.now():7.2f} {text}")

    def fault(self, text: str, **evidence: Any) -> None:
        """Record that something is wrong; the evidence goes to a file."""
        self.faults.append(f"{self.now():7.2f} {text}")
        if len(self.faults) > MAX_FAULTS:
            self.over = True
        elif evidence:
            path = self.folder / f"fault-{len(self.faults)}.json"
            path.write_text(json.dumps({"fault": text, **evidence}, indent=1, default=str))
