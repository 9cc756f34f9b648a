"""Files of tasks: large parts whose bytes are in one of the site's storages (docs/files.md)."""

from __future__ import annotations

import secrets
import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from a2a_django.models.tasks import Task


def new_secret() -> str:
    """Return what nobody guesses, in hexadecimal digits."""
    return secrets.token_hex(16)


class StoredFile(models.Model):
    """The bytes of one part, under ``name`` in the storage with the alias ``storage``.

    The row is made before the bytes are written, and gets its task in the transaction in which the part comes into the
    task. So there are no bytes without a row, and a row says what is to become of them:

    * with a task: it is a part of the task;
    * without, and with ``due_at``: it is on its way into a task, until then. A process that dies leaves it so;
    * without both: its task has been deleted. The bytes and the row are to be removed.

    ``removals`` counts the tries to remove it; once there was one, no task can get it.
    """

    id = models.UUIDField(_("id"), primary_key=True, default=uuid.uuid4, editable=False)
    task = models.ForeignKey(
        Task, models.SET_NULL, null=True, blank=True, related_name="files", verbose_name=_("task"), db_index=False
    )
    storage = models.CharField(_("storage"), max_length=100)
    name = models.CharField(_("name in the storage"), max_length=255)
    secret = models.CharField(max_length=32, default=new_secret, editable=False)
    size = models.PositiveBigIntegerField(_("size"), help_text=_("Bytes."))
    sha256 = models.CharField(_("SHA-256"), max_length=64)
    media_type = models.TextField(_("media type"), blank=True, default="")
    filename = models.TextField(_("file name"), blank=True, default="")
    created_at = models.DateTimeField(_("created"))
    due_at = models.DateTimeField(_("to be removed"), null=True, blank=True)
    removals = models.PositiveIntegerField(_("tries to remove it"), default=0)
    last_error = models.TextField(_("last error"), blank=True, default="")

    class Meta:
        verbose_name = _("stored file")
        verbose_name_plural = _("stored files")
        ordering = ["created_at"]
        indexes = [models.Index(fields=["task", "due_at"], name="a2a_file_task")]

    def __str__(self) -> str:
        return self.name
