"""The trace context of W3C, as the header says it."""

from __future__ import annotations

import pytest

from a2a_django.protocol import tracing

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
GOOD = f"00-{TRACE}-{PARENT}-01"


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (GOOD, GOOD),
        (f" {GOOD}\t", GOOD),
        (f"00-{TRACE}-{PARENT}-ff", f"00-{TRACE}-{PARENT}-ff"),
        (f"cc-{TRACE}-{PARENT}-01", GOOD),
        (f"01-{TRACE}-{PARENT}-01-what-the-future-brings", GOOD),
        ("", ""),
        (f"{GOOD}-x", ""),
        (f"{GOOD}0", ""),
        (f"01-{TRACE}-{PARENT}-01.x", ""),
        (f"ff-{TRACE}-{PARENT}-01", ""),
        (f"00-{'0' * 32}-{PARENT}-01", ""),
        (f"00-{TRACE}-{'0' * 16}-01", ""),
        (GOOD.upper(), ""),
        (f"{GOOD},{GOOD}", ""),
        (f"{GOOD}\n", ""),
        (GOOD.replace("4", "\u0664"), ""),
        (GOOD.replace("-", "_"), ""),
    ],
)
def test_headers(header: str, found: str) -> None:
    assert tracing.parse(header) == found
