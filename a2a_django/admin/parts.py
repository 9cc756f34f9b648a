"""Parts of messages and artifacts as an operator sees them: as what they are, and harmless.

Whatever a caller or an agent has written stays text here; the templates escape it. Characters that cannot be seen, or
that turn the text around them, are shown by signs. Nothing is shown at a length that a browser would choke on.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from a2a_django.files import markers, store
from a2a_django.protocol.wire import Wire

#: Characters of one part, and of all parts of a page; afterwards only so many of each.
LONGEST: Final = 20_000
ROOM: Final = 400_000
SHORT: Final = 400
#: Bytes of an image that is shown on the page.
LARGEST_IMAGE: Final = 8 * 1024 * 1024
#: Parts of one message or chunk that are shown.
MOST_PARTS: Final = 50

#: What a picture begins with that browsers draw and do nothing else with: no SVG, which may have scripts in it.
_RASTER: Final = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
)
#: Controls but for tab and newline; direction overrides and isolates; line and paragraph separators, invisible
#: characters, half characters.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part on a page. ``kind``: text, data, image, file, url or nothing; ``size`` in characters, bytes for files.

    It is downloaded by its ``number`` in the event or message ``at``; ``cut``: there is more of it than ``text``.
    """

    kind: str
    at: int
    number: int
    text: str = ""
    size: int = 0
    name: str = ""
    media_type: str = ""
    href: str = ""
    cut: bool = False


class Room:
    """How many characters the page of a task may still show; and how large its stored files are, asked for once."""

    def __init__(self, task_id: str, characters: int = ROOM) -> None:
        self._task_id = task_id
        self._left = characters
        self._sizes: dict[uuid.UUID, int] | None = None

    def cut(self, text: str) -> str:
        """Return what of a text there is room for."""
        allowed = min(LONGEST, max(self._left, SHORT))
        self._left -= min(len(text), allowed)
        return text[:allowed]

    def size_of(self, file_id: uuid.UUID) -> int:
        """Return how many bytes a stored file has, 0 for one that is not there."""
        if self._sizes is None:
            self._sizes = store.sizes_of(self._task_id)
        return self._sizes.get(file_id, 0)


def shown(parts: Sequence[Wire], room: Room, at: int) -> list[Part]:
    """Return the parts of an event or a message as they are shown; there may be fewer than there are."""
    return [_shown(at, number, part, room) for number, part in enumerate(parts[:MOST_PARTS])]


def continued(before: list[Part], after: list[Part]) -> list[Part]:
    """Return the parts of a chunk and those of the next one: a text that goes on is one text."""
    if before and after and before[-1].kind == after[0].kind == "text" and not before[-1].cut:
        whole = replace(
            after[0], text=before[-1].text + after[0].text, size=before[-1].size + after[0].size, cut=after[0].cut
        )
        return [*before[:-1], whole, *after[1:]]
    return [*before, *after]


def _shown(at: int, number: int, part: Wire, room: Room) -> Part:
    about: dict[str, Any] = {
        "at": at,
        "number": number,
        "name": visible(str(part.get("filename", "")))[:200],
        "media_type": visible(str(part.get("mediaType", "")))[:100],
    }
    if "text" in part:
        whole = str(part["text"])
        text = room.cut(whole)
        return Part("text", text=visible(text), size=len(whole), cut=len(text) < len(whole), **about)
    if "data" in part:
        whole = json.dumps(part["data"], indent=2, ensure_ascii=False)
        text = room.cut(whole)
        return Part("data", text=visible(text), size=len(whole), cut=len(text) < len(whole), **about)
    if "raw" in part:
        raw = str(part["raw"])
        size = len(raw) * 3 // 4 - raw[-2:].count("=")
        kind = "image" if size <= LARGEST_IMAGE and raster(decoded(raw[:64])) else "file"
        return Part(kind, size=size, **about)
    if (marker := markers.of(part.get("url"))) is not None:
        return Part("file", size=room.size_of(marker.file_id), **about)
    if "url" in part:
        url = str(part["url"])
        return Part("url", text=visible(room.cut(url)), href=url if is_web(url) else "", size=len(url), **about)
    return Part("nothing", **about)


def visible(text: str) -> str:
    """Return a text in which what cannot be seen stands as a sign: ``␀``, ``⟨U+202E⟩``."""
    return _UNSEEN.sub(_sign, text.replace("\r\n", "\n"))


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\u27e8U+{code:04X}\u27e9"


def is_web(url: str) -> bool:
    """Whether a browser may be sent to an address: it is one of the web, and not a script."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and not _UNSEEN.search(url)
    except ValueError:
        return False


def raster(content: bytes) -> str:
    """Return the media type of a picture by what it begins with, "" for anything else."""
    return next((kind for beginning, kind in _RASTER if beginning.match(content)), "")


def decoded(raw: str) -> bytes:
    """Return the bytes of a raw part; of one that is not base64 what can be made of it."""
    try:
        return base64.b64decode(raw[: len(raw) // 4 * 4] if len(raw) % 4 else raw)
    except (binascii.Error, ValueError):
        return raw.encode("utf-8", "replace")
