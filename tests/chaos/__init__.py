"""Processes are killed while agents work and clients read: ``python -m tests.chaos``; see ``__main__.py``."""

from __future__ import annotations

import os

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # it is not news that a server ends
