"""What a refused call complained about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from a2a_django.protocol.errors import InvalidParamsError


def wrong_fields(call: Callable[..., Any], *args: Any, **kwargs: Any) -> list[str]:
    """Return the fields that the call refuses with InvalidParamsError, in order; fails when it does not refuse."""
    with pytest.raises(InvalidParamsError) as caught:
        call(*args, **kwargs)
    assert caught.value.violations, caught.value
    assert all(violation.description for violation in caught.value.violations)
    assert caught.value.violations[0].description in caught.value.message
    return [violation.field for violation in caught.value.violations]
