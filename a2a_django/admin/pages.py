"""The list of tasks, page by page along the primary key: what a page costs does not depend on how many rows there are.

Nothing is counted. The ids of tasks begin with the time of their making, so the newest come first; a page is named by
the id that it begins after.
"""

from __future__ import annotations

import re
from typing import Any, Final

from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.db import connections
from django.db.models import QuerySet
from django.http import HttpRequest

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class KeysetList(ChangeList):
    """A change list whose page parameter is an id: ``?p=ID`` for what is older, ``?p=-ID`` for what is newer."""

    #: Where the neighbouring pages are, "" where there are none.
    newer = ""
    older = ""

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        """Newest first, always: that order needs no other index."""
        return ["-pk"]

    def get_results(self, request: HttpRequest) -> None:
        """Fetch one page, and one row more to know whether there are others."""
        place = request.GET.get(PAGE_VAR, "")
        backwards, pk = place.startswith("-"), place.removeprefix("-")
        rows = self.queryset
        if not _ID.fullmatch(pk):
            backwards, pk = False, ""
        elif backwards:
            rows = rows.filter(pk__gt=pk).order_by("pk")
        else:
            rows = rows.filter(pk__lt=pk)
        found = list(rows[: self.list_per_page + 1])
        more = len(found) > self.list_per_page
        found = found[: self.list_per_page]
        if backwards:
            found.reverse()
        if found and (more if backwards else pk):
            self.newer = self.get_query_string({PAGE_VAR: f"-{found[0].pk}"})
        if found and (backwards or more):
            self.older = self.get_query_string({PAGE_VAR: found[-1].pk})
        self.result_list = found
        self.result_count = len(found)
        self.full_result_count = None
        self.show_full_result_count = False
        self.show_admin_actions = True
        self.can_show_all = self.multi_page = False
        self.paginator = self.model_admin.get_paginator(request, rows, self.list_per_page)

    @property
    def estimate(self) -> int | None:
        """About how many rows there are, where the database knows that without counting."""
        connection = connections[self.root_queryset.db]
        if connection.vendor != "postgresql" or self.root_queryset.query.where:
            return None
        with connection.cursor() as cursor:
            cursor.execute("SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass", [self.opts.db_table])
            found = cursor.fetchone()
        return int(found[0]) if found and found[0] > 0 else None
