"""``manage.py a2a_worker``: its arguments. What it does is tested with real processes."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command


@pytest.mark.parametrize("runs", ["-1", "x", "1.5", ""])
def test_a_number_that_is_none_is_named(runs: str) -> None:
    with pytest.raises(CommandError, match=rf"--runs: has to be a whole number, 0 or more, not '{runs}'"):
        call_command("a2a_worker", f"--runs={runs}")
