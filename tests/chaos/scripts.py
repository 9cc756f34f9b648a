"""Which agents are played with which scripts, how often, and what has to come of them."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Final

#: Agents with scripts by weight; numbers in braces are drawn.
SCRIPTS: Final = {
    "talker slow {5-25}": 4.0,
    "talker burst {20-400}": 2.5,
    "talker burst {20-200} {100-2000}": 1.0,
    # More than a reader's queue and the buffers on the way hold.
    "talker burst 2500 300": 0.3,
    "talker burst 1600 3000": 0.3,
    "talker pace {100-400} {2-12}": 2.5,
    "talker ask {1-3}": 3.0,
    "talker park {2-20}": 1.5,
    "talker auth": 0.7,
    "talker replace {0-600}": 1.0,
    "talker quiet {1-4}": 0.8,
    "talker meta": 0.5,
    "talker idle": 0.5,
    "talker boom {1-20}": 1.0,
    "talker fail": 0.7,
    "talker reject": 0.5,
    # Long enough that somebody cancels them.
    "talker slow 100": 2.0,
    "clerk pace 200 200": 1.0,
    "teller slow 80": 0.7,
    "yielder slow {5-30}": 2.0,
    "keeper pace {5-60} {20-200}": 4.0,
    "clerk pace {5-40} {20-200}": 5.0,
    "teller slow {3-15}": 2.5,
    "once slow {5-20}": 1.5,
}
#: Those that a client cancels.
LONG: Final = ("talker slow 100", "clerk pace 200 200", "teller slow 80")
#: Those that are so short that a caller waits for their end.
SHORT: Final = ("talker replace", "talker meta", "talker idle", "talker fail", "talker reject", "talker boom")
BIG: Final = ("talker burst 2500", "talker burst 1600")


@dataclass(frozen=True)
class Part:
    """An agent and a script for it."""

    slug: str
    script: str

    @classmethod
    def drawn(cls, chance: random.Random) -> Part:
        """Return one by chance."""
        (chosen,) = chance.choices(list(SCRIPTS), list(SCRIPTS.values()))
        slug, _, script = re.sub(
            r"\{(\d+)-(\d+)\}", lambda match: str(chance.randint(int(match[1]), int(match[2]))), chosen
        ).partition(" ")
        return cls(slug, script)

    def __str__(self) -> str:
        return f"{self.slug} {self.script}"

    def is_any_of(self, beginnings: tuple[str, ...]) -> bool:
        """Whether it begins so."""
        return str(self).startswith(beginnings)

    @property
    def word(self) -> str:
        """The first word of the script."""
        return self.script.split()[0]

    @property
    def rests(self) -> bool:
        """Whether the task waits for its sender in the end."""
        return self.word == "park"

    @property
    def repeats(self) -> bool:
        """Whether the first message may be sent again as it is, because the agent has the same one once."""
        return self.slug in ("keeper", "teller", "talker")

    @property
    def max_attempts(self) -> int:
        """How often the agent may be run for one message."""
        return 1 if self.slug == "once" else 100
