"""The addresses and their names."""

from __future__ import annotations

import pytest
from django.urls import resolve, reverse

TASK, CONFIG = {"task_id": "t:1"}, {"task_id": "t:1", "config_id": "c"}

NAMES = [
    ("jsonrpc", {}, "/a2a/"),
    ("jsonrpc-without-slash", {}, "/a2a"),
    ("agent-card", {}, "/.well-known/agent-card.json"),
    ("tenant-agent-card", {"tenant": "acme"}, "/a2a/acme/.well-known/agent-card.json"),
    ("jwks", {}, "/a2a/jwks.json"),
    ("message-send", {}, "/a2a/message:send"),
    ("message-stream", {}, "/a2a/message:stream"),
    ("extended-agent-card", {}, "/a2a/extendedAgentCard"),
    ("task-list", {}, "/a2a/tasks"),
    ("task-detail", TASK, "/a2a/tasks/t:1"),
    ("task-cancel", TASK, "/a2a/tasks/t:1:cancel"),
    ("task-subscribe", TASK, "/a2a/tasks/t:1:subscribe"),
    ("push-config-list", TASK, "/a2a/tasks/t:1/pushNotificationConfigs"),
    ("push-config-detail", CONFIG, "/a2a/tasks/t:1/pushNotificationConfigs/c"),
    ("tenant-message-send", {"tenant": "acme"}, "/a2a/acme/message:send"),
    ("tenant-task-cancel", {"tenant": "acme", **TASK}, "/a2a/acme/tasks/t:1:cancel"),
]


@pytest.mark.parametrize(("name", "arguments", "path"), NAMES)
def test_names_and_paths(name: str, arguments: dict[str, str], path: str) -> None:
    assert reverse(f"a2a_django:{name}", kwargs=arguments) == path
    match = resolve(path)
    assert match.url_name == name
    assert {key: value for key, value in match.kwargs.items() if key in arguments} == arguments


def test_an_id_that_ends_like_a_verb_is_no_task() -> None:
    assert resolve("/a2a/tasks/t:subscribe").url_name == "task-subscribe"
    assert resolve("/a2a/tasks/t/subscribe").url_name == "unknown"


def test_every_verb_of_a_view_is_one_of_its_address() -> None:
    view = resolve("/a2a/tasks/t/pushNotificationConfigs/c").func.cls  # type: ignore[attr-defined]
    assert view().allowed_methods == ["GET", "DELETE", "OPTIONS"]
