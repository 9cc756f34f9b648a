"""An agent that no check has anything against, and what the checks say."""

from __future__ import annotations

from django.core.checks import CheckMessage, run_checks

from a2a_django import Agent, Skill
from a2a_django.checks.rules import TAG


class Good(Agent):
    """Has all that a card needs."""

    abstract = True
    skills = [Skill("a", "A", "Does A", tags=["x"])]

    async def run(self, ctx: object) -> str:
        """Answer."""
        return "good"


def messages(*, deploy: bool = False) -> list[CheckMessage]:
    """Return the messages of this package."""
    return run_checks(tags=[TAG], include_deployment_checks=deploy)


def found(*, deploy: bool = False) -> dict[str, CheckMessage]:
    """Return the messages of this package by the end of their ids."""
    return {str(message.id).removeprefix("a2a_django."): message for message in messages(deploy=deploy)}
