"""Processes are killed while clients read: ``python -m tests.soak --seconds 600``; see ``__main__.py``."""
