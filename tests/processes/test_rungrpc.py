"""``manage.py rungrpc`` as an operator sees it: where it listens, how it stops, what it refuses."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from a2a.types import a2a_pb2
from django.core.management import CommandError, call_command
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.certificates import Authority
from tests.live import Site, free_port
from tests.processes.grpc_process import GrpcProcess, ask, children_of, run, stub_of

KEY = "alice.0123456789abcdef"
ALICE = (("authorization", f"Bearer {KEY}"),)

SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of the scripted site, to be copied."""
    folder = tmp_path_factory.mktemp("database")
    made = Site("example_project.scripted.settings", folder, environment_in(folder))
    made.manage("migrate", "--verbosity", "0")
    made.manage("scriptedusers", KEY, "bob.0123456789abcdef")
    return folder / "site.sqlite3"


@pytest.fixture
def site(tmp_path: Path, database: Path) -> Site:
    """The scripted site, with settings in a file of its own that a test may change."""
    (tmp_path / "own_settings.py").write_text("from example_project.scripted.settings import *\n")
    for file in database.parent.glob(f"{database.name}*"):
        shutil.copy(file, tmp_path)
    return Site("own_settings", tmp_path, environment_in(tmp_path))


def environment_in(folder: Path) -> dict[str, str]:
    return {
        "EXAMPLE_DATABASE_URL": f"sqlite:///{folder / 'site.sqlite3'}",
        "EXAMPLE_DATA_DIR": str(folder),
        "PYTHONPATH": str(folder),
    }


def eventually(look: Callable[[], Any]) -> Any:
    """Return what ``look`` finds, as soon as it finds something."""
    deadline = time.monotonic() + 30
    while not (found := look()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
    return found


def watched(channel: grpc.Channel) -> Iterator[Any]:
    """The health of the server, as it changes."""
    health: Iterator[Any] = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(service=""))
    assert next(health).status == SERVING
    return health


def serves(target: str) -> bool:
    """Whether a call on a new connection is answered."""
    with grpc.insecure_channel(target, options=(("grpc.use_local_subchannel_pool", 1),)) as channel:
        task = stub_of(channel).SendMessage(ask("echo hello"), metadata=ALICE, timeout=20).task
    return bool(task.artifacts[0].parts[0].text == "hello")


def test_it_tells_where_it_listens_and_stops_in_order(site: Site) -> None:
    with GrpcProcess(site) as live:
        assert serves(live.target)
        assert "System check identified no issues" in live.said()
        assert 'A2A["GRPC_URL"] is not set' in live.said()
    assert live.process.returncode == 0


def test_it_stops_on_control_c(site: Site) -> None:
    with GrpcProcess(site) as live:
        live.process.send_signal(signal.SIGINT)
        assert live.process.wait(20) == 0
        assert "Traceback" not in live.said()


@pytest.mark.parametrize("first", [(), ("--workers", "2")])
def test_a_taken_port_is_an_error(site: Site, first: tuple[str, ...]) -> None:
    with GrpcProcess(site, "127.0.0.1:0", *first) as live:
        for second in ((), ("--workers", "2"), ("--reload",)):
            done = run(site, live.target, *second)
            assert done.returncode == 1
            assert f"Cannot listen on {live.target}" in done.stderr
            assert "Traceback" not in done.stderr
        assert serves(live.target)


def test_sigterm_with_open_calls(site: Site) -> None:
    """Health first, then the calls get their time, then they are told to come again."""
    with GrpcProcess(site, "127.0.0.1:0", "--grace", "0.5") as live, live.channel() as channel:
        stub = stub_of(channel)
        stream = stub.SendStreamingMessage(ask("quiet 60"), metadata=ALICE)
        assert next(stream).HasField("task")
        blocking = stub.SendMessage.future(ask("quiet 60"), metadata=ALICE)
        health = watched(channel)
        live.process.send_signal(signal.SIGTERM)
        assert next(health).status == NOT_SERVING
        for end in (lambda: list(stream), blocking.result):
            with pytest.raises(grpc.RpcError) as refused:
                end()
            assert refused.value.code() == grpc.StatusCode.UNAVAILABLE
            assert "grpc-status-details-bin" in dict(refused.value.trailing_metadata())
        assert live.process.wait(20) == 0
        assert "Traceback" not in live.said()


def test_calls_that_end_in_time_end_well(site: Site) -> None:
    with GrpcProcess(site, "127.0.0.1:0", "--grace", "60") as live, live.channel() as channel:
        stream = stub_of(channel).SendStreamingMessage(ask("slow 5"), metadata=ALICE)
        assert next(stream).HasField("task")
        live.process.send_signal(signal.SIGTERM)
        states = [event.status_update.status.state for event in stream if event.HasField("status_update")]
        assert states[-1] == a2a_pb2.TASK_STATE_COMPLETED
        assert live.process.wait(20) == 0


@pytest.mark.parametrize("workers", [(), ("--workers", "2")])
def test_a_second_signal_ends_it_at_once(site: Site, workers: tuple[str, ...]) -> None:
    with GrpcProcess(site, "127.0.0.1:0", "--grace", "3600", *workers) as live, live.channel() as channel:
        stream = stub_of(channel).SendStreamingMessage(ask("quiet 3600"), metadata=ALICE)
        assert next(stream).HasField("task")
        health = watched(channel)
        live.process.send_signal(signal.SIGTERM)
        assert next(health).status == NOT_SERVING
        live.process.send_signal(signal.SIGTERM)
        code = live.process.wait(20)
        assert code == (0 if workers else -signal.SIGTERM)


def holders(site: Site) -> set[int]:
    """The processes that hold a task's lease."""
    with sqlite3.connect(site.folder / "site.sqlite3") as database:
        rows = database.execute("SELECT DISTINCT lease_holder FROM a2a_django_task WHERE lease_holder <> ''")
        return {int(holder.split(":")[-2]) for (holder,) in rows}


class TestWorkers:
    def start_runs(self, target: str, count: int) -> None:
        """Begin runs that stay, each over a connection of its own."""
        for _ in range(count):
            with grpc.insecure_channel(target, options=(("grpc.use_local_subchannel_pool", 1),)) as channel:
                request = ask("quiet 60")
                request.configuration.return_immediately = True
                stub_of(channel).SendMessage(request, metadata=ALICE, timeout=20)

    def test_they_share_the_work(self, site: Site) -> None:
        with GrpcProcess(site, "127.0.0.1:0", "--workers", "2") as live:
            pids = set(children_of(live.process.pid))
            assert len(pids) == 2
            self.start_runs(live.target, 30)  # all of them to one worker: once in 500 million times
            assert holders(site) == pids
        assert live.process.returncode == 0
        assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]

    def test_one_that_dies_is_replaced(self, site: Site) -> None:
        with GrpcProcess(site, "127.0.0.1:0", "--workers", "2") as live:
            first, second = children_of(live.process.pid)
            os.kill(first, signal.SIGKILL)
            eventually(lambda: len(set(children_of(live.process.pid)) - {first}) == 2)
            (third,) = set(children_of(live.process.pid)) - {first, second}
            assert f"gRPC worker {first} ended with -9" in live.said()

            def third_answers() -> bool:
                self.start_runs(live.target, 5)
                return third in holders(site)

            assert eventually(third_answers)

    def test_they_leave_when_their_parent_is_gone(self, site: Site) -> None:
        with GrpcProcess(site, "127.0.0.1:0", "--workers", "2", "--grace", "0") as live:
            pids = children_of(live.process.pid)
            live.process.kill()
            live.process.wait(20)
            eventually(lambda: not [pid for pid in pids if Path(f"/proc/{pid}").exists()])
            live.process.returncode = 0  # it was ours

    def test_when_none_can_start_the_command_gives_up(self, site: Site) -> None:
        done = run(site, "127.0.0.1:0", "--workers", "2", "--tls-cert", "no.pem", "--tls-key", "no.pem")
        assert done.returncode == 1
        assert "No such file" in done.stderr
        assert "A worker did not start" in done.stderr
        assert "Serving" not in done.stdout


def test_reload(site: Site) -> None:
    port = free_port()
    with GrpcProcess(site, f"127.0.0.1:{port}", "--reload") as live:
        assert serves(live.target)
        settings = site.folder / "own_settings.py"

        def begun_again() -> bool:
            os.utime(settings)  # again and again: the reloader may not have looked at the file before
            time.sleep(0.5)
            return live.said().count("Serving gRPC at") > 1

        assert eventually(begun_again)
        assert eventually(lambda: serves(live.target))


def test_tls(site: Site, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    server, client = authority.issue("server"), authority.issue("client")
    options = ("--tls-cert", server.certificate, "--tls-key", server.key, "--client-ca", authority.certificate)
    with GrpcProcess(site, "127.0.0.1:0", *map(str, options)) as live:
        assert f"{live.target} with mutual TLS" in live.said()
        credentials = grpc.ssl_channel_credentials(
            authority.certificate.read_bytes(), client.key.read_bytes(), client.certificate.read_bytes()
        )
        with grpc.secure_channel(live.target, credentials) as channel:
            assert stub_of(channel).SendMessage(ask("echo x"), metadata=ALICE, timeout=20).task.artifacts


def test_a_faulty_setting_is_found_before_anything_is_served(site: Site) -> None:
    with (site.folder / "own_settings.py").open("a") as file:
        file.write('A2A = {"NO_SUCH_KEY": 1}\n')
    done = run(site, "127.0.0.1:0")
    assert done.returncode == 1
    assert "a2a_django.E002" in done.stderr
    assert "Serving" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nonsense"], "is no port"),
        (["127.0.0.1:99999"], "is no port"),
        (["127.0.0.1:http"], "is no port"),
        (["--tls-cert=a.pem"], "need each other"),
        (["--tls-key=a.pem"], "need each other"),
        (["--client-ca=a.pem"], "--client-ca needs"),
        (["--grace=-1"], "--grace"),
        (["--workers=0"], "--workers"),
        (["--max-concurrent-rpcs=0"], "--max-concurrent-rpcs"),
        (["--workers=2", "--reload"], "one process only"),
        (["--workers=2"], "from the command line only"),
        (["203.0.113.1:0"], "Cannot listen on 203.0.113.1:0"),
        (["--tls-cert=no-such.pem", "--tls-key=no-such.pem"], "No such file"),
    ],
)
def test_options_that_cannot_be(transactional_db: None, arguments: list[str], text: str) -> None:
    with pytest.raises(CommandError, match=text):
        call_command("rungrpc", *arguments)


def test_a_package_that_is_missing(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grpc_health.v1", None)
    with pytest.raises(CommandError, match=r"Install a2a-django\[grpc\].*--no-health"):
        call_command("rungrpc", "127.0.0.1:0")
