"""Media types of parts against what the agent accepts (R-032)."""

from __future__ import annotations

from collections.abc import Iterable

from a2a_django.agents import Agent
from a2a_django.protocol.errors import ContentTypeNotSupportedError
from a2a_django.protocol.wire import Wire


def check_parts(agent: Agent, parts: Iterable[Wire]) -> None:
    """Raise ``ContentTypeNotSupportedError`` for a part whose declared media type the agent does not accept.

    Parameters and letter case do not matter; a part that declares none is accepted.
    """
    for index, part in enumerate(parts):
        if (declared := part.get("mediaType")) and not accepts(agent, declared):
            raise ContentTypeNotSupportedError(
                f"message.parts[{index}].media_type is not accepted by this agent",
                metadata={"accepted": ", ".join(modes_of(agent))},
            )


def accepts(agent: Agent, declared: str) -> bool:
    """Return whether an agent accepts a media type for at least one of its skills."""
    kind = essence(declared)
    major = kind.partition("/")[0]
    return any(essence(mode) in (kind, f"{major}/*", "*/*") for mode in modes_of(agent))


def modes_of(agent: Agent) -> list[str]:
    """Return the media types that an agent or any of its skills accepts."""
    return list(dict.fromkeys([*agent.input_modes, *(mode for skill in agent.skills for mode in skill.input_modes)]))


def essence(media_type: str) -> str:
    """Return type and subtype in lower case, without parameters."""
    return media_type.partition(";")[0].strip().lower()
