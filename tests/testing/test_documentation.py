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
OPEN = """
    A2A = {"AUTHENTICATION_CLASSES": [], "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]}
"""


def test_the_examples(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "testing.md").read_text(), flags=re.DOTALL)
    whole, function, *methods = blocks
    assert "class ConciergeTests" in whole
    assert function.startswith("def test_an_order(a2a_client)")
    body = "".join(methods).replace("from a2a_django.testing import FakeReceiver\n", "")
    extra = textwrap.indent(body, "    ").replace("async def test_an_order", "async def test_two_orders")
    more = f"from a2a_django.testing import FakeReceiver\n\n\nclass More(A2ATestCase):\n{extra}"
    files = {
        **FILES,
        "settings.py": FILES["settings.py"] + OPEN,
        "shop/agents.py": AGENTS,
        "shop/models.py": MODELS,
        "shop/migrations/__init__.py": "",
        "shop/tests.py": f"{whole}\n\n{function}\n\n{more}",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
    run(tmp_path, "manage.py", "makemigrations", "shop")
    plugin = ("-p", "a2a_django.testing.plugin", "-p", "no:cacheprovider", "--ds", "settings")
    count = len(re.findall(r"def test_", files["shop/tests.py"]))
    assert count >= 6
    # The fixture's function has a database of its own; what is asked for is not in it.
    assert f"{count} passed" in run(tmp_path, "-m", "pytest", *plugin, "-q", "shop/tests.py")
