"""The examples of docs/frameworks.md."""

from __future__ import annotations

import os
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")
pytest.importorskip("langgraph")
pytest.importorskip("agents")

import pydantic_ai.models
from pydantic_ai.models.test import TestModel

from a2a_django.agents import registry
from a2a_django.testing import A2ATestCase
from tests.contrib.test_openai_agents import FakeModel, called

pydantic_ai.models.ALLOW_MODEL_REQUESTS = False

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "frameworks.md").read_text()
BLOCKS = re.findall(r"```python\n# shop/agents.py\n(.*?)```", PAGE, flags=re.DOTALL)


def example(number: int) -> Any:
    """The module that an example is; what it registers is taken out again."""
    os.environ.setdefault("OPENAI_API_KEY", "none")
    module = types.ModuleType(f"documented{number}")
    sys.modules[module.__name__] = module
    exec(compile(BLOCKS[number], f"docs/frameworks.md, example {number}", "exec"), module.__dict__)  # noqa: S102
    return module


class DocumentationTests(A2ATestCase):
    def test_pydantic_ai(self) -> None:
        shop = example(0)
        agent = shop.TeaShop()
        shop.TeaShop.agent.model = TestModel(custom_output_text="Green or black?")
        stream = self.a2a_client.stream("Tea, please", agent=agent)
        stream.read()
        assert stream.text == "Green or black?"
        assert "Calling price" in [event.text for event in stream.events]

    def test_langgraph(self) -> None:
        agent = example(1).Painter()
        task = self.a2a_client.send("Paint my fence", agent=agent)
        assert task.text == "Which colour?"
        assert self.a2a_client.send("green", agent=agent, task=task).text == "A green fence."

    def test_openai_agents(self) -> None:
        agent = example(2).Desk()

        def answer(given: Any) -> Any:
            told = [item["output"] for item in given if item.get("type") == "function_call_output"]
            return told[0] if told else called("refund", '{"order": 1003}')

        agent.agent.model = FakeModel(answer)
        task = self.a2a_client.send("It is broken", agent=agent)
        assert task.text == "May I call refund?"
        assert self.a2a_client.send("Yes", agent=agent, task=task).text == "Order 1003 is refunded."

    def test_nothing_is_registered(self) -> None:
        assert not [each for each in registry.all() if each.slug in ("tea-shop", "painter", "desk")]
