"""JSON-RPC 2.0 over HTTP (spec 9; R-160 to R-169, D-14, D-15): one exchange in, one answer or stream out."""

from __future__ import annotations

import codecs
import json
import re
from functools import partial
from typing import Any, Final

from a2a_django.bindings import errors, older, sse
from a2a_django.bindings.calls import (
    Pairs,
    context,
    extension_headers,
    names_version,
    open_stream,
    tenant_of,
    text_of,
    version_of,
    with_challenge,
)
from a2a_django.bindings.http import HEAD_BYTES, JSON, Answer, Exchange, StreamAnswer, check_content_type, query_pairs
from a2a_django.conf import a2a_settings
from a2a_django.operations import OPERATIONS
from a2a_django.protocol import codec
from a2a_django.protocol.errors import (
    A2AError,
    InvalidParamsError,
    InvalidRequestError,
    MethodNotAllowedError,
    MethodNotFoundError,
    ParseError,
)

BINDING: Final = "JSONRPC"

#: The one operation that returns nothing; its result has to be there all the same (D-16).
RETURNS_NOTHING: Final = "DeleteTaskPushNotificationConfig"

_ALLOW: Final = ("POST", "OPTIONS")

_DECODER: Final = json.JSONDecoder()
_OPENING, _COLON, _COMMA = (re.compile(rf"[ \t\r\n]*{mark}[ \t\r\n]*") for mark in (r"\{", ":", ","))

_HEADERS: Final = {"Content-Type": JSON, "Cache-Control": "no-store"}


def other_verb(method: str) -> Answer | None:
    """Return the answer to any verb but POST (None); no credentials are needed: browsers ask OPTIONS without."""
    if method == "POST":
        return None
    if method == "OPTIONS":
        return Answer(200, {"Allow": ", ".join(_ALLOW), "Content-Type": "text/plain"}, b"")
    return refuse(MethodNotAllowedError(_ALLOW))


async def handle(exchange: Exchange) -> Answer | StreamAnswer:
    """Answer one POST. Never raises but for cancellation: what goes wrong is an answer too."""
    request_id = "null"
    try:
        check_content_type(exchange.headers.get("content-type", ""), exchange.body)
        envelope = codec.parse_json(exchange.body)
        request_id = id_of(envelope)
        return await _call(exchange, envelope, request_id)
    except Exception as error:
        if request_id == "null" and not isinstance(error, ParseError | InvalidRequestError):
            request_id = peek_id(exchange.body[:HEAD_BYTES])  # refused before it was parsed
        return refuse(with_challenge(error, exchange), request_id)


async def _call(exchange: Exchange, envelope: Any, request_id: str) -> Answer | StreamAnswer:
    method, params = _method_of(envelope)
    pairs = query_pairs(exchange.query)
    if older.speaks_0_3() and _is_old(exchange, method, pairs):
        old: Answer | StreamAnswer = await older.jsonrpc().handle(exchange, method, params, pairs, request_id)
        return old
    version = version_of(exchange, pairs)
    operation = OPERATIONS.get(method)
    if operation is None:
        raise MethodNotFoundError()
    request = codec.decode(operation.request, params)
    tenant = tenant_of("", pairs, request)
    call = await context(exchange, operation, binding=BINDING, version=version, tenant=tenant, numbered=True)
    head = f'{{"jsonrpc":"2.0","id":{request_id},"result":'
    if operation.streaming:
        frames = await open_stream(
            operation,
            call,
            request,
            partial(sse.Frames, error=partial(errors.rpc_text, request_id=request_id), head=head, tail="}"),
        )
        return StreamAnswer(sse.HEADERS | extension_headers(call), frames)
    text = await text_of(operation, call, request)
    if operation.name == RETURNS_NOTHING:
        text = "null"
    return Answer(200, _HEADERS | extension_headers(call), f"{head}{text}}}".encode("ascii"))


def _is_old(exchange: Exchange, method: str, pairs: Pairs) -> bool:
    """Whether a call is one of version 0.3 (D-09): its methods have slashes. One that does not exist and that comes
    without a version is answered in its form, too."""
    if "/" in method:
        return True
    return method not in OPERATIONS and not a2a_settings.STRICT_VERSION and not names_version(exchange, pairs)


def id_of(envelope: Any) -> str:
    """Return the JSON text of a request's id, exactly as it was sent; "null" where there is none (R-162, D-15).

    Raises ``InvalidRequestError`` for batches and everything else that is not one request, and for other kinds of ids.
    """
    if type(envelope) is not dict:
        what = "batches are not supported" if type(envelope) is list else "the body has to be an object"
        raise InvalidRequestError(f"Request payload validation error: {what}")
    request_id = envelope.get("id")
    if request_id is not None and type(request_id) not in (str, int):
        raise InvalidRequestError("Request payload validation error: id has to be a string, a whole number or null")
    return codec.dumps(request_id)


def peek_id(head: bytes) -> str:
    """Return the JSON text of the id near the start of a body that is refused unread, else "null" (D-14).

    ``head`` is the beginning of the body; only the members before the first object or array in it are looked at.
    """
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
        position = _OPENING.match(text)
        while position is not None:
            name, end = _DECODER.raw_decode(text, position.end())
            colon = _COLON.match(text, end)
            if type(name) is not str or colon is None or text[colon.end() : colon.end() + 1] in ("{", "[", ""):
                break
            value, end = _DECODER.raw_decode(text, colon.end())
            position = _COMMA.match(text, end)
            if name == "id":
                # Without what follows the value might be cut off, and is somebody else's id.
                return id_of({"id": value}) if position or text[end:].lstrip()[:1] == "}" else "null"
    except (ValueError, RecursionError, A2AError):
        pass
    return "null"


def _method_of(envelope: dict[str, Any]) -> tuple[str, Any]:
    if envelope.get("jsonrpc") != "2.0":
        raise InvalidRequestError('Request payload validation error: jsonrpc has to be "2.0"')
    method = envelope.get("method")
    if type(method) is not str:
        raise InvalidRequestError("Request payload validation error: method has to be a string")
    params = envelope.get("params")
    if params is None:  # allowed: GetExtendedAgentCard has nothing to say
        params = {}
    elif type(params) is not dict:
        raise InvalidParamsError("Invalid parameters: params has to be an object")
    return method, params


def refuse(error: Exception, request_id: str = "null") -> Answer:
    """Return the answer for an error; ``request_id`` is JSON text. Status 200 but where HTTP has its say (D-15)."""
    known: A2AError = errors.as_a2a(error)
    return Answer(
        errors.rpc_status(known),
        _HEADERS | errors.headers(known),
        errors.rpc_text(known, request_id).encode("ascii"),
    )
