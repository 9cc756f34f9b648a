"""JSON text in and out: strict on the way in, compact ASCII on the way out."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import accumulate
from typing import Any, Final, NoReturn

from a2a_django.protocol.errors import InvalidParamsError, ParseError

#: No whole number with more digits fits into a double, so longer ones need not be converted.
_MAX_DIGITS = 309


#: Objects and lists in one another. Python's parser recurses in C, and from 3.12 on it does so up to 10,000 deep, which
#: crashes the process in a thread with a small stack; nothing that is accepted is nested a quarter as deep as this.
MAX_DEPTH = 200

_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[{]}"))


class _OutOfRange:
    """Stands in the parsed value for a whole number of thousands of digits, so that the codec can name the field."""

    def __repr__(self) -> str:
        return "OUT_OF_RANGE"


OUT_OF_RANGE: Final = _OutOfRange()


def _constant(name: str) -> NoReturn:
    raise ParseError(f"Invalid JSON payload: {name} is not JSON")


def _integer(digits: str) -> int | _OutOfRange:
    return int(digits) if len(digits) <= _MAX_DIGITS + 1 else OUT_OF_RANGE


_parse: Callable[[str], Any] = json.JSONDecoder(parse_constant=_constant).decode
_parse_giants: Callable[[str], Any] = json.JSONDecoder(parse_constant=_constant, parse_int=_integer).decode
# Circular values cannot come out of the codec, so the encoder need not look for them.
_write = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":")).encode


def parse_json(body: bytes) -> Any:
    """Return the value of a JSON body (D-15).

    Of several members with the same name the last one counts. What is JSON but no right value (NUL or lone surrogates
    in strings, 1e400, numbers of thousands of digits) is left in the result for ``codec.decode`` to refuse, since only
    that knows the field's name; the last kind stands there as ``OUT_OF_RANGE``.

    Raises ``ParseError`` when the body is not UTF-8, starts with a byte order mark, is empty, has anything after the
    value, or holds the literals NaN and Infinity; ``InvalidParamsError`` when it nests more than ``MAX_DEPTH`` deep.
    """
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _depth(body) > MAX_DEPTH:
        raise InvalidParamsError(f"Invalid parameters: the JSON is nested more than {MAX_DEPTH} deep")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise ParseError(f"Invalid JSON payload: not UTF-8 at byte {error.start}") from None
    try:
        try:
            return _parse(text)
        except json.JSONDecodeError:
            raise
        except ValueError:  # Python refuses to convert so many digits (sys.get_int_max_str_digits)
            return _parse_giants(text)
    except json.JSONDecodeError as error:
        raise ParseError(f"Invalid JSON payload: {error.msg} at character {error.pos}") from None


def _depth(body: bytes) -> int:
    """Return how deep the brackets outside of strings nest; all the loops in here are C's."""
    # Without escapes every quote begins or ends a string, so every second piece lies outside of strings.
    outside = b"".join(body.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    return max(accumulate(memoryview(outside.translate(_STEPS, _NO_BRACKETS)).cast("b")), default=0)


def dumps(value: Any) -> str:
    """Return the value as JSON without spaces and in ASCII (D-06: some clients split lines at U+2028 and the like).

    Raises ``ValueError`` for NaN and infinities: those must never reach a row or an answer.
    """
    return _write(value)
