"""The operator's desk: what the people who run a site see of its agents in Django's admin.

Imported by nobody but the admin itself (``admin.autodiscover``), so a site without ``django.contrib.admin`` lacks
nothing else. A site with an ``AdminSite`` of its own has everything there, too::

    from a2a_django.admin import register

    register(my_site)
"""

from __future__ import annotations

from django.contrib import admin

from a2a_django.admin.registration import register

register(admin.site)

__all__ = ["register"]
