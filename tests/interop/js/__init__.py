"""The client of @a2a-js/sdk."""
