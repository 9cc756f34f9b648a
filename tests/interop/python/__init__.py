"""The client of a2a-sdk."""
