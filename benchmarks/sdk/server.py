"""The SDK's JSON-RPC server over Starlette: `uvicorn benchmarks.sdk.server:app`."""

from __future__ import annotations

from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from starlette.applications import Starlette

from benchmarks.sdk.executor import create_card, create_handler


def create_app() -> Starlette:
    """The application with its JSON-RPC endpoint and card."""
    card = create_card("http://127.0.0.1/a2a/", "JSONRPC")
    return Starlette(routes=[*create_jsonrpc_routes(create_handler(card), "/a2a/"), *create_agent_card_routes(card)])


app = create_app()
