"""The SDK's gRPC server: `python -m benchmarks.sdk.grpc_server PORT`."""

from __future__ import annotations

import asyncio
import signal
import sys

import grpc
from a2a.server.request_handlers import GrpcHandler
from a2a.types.a2a_pb2_grpc import add_A2AServiceServicer_to_server

from benchmarks.sdk.executor import create_card, create_handler


async def serve(address: str) -> None:
    """Serves until SIGTERM comes."""
    server = grpc.aio.server()
    handler = GrpcHandler(create_handler(create_card(address, "GRPC")))
    add_A2AServiceServicer_to_server(handler, server)  # type: ignore[no-untyped-call]
    server.add_insecure_port(address)
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    await server.start()
    await stopping.wait()
    await server.stop(None)


if __name__ == "__main__":
    asyncio.run(serve(f"127.0.0.1:{sys.argv[1]}"))
