"""A page of ListTasks: keyset paging over a covering index, totals from tallies (Spec 3.1.4, D-21).

The page token is the place of the last task of the page (its status time and id), signed (``engine.tokens``).
"""

from __future__ import annotations

import datetime as dt
import struct
from dataclasses import dataclass

from django.db.models import QuerySet, Sum

from a2a_django.engine import snapshots, tokens
from a2a_django.engine.database import alias
from a2a_django.models import Task, TaskTally
from a2a_django.models.fields import key_of
from a2a_django.protocol import wire
from a2a_django.protocol.states import TERMINAL, TaskState

DEFAULT_PAGE = 50
#: The states of tasks that have not ended.
OPEN = sorted(state.value for state in TaskState if state not in TERMINAL)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICRO = dt.timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Query:
    """What a caller asked ListTasks for; ``after`` is inclusive (R-058). With ``nothing`` no task matches."""

    agent: str
    owner: str
    context_id: str = ""
    state: str = ""
    after: dt.datetime | None = None
    page_size: int = DEFAULT_PAGE
    page_token: str = ""
    history_length: int | None = None
    artifacts: bool = False
    nothing: bool = False


def page(query: Query) -> str:
    """Return the text of a ListTasksResponse. Raises ``InvalidParamsError`` for a page token that is not ours."""
    rows = matching(query)
    if query.page_token:
        moment, task_id = read_token(query)
        # The first condition repeats what the others say, in the form that an index can be entered with.
        rows = rows.filter(status_timestamp__lte=moment).exclude(status_timestamp=moment, pk__gte=task_id)
    heads = list(rows.order_by("-status_timestamp", "-pk").values_list(*snapshots.HEAD)[: query.page_size + 1])
    more = len(heads) > query.page_size
    heads = heads[: query.page_size]
    found, _ = snapshots.read_many(heads, history_length=query.history_length, artifacts=query.artifacts)
    token = write_token(query, heads[-1][3], heads[-1][0]) if more else ""
    tasks = ",".join(snapshot.text for snapshot in found)
    return (
        f'{{"tasks":[{tasks}],"nextPageToken":{wire.text_of(token)},'
        f'"pageSize":{query.page_size},"totalSize":{total(query)}}}'
    )


def matching(query: Query) -> QuerySet[Task]:
    """Return the tasks of a query, all pages."""
    rows: QuerySet[Task] = Task.objects.using(alias()).visible_to(agent=query.agent, owner=query.owner)
    if query.nothing:
        return rows.none()
    if query.context_id:
        rows = rows.filter(context_key=key_of(query.context_id))
    if query.state:
        rows = rows.filter(state=query.state)
    if query.after is not None:
        rows = rows.filter(status_timestamp__gte=query.after)
    return rows


def total(query: Query) -> int:
    """Return how many tasks match (R-060); without filters on context and time from the tallies."""
    if query.nothing or query.context_id or query.after is not None:
        return matching(query).count()
    tallies = TaskTally.objects.using(alias()).filter(agent=query.agent, owner=query.owner)
    if query.state in TERMINAL:
        tallies = tallies.filter(state=query.state)
    elif query.state:
        return matching(query).count()
    ended = int(tallies.aggregate(sum=Sum("count"))["sum"] or 0)
    return ended if query.state else ended + matching(query).filter(state__in=OPEN).count()


def _scope(query: Query) -> tokens.Scope:
    after = query.after.isoformat() if query.after else ""
    return ("tasks", query.agent, query.owner, query.context_id, query.state, after)


def write_token(query: Query, moment: dt.datetime, task_id: str) -> str:
    """Return the token of the page that begins after a task."""
    return tokens.write(_scope(query), struct.pack(">q", (moment - _EPOCH) // _MICRO) + task_id.encode())


def read_token(query: Query) -> tuple[dt.datetime, str]:
    """Return the place that a token stands for. Raises ``InvalidParamsError``."""
    place = tokens.read(_scope(query), query.page_token)
    return _EPOCH + struct.unpack(">q", place[:8])[0] * _MICRO, place[8:].decode()
