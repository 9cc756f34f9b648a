"""What came out: sections of tables and targets, as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Target:
    """One figure that must be reached; `got` is None when a run did not measure it."""

    what: str
    wanted: float
    got: float | None
    at_least: bool  # otherwise: at most

    @property
    def reached(self) -> bool | None:
        """Whether the figure is good enough, as far as it was measured."""
        if self.got is None:
            return None
        return self.got >= self.wanted if self.at_least else self.got <= self.wanted

    def cells(self) -> tuple[str, str, str, str]:
        """The target as a row: what, wanted, got, verdict."""
        verdict = {True: "reached", False: "**missed**", None: "not measured"}[self.reached]
        got = "-" if self.got is None else f"{self.got:.2f}"
        return self.what, f"{'>=' if self.at_least else '<='} {self.wanted:g}", got, verdict


@dataclass
class Section:
    """One measurement: what was done, its figures, its targets."""

    title: str
    text: str
    headers: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)

    def markdown(self) -> str:
        """The section as Markdown."""
        return f"## {self.title}\n\n{self.text}\n\n{table(self.headers, self.rows)}"


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table whose columns line up in a terminal too; all but the first are right-aligned."""
    lines = [tuple(headers), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        padded = [c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True))]
        return "| " + " | ".join(padded) + " |"

    rule = "| " + " | ".join("-" * w if i == 0 else "-" * (w - 1) + ":" for i, w in enumerate(widths)) + " |"
    return "\n".join([line(lines[0]), rule, *(line(cells) for cells in lines[1:])])


def targets_markdown(sections: Iterable[Section]) -> str:
    """The targets of all sections in one table."""
    rows = [target.cells() for section in sections for target in section.targets]
    return "## Targets\n\n" + table(("target", "wanted", "got", "verdict"), rows)


def ratio(upper: float | None, lower: float | None) -> float | None:
    """upper / lower where both were measured."""
    return upper / lower if upper is not None and lower else None


def spread(values: Sequence[float], digits: int = 1) -> str:
    """The median with the lowest and highest round."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"
