"""OpenTelemetry: spans and metrics through its API; which SDK collects them is the site's affair.

A call is a child of the span that is current (the site's own instrumentation of Django), else of the trace context
that the request came with.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

from django.core.exceptions import ImproperlyConfigured

from a2a_django.protocol.errors import A2AError

try:
    from opentelemetry import context, metrics, trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError as missing:
    raise ImproperlyConfigured("A2A['OPENTELEMETRY'] needs the package: pip install 'a2a-django[otel]'") from missing

NAME: Final = "a2a_django"
_W3C: Final = TraceContextTextMapPropagator()

Attributes = dict[str, str | int | bool]


class OpenTelemetry:
    """The observer of ``a2a_django.telemetry``."""

    def __init__(self) -> None:
        self._tracer = trace.get_tracer(NAME)
        meter = metrics.get_meter(NAME)
        self._calls = Measure(
            meter.create_histogram("a2a.server.call.duration", unit="s", description="Calls of clients, by operation"),
            meter.create_up_down_counter("a2a.server.open_calls", description="Calls at work, open streams among them"),
            ("a2a.operation", "a2a.binding", "a2a.agent"),
        )
        self._runs = Measure(
            meter.create_histogram("a2a.run.duration", unit="s", description="Runs of agents, by their task's state"),
            meter.create_up_down_counter("a2a.active_runs", description="Runs at work"),
            ("a2a.agent",),
            ("a2a.state",),
        )
        self._deliveries = Measure(
            meter.create_histogram("a2a.push.delivery.duration", unit="s", description="Attempts at webhooks"),
            meter.create_up_down_counter("a2a.push.open_deliveries", description="Attempts at work"),
            (),
            ("http.response.status_code",),
        )

    def call(self, operation: str, *, binding: str, version: str, agent: str, streaming: bool, parent: str) -> OtelSpan:
        """One call of an operation by a client."""
        facts: Attributes = {
            "a2a.operation": operation,
            "a2a.binding": binding,
            "a2a.version": version,
            "a2a.agent": agent,
            "a2a.streaming": streaming,
        }
        # Inside the site's own span the caller's context is that span's parent already.
        around = None if trace.get_current_span().get_span_context().is_valid else _context(parent)
        return OtelSpan(self._tracer, f"a2a {operation}", trace.SpanKind.SERVER, facts, around, self._calls)

    def run(self, agent: str, *, task_id: str, attempt: int, tries: int, parent: str) -> OtelSpan:
        """One run of an agent."""
        facts: Attributes = {"a2a.agent": agent, "a2a.task.id": task_id, "a2a.attempt": attempt, "a2a.tries": tries}
        return OtelSpan(self._tracer, f"run {agent}", trace.SpanKind.INTERNAL, facts, _context(parent), self._runs)

    def delivery(self, host: str, *, task_id: str, attempt: int, parent: str) -> OtelSpan:
        """One POST to a webhook."""
        facts: Attributes = {
            "server.address": host,
            "http.request.method": "POST",
            "a2a.task.id": task_id,
            "a2a.attempt": attempt,
        }
        return OtelSpan(self._tracer, "push", trace.SpanKind.CLIENT, facts, _context(parent), self._deliveries)


class Measure:
    """How long things of one kind take, and how many are at work, by some of their facts: ``known`` from the start,
    ``found`` at the end."""

    def __init__(self, duration: Any, active: Any, known: tuple[str, ...], found: tuple[str, ...] = ()) -> None:
        self._duration, self._active = duration, active
        self._known, self._found = known, found

    def begin(self, facts: Attributes) -> None:
        """One more is at work."""
        self._active.add(1, {name: facts[name] for name in self._known})

    def end(self, facts: Attributes, seconds: float, error: str) -> None:
        """One less is."""
        known = {name: facts[name] for name in self._known}
        self._active.add(-1, known)
        found = {name: facts[name] for name in self._found if name in facts}
        self._duration.record(seconds, {**known, **found, **({"error.type": error} if error else {})})


class OtelSpan:
    """A span with its measures; see ``a2a_django.telemetry.Span``."""

    def __init__(
        self,
        tracer: trace.Tracer,
        name: str,
        kind: trace.SpanKind,
        facts: Attributes,
        around: context.Context | None,
        measure: Measure,
    ) -> None:
        self._facts, self._measure, self._around = facts, measure, around
        self._span = tracer.start_span(name, context=around, kind=kind, attributes=facts)
        self._kept = self._over = False
        self._error = ""
        self._token: Any = None
        self._began = time.perf_counter()
        carrier: dict[str, str] = {}
        _W3C.inject(carrier, trace.set_span_in_context(self._span))
        self.traceparent = carrier.get("traceparent", "")
        measure.begin(facts)

    def __enter__(self) -> Self:
        self._token = context.attach(trace.set_span_in_context(self._span, self._around))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        context.detach(self._token)
        if error is not None or not self._kept:
            self.end(error if isinstance(error, Exception) else None)  # a caller who leaves is no error

    def note(self, **facts: str | int | bool) -> None:
        """Add facts; the names are those of the attributes with "_" for "."."""
        for name, value in facts.items():
            self._facts[_NAMES[name]] = value
            self._span.set_attribute(_NAMES[name], value)

    def fail(self, error: Exception | str) -> None:
        """It has failed: an exception, or a short word for the kind of failure."""
        if isinstance(error, str):
            self._error = error
            self._span.set_status(trace.StatusCode.ERROR, error)
        elif isinstance(error, A2AError):  # its text is made for callers
            self._error = error.reason
            self._span.set_status(trace.StatusCode.ERROR, error.message)
        else:
            self._error = type(error).__qualname__
            self._span.record_exception(error)
            self._span.set_status(trace.StatusCode.ERROR, self._error)
        self._span.set_attribute("error.type", self._error)

    def keep(self) -> None:
        """Go on after the block."""
        self._kept = True

    def end(self, error: Exception | None = None) -> None:
        """End the span once."""
        if self._over:
            return
        self._over = True
        if error is not None:
            self.fail(error)
        self._measure.end(self._facts, time.perf_counter() - self._began, self._error)
        self._span.end()


_NAMES: Final[Mapping[str, str]] = {
    "task_id": "a2a.task.id",
    "state": "a2a.state",
    "status": "http.response.status_code",
}


def _context(traceparent: str) -> context.Context:
    """Return the context of a cause, an empty one for none: what happens to be current caused nothing here."""
    return _W3C.extract({"traceparent": traceparent} if traceparent else {}, context.Context())
