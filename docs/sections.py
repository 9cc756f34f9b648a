"""The sections of the specification (A2A 1.0.1) that ask something of a server, in our own words.

``docs/generate.py`` makes the compliance matrix of them and of the tests that are marked ``spec``.
What is not supported stands below them.
"""

from __future__ import annotations

from typing import Final

SECTIONS: Final[tuple[tuple[str, str], ...]] = (
    ("2.2", "Kinds of objects are told apart by the member that is present"),
    ("3.1.1", "Send Message"),
    ("3.1.2", "Send Streaming Message"),
    ("3.1.3", "Get Task"),
    ("3.1.4", "List Tasks"),
    ("3.1.5", "Cancel Task"),
    ("3.1.6", "Subscribe to Task"),
    ("3.1.7", "Create Push Notification Config"),
    ("3.1.8", "Get Push Notification Config"),
    ("3.1.9", "List Push Notification Configs"),
    ("3.1.10", "Delete Push Notification Config"),
    ("3.1.11", "Get Extended Agent Card"),
    ("3.2.2", "Blocking and immediate answers"),
    ("3.2.4", "History length"),
    ("3.2.5", "Metadata"),
    ("3.2.6", "Service parameters"),
    ("3.3.1", "Idempotency"),
    ("3.3.2", "Error handling"),
    ("3.3.3", "Messages to tasks at work"),
    ("3.3.4", "Capabilities are checked"),
    ("3.4.1", "Context ids"),
    ("3.4.2", "Task ids"),
    ("3.4.3", "Multi-turn conversations"),
    ("3.5.2", "Streaming: order, several streams, resubscription"),
    ("3.6", "Versions are negotiated"),
    ("3.7", "Messages and artifacts"),
    ("4.1", "Objects: task, status, message, part, artifact"),
    ("4.2", "Events of a stream"),
    ("4.3.3", "Push notifications: payload, delivery, retries"),
    ("4.4", "Objects of the agent card"),
    ("4.6", "Extensions"),
    ("5.1", "The bindings do the same"),
    ("5.3", "Methods, paths and RPCs of each binding"),
    ("5.4", "Errors in each binding"),
    ("5.5", "Names in JSON"),
    ("5.6", "Timestamps"),
    ("5.7", "Required, optional and unknown fields"),
    ("7.3", "Credentials in headers and metadata"),
    ("7.4", "Every request is authenticated"),
    ("7.5", "Authorization"),
    ("7.6", "Authorization in the middle of a task"),
    ("8.2", "Discovery of the card"),
    ("8.3", "Interfaces of the card"),
    ("8.4", "Signed cards"),
    ("8.6", "Caching of cards"),
    ("9", "JSON-RPC binding"),
    ("10", "gRPC binding"),
    ("11", "HTTP+JSON binding"),
    ("13.1", "Tasks are scoped to their callers"),
    ("13.2", "Security of push notifications"),
    ("13.3", "Security of the extended card"),
    ("13.4", "Limits, throttles, secrets, deletion"),
    ("14.1", "Media types"),
    ("14.2", "Header names"),
    ("14.3", "The well-known address"),
    ("A", "Clients of version 0.3"),
)

NOT_SUPPORTED: Final[tuple[tuple[str, str], ...]] = (
    ("12", "Custom bindings: none is served."),
    ("7.6.3", "Credentials inside messages: an agent gets them out of band, or by an extension of its own."),
    ("4.6", "Method extensions (new RPCs) are not dispatched; data, profile and state extensions are up to the agent."),
    ("3.1.9", "The list of push notification configs is never paged: a task has at most `MAX_PUSH_CONFIGS`."),
    ("11.1", "`PUT` is used by no operation and is refused with 405."),
)
