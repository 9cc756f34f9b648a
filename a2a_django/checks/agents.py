"""The agents: which there are, and whether each is what the package, and its card, need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, Final, get_args

from django.core.checks import Error, Tags, Warning, register
from django.utils.functional import Promise
from rest_framework.permissions import OperationHolderMixin

from a2a_django.access import RESERVED_TENANTS
from a2a_django.agents import Agent, Extension, Provider, Skill, registry
from a2a_django.agents.base import Mode
from a2a_django.checks.rules import (
    TAG,
    Apps,
    Messages,
    Rule,
    check_paths,
    is_list_of,
    is_number,
    is_whole,
    load,
)
from a2a_django.conf import a2a_settings

_TEXT: Final = Rule(lambda v: isinstance(v, str | Promise), "a text")
_SWITCH: Final = Rule(lambda v: isinstance(v, bool), "True or False")
_MEDIA_TYPES: Final = Rule(lambda v: is_list_of(v, str), "a list of media types")

#: What the attributes of an agent have to be; ``permissions`` have a check of their own.
RULES: Final[dict[str, Rule]] = {
    "name": _TEXT,
    "slug": Rule(lambda v: isinstance(v, str), "a text"),
    "version": _TEXT,
    "description": _TEXT,
    "skills": Rule(lambda v: is_list_of(v, Skill), "a list of Skill"),
    "input_modes": _MEDIA_TYPES,
    "output_modes": _MEDIA_TYPES,
    "streaming": _SWITCH,
    "public": _SWITCH,
    "push_notifications": _SWITCH,
    "extensions": Rule(lambda v: is_list_of(v, Extension), "a list of Extension"),
    "extended_agent_card": _SWITCH,
    "provider": Rule(lambda v: v is None or isinstance(v, Provider), "a Provider or None"),
    "documentation_url": _TEXT,
    "icon_url": _TEXT,
    "mode": Rule(lambda v: v in get_args(Mode), f"one of {', '.join(map(repr, get_args(Mode)))}"),
    "deduplicate": _SWITCH,
    "max_attempts": Rule(lambda v: is_whole(v) and v > 0, "a whole number above 0"),
    "timeout": Rule(lambda v: v is None or (is_number(v) and v > 0), "a number of seconds above 0 or None"),
}

#: Near to ``mode``, but what authors call the language model behind their agent.
OWN_WORDS: Final = frozenset({"model", "models"})


@register(TAG, Tags.models)
def check_agents(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check which agents there are (W010, W011, E012, E013), then each of them."""
    agents = registry.all()
    found: Messages = [
        Error(
            f"More than one agent has the slug {slug!r}.",
            hint="Give one of them another name or slug.",
            id="a2a_django.E013",
        )
        for slug in registry.duplicates
    ]
    slugs = ", ".join(repr(agent.slug) for agent in agents)
    default = a2a_settings.DEFAULT_AGENT
    if not agents:
        hint = "Derive a class from a2a_django.Agent in the agents.py of an installed app."
        found.append(Warning("The site has no agent.", hint=hint, id="a2a_django.W010"))
    elif isinstance(default, str) and default and registry.get(default) is None:
        found.append(
            Error(f"A2A['DEFAULT_AGENT'] is unknown: {default!r}.", hint=f"There are {slugs}.", id="a2a_django.E012")
        )
    elif not default and len(agents) > 1:
        hint = f"Set A2A['DEFAULT_AGENT'] to one of {slugs}. Until then the well-known card is missing."
        found.append(Warning("The site has several agents and no default one.", hint=hint, id="a2a_django.W011"))
    for agent in agents:
        found += _check_alone(agent)
    return [*found, *_check_lists(agents), *_check_spelling(agents)]


def check_one(agent: Agent) -> Messages:
    """Check one agent; what concerns the site as a whole is left out."""
    return [*_check_alone(agent), *_check_lists([agent]), *_check_spelling([agent])]


def _check_alone(agent: Agent) -> Messages:
    return [*_check_values(agent), *_check_card(agent), *_check_permissions(agent), *_check_run(agent)]


def _check_values(agent: Agent) -> Iterator[Error]:
    """Check the kinds of an agent's attributes: E018."""
    for name, rule in RULES.items():
        value = getattr(agent, name)
        if not rule.fits(value):
            text = f"{name} of {agent!r} has to be {rule.words}, not {value!r}."
            yield Error(text, hint=f"The default is {getattr(Agent, name)!r}.", id="a2a_django.E018")
    for skill in agent.skills if RULES["skills"].fits(agent.skills) else ():
        for name in ("tags", "examples", "input_modes", "output_modes"):
            value = getattr(skill, name)
            if not is_list_of(value, (str, Promise)):
                text = f"{name} of the skill {skill.id!r} of {agent!r} has to be a list of texts, not {value!r}."
                hint = f"Write [{value!r}]." if isinstance(value, str) else None
                yield Error(text, hint=hint, id="a2a_django.E018")


def _check_card(agent: Agent) -> Messages:
    """Check what the card says: E014, W016."""
    found: Messages = []
    slug = str(agent.slug)
    if slug in RESERVED_TENANTS or not slug or re.search(r"[/\s?#%]", slug):
        hint = "It is the tenant in addresses: use letters, digits and hyphens."
        found.append(Error(f"{agent!r} cannot have the slug {slug!r}.", hint=hint, id="a2a_django.E014"))
    missing = [name for name in ("name", "description", "version") if not getattr(agent, name)]
    if missing:
        hint = "Write a docstring, or set the attributes." if "description" in missing else "Set the attributes."
        found.append(Warning(f"{agent!r} has no {', '.join(missing)}.", hint=hint, id="a2a_django.W016"))
    return found


def _check_lists(agents: Iterable[Agent]) -> Iterator[Warning]:
    """Check the lists that a card has to have, one message for all agents: W015."""
    for name in ("skills", "input_modes", "output_modes"):
        without = [repr(agent) for agent in agents if not getattr(agent, name)]
        if without:
            hint = "The protocol requires them in the card, and some clients refuse a card without."
            yield Warning(f"Agents without {name}: {', '.join(without)}.", hint=hint, id="a2a_django.W015")


def _check_permissions(agent: Agent) -> Messages:
    """Check that an agent's permissions are permission classes, or paths of some: E017."""
    where = f"The permissions of {agent!r}"
    hint = "List permission classes of REST framework, or dotted paths of them."
    if not isinstance(agent.permissions, list | tuple):
        text = f"{where} have to be a list, not {agent.permissions!r}."
        return [Error(text, hint=hint, id="a2a_django.E017")]
    found = check_paths(where, agent.permissions, "a2a_django.E017")
    for given, permission in permissions_of(agent):
        # Classes joined by & and | are objects that make permissions as well.
        is_one = isinstance(permission, type) and hasattr(permission, "has_permission")
        if not is_one and not isinstance(permission, OperationHolderMixin):
            found.append(Error(f"{where}: {given!r} is no permission class.", hint=hint, id="a2a_django.E017"))
    return found


def permissions_of(agent: Agent) -> Iterator[tuple[Any, Any]]:
    """Return an agent's permissions as they are written and as they are imported; those that can be."""
    for given in agent.permissions if isinstance(agent.permissions, list | tuple) else ():
        try:
            yield given, load(given) if isinstance(given, str) else given
        except ImportError:  # E017 says so
            continue


def _check_run(agent: Agent) -> Iterator[Error]:
    """Check that an agent can run: E019."""
    run: Any = agent.run
    if not callable(run) or getattr(run, "__func__", None) is Agent.run:
        hint = "Define async def run(self, ctx) in its class."
        yield Error(f"{agent!r} has no method run.", hint=hint, id="a2a_django.E019")


def _check_spelling(agents: Iterable[Agent]) -> Iterator[Warning]:
    """Check for attributes that look like misspelt ones, once per class: W050."""
    known = [name for name in vars(Agent) if not name.startswith("_") and not callable(getattr(Agent, name))]
    classes = dict.fromkeys(cls for agent in agents for cls in type(agent).__mro__ if not issubclass(Agent, cls))
    for cls in classes:
        for name in vars(cls):
            if name.startswith("_") or name in OWN_WORDS or hasattr(Agent, name) or callable(getattr(cls, name)):
                continue
            near = get_close_matches(name, known, n=1, cutoff=0.8)
            if near:
                text = f"An agent has no attribute {name!r}, which is set in the class {cls.__qualname__}."
                hint = f"Did you mean {near[0]!r}? Begin names of your own with an underscore."
                yield Warning(text, hint=hint, id="a2a_django.W050")
