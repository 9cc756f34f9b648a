"""How the codec notes wrong fields: readers raise ``Fault`` with paths relative to what they read, callers prefix them.

A request without fault pays nothing for this: paths are only built once something is wrong.
"""

from __future__ import annotations

from a2a_django.protocol.errors import InvalidParamsError, Violation

#: So many wrong fields are reported at most; a request with 100,000 bad parts gets no answer of 100,000 lines.
MAX_VIOLATIONS = 32

Items = list[tuple[str, str]]


class Fault(Exception):
    """Wrong fields below the value being read: ``items`` holds (relative path, description) pairs."""

    def __init__(self, wrong: str | Items) -> None:
        self.items: Items = [("", wrong)] if isinstance(wrong, str) else wrong
        super().__init__(wrong)


def below(step: str, items: Items) -> Items:
    """Return the items with ``step`` (a field name, ``[index]`` or ``["key"]``) in front of their paths."""
    if not step:
        return items
    return [(f"{step}.{path}" if path and path[0] != "[" else step + path, text) for path, text in items]


def gather(found: Items | None, step: str, items: Items) -> Items:
    """Add the items below ``step`` to those found so far, up to the limit."""
    if found is None:
        return below(step, items)[:MAX_VIOLATIONS]
    found.extend(below(step, items)[: MAX_VIOLATIONS - len(found)])
    return found


def invalid_params(items: Items) -> InvalidParamsError:
    """Return the error for the wrong fields; its message tells the first of them, its violations all (R-094)."""
    field, text = items[0]
    more = f" (and {len(items) - 1} more)" if len(items) > 1 else ""
    where = f"{field}: " if field else ""
    return InvalidParamsError(
        f"Invalid parameters: {where}{text}{more}", violations=[Violation(*item) for item in items]
    )
