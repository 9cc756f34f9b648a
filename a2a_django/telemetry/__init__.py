"""What the package tells somebody who watches: calls, runs and deliveries, as one trace.

Nobody watches by default, and then it costs one comparison. ``A2A["OPENTELEMETRY"] = True`` has OpenTelemetry watch
(extra ``otel``). A call, the run that it causes, wherever and whenever that takes place, and what webhooks are told of
it have one trace: its W3C context travels in the rows.

The context variables behind ``a2a_django.logs`` are set whether anybody watches or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, Protocol, Self

from django.core.signals import setting_changed

from a2a_django.conf import a2a_settings

#: What the running code is at: names of ``a2a_django.logs.FIELDS`` with their values.
at_work: Final[ContextVar[Mapping[str, str]]] = ContextVar("a2a_django_at_work")


class Span(Protocol):
    """One thing that is being done. It is the current one inside its ``with`` block, which ends it, too, unless
    ``keep`` was called; then ``end`` does."""

    #: Its W3C trace context, for whatever it causes.
    traceparent: str

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End, unless it was kept; an exception ends it in any case."""

    def note(self, **facts: str | int | bool) -> None:
        """Add facts that are known only now."""

    def fail(self, error: Exception | str) -> None:
        """It has failed: an exception, or a short word for the kind of failure."""

    def keep(self) -> None:
        """Go on after the block."""

    def end(self, error: Exception | None = None) -> None:
        """End what was kept, with what went wrong at last; a second time does nothing."""


class Observer(Protocol):
    """Somebody who watches. ``parent`` is the W3C trace context of the cause, "" for none."""

    def call(self, operation: str, *, binding: str, version: str, agent: str, streaming: bool, parent: str) -> Span:
        """One call of an operation by a client; a streaming one lasts as long as its stream."""

    def run(self, agent: str, *, task_id: str, attempt: int, tries: int, parent: str) -> Span:
        """One run of an agent."""

    def delivery(self, host: str, *, task_id: str, attempt: int, parent: str) -> Span:
        """One POST to a webhook."""


_observer: Observer | None = None
_is_known = False


def observer() -> Observer | None:
    """Return who watches, None for nobody. Raises ``ImproperlyConfigured`` when the packages are missing."""
    global _observer, _is_known
    if not _is_known:
        if a2a_settings.OPENTELEMETRY:
            from a2a_django.telemetry.otel import OpenTelemetry

            _observer = OpenTelemetry()
        _is_known = True
    return _observer


def _forget(*, setting: str, **kwargs: Any) -> None:
    global _observer, _is_known
    if setting == "A2A":
        _observer, _is_known = None, False


setting_changed.connect(_forget)
