"""Folders of tests that need more than the rest: they run only when the command line names them."""

from __future__ import annotations

from pathlib import Path

import pytest


def is_named(here: Path, config: pytest.Config) -> bool:
    """Return whether the command line names the folder ``here`` or something in it."""
    folder = config.invocation_params.dir
    named = ((folder / argument.partition("::")[0]).resolve() for argument in config.args)
    return any(path.is_relative_to(here) for path in named)
