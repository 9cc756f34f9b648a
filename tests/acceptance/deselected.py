"""The black-box cases that are not run, in one place, each with its reason."""

from __future__ import annotations

#: Marks of features that come with later issues.
MARKS: dict[str, str] = {}

#: Marks of the cases that need more than one process; with ``--cluster`` these are run, without it all others.
CLUSTER_MARKS = ("grpc", "cluster")

#: Cases that a server decides before the application sees the request.
SERVER_CASES = {
    "daphne": {
        "test_listing.py::test_b91_altered_and_oversize_page_tokens[R]": (
            "a request line of 60 KB: Twisted closes the connection above 16 KiB where RFC 9112 section 3 wants a 414"
        ),
    },
}


def marks(cluster: bool) -> str:
    """Return the expression for the marks of the cases that are run."""
    wanted = f"({' or '.join(CLUSTER_MARKS)})" if cluster else f"not ({' or '.join(CLUSTER_MARKS)})"
    return " and ".join([wanted, *(f"not {mark}" for mark in MARKS)])


def cases(server: str) -> list[str]:
    """Return the node ids that are not run under the server."""
    return list(SERVER_CASES.get(server, {}))
