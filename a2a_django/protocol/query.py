"""Query parameters as a message: strings become the JSON values that the readers take (R-181 to R-184, D-21)."""

from __future__ import annotations

from typing import Any

from a2a_django.protocol.faults import Fault, Items, gather
from a2a_django.protocol.schema import MessageType, QueryEntry
from a2a_django.protocol.wire import Wire

_BOOLEANS = {"true": True, "false": False}
_PLAIN = frozenset({"string", "number", "timestamp"})  # their readers take the text as it is


def read(kind: MessageType, pairs: list[tuple[str, str]]) -> Wire:
    """Return the canonical form of the parameters, without unknown ones. Raises ``Fault`` with all that is wrong."""
    texts: dict[QueryEntry, list[str]] = {}
    for name, text in pairs:
        entry = kind.by_query.get(name)
        if entry is not None:
            texts.setdefault(entry, []).append(text)
    wrong: Items = []
    values: dict[str, Any] = {}
    for entry, given in texts.items():
        try:
            values[entry.json_name] = _list(entry, given) if entry.repeated else _single(entry, given)
        except Fault as fault:
            wrong = gather(wrong, entry.name, fault.items)
    try:
        wire = kind.from_json(values)
    except Fault as fault:
        refused = {field for field, _ in wrong}  # these are not missing
        wrong = gather(wrong, "", [item for item in fault.items if item[0] not in refused])
    if wrong:
        raise Fault(wrong)
    return wire


def _single(entry: QueryEntry, given: list[str]) -> Any:
    # Clients send the tenant both in the path and in the query (D-08), so the same string twice is no contradiction.
    if len(given) > 1 and (entry.kind != "string" or len(set(given)) > 1):
        raise Fault("must not be given more than once")
    return _value(entry.kind, given[0])


def _list(entry: QueryEntry, given: list[str]) -> list[Any]:
    return [_value(entry.kind, piece) for text in given for piece in text.split(",") if piece]


def _value(kind: str, text: str) -> Any:
    if kind in _PLAIN:
        return text
    if kind == "boolean":
        return _BOOLEANS.get(text, text)
    if kind == "enum":
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text
    raise Fault("cannot be given as a query parameter")
