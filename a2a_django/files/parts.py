"""Parts into the storage and back again: of messages that come in, and of what agents say."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from django.db import router
from django.db.backends.base.base import BaseDatabaseWrapper

from a2a_django.conf import a2a_settings
from a2a_django.files import markers, store
from a2a_django.models import StoredFile
from a2a_django.protocol.changes import ArtifactChunk, Change
from a2a_django.protocol.wire import Wire, text_of

#: What a text with bytes has in it; see ``markers.SIGN``.
_RAW: Final = '"raw":"'


def alias() -> str:
    """Return the database of the rows."""
    return router.db_for_write(StoredFile)


def is_large(part: Wire) -> bool:
    """Whether the bytes of a part belong into the storage."""
    raw: str = part.get("raw", "")
    if not raw or a2a_settings.FILE_STORAGE is None:
        return False
    return len(raw) // 4 * 3 - raw.endswith("=") - raw.endswith("==") > a2a_settings.FILE_MIN_BYTES


def has_large(message: Wire) -> bool:
    """Whether a message has parts that belong into the storage."""
    return any(map(is_large, message["parts"]))


def may_have_large(change: Change) -> bool:
    """Whether what an agent says may have such parts; costs nothing to speak of where it has none."""
    if a2a_settings.FILE_STORAGE is None:
        return False
    text = change.text if isinstance(change, ArtifactChunk) else change.message
    return text is not None and len(text) > a2a_settings.FILE_MIN_BYTES and _RAW in text


def can_join(connection: BaseDatabaseWrapper) -> bool:
    """Whether what an agent says inside of a transaction of its own may go into the storage.

    The row of the file is made by another connection. SQLite would wait for the transaction's end with it, and where
    transactions see only what was there when they began, this one would not find it.
    """
    if connection.vendor == "sqlite":
        return False
    level = getattr(connection, "isolation_level", None)
    return str(getattr(level, "name", level)).replace("_", " ").lower() == "read committed"


# ---------------------------------------------------------------------------------------------------- into it


def message_stored(message: Wire) -> tuple[Wire, tuple[uuid.UUID, ...]]:
    """Return a message with its large parts stored, and the files. Raises what the storage raises; then none is."""
    parts, files = _stored(message["parts"])
    return {**message, "parts": parts}, files


def change_stored(change: Change) -> Change:
    """Return a change with its large parts stored. Raises what the storage raises; then none is."""
    if isinstance(change, ArtifactChunk):
        event: Wire = json.loads(change.text)
        artifact = event["artifactUpdate"]["artifact"]
        artifact["parts"], files = _stored(artifact["parts"])
        return replace(change, text=text_of(event), files=files)
    assert change.message is not None  # noqa: S101 - ``may_have_large`` has looked
    message, files = message_stored(json.loads(change.message))
    return replace(change, message=text_of(message), files=files)


def _stored(parts: list[Wire]) -> tuple[list[Wire], tuple[uuid.UUID, ...]]:
    files: list[uuid.UUID] = []
    written: list[Wire] = []
    try:
        for part in parts:
            if not is_large(part):
                written.append(part)
                continue
            data = base64.b64decode(part["raw"])
            marker = store.put(data, media_type=part.get("mediaType", ""), filename=part.get("filename", ""))
            files.append(marker.file_id)
            url: Any = str(marker)
            written.append({"url" if name == "raw" else name: url if name == "raw" else part[name] for name in part})
    except Exception:
        store.discard(files)
        raise
    return written, tuple(files)


# ------------------------------------------------------------------------------------------------- out of it


def message_restored(message: Wire, *, owner: str) -> Wire:
    """Return a message with the bytes of its stored parts.

    Raises ``StoredFileMissing``, and what the storage raises.
    """
    return {**message, "parts": [_restored(part, owner) for part in message["parts"]]}


def _restored(part: Wire, owner: str) -> Wire:
    marker = markers.of(part.get("url"))
    if marker is None:
        return part
    raw: Any = base64.b64encode(store.read(marker, owner=owner)).decode()
    return {"raw" if name == "url" else name: raw if name == "url" else part[name] for name in part}


# ------------------------------------------------------------------------------------------- into their task


class Unclaimed(Exception):
    """A file that was to become a part of a task is not there any more."""


def claim(using: str, task_id: str, files: Iterable[uuid.UUID]) -> None:
    """Give files to a task; inside the transaction that brings the parts. Raises ``Unclaimed``."""
    wanted = list(files)
    rows = StoredFile.objects.using(using).filter(pk__in=wanted, task=None, removals=0, due_at__isnull=False)
    if rows.update(task=task_id, due_at=None) != len(wanted):
        raise Unclaimed(task_id)
