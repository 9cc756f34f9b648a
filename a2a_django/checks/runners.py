"""Where agents run: whether the runner is there, and what it does not run."""

from __future__ import annotations

from typing import Any

from django.core.checks import Error, Info, Tags, register
from django.core.exceptions import ImproperlyConfigured

from a2a_django.agents import registry
from a2a_django.checks.rules import TAG, Apps, Messages
from a2a_django.checks.setting import RULES
from a2a_django.conf import a2a_settings
from a2a_django.engine.runners import NAMES, RunnerBackend, get_runner


def _runner() -> RunnerBackend | None:
    if not RULES["RUNNER"].fits(a2a_settings.RUNNER):  # E003 has something to say about it
        return None
    return get_runner()


@register(TAG, Tags.models)
def check_runner(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that the runner can be had: E080; and what it has to say itself."""
    try:
        runner = _runner()
        return [] if runner is None else runner.check()
    except ImproperlyConfigured as error:
        hint = (
            f"The names are {', '.join(NAMES)}. "
            "What they need: pip install a2a-django[celery], or a2a-django[tasks] and the setting TASKS."
        )
        return [Error(f"Nobody can run the agents of this site. {error}.", hint=hint, id="a2a_django.E080")]


@register(TAG, Tags.models)
def check_room_to_wait(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that tasks may wait, where all of them have to: E089."""
    try:
        runner = _runner()
    except ImproperlyConfigured:
        return []
    if runner is None or runner.runs_here or a2a_settings.MAX_QUEUED_PER_OWNER:
        return []
    text = "A2A['MAX_QUEUED_PER_OWNER'] is 0, and with A2A['RUNNER'] every task waits for a worker: all are refused."
    return [Error(text, hint="Say how many tasks of one owner may wait, or leave it out.", id="a2a_django.E089")]


@register(TAG, Tags.models)
def check_what_runs_here(app_configs: Apps, **kwargs: Any) -> Messages:
    """Tell which agents run in the serving process although the site has workers: I088."""
    try:
        runner = _runner()
    except ImproperlyConfigured:
        return []
    here = sorted(agent.slug for agent in registry.all() if agent.mode != "task")
    if runner is None or runner.runs_here or not here:
        return []
    text = f"Runs of these agents begin in the serving process, whatever A2A['RUNNER'] says: {', '.join(here)}."
    hint = (
        'They may answer without a task (mode "message" or "auto"), and a queue only takes tasks. Or use mode "task".'
    )
    return [Info(text, hint=hint, id="a2a_django.I088")]
