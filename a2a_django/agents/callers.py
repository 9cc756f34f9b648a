"""Callers who are no users of the site."""

from __future__ import annotations

from typing import Any, Final

#: Stands before the names of programs among the owners, so that none is taken for the primary key of a user.
APPLICATION: Final = "app:"


class Application:
    """A caller whose credentials name a program and no user, as those of OAuth's client credentials flow do.

    It stands where a user does: known, but without permissions of Django's, and without a row.
    """

    is_authenticated: Final = True
    is_anonymous: Final = False
    is_active: Final = True
    is_staff: Final = False
    is_superuser: Final = False

    def __init__(self, client_id: str) -> None:
        self.pk = self.id = APPLICATION + client_id
        self.client_id = client_id

    def __str__(self) -> str:
        return self.client_id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Application) and other.pk == self.pk

    def __hash__(self) -> int:
        return hash(self.pk)

    def get_username(self) -> str:
        """Return the name of the program."""
        return self.client_id

    @property
    def username(self) -> str:
        """The name of the program."""
        return self.client_id

    def has_perm(self, perm: str, obj: Any = None) -> bool:
        """Return False: permissions belong to users."""
        return False

    def has_perms(self, perm_list: Any, obj: Any = None) -> bool:
        """Return False, but for no permissions at all."""
        return not list(perm_list)

    def has_module_perms(self, module: str) -> bool:
        """Return False."""
        return False
