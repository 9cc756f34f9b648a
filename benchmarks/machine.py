"""The circumstances of a run, for the head of the report."""

from __future__ import annotations

import os
import platform
import sqlite3
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psycopg

from benchmarks.databases import POOL_SIZE, server_url
from benchmarks.processes import ROOT

PACKAGES = (
    *("a2a-sdk", "django", "djangorestframework", "channels", "uvicorn", "uvloop", "httptools", "protobuf"),
    *("starlette", "sqlalchemy", "aiosqlite", "asyncpg", "psycopg", "psycopg-pool", "grpcio", "channels-redis"),
)
SETTINGS = f"""\
* Over HTTP both servers: one uvicorn process, uvloop and httptools, no access log. No authentication, no middleware, at
  most {POOL_SIZE} database connections for a process. The machine that runs a server makes the load, too; but for the
  measurements of several processes one server runs at a time.
* SQLite on both sides: WAL, synchronous NORMAL, busy timeout 20 s; ours with `transaction_mode` IMMEDIATE.
* PostgreSQL as it is (see above); the SDK through asyncpg and SQLAlchemy's pool, ours through psycopg and its pool.
* a2a-sdk: `DefaultRequestHandler` and `DatabaseTaskStore`, JSON-RPC over Starlette, the fewest events an executor can
  publish (task, artifact, completed).
* a2a-django: `include("a2a_django.urls")` behind Django's own ASGI handler with `MIDDLEWARE = []`; the agents are async
  generators that yield text (see `benchmarks/site/`). A site's middleware comes on top, for every view alike.
* a2a-django-consumers: the same site behind `a2a_django.asgi.get_asgi_application()`.
* Over gRPC: the SDK's `GrpcHandler` on a `grpc.aio` server as its documentation makes one, and `manage.py rungrpc`."""


def commit() -> str:
    """The commit that was measured, marked when the checkout has changes."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "no commit"


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _postgres() -> str:
    names = ("server_version", "fsync", "synchronous_commit", "shared_buffers", "full_page_writes")
    try:
        with psycopg.connect(f"{server_url()}/postgres", connect_timeout=5) as connection:
            values = [connection.execute("SELECT current_setting(%s)", (name,)).fetchone() for name in names]
    except psycopg.OperationalError:
        return "none reached"
    return ", ".join(f"{name} {value[0]}" for name, value in zip(names, values, strict=True) if value)


def head(command: str, load_before: float, minutes: float) -> str:
    """The first part of the report."""
    packages = ", ".join(f"{package} {_version(package)}" for package in PACKAGES)
    return f"""\
# Benchmarks: the official Python SDK's server and a2a-django

* Date: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit {commit()}, the whole run took {minutes:.0f} minutes.
* Command: `{command}`
* Machine: {_cpu()}, {os.cpu_count()} cores, {_memory_gib():.0f} GiB, {platform.system()} {platform.release()};
  load average at the start {load_before:.2f}.
* Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, PostgreSQL: {_postgres()}.
* {packages}.

{SETTINGS}

Figures of a shared machine are noisy: look at the ratios, and at CPU time before time on the clock."""
