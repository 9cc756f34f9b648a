"""System checks: what is wrong with the site's settings or agents, said by ``manage.py check`` and not by a caller.

``manage.py check --tag a2a_django`` runs these alone. Nothing here touches the database.
"""

from __future__ import annotations

from a2a_django.checks import access, agents, doors, files, keys, runners, setting, site

__all__ = ["access", "agents", "doors", "files", "keys", "runners", "setting", "site"]
