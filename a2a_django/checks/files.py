"""Where large parts go: is there such a storage, does the site know its own address, who else reads there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import Error, Tags, Warning, register
from django.core.files.storage import FileSystemStorage, InMemoryStorage, InvalidStorageError, Storage, storages

from a2a_django.checks.rules import TAG, Apps, Messages
from a2a_django.checks.setting import RULES
from a2a_django.conf import a2a_settings


def _alias() -> str | None:
    """Return the alias in the setting; None without one, and where E003 has something to say about it."""
    alias = a2a_settings.FILE_STORAGE
    return alias if RULES["FILE_STORAGE"].fits(alias) else None


@register(TAG, Tags.files)
def check_storage(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that the storage is there (E070), lasts (W071) and is not public (W072)."""
    alias = _alias()
    if alias is None:
        return []
    try:
        storage = storages[alias]
    except InvalidStorageError as error:
        hint = f"The aliases in STORAGES are {', '.join(sorted(storages.backends))}."
        text = f"A2A['FILE_STORAGE'] names no storage of this site: {error}"
        return [Error(text, hint=hint, id="a2a_django.E070")]
    if isinstance(storage, InMemoryStorage):
        return [
            Warning(
                f"The storage {alias!r} of A2A['FILE_STORAGE'] is the memory of one process.",
                hint="Its files are lost with the process, and no other process finds them. Use a storage that lasts.",
                id="a2a_django.W071",
            )
        ]
    if not _is_public(storage):
        return []
    return [
        Warning(
            f"The storage {alias!r} of A2A['FILE_STORAGE'] keeps files below MEDIA_ROOT, for everybody to read.",
            hint="Give the files a storage of their own in STORAGES, with a location outside of MEDIA_ROOT.",
            id="a2a_django.W072",
        )
    ]


def _is_public(storage: Storage) -> bool:
    if not isinstance(storage, FileSystemStorage) or not settings.MEDIA_ROOT:
        return False
    return Path(storage.location).resolve().is_relative_to(Path(settings.MEDIA_ROOT).resolve())


@register(TAG, Tags.files)
def check_site_address(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that addresses of files can be written where no request says where the site is: E073."""
    if _alias() is None or a2a_settings.BASE_URL:
        return []
    return [
        Error(
            "A2A['FILE_STORAGE'] is set, and A2A['BASE_URL'] is not.",
            hint="Webhooks and callers over gRPC are told the addresses of files. Set BASE_URL to the site's root.",
            id="a2a_django.E073",
        )
    ]


@register(TAG, Tags.security, deploy=True)
def check_link_holders(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that addresses of files alone do not open them: W074."""
    if _alias() is None or a2a_settings.FILE_URL_AUTH is not False:
        return []
    return [
        Warning(
            "Whoever gets hold of the address of a file may read it until it expires.",
            hint="Leave A2A['FILE_URL_AUTH'] out (then the credentials of the task's owner are asked for), or silence "
            "this check if receivers of webhooks have to read files.",
            id="a2a_django.W074",
        )
    ]
