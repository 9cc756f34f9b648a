"""The trace context of W3C: the one header that says to which trace a request belongs."""

from __future__ import annotations

import re

#: Name of the header and of the gRPC metadata key.
NAME = "traceparent"

_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")


def parse(header: str) -> str:
    """Return the trace context of a header in the form of version 00, 55 characters; "" when it is none.

    A version from the future is read as far as 00 is known; the specification of the header asks for that.
    """
    match = _FORM.fullmatch(header.strip(" \t"))
    if match is None:
        return ""
    version, trace, parent, flags, more = match.groups()
    if version == "ff" or (version == "00" and more) or not trace.strip("0") or not parent.strip("0"):
        return ""
    return f"00-{trace}-{parent}-{flags}"


def trace_id(traceparent: str) -> str:
    """Return the id of the trace in a context that ``parse`` has returned, "" for none."""
    return traceparent[3:35]
