"""The examples of docs/testing.md, put into a site as a reader would."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from tests.testing.test_plugin import FILES, ROOT, run

AGENTS = """
    import asyncio
    from a2a_django import Agent
    from .models import Order

    class Concierge(Agent):
        '''Answers questions about orders.'''
        push_notifications = True

        async def run(self, ctx):
            if "refund" in ctx.history[0].parts[0].text:
                if ctx.operator is None:
                    await ctx.input_required("It needs our approval.")
                else:
                    yield "Refunded."
                return
            if "stocktake" in ctx.text:
                await ctx.working("Fetching the ladder")
                await asyncio.Event().wait()
            if not ctx.text.isdigit():
                await ctx.input_required("Which order?")
                return
            await ctx.working()
            order = await Order.objects.filter(number=ctx.text).afirst()
            yield f"Order {order.number} is {order.get_status_display()}" if order else "None such"
"""
MODELS = """
    from django.db import models

    class Order(models.Model):
        number = models.CharField(max_length=20, unique=True)
        status = models.CharField(max_length=10, choices=[("shipped", "on its way")])
"""
#: The admin, because the examples have an operator; who calls has to say who it is, as on most sites.
ADMIN = """
    INSTALLED_APPS += ["django.contrib.admin", "django.contrib.messages", "django.contrib.sessions"]
    MIDDLEWARE += [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ]
    TEMPLATES = [{
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": [
            "django.template.context_processors.request",
            "django.contrib.auth.context_processors.auth",
            "django.contrib.messages.context_processors.messages",
        ]},
    }]
    STATIC_URL = "static/"
"""
URLS = """
    from django.contrib import admin
    from django.urls import include, path
    urlpatterns = [path("agents/", include("a2a_django.urls")), path("admin/", admin.site.urls)]
"""


def test_the_examples(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "testing.md").read_text(), flags=re.DOTALL)
    whole, function, *methods = blocks
    assert "class ConciergeTests" in whole
    assert function.startswith("def test_an_order(a2a_client, admin_user)")
    body = "".join(methods).replace("from a2a_django.testing import FakeReceiver\n", "")
    extra = textwrap.indent(body, "    ").replace("async def test_an_order", "async def test_two_orders")
    imports = "from a2a_django.testing import FakeReceiver\nfrom django.urls import reverse\n"
    files = {
        **FILES,
        "settings.py": FILES["settings.py"] + ADMIN,
        "shop/urls.py": URLS,
        "shop/agents.py": AGENTS,
        "shop/models.py": MODELS,
        "shop/migrations/__init__.py": "",
        "shop/tests.py": f"{imports}{whole}\n{extra}\n\n{function}",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
    run(tmp_path, "manage.py", "makemigrations", "shop")
    plugin = ("-p", "a2a_django.testing.plugin", "-p", "no:cacheprovider", "--ds", "settings")
    count = len(re.findall(r"def test_", files["shop/tests.py"]))
    assert count >= 7
    # The fixture's function has a database of its own; what is asked for is not in it.
    assert f"{count} passed" in run(tmp_path, "-m", "pytest", *plugin, "-q", "shop/tests.py")
