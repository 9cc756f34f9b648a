"""What Django sites expect of an app: of its fields, of its start, of several databases."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live import ROOT

AGENTS = """
from a2a_django import Agent


class Clerk(Agent):
    async def run(self, ctx):
        yield f"Hello, {ctx.text}!"
"""

SETTINGS = """
SECRET_KEY = "x" * 50
USE_TZ = True
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "rest_framework", "channels"]
INSTALLED_APPS += ["a2a_django", "shop"]
ROOT_URLCONF = "a2a_django.urls"
ASGI_APPLICATION = "none.application"


def sqlite(name):
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": f"{name}.sqlite3",
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }


DATABASES = {"default": sqlite("default")}
"""

ROUTER = """
class Router:
    def db_for_read(self, model, **hints):
        return "agents" if model._meta.app_label == "a2a_django" else None

    db_for_write = db_for_read

    def allow_migrate(self, db, app_label, **hints):
        return (db == "agents") == (app_label == "a2a_django")
"""


class Site:
    """A small site in a folder, whose commands run in processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "shop").mkdir()
        (folder / "shop" / "__init__.py").touch()
        (folder / "shop" / "agents.py").write_text(AGENTS)
        (folder / "own_router.py").write_text(ROUTER)

    def run(self, settings: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run Python with these lines behind the settings."""
        (self.folder / "own_settings.py").write_text(SETTINGS + settings)
        path = os.pathsep.join([str(self.folder), str(ROOT)])
        return subprocess.run(
            [sys.executable, *command],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path, "DJANGO_SETTINGS_MODULE": "own_settings"},
            capture_output=True,
            text=True,
        )

    def manage(self, settings: str, *command: str) -> str:
        """Run a management command that has to succeed; returns what it prints."""
        done = self.run(settings, "-m", "django", *command)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def tables(self, name: str) -> dict[str, int]:
        """The tables of this package in a database, with their rows."""
        with sqlite3.connect(self.folder / f"{name}.sqlite3") as connection:
            names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return {
                each: connection.execute(f"SELECT COUNT(*) FROM {each}").fetchone()[0]  # noqa: S608
                for each in names
                if each.startswith("a2a_django_")
            }


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_the_sites_kind_of_keys_is_not_ours(site: Site) -> None:
    site.manage(
        'DEFAULT_AUTO_FIELD = "django.db.models.SmallAutoField"\n',
        "makemigrations",
        "--check",
        "--dry-run",
        "a2a_django",
    )


def test_no_database_is_needed_to_start_or_to_be_checked(site: Site) -> None:
    away = """
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "HOST": "127.0.0.1", "PORT": "1", "NAME": "none"}}
"""
    code = "import django; django.setup(); from a2a_django.agents import registry; print(registry.all()[0].slug)"
    done = site.run(away, "-c", code)
    assert done.stdout == "clerk\n", done.stderr
    site.manage(away, "check", "--tag", "a2a_django")


def test_agents_may_have_a_database_of_their_own(site: Site) -> None:
    two = 'DATABASES["agents"] = sqlite("agents")\nDATABASE_ROUTERS = ["own_router.Router"]\n'
    site.manage(two, "migrate", "--verbosity", "0")
    site.manage(two, "migrate", "--database", "agents", "--verbosity", "0")
    assert site.manage(two, "a2a_send", "world") == "Hello, world!\n"
    assert site.tables("default") == {}
    rows = site.tables("agents")
    assert (rows["a2a_django_task"], rows["a2a_django_message"]) == (1, 1)
    assert "Hello, " in site.manage(two, "a2a_export", "")
    site.manage(two, "a2a_delete_owner", "", "--yes")
    assert site.tables("agents")["a2a_django_task"] == 0
