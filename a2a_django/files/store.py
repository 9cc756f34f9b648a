"""Bytes into a storage, out of it, and away.

Invariants (``StoredFile``): the row is committed before the first byte is written, and goes only when the bytes are
gone. So whatever happens in between, somebody finds the row and removes both.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import logging
import uuid
from collections.abc import Iterable
from typing import Final

from django.core.files import File
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import router
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from a2a_django.conf import a2a_settings
from a2a_django.files.markers import Marker
from a2a_django.models import StoredFile

logger = logging.getLogger("a2a_django.files")

#: So long a file may be on its way into a task.
ON_ITS_WAY: Final = dt.timedelta(days=1)
#: The pause after the first try to remove a file that failed, which doubles each time, and the longest one.
RETRY: Final = dt.timedelta(minutes=1)
LONGEST_RETRY: Final = dt.timedelta(hours=6)
_DOUBLINGS: Final = 12

#: Files of one task whose sizes are told at once.
MOST_SIZES: Final = 2_000

#: Folder of the files in their storage.
FOLDER: Final = "a2a-files"


class StoredFileMissing(FileNotFoundError):
    """The file is not there, or is another's."""


def rows() -> QuerySet[StoredFile]:
    """Return the rows, in the database that is written: a file is read when its row has just been made."""
    return StoredFile.objects.using(router.db_for_write(StoredFile))


def put(data: bytes, *, media_type: str = "", filename: str = "") -> Marker:
    """Write bytes into the storage of the settings and return their marker. Raises what the storage raises.

    The name in the storage is made of the id and of nothing that a caller has said.
    """
    now = timezone.now()
    pk = uuid.uuid4()
    file = StoredFile(
        pk=pk,
        storage=str(a2a_settings.FILE_STORAGE),
        name=f"{FOLDER}/{pk.hex[:2]}/{pk.hex}",
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        media_type=media_type,
        filename=filename,
        created_at=now,
        due_at=now + ON_ITS_WAY,
    )
    file.save(using=router.db_for_write(StoredFile), force_insert=True)
    try:
        name = storages[file.storage].save(file.name, ContentFile(data))
        if name != file.name:  # storages may choose another one
            rows().filter(pk=pk).update(name=name)
    except Exception:
        discard([pk])
        raise
    return Marker(pk, file.secret)


def open_file(file: StoredFile) -> File[bytes]:
    """Return a file for reading. Raises what the storage raises."""
    return storages[file.storage].open(file.name, "rb")


def read(marker: Marker, *, owner: str) -> bytes:
    """Return the bytes of a part of a task of ``owner``. Raises ``StoredFileMissing``, and what the storage raises."""
    file = rows().filter(pk=marker.file_id, secret=marker.secret, task__owner=owner).first()
    if file is None:
        raise StoredFileMissing(f"There is no file {marker.file_id} in a task of this owner")
    with open_file(file) as opened:
        data: bytes = opened.read()
    return data


def sizes_of(task_id: str) -> dict[uuid.UUID, int]:
    """Return how many bytes the files of a task have, those of the first ``MOST_SIZES``."""
    return dict(rows().filter(task_id=task_id).values_list("pk", "size")[:MOST_SIZES])


# ----------------------------------------------------------------------------------------------------- removal


def discard(ids: Iterable[uuid.UUID]) -> None:
    """Remove files that came into no task. Those that did stay; what cannot be removed now is removed later."""
    for pk in ids:
        if _take(Q(pk=pk, task=None, due_at__isnull=False, removals=0)):
            _remove(rows().get(pk=pk))


def remove_some(count: int) -> tuple[int, int]:
    """Remove up to ``count`` files whose tasks are gone, or that came into none; returns how many are gone, and how
    many tries failed. (0, 0): there is nothing to do now.
    """
    removed = failed = 0
    found = rows().filter(_due()).order_by("due_at", "pk").values_list("pk", flat=True)[:count]
    for pk in list(found):
        if _take(Q(pk=pk) & _due()):  # else another process does it
            done = _remove(rows().get(pk=pk))
            removed, failed = removed + done, failed + (not done)
    return removed, failed


def waiting() -> int:
    """Return how many files there are to remove, now or, because a try has failed, later."""
    return rows().filter(Q(task=None) & (Q(due_at=None) | Q(removals__gt=0))).count()


def due() -> int:
    """Return how many files may be removed now."""
    return rows().filter(_due()).count()


def _due() -> Q:
    return Q(task=None) & (Q(due_at=None) | Q(due_at__lte=timezone.now()))


def _take(condition: Q) -> bool:
    """Take a file for removal, so that nobody else removes it at the same time; if this process dies, it is due again
    after a while."""
    taken = rows().filter(condition).update(removals=F("removals") + 1, due_at=timezone.now() + RETRY)
    return taken == 1


def _remove(file: StoredFile) -> bool:
    """Remove bytes and row of a file that was taken; False: the storage does not do it now, which stands in the row."""
    try:
        storage = storages[file.storage]
        problem: Exception = OSError("The storage says that it has removed the file, and still has it")
        try:
            storage.delete(file.name)
        except Exception as error:  # some raise for a file that is not there
            problem = error
        if storage.exists(file.name):
            raise problem
    except Exception as error:  # storages have errors of their own
        pause = min(RETRY * 2 ** min(file.removals - 1, _DOUBLINGS), LONGEST_RETRY)
        rows().filter(pk=file.pk).update(due_at=timezone.now() + pause, last_error=f"{type(error).__name__}: {error}")
        logger.warning("File %s could not be removed from storage %r: %s", file.pk, file.storage, error)
        return False
    rows().filter(pk=file.pk).delete()
    return True
