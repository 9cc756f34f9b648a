"""``manage.py rungrpc`` in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import grpc
from a2a.types import a2a_pb2, a2a_pb2_grpc

from tests.live import LiveProcess, Site


class GrpcProcess(LiveProcess):
    """Ready when it tells its address, which is then in ``target``; a free port by default."""

    target = ""

    def __init__(self, site: Site, *arguments: str, name: str = "grpc") -> None:
        super().__init__(
            [sys.executable, "manage.py", "rungrpc", *(arguments or ("127.0.0.1:0",))],
            cwd=site.root,
            environment=site._environment(),
            log=site.folder / f"{name}.log",
        )

    def __enter__(self) -> GrpcProcess:
        self.start()
        return self

    def _is_ready(self) -> bool:
        found = re.search(r"^Serving gRPC at (\S+:\d+)", self.said(), re.MULTILINE)
        if found:
            self.target = found[1]
        return found is not None

    def said(self) -> str:
        """What the process has written."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process itself."""
        assert self._process is not None
        return self._process

    def channel(self) -> AbstractContextManager[grpc.Channel]:
        """A connection of its own."""
        return grpc.insecure_channel(self.target, options=(("grpc.use_local_subchannel_pool", 1),))


def stub_of(channel: grpc.Channel) -> Any:
    """The official SDK's client, blocking."""
    return a2a_pb2_grpc.A2AServiceStub(channel)


def ask(text: str) -> a2a_pb2.SendMessageRequest:
    """A request with a user's message."""
    message = a2a_pb2.Message(message_id="m-1", role=a2a_pb2.ROLE_USER, parts=[a2a_pb2.Part(text=text)])
    return a2a_pb2.SendMessageRequest(message=message)


def run(site: Site, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Run the command where it ends by itself."""
    return subprocess.run(
        [sys.executable, "manage.py", "rungrpc", *arguments],
        cwd=site.root,
        env=site._environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
