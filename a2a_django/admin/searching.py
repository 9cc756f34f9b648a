"""What can be typed above the list of tasks. Every kind of search is bounded: an index, or so many rows.

``7f`` and more digits of an id; the id of a context; ``owner:NAME`` and ``tenant:NAME``; ``text:WORDS`` in the newest
messages. Words that are no id and no context are looked for in the newest messages, too.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext_lazy as _

from a2a_django.admin.distinct import values_of
from a2a_django.admin.filters import MOST
from a2a_django.models import Message
from a2a_django.models.fields import key_of

#: So many of the newest messages are read through for words, and so many tasks found at most.
MESSAGES: Final = 5_000
FOUND: Final = 500

HELP: Final = _(
    "The beginning of an id, a context id, owner:NAME, tenant:NAME, or words (text:WORDS) of one of the newest "
    "5,000 messages."
)

_HEX: Final = re.compile(r"[0-9a-f]{4,32}")


def searched(queryset: QuerySet[Any], typed: str) -> QuerySet[Any]:
    """Narrow a list of tasks to what somebody typed."""
    typed = typed.replace("\0", "").strip()
    kind, colon, rest = typed.partition(":")
    if colon and kind == "owner":
        return queryset.filter(agent__in=values_of("agent", MOST), owner=rest.strip()[:190])
    if colon and kind == "tenant":
        return queryset.filter(tenant=rest.strip()[:190])
    if colon and kind == "text":
        return queryset.filter(pk__in=_with_words(rest.strip()))
    context = Q(context_key=key_of(typed))
    digits = typed.lower().replace("-", "")
    if _HEX.fullmatch(digits):
        # Not "begins with": a range of whole ids is answered from the primary key in every database.
        return queryset.filter(context | Q(pk__gte=_id(digits, "0"), pk__lte=_id(digits, "f")))
    return queryset.filter(context | Q(pk__in=_with_words(typed)))


def _id(digits: str, filler: str) -> str:
    whole = digits.ljust(32, filler)
    return f"{whole[:8]}-{whole[8:12]}-{whole[12:16]}-{whole[16:20]}-{whole[20:]}"


def _with_words(words: str) -> list[str]:
    """Return the tasks of the newest messages that have the words in them. The rows are JSON of ASCII characters."""
    if not words:
        return []
    edge = Message.objects.order_by("-pk").values_list("pk", flat=True)[MESSAGES : MESSAGES + 1]
    rows = Message.objects.annotate(words=Cast("wire", TextField())).filter(words__icontains=json.dumps(words)[1:-1])
    if last := list(edge):
        rows = rows.filter(pk__gt=last[0])
    return list(dict.fromkeys(rows.order_by("-pk").values_list("task_id", flat=True)[:FOUND]))
