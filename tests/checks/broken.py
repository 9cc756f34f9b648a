"""An asgi.py that breaks."""

from __future__ import annotations

raise RuntimeError("The site cannot start")
