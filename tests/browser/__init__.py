"""The admin in a real browser: `make browser`."""
