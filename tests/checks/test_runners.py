"""The checks of where agents run."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from pytest_django import Settings

from a2a_django.agents import registry
from tests.checks.kit import Good, found

DATABASE = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default", "agents"]}}


@pytest.fixture(autouse=True)
def agents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_agents", {})
    registry.add(Good(slug="good"))


def ids(settings: Settings, runner: Any, tasks: dict[str, Any] | None = None, **more: Any) -> set[str]:
    """What the checks have to say of a runner."""
    if tasks is not None:
        settings.TASKS = tasks
    settings.A2A = {**more, "RUNNER": runner}
    return {each for each in found() if each[1:] == "003" or each[1:3] == "08"}


@pytest.fixture
def no_app(monkeypatch: pytest.MonkeyPatch) -> None:
    """No site has made a Celery app current."""
    from celery import _state

    monkeypatch.setattr(_state, "default_app", None)
    monkeypatch.setattr(_state._tls, "current_app", None, raising=False)


@pytest.mark.parametrize("runner", [None, "", 7, ["celery"]])
def test_e003_values_of_the_wrong_kind(settings: Settings, runner: Any) -> None:
    assert ids(settings, runner) == {"E003"}


@pytest.mark.parametrize(
    ("runner", "words"),
    [
        ("cellery", "cannot have 'cellery'"),
        ("no.where.Runner", "cannot have 'no.where.Runner'"),
        (".runners.Mine", "cannot have"),
        ("tests.checks.kit.Good", "is no subclass of RunnerBackend"),
        ({"QUEUE": "x"}, "has no BACKEND"),
        ({"BACKEND": "celery", "QUEUEU": "x", 7: 1}, "unknown keys: 7, QUEUEU"),
        ({"BACKEND": "celery", "WHEN_DOWN": "panic"}, "'WHEN_DOWN'] has to be \"wait\" or \"refuse\", not 'panic'"),
        ({"BACKEND": "celery", "ENQUEUE_SECONDS": True}, "'ENQUEUE_SECONDS'] has to be a number of seconds"),
        ({"BACKEND": "celery", "AGAIN_SECONDS": 0}, "'AGAIN_SECONDS'] has to be a number of seconds"),
        ({"BACKEND": "celery", "QUEUES": {"good": 1}}, "'QUEUES'] has to be a dict from the slugs"),
        ({"BACKEND": "celery", "OPTIONS": {"ALIAS": "x"}}, "unknown keys: ALIAS"),
        ({"BACKEND": "celery", "OPTIONS": {"APP": "no.where.app"}}, "cannot import the Celery app"),
        ({"BACKEND": "django_tasks", "OPTIONS": {"APP": "x"}}, "unknown keys: APP"),
        ({"BACKEND": "django_tasks", "OPTIONS": {"ALIAS": "nobody"}}, "TASKS has no backend 'nobody'"),
        ({"BACKEND": "in_process", "QUEUE": "x"}, "runs in this process have no options"),
    ],
)
def test_e080_runners_that_cannot_be_had(settings: Settings, runner: Any, words: str) -> None:
    assert ids(settings, runner, DATABASE) == {"E080"}
    assert words in found()["E080"].msg


@pytest.mark.parametrize(("runner", "package"), [("celery", "celery"), ("django_tasks", "django_tasks")])
def test_e080_a_package_that_is_missing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, runner: str, package: str
) -> None:
    monkeypatch.delitem(sys.modules, f"a2a_django.engine.runners.{runner}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, "django.tasks", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert ids(settings, runner) == {"E080"}
    assert "pip install" in str(found()["E080"].hint)


def test_runners_that_nothing_is_wrong_with(settings: Settings) -> None:
    assert ids(settings, "in_process") == set()
    assert ids(settings, "django_tasks", DATABASE) == set()
    assert ids(settings, {"BACKEND": "celery", "OPTIONS": {"APP": "tests.runners.site.celery.app"}}) == set()


def test_e083_queues_that_the_backend_does_not_have(settings: Settings) -> None:
    runner = {"BACKEND": "django_tasks", "QUEUES": {"good": "agents", "other": "gpu"}}
    assert ids(settings, runner, DATABASE) == {"E083"}
    assert "has no queue gpu" in found()["E083"].msg
    assert ids(settings, {"BACKEND": "django_tasks", "QUEUE": "gpu"}, DATABASE) == {"E080"}
    assert ids(settings, {"BACKEND": "django_tasks", "QUEUE": "agents"}, DATABASE) == set()


@pytest.mark.parametrize(("backend", "check"), [("immediate.ImmediateBackend", "W084"), ("dummy.DummyBackend", "W085")])
def test_backends_without_workers(settings: Settings, backend: str, check: str) -> None:
    from a2a_django.engine.runners import django_tasks

    package = django_tasks._tasks.__name__
    tasks = {"default": {"BACKEND": f"{package}.backends.{backend}"}}
    assert ids(settings, "django_tasks", tasks) == {check}


def test_e086_no_celery_app(settings: Settings, no_app: None) -> None:
    assert ids(settings, "celery") == {"E086"}


def test_w087_an_app_that_has_no_workers(settings: Settings) -> None:
    assert ids(settings, {"BACKEND": "celery", "OPTIONS": {"APP": "tests.engine.eager.app"}}) == {"W087"}


@pytest.mark.parametrize("mode", ["message", "auto"])
def test_i088_what_begins_in_the_serving_process(settings: Settings, mode: str) -> None:
    registry.add(Good(slug="quick", mode=mode))
    assert ids(settings, "django_tasks", DATABASE) == {"I088"}
    assert "says: quick." in found()["I088"].msg
    assert ids(settings, "in_process", DATABASE) == set()


def test_e089_no_room_to_wait(settings: Settings) -> None:
    assert ids(settings, "django_tasks", DATABASE, MAX_QUEUED_PER_OWNER=0) == {"E089"}
    assert ids(settings, "in_process", DATABASE, MAX_QUEUED_PER_OWNER=0) == set()
