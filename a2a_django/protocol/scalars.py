"""Scalar fields: ProtoJSON in, canonical JSON out, and the same checks for values that come as protobuf (A6)."""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Mapping
from typing import Any

from a2a_django.protocol.faults import Fault

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1

_DECIMAL = re.compile(r"-?[0-9]{1,10}")
_URL_SAFE = str.maketrans("-_", "+/")


def text(value: Any) -> str:
    """Return the string; a text with NUL or lone surrogates fits into no database and no protobuf message."""
    if type(value) is not str:
        if not isinstance(value, str):
            raise Fault("must be a string")
        value = str.__str__(value)  # an agent's TextChoices member, SafeString, ...
    if "\0" in value:
        raise Fault("must not contain the character U+0000")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Fault("must not contain lone surrogates") from None
    checked: str = value
    return checked


def short_text(limit: int) -> Callable[[Any], str]:
    """Return a reader of strings of at most ``limit`` characters."""

    def read(value: Any) -> str:
        checked = text(value)
        if len(checked) > limit:
            raise Fault(f"must not be longer than {limit} characters")
        return checked

    return read


def boolean(value: Any) -> bool:
    """Return the boolean; nothing else stands for one."""
    if value is True or value is False:
        return bool(value)
    raise Fault("must be true or false")


def whole(low: int = INT32_MIN, high: int = INT32_MAX) -> Callable[[Any], int]:
    """Return a reader of int32 values between ``low`` and ``high``: numbers without fraction or decimal strings."""
    wanted = f"must be a whole number between {low} and {high}"

    def read(value: Any) -> int:
        kind = type(value)
        if kind is int:
            number: int = value
        elif (kind is str and _DECIMAL.fullmatch(value)) or (kind is float and value.is_integer()):
            number = int(value)
        else:
            raise Fault(wanted)
        if not low <= number <= high:
            raise Fault(wanted)
        return number

    return read


def choice(numbers: Mapping[str, int], *, presence: bool) -> Callable[[Any], str]:
    """Return a reader of an enum by name or number that gives the name.

    Without presence the zero value (UNSPECIFIED) means "not given" and is read as the empty string.
    """
    known: dict[str | int, str] = {}
    for name, number in numbers.items():
        known[name] = known[number] = name if number or presence else ""
    wanted = "must be one of " + ", ".join(name for name, number in numbers.items() if number)

    def read(value: Any) -> str:
        kind = type(value)
        if kind is str or kind is int:
            found = known.get(value)
            if found is not None:
                return found
        elif isinstance(value, str):  # an agent's StrEnum; its hash is not that of its value
            return read(str.__str__(value))
        elif kind is float and value.is_integer():
            return read(int(value))
        raise Fault(wanted)

    return read


def base64(value: Any) -> str:
    """Return bytes in standard base64 with padding; the URL-safe alphabet and missing padding are read as well."""
    if type(value) is not str:
        raise Fault("must be a base64 string")
    encoded = value
    if "-" in encoded or "_" in encoded:
        encoded = encoded.translate(_URL_SAFE)
    missing = -len(encoded) % 4
    if missing and not encoded.endswith("="):
        encoded += "=" * missing
    try:
        a2b_base64(encoded, strict_mode=True)
        last = a2b_base64(encoded[-4:], strict_mode=True)
    except (Base64Error, ValueError):
        raise Fault("must be base64") from None
    # The unused bits of the last character may be anything; all before it stands as it is written.
    return encoded[:-4] + b2a_base64(last, newline=False).decode()


def from_bytes(value: bytes) -> str:
    """Return bytes as standard base64 with padding."""
    return b2a_base64(value, newline=False).decode()


def to_bytes(value: str) -> bytes:
    """Return the bytes of canonical base64."""
    return a2b_base64(value)
