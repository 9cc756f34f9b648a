"""Runs the black-box suite against real servers: ``python -m tests.acceptance --server daphne``."""
