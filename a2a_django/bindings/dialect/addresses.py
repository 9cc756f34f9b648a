"""Where the protocol is for a request to one of the addresses of the dialect."""

from __future__ import annotations


def endpoint_of(path_info: str) -> str:
    """Return the path of the endpoints for one of ``/``, ``/sse`` and ``/a2a/sse``, below any prefix."""
    above = path_info.rpartition("/")[0]
    return above if above.endswith("/a2a") else f"{above}/a2a"
