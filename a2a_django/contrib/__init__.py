"""Adapters to other software, each of which needs an extra of this package."""
