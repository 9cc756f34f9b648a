"""A site that has nothing to do with this repository's tests: its settings, its test cases, its pytest."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SETTINGS = """
    SECRET_KEY = "a-secret-key-of-a-site-under-test-0123456789-0123456789"
    INSTALLED_APPS = [
        "django.contrib.auth", "django.contrib.contenttypes", "rest_framework", "channels", "a2a_django", "shop",
    ]
    DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
    ROOT_URLCONF = "shop.urls"
    MIDDLEWARE = ["shop.middleware.Plain", "django.middleware.common.CommonMiddleware"]
    USE_TZ = True
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
"""

FILES = {
    "settings.py": SETTINGS,
    "manage.py": """
        import os, sys
        from django.core.management import execute_from_command_line
        os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
        execute_from_command_line(sys.argv)
    """,
    "shop/__init__.py": "",
    "shop/urls.py": """
        from django.urls import include, path
        urlpatterns = [path("agents/", include("a2a_django.urls"))]
    """,
    "shop/middleware.py": """
        class Plain:
            '''Knows nothing of async.'''

            def __init__(self, get_response):
                self.get_response = get_response

            def __call__(self, request):
                return self.get_response(request)
    """,
    "shop/agents.py": """
        from django.contrib.auth.models import Group
        from a2a_django import Agent

        class Desk(Agent):
            '''Opens accounts.'''
            push_notifications = True

            async def run(self, ctx):
                await ctx.working()
                group = await Group.objects.acreate(name=ctx.text)
                yield f"{ctx.user.username} has "
                yield f"{group.name}, one of {await Group.objects.acount()}."

        class Clerk(Agent):
            '''The same, plain.'''

            def run(self, ctx):
                Group.objects.create(name=ctx.text)
                return f"There are {Group.objects.count()}."
    """,
    "shop/tests.py": """
        from django.contrib.auth.models import Group, User
        from a2a_django.testing import A2AClient, A2ATestCase

        class DeskTests(A2ATestCase):
            a2a_agent = "desk"

            @classmethod
            def setUpTestData(cls):
                cls.alice = User.objects.create_user("alice")
                Group.objects.create(name="first")

            def setUp(self):
                self.a2a_client.force_login(self.alice)

            def test_one(self):
                task = self.a2a_client.send("gold", push=self.a2a_receiver)
                self.assertEqual(task.state, "completed", task)
                self.assertEqual(task.text, "alice has gold, one of 2.")
                self.assertEqual(self.a2a_receiver.states, ["working", "completed"])

            def test_other(self):
                stream = self.a2a_client.stream("silver")
                stream.read()
                self.assertEqual(stream.text, "alice has silver, one of 2.")
                self.assertEqual(Group.objects.count(), 2)

            def test_clerk(self):
                self.assertEqual(self.a2a_client.send("tin", agent="clerk").text, "There are 2.")

            def test_every_binding(self):
                for binding in ("JSONRPC", "HTTP+JSON", "GRPC"):
                    for version in ("1.0", "0.3"):
                        client = A2AClient(self.alice, agent="clerk", binding=binding, version=version)
                        if (binding, version) != ("GRPC", "0.3"):
                            self.assertEqual(client.send(f"{binding}{version}").state, "completed")

            async def test_async(self):
                self.async_a2a_client.force_login(self.alice)
                task = await self.async_a2a_client.send("copper")
                self.assertEqual(task.text, "alice has copper, one of 2.")
                self.assertEqual(await Group.objects.acount(), 2)
    """,
    "test_with_pytest.py": """
        import pytest
        from django.contrib.auth.models import Group, User
        from a2a_django.protocol.errors import UnauthenticatedError
        from a2a_django.testing import A2AClient

        @pytest.mark.parametrize("name", ["one", "two"])
        def test_a_plain_function(a2a_client, a2a_receiver, name):
            alice = User.objects.create_user("alice")
            task = a2a_client.send(name, agent="desk", user=alice, push=a2a_receiver)
            assert task.text == f"alice has {name}, one of 1."
            assert a2a_receiver.text == task.text

        def test_a_stranger(a2a_client):
            with pytest.raises(UnauthenticatedError):
                a2a_client.send("no", agent="desk")

        @pytest.mark.asyncio
        @pytest.mark.parametrize("name", ["one", "two"])
        async def test_an_asynchronous_function(async_a2a_client, a2a_receiver, name):
            alice = await User.objects.acreate(username="alice")
            task = await async_a2a_client.send(name, agent="desk", user=alice, push=a2a_receiver)
            assert task.text == f"alice has {name}, one of 1."
            stream = await async_a2a_client.stream("three", agent="desk", user=alice)
            await stream.read()
            assert stream.text == "alice has three, one of 2."
            assert await Group.objects.acount() == 2
            assert a2a_receiver.states == ["working", "completed"]

        def test_without_the_fixture(db):
            with pytest.raises(RuntimeError, match="the pytest fixture `a2a_client`"):
                A2AClient().send("no")
    """,
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return folder


def run(site: Path, *command: str) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO_", "PYTEST_"))}
    environ["PYTHONPATH"] = os.pathsep.join([str(site), str(ROOT)])
    done = subprocess.run(
        [sys.executable, *command], cwd=site, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_djangos_own_runner(site: Path) -> None:
    assert "Ran 5 tests" in run(site, "-W", "error::ResourceWarning", "manage.py", "test")


def test_pytest(site: Path) -> None:
    arguments = ("-p", "a2a_django.testing.plugin", "-p", "no:cacheprovider", "--ds", "settings", "-q")
    assert "11 passed" in run(site, "-m", "pytest", *arguments, "test_with_pytest.py", "shop/tests.py")


def test_the_plugin_needs_no_settings(site: Path) -> None:
    """Not even to be imported: pytest does that for every project on the machine."""
    code = (
        "import a2a_django.testing, a2a_django.testing.plugin, sys; "
        "sys.exit('django.conf' in sys.modules and sys.modules['django.conf'].settings.configured)"
    )
    run(site, "-c", code)
