"""Health and reflection, from packages that a site may leave out (``a2a-django[grpc]``)."""

from __future__ import annotations

from typing import Any

import grpc
from django.core.exceptions import ImproperlyConfigured
from google.protobuf.descriptor_pool import Default, DescriptorPool

from a2a_django.protocol.pool import POOL


class Health:
    """``grpc.health.v1.Health``: SERVING for the server and its services, until ``leave``.

    Raises ``ImproperlyConfigured`` when its package is not installed.
    """

    name = "grpc.health.v1.Health"

    def __init__(self, server: grpc.aio.Server, *services: str) -> None:
        try:
            from grpc_health.v1 import health, health_pb2, health_pb2_grpc
        except ModuleNotFoundError as error:
            raise _missing("grpcio-health-checking", "health") from error
        self._services = services
        self._serving = health_pb2.HealthCheckResponse.SERVING
        self._servicer = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)

    async def begin(self) -> None:
        """Say that the server is there."""
        for service in ("", *self._services):
            await self._servicer.set(service, self._serving)

    async def leave(self) -> None:
        """Say that the server is about to stop, so that load balancers look elsewhere."""
        await self._servicer.enter_graceful_shutdown()


def add_reflection(server: grpc.aio.Server, *services: str) -> None:
    """Let tools ask the server for its services. Raises ``ImproperlyConfigured`` when the package is not installed."""
    try:
        from grpc_reflection.v1alpha import reflection
    except ModuleNotFoundError as error:
        raise _missing("grpcio-reflection", "reflection") from error
    names = (*services, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, server, pool=_Descriptors(POOL, Default()))


def _missing(package: str, what: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"Install a2a-django[grpc] ({package} is missing), or do without: --no-{what}.")


class _Descriptors:
    """Looks a descriptor up in one pool after the other: ours is private, health and reflection are in the default."""

    def __init__(self, *pools: DescriptorPool) -> None:
        self._pools = pools

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("Find"):
            raise AttributeError(name)

        def find(*arguments: Any) -> Any:
            for pool in self._pools[:-1]:
                try:
                    return getattr(pool, name)(*arguments)
                except KeyError:
                    continue
            return getattr(self._pools[-1], name)(*arguments)

        return find
