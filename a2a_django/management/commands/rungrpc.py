"""``manage.py rungrpc``: the agents over gRPC, in a process of their own."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.utils import autoreload

from a2a_django import engine
from a2a_django.bindings.grpc.workers import Supervisor, Worker, reserve
from a2a_django.conf import a2a_settings

if TYPE_CHECKING:
    import grpc

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = "50051"

_ADDRESS: Final = re.compile(r"(?:(?P<host>\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]*):)?(?P<port>[0-9]{1,5})")


class Command(BaseCommand):
    """See ``help``. grpc is loaded as late as possible: the parent of workers does not need it."""

    help = "Serves the site's agents over gRPC."
    # Done by hand, once and not in every worker.
    requires_system_checks = []
    suppressed_base_arguments = {"--skip-checks"}

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "address",
            nargs="?",
            default=f"{DEFAULT_HOST}:{DEFAULT_PORT}",
            metavar="host:port",
            help=f"Where to listen; default {DEFAULT_HOST}:{DEFAULT_PORT}. Port 0 takes a free one and prints it.",
        )
        parser.add_argument("--tls-cert", type=Path, metavar="FILE", help="Certificate (chain) of the server, PEM.")
        parser.add_argument("--tls-key", type=Path, metavar="FILE", help="Key of the server, PEM.")
        parser.add_argument(
            "--client-ca", type=Path, metavar="FILE", help="Callers need a certificate of this authority, PEM."
        )
        parser.add_argument("--workers", type=int, default=1, metavar="N", help="Processes on the port; default 1.")
        parser.add_argument(
            "--grace",
            type=float,
            default=10.0,
            metavar="SECONDS",
            help="How long calls in progress may go on after SIGTERM; default 10.",
        )
        parser.add_argument(
            "--max-concurrent-rpcs",
            type=int,
            metavar="N",
            help="Calls at a time in one process, open streams among them; more get RESOURCE_EXHAUSTED. No limit.",
        )
        parser.add_argument("--reload", action="store_true", help="Start anew when code changes, for development.")
        parser.add_argument("--no-health", action="store_true", help="Leave out the health service.")
        parser.add_argument("--no-reflection", action="store_true", help="Leave out the reflection service.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve until a signal comes. Raises ``CommandError`` for what cannot be."""
        host, port = self._read(options)
        worker = Worker.current()
        if worker is not None:
            self._serve(f"{host}:{worker.port}", options, worker)
        elif options["reload"]:
            autoreload.run_with_reloader(self._serve_in_thread, f"{host}:{port}", options)
        elif options["workers"] > 1:
            self._check()
            self._supervise(host, port, options)
        else:
            self._check()
            self._serve(f"{host}:{port}", options)

    def _read(self, options: dict[str, Any]) -> tuple[str, int]:
        """Return host and port; refuse options that do not go together."""
        match = _ADDRESS.fullmatch(options["address"])
        if match is None or int(match["port"]) > 65535:
            raise CommandError(f"{options['address']!r} is no port, and no host with a port.")
        if bool(options["tls_cert"]) != bool(options["tls_key"]):
            raise CommandError("--tls-cert and --tls-key need each other.")
        if options["client_ca"] and not options["tls_cert"]:
            raise CommandError("--client-ca needs --tls-cert and --tls-key.")
        if options["grace"] < 0:
            raise CommandError("--grace cannot be negative.")
        for name in ("workers", "max_concurrent_rpcs"):
            if options[name] is not None and options[name] < 1:
                raise CommandError(f"--{name.replace('_', '-')} has to be at least 1.")
        if options["reload"] and options["workers"] > 1:
            raise CommandError("--reload goes with one process only.")
        return match["host"] or DEFAULT_HOST, int(match["port"])

    def _check(self) -> None:
        self.check(display_num_errors=True)
        self.check_migrations()
        if not a2a_settings.GRPC_URL:
            text = 'A2A["GRPC_URL"] is not set, so the cards of the agents do not mention this server.'
            self.stderr.write(self.style.WARNING(text))
        connections.close_all()

    # ------------------------------------------------------------------------------------------------ one process

    def _serve_in_thread(self, address: str, options: dict[str, Any]) -> None:
        """Serve under the reloader, which runs this in a thread."""
        autoreload.raise_last_exception()
        try:
            self._check()
            self._serve(address, options)
        except CommandError as error:
            self.stderr.write(self.style.ERROR(str(error)))
            self.stderr.flush()
            os._exit(1)  # sys.exit would end the thread only

    def _serve(self, address: str, options: dict[str, Any], worker: Worker | None = None) -> None:
        from a2a_django.bindings.grpc.server import AddressInUse

        credentials = self._credentials(options)
        try:
            asyncio.run(self._run(address, options, credentials, worker))
        except AddressInUse as error:
            raise CommandError(
                f"Cannot listen on {address}: it is in use, or not an address of this machine."
            ) from error
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error

    def _credentials(self, options: dict[str, Any]) -> grpc.ServerCredentials | None:
        from a2a_django.bindings.grpc.server import tls

        if not options["tls_cert"]:
            return None
        try:
            return tls(options["tls_cert"], options["tls_key"], options["client_ca"])
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error

    async def _run(
        self,
        address: str,
        options: dict[str, Any],
        credentials: grpc.ServerCredentials | None,
        worker: Worker | None,
    ) -> None:
        from a2a_django.bindings.grpc.server import Server

        server = Server(
            address,
            credentials=credentials,
            shared_port=worker is not None,
            max_concurrent_rpcs=options["max_concurrent_rpcs"],
            health=not options["no_health"],
            reflection=not options["no_reflection"],
        )
        stopping = asyncio.Event()
        _on_signals(stopping)
        await server.start()
        if worker is None:
            self._announce(address, server.port, options)
        else:
            worker.when_orphaned(stopping.set)
            worker.say_ready()
        await stopping.wait()
        await server.drain(options["grace"])
        await asyncio.get_running_loop().run_in_executor(None, engine.shutdown)

    def _announce(self, address: str, port: int, options: dict[str, Any]) -> None:
        host = address.rpartition(":")[0]
        how = " with mutual TLS" if options["client_ca"] else " with TLS" if options["tls_cert"] else ""
        workers = f", {options['workers']} processes" if options["workers"] > 1 else ""
        self.stdout.write(
            f"Django version {django.get_version()}, using settings {settings.SETTINGS_MODULE!r}\n"
            f"Serving gRPC at {host}:{port}{how}{workers}\n"
            "Quit with CONTROL-C."
        )
        self.stdout.flush()

    # ------------------------------------------------------------------------------------------------ several

    def _supervise(self, host: str, port: int, options: dict[str, Any]) -> None:
        if not getattr(self, "_called_from_command_line", False):
            raise CommandError("--workers works from the command line only: the workers are started with its words.")
        try:
            holder = reserve(host.strip("[]"), port)
        except OSError as error:
            raise CommandError(f"Cannot listen on {host}:{port}: {error.strerror}.") from error
        with holder:
            port = holder.getsockname()[1]

            async def supervise() -> bool:
                announce = lambda: self._announce(f"{host}:{port}", port, options)  # noqa: E731
                return await Supervisor(autoreload.get_child_arguments(), options["workers"], port, announce).run()

            if not asyncio.run(supervise()):
                raise CommandError("A worker did not start.")


def _on_signals(stopping: asyncio.Event) -> None:
    """Have SIGTERM and SIGINT set the event; the next one then ends the process, whatever it is doing."""
    if threading.current_thread() is not threading.main_thread():
        return  # under the reloader, whose main thread takes the signals
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGTERM, signal.SIGINT)

    def stop() -> None:
        stopping.set()
        for number in numbers:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    for number in numbers:
        loop.add_signal_handler(number, stop)
