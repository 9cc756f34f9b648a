"""Sphinx: the documentation, built by ``make docs`` and on Read the Docs."""

from __future__ import annotations

from importlib import metadata

project = "a2a-django"
author = "the authors of a2a-django"
release = version = metadata.version("a2a-django")
extensions = ["myst_parser"]
html_theme = "furo"
html_title = f"a2a-django {release}"
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# Examples leave things out with dots, and shell lines are no Python.
suppress_warnings = ["misc.highlighting_failure"]
