"""The official clients, unchanged, against the scripted site: ``python -m pytest tests/interop``."""
