"""What all parts share: doors, webhooks, chance, counts, and the list of what went wrong."""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.chaos.doors import Door, Refused
from tests.chaos.rows import Rows
from tests.push.receiver import Receiver

#: Faults after which it gives up: more of them would say nothing new.
MAX_FAULTS: Final = 25
#: Seconds after the database is back in which servers may still answer with an error.
AFTER_OUTAGE: Final = 5.0
#: The errors by which a server says that it cannot look into its database, or is about to stop.
OUT_OF_ORDER: Final = frozenset({"INTERNAL", "INTERNAL_ERROR", "-32603", "UNAVAILABLE", "SERVICE_UNAVAILABLE"})


@dataclass
class Stage:
    """See the module. ``over`` is set when no new stories may begin."""

    doors: list[Door]
    rows: Rows
    receiver: Receiver
    chance: random.Random
    folder: Path
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    diary: list[str] = field(default_factory=list)
    over: bool = False
    #: From when to when, by the clock on the wall, the database was away; 0: it still is.
    outages: list[list[float]] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    def now(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self.started

    def door(self, other_than: str = "") -> Door:
        """Return a door by chance, of another process than this if there is one."""
        doors = [door for door in self.doors if door.process != other_than] or self.doors
        return self.chance.choice(doors)

    def in_outage(self, moment: float) -> bool:
        """Whether the database was away then, or just back."""
        return any(start <= moment and (not end or moment <= end + AFTER_OUTAGE) for start, end in self.outages)

    def excused(self, error: Refused) -> bool:
        """Whether a server may answer so now."""
        is_out = error.reason in OUT_OF_ORDER and self.in_outage(time.time())
        self.counts["answers that the database was away"] += is_out
        return is_out or error.reason in ("UNAVAILABLE", "SERVICE_UNAVAILABLE")

    def note(self, text: str) -> None:
        """Write into the diary, which is shown with the faults."""
        self.diary.append(f"{self.now():7.2f} {text}")

    def fault(self, text: str, **evidence: Any) -> None:
        """Record that something is wrong, and say so; the evidence goes to a file."""
        self.faults.append(f"{self.now():7.2f} {text}")
        print("FAULT", self.faults[-1], file=sys.stderr, flush=True)
        if len(self.faults) > MAX_FAULTS:
            self.over = True
        elif evidence:
            path = self.folder / f"fault-{len(self.faults)}.json"
            path.write_text(json.dumps({"fault": text, **evidence}, indent=1, default=vars_of))


def vars_of(value: Any) -> Any:
    """Return what can be written of an object."""
    return vars(value) if hasattr(value, "__dict__") else str(value)
