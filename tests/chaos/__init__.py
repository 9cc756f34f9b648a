"""Processes are killed while agents work and clients read: ``python -m tests.chaos``; see ``__main__.py``."""
