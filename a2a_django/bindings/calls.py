"""What the HTTP bindings share: from an exchange and a decoded request to the call of an operation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, cast

from a2a_django import engine, telemetry
from a2a_django.access import challenge_for, check_agent, keep_watch, owner_at, permit, resolve_agent
from a2a_django.agents import Agent
from a2a_django.bindings import older, sse
from a2a_django.bindings.http import Exchange
from a2a_django.conf import a2a_settings
from a2a_django.files.links import Links
from a2a_django.operations import EventStream, Operation
from a2a_django.operations.context import CallContext
from a2a_django.protocol import extensions, tracing, versions
from a2a_django.protocol.errors import InvalidParamsError, UnauthenticatedError
from a2a_django.protocol.wire import Wire

Pairs = list[tuple[str, str]]

#: Digits of an event's number.
MAX_NUMBER: Final = 10


def version_of(exchange: Exchange, pairs: Pairs, native: str = versions.V1_0) -> str:
    """Return the version the request is answered in (D-09): ``native``, that of its method, path or service.

    Raises ``VersionNotSupportedError`` when the request names another one.
    """
    header = exchange.headers.get("a2a-version")
    if header == native:
        return header
    return versions.negotiate(
        header, _query_version(pairs), native=native, strict=a2a_settings.STRICT_VERSION, supported=older.versions()
    )


def names_version(exchange: Exchange, pairs: Pairs) -> bool:
    """Whether the request names a version, in the header or in the query."""
    return bool(versions.named(exchange.headers.get("a2a-version"), _query_version(pairs)))


def _query_version(pairs: Pairs) -> str | None:
    return next((value for name, value in pairs if name.lower() == "a2a-version"), None)


def tenant_of(path: str, pairs: Pairs, request: Wire) -> str:
    """Return the one tenant that path, query and request name, "" for none (D-08).

    Raises ``InvalidParamsError`` when they name different ones.
    """
    named = {path, request.get("tenant", ""), *(value for name, value in pairs if name == "tenant")} - {""}
    if len(named) > 1:
        raise InvalidParamsError.of("tenant", "given more than once with different values")
    return named.pop() if named else ""


async def context(
    exchange: Exchange,
    operation: Operation,
    *,
    binding: str,
    version: str,
    tenant: str,
    agent: Agent | None = None,
    numbered: bool = False,
) -> CallContext:
    """Return the context of a call, after the checks that are the same for all operations.

    ``agent`` is the one of the tenant where it is known already, ``numbered`` says that the binding tells the numbers
    of events, so that a caller may name one. Raises what ``resolve_agent`` and ``permit`` raise,
    and ``ExtensionSupportRequiredError``.
    """
    engine.get()  # the first call takes up what a process that died has left
    if agent is None:
        agent = await resolve_agent(tenant, in_path=False)
    check_agent(exchange.identity.auth, agent.slug)
    if agent.permissions:
        await permit(exchange.identity, agent.permissions, tenant=tenant)
    asked = asked_extensions(exchange)
    if operation.required_extensions or a2a_settings.REQUIRE_EXTENSIONS_EVERYWHERE:
        extensions.require((offer.uri for offer in agent.extensions if offer.required), asked)
    traceparent = tracing.parse(exchange.headers.get(tracing.NAME, ""))
    return CallContext(
        agent=agent,
        tenant=tenant,
        owner=owner_at(tenant, exchange.identity.owner),
        user=exchange.identity.user,
        version=version,
        extensions=asked,
        binding=binding,
        streaming=exchange.streaming,
        base=exchange.base,
        traceparent=traceparent,
        identity=exchange.identity,
        after=last_event(exchange) if numbered and operation.streaming else None,
    )


def last_event(exchange: Exchange) -> int | None:
    """Return the number in Last-Event-ID, None without one. What is no number of ours is ignored, as ids are texts
    without a meaning to a client, who sends back what another server may have told."""
    value = exchange.headers.get("last-event-id", "")
    return int(value) if value.isascii() and value.isdigit() and len(value) <= MAX_NUMBER else None


def asked_extensions(exchange: Exchange) -> tuple[str, ...]:
    """Return the extensions that the request asks for, in either header (D-11)."""
    get = exchange.headers.get
    lines = [line for line in (get("a2a-extensions"), get("x-a2a-extensions")) if line]
    return extensions.parse_header(lines) if lines else ()


def extension_headers(call: CallContext) -> dict[str, str]:
    """Return the header that tells which extensions are active, if there are any (R-230, D-10)."""
    if not call.extensions:
        return {}
    active: Iterable[str] = call.activated()
    return {extensions.NAME: ", ".join(active)} if active else {}


async def text_of(operation: Operation, call: CallContext, request: Wire) -> str:
    """Return what an operation that does not stream answers, with addresses for stored parts."""
    return links_of(call).resolved(cast(str, await _answer_of(operation, call, request)))


async def events_of(operation: Operation, call: CallContext, request: Wire) -> sse.Events:
    """Return what an operation that streams answers, with addresses for stored parts; it ends when the caller loses the
    right to it."""
    events = cast(EventStream, await _answer_of(operation, call, request))
    events.outgoing = links_of(call).resolved
    if call.identity is not None:
        keep_watch(events, call.identity, call.agent.permissions, call.tenant, call.agent.slug)
    return events


def links_of(call: CallContext) -> Links:
    """Return what writes the addresses of a caller's files."""
    return Links(call.base.endpoint, call.owner)


async def _answer_of(operation: Operation, call: CallContext, request: Wire) -> str | EventStream:
    """Carry out an operation, under the eyes of whoever watches; what it causes has the trace of this call."""
    fields = {
        "a2a_operation": operation.name,
        "a2a_binding": call.binding,
        "a2a_agent": call.agent.slug,
        "a2a_trace": tracing.trace_id(call.traceparent),
    }
    token = telemetry.at_work.set(fields)
    try:
        return await _observed(operation, call, request)
    finally:
        telemetry.at_work.reset(token)  # a server's threads go on to other requests


async def _observed(operation: Operation, call: CallContext, request: Wire) -> str | EventStream:
    if (observer := telemetry.observer()) is None:
        return await operation.call(call, request)
    with observer.call(
        operation.name,
        binding=call.binding,
        version=call.version,
        agent=call.agent.slug,
        streaming=operation.streaming,
        parent=call.traceparent,
    ) as span:
        answer = await operation.call(replace(call, traceparent=span.traceparent), request)
        if isinstance(answer, EventStream):
            answer.on_end = span.end
            span.keep()
        return answer


async def open_stream(operation: Operation, call: CallContext, request: Wire, frames: sse.MakeFrames) -> sse.Frames:
    """Take a place for a stream and start the operation; what goes wrong here is still an ordinary answer (D-07).

    Raises ``ThrottledError`` or ``UnavailableError`` where there is no place, before the operation has done anything,
    and what it raises.
    """
    place = sse.places.take(call.owner)
    try:
        return frames(await events_of(operation, call, request), place)
    except BaseException:
        place.release()
        raise


def with_challenge(error: Exception, exchange: Exchange) -> Exception:
    """Give an ``UnauthenticatedError`` of an operation the challenge that the site's authenticators would give."""
    if isinstance(error, UnauthenticatedError) and error.challenge is None:
        error.challenge = challenge_for(exchange.identity)
    return error
