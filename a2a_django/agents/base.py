"""The class an agent author derives from."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from django.utils import translation
from django.utils.text import slugify

from a2a_django.agents import registry
from a2a_django.agents.types import Extension, Provider, Skill
from a2a_django.protocol.wire import Wire

if TYPE_CHECKING:
    pass

Mode = Literal["task", "message", "auto"]


class Agent:
    """An agent of this site.

    Defining a subclass in an app's ``agents.py`` registers it; ``abstract = True`` (not inherited) keeps a base class
    out. The docstring is the card's description. One instance serves all calls: keep what belongs to a task in rows,
    not on ``self``.

    ``mode``: "task" makes a task for every message (default); "message" answers with one message and keeps nothing;
    "auto" makes the task at the first thing the agent does with it, or after a short while, so that the agent may also
    answer with ``ctx.reply`` alone.
    """

    abstract: ClassVar[bool] = True

    name: str = ""
    slug: str = ""
    version: str = "1.0"
    description: str = ""
    skills: Sequence[Skill] = ()
    input_modes: Sequence[str] = ("text/plain", "application/json")
    output_modes: Sequence[str] = ("text/plain", "application/json")
    streaming: bool = True
    push_notifications: bool = False
    extensions: Sequence[Extension] = ()
    extended_agent_card: bool = False
    provider: Provider | None = None
    #: Whether the site's list of agents has it. One that is left out is served all the same.
    public: bool = True
    documentation_url: str = ""
    icon_url: str = ""
    mode: Mode = "task"
    #: Whether a message that its sender sends again gets what came of it the first time.
    deduplicate: bool = False
    #: How often a task is run when its process dies; 1: never again, the task fails.
    max_attempts: int = 1
    #: Seconds a run may take; None: as long as it likes.
    timeout: float | None = None
    #: DRF permission classes (or dotted paths) besides the site's.
    permissions: Sequence[Any] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__dict__.get("abstract", False):
            cls.abstract = False
            if _is_agents_module(cls.__module__):
                registry.register(cls)

    def __init__(self, **attributes: Any) -> None:
        """Make an instance; ``attributes`` replace class attributes of the same names."""
        for key, value in attributes.items():
            if not hasattr(type(self), key):
                raise TypeError(f"{type(self).__name__} has no attribute {key!r}")
            setattr(self, key, value)
        words = _in_words(type(self).__name__)
        self.name = self.name or words
        if not self.slug:
            with translation.override(None):  # the address is the same in every language
                self.slug = slugify(str(self.name)) or slugify(words)  # a name may have no letter that a slug has
        self.description = self.description or inspect.cleandoc(self._docstring())

    def _docstring(self) -> str:
        return type(self).__doc__ or "" if type(self).__doc__ is not Agent.__doc__ else ""

    def run(self, ctx: Any) -> Any:
        """Work on one message: an async generator, coroutine, plain function or plain generator."""
        raise TypeError(f"{type(self).__name__} has no run method")

    def cancel(self, ctx: Any) -> Any:
        """Clean up after a cancel; the task is CANCELED already. May be a coroutine function or a plain function."""

    def extended_card(self, user: Any) -> Wire | None:
        """Return the card for an authenticated ``user``, None when there is none (R-077, R-080)."""
        return None

    def card(self, **changes: Any) -> Wire:
        """Return the public card with some of its members replaced; for use in ``extended_card``.

        ``changes`` are attributes of the agent (``skills=[...]``, ``description=...``).
        """
        from a2a_django.agents.cards import build_card, current_base
        from a2a_django.agents.directory import directory

        other = copy.copy(directory.presented(self))
        for key, value in changes.items():
            if not hasattr(type(self), key):
                raise TypeError(f"An agent has no attribute {key!r}")
            setattr(other, key, value)
        return build_card(other, current_base())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.slug}>"


@overload
def agent(function: Callable[..., Any], /) -> Agent: ...


@overload
def agent(**attributes: Any) -> Callable[[Callable[..., Any]], Agent]: ...


def agent(
    function: Callable[..., Any] | None = None, /, **attributes: Any
) -> Agent | Callable[[Callable[..., Any]], Agent]:
    """Make an agent of a function: ``@agent(name="Echo", skills=[...])`` above ``async def echo(ctx): ...``.

    In ``agents.py`` the agent is registered. Returns the agent. Without attributes ``@agent`` is enough.
    """

    def make(function: Callable[..., Any]) -> Agent:
        options = dict(attributes)
        options.setdefault("name", _in_words(function.__name__))
        options.setdefault("description", inspect.cleandoc(function.__doc__ or ""))
        body: Mapping[str, Any] = {
            "__module__": function.__module__,
            "__doc__": function.__doc__,
            "run": staticmethod(function),
            "abstract": True,
        }
        made: Agent = type(function.__name__, (Agent,), dict(body))(**options)
        if _is_agents_module(function.__module__):
            registry.add(made)
        return made

    return make if function is None else make(function)


def _is_agents_module(module: str) -> bool:
    return "agents" in module.split(".") and not module.startswith("a2a_django.")


def _in_words(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+", " ", name).strip()
    return words[:1].upper() + words[1:]


__all__ = ["Agent", "Mode", "agent"]
