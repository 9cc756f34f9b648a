"""A short way for the events of which streams consist: one more piece of text for an artifact.

Such an event costs the engine little, since its stored text is sent as it is. To decode it and to encode it again would
cost a third more, so those that have just the members which all of them have are translated as text. Every other event,
and so every one whose text is not written as this package writes it, goes the long way. Both give the same.
"""

from __future__ import annotations

import re
from typing import Final

#: A string of JSON, as it is written.
_STRING: Final = r'"[^"\\]*(?:\\.[^"\\]*)*"'

_CHUNK: Final = re.compile(
    rf'\{{"artifactUpdate":\{{("taskId":{_STRING},"contextId":{_STRING},"artifact":\{{"artifactId":{_STRING},"parts":\[\{{)'
    rf'("text":{_STRING}\}}\]\}})(,"append":true)?(,"lastChunk":true)?\}}\}}'
)


def json_chunk(text: str) -> str | None:
    """Return the text of a TaskArtifactUpdateEvent of the JSON schema for that of a StreamResponse of 1.0, None for
    what is no piece of text alone."""
    match = _CHUNK.fullmatch(text)
    if match is None:
        return None
    ids, content, append, last = match.groups()
    return (
        f'{{"kind":"artifact-update",{ids}"kind":"text",{content}'
        f',"append":{"true" if append else "false"},"lastChunk":{"true" if last else "false"}}}'
    )


def proto_chunk(text: str) -> str | None:
    """Return the text of a StreamResponse of package a2a.v1 for that of one of 1.0, which is the same; None for what is
    no piece of text alone."""
    return text if _CHUNK.fullmatch(text) is not None else None
