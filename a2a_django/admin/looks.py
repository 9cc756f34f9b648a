"""Small pieces of pages: a state as a badge, a moment with its age, an id that fits into a column."""

from __future__ import annotations

import datetime as dt

from django.utils import formats, timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from a2a_django.admin.parts import visible
from a2a_django.models import TaskState


def badge(state: str) -> SafeString:
    """Return a state in words, coloured by the style sheet; the words are enough without colours."""
    words = TaskState(state).label if state in TaskState.values else state
    name = state.removeprefix("TASK_STATE_").lower().replace("_", "-")
    return format_html('<span class="a2a-state a2a-state-{}">{}</span>', name, words)


def age(moment: dt.datetime | None) -> SafeString | str:
    """Return how long ago a moment was; the moment itself is there for whoever points at it, and for machines."""
    if moment is None:
        return "-"
    local = timezone.localtime(moment)
    words = formats.date_format(local, "DATETIME_FORMAT")
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', moment.isoformat(), words, timesince(moment, depth=1)
    )


def short(pk: str) -> SafeString:
    """Return an id by its beginning and its end; all of it is there for whoever points at it."""
    return format_html('<span class="a2a-id a2a-short" title="{}">{}…{}</span>', pk, pk[:8], pk[-6:])


def line(text: str, longest: int = 80) -> str:
    """Return a text that somebody else has chosen, as one line of a column."""
    text = visible(text.replace("\n", " "))
    return text if len(text) <= longest else text[: longest - 1] + "…"
