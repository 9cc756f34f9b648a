"""Examples of docs/agents.md that need nothing else, as a reader would try them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from a2a_django import Agent, Part
from a2a_django.protocol.errors import ContentTypeNotSupportedError
from a2a_django.testing import A2AClient, A2ATestCase

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "agents.md").read_text()


def example(name: str) -> Agent:
    """Return an agent of the class of this name."""
    (block,) = (text for text in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL) if f"class {name}(" in text)
    space: dict[str, Any] = {"__name__": "an.example"}
    exec(block, space)  # noqa: S102 - the code of our own page
    agent: Agent = space[name]()
    return agent


class Examples(A2ATestCase):
    """They do what the page says."""

    def client_of(self, name: str) -> A2AClient:
        """Return a client that somebody is logged in with."""
        return A2AClient(User.objects.create_user("alice"), agent=example(name))

    def test_files_and_data(self) -> None:
        client = self.client_of("Scanner")
        task = client.send("Count, please")
        assert (task.state, task.text) == ("input_required", "Which document?")
        done = client.send(Part(raw=b"a,b\n1,2\n", filename="in.csv", media_type="text/csv"), task=task)
        assert done.state == "completed", done
        assert done.data == {"name": "in.csv", "lines": 2}
        assert done.files == [b"A,B\n1,2\n"]
        assert client.send(b"one line").data == {"name": "", "lines": 1}
        with pytest.raises(ContentTypeNotSupportedError):
            client.send(Part(raw=b"...", media_type="image/png"))

    def test_asking_back(self) -> None:
        client = self.client_of("Painter")
        task = client.send("Paint my fence")
        assert (task.state, task.text) == ("input_required", "Which colour?")
        assert client.send("blue", task=task).text == "A fence in blue."
