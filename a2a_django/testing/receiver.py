"""A receiver of notifications that is no server: what the site sends to its address is handed to it in the process.

Everything else is as in production: the rows, the order, the signatures, what happens after a failure.
"""

from __future__ import annotations

import itertools
import json
from collections import deque
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from django.test import RequestFactory

from a2a_django.conf import a2a_settings
from a2a_django.protocol.versions import V0_3
from a2a_django.protocol.wire import Wire
from a2a_django.push.signing import JWT
from a2a_django.push.transport import Outcome, Transport
from a2a_django.signing import public_jwks
from a2a_django.testing.results import Event
from a2a_django.webhooks import TOKEN_HEADERS, InvalidNotification, verify

_numbers = itertools.count(1)

HOST: Final = "receiver.test"
TOKEN: Final = "a-token-of-the-receiver"  # noqa: S105 - a receiver that is none has no secret


class Push:
    """One notification: what was sent, and the event in it."""

    def __init__(self, body: bytes, headers: Mapping[str, str], event: Event) -> None:
        self.body = body
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.event = event

    @property
    def task_id(self) -> str:
        """The task it is about."""
        return self.event.task_id

    @property
    def kind(self) -> str:
        """Which kind of event it is."""
        return self.event.kind

    @property
    def state(self) -> str:
        """The state it tells, "" for none."""
        return self.event.state

    @property
    def text(self) -> str:
        """The text it brings."""
        return self.event.text

    def __repr__(self) -> str:
        return f"<Push {self.event!r}>"


class FakeReceiver:
    """A webhook: ``client.send("...", push=FakeReceiver())``.

    It checks each notification as a careful receiver does: the token, and where the site signs
    (``A2A["WEBHOOK_SIGNATURES"]``) the signatures. One that is not good is answered with an error and stands in
    ``refused``; the others are in ``pushes``.
    """

    def __init__(self, *, url: str = "", token: str = TOKEN, config_id: str = "") -> None:
        self.url = url or f"https://{HOST}/{next(_numbers)}"
        self.token = token
        self.config_id = config_id
        self.pushes: list[Push] = []
        #: Why notifications were refused.
        self.refused: list[InvalidNotification] = []
        self._answers: deque[int] = deque()

    def fail(self, status: int = 503, times: int = 1) -> None:
        """Answer the next notifications with an error, and do not take them."""
        self._answers.extend([status] * times)

    @property
    def states(self) -> list[str]:
        """The states that were told, in order."""
        return [push.state for push in self.pushes if push.state]

    @property
    def text(self) -> str:
        """The texts of all pieces of artifacts that were told, as one."""
        return "".join(push.text for push in self.pushes if push.kind == "artifact")

    @property
    def config(self) -> Wire:
        """The webhook as a client registers it."""
        found: Wire = {"url": self.url}
        if self.token:
            found["token"] = self.token
        if self.config_id:
            found["id"] = self.config_id
        return found

    def receive(self, body: bytes, headers: Mapping[str, str]) -> int:
        """Take a notification and return the HTTP status of the answer."""
        if self._answers:
            return self._answers.popleft()
        try:
            self.pushes.append(Push(body, headers, self._checked(body, headers)))
        except InvalidNotification as error:
            self.refused.append(error)
            return error.status
        return 200

    def _checked(self, body: bytes, headers: Mapping[str, str]) -> Event:
        if headers.get("A2A-Version") == V0_3:  # these are tasks, and ``verify`` is for those of 1.0
            if self.token and headers.get(TOKEN_HEADERS[0]) != self.token:
                raise InvalidNotification("The request has another token")
            from a2a_django.testing import old

            return Event(old.pushed(json.loads(body)))
        proofs: dict[str, Any] = {"token": self.token or None}
        if JWT in a2a_settings.WEBHOOK_SIGNATURES:
            proofs |= {"jwks": public_jwks(), "issuer": a2a_settings.BASE_URL, "audience": self.url}
        if not any(proofs.values()):
            return Event(json.loads(body))
        parts = urlsplit(self.url)
        content_type = headers.get("Content-Type", "")
        rest = {name: value for name, value in headers.items() if name != "Content-Type"}
        request = RequestFactory().post(parts.path, body, content_type, secure=True, headers=rest)
        return Event(verify(request, **proofs).event)

    def __repr__(self) -> str:
        return f"<FakeReceiver {self.url}: {len(self.pushes)} pushes>"


class Receivers:
    """The receivers of a test, by address."""

    def __init__(self) -> None:
        self._known: dict[str, FakeReceiver] = {}

    def add(self, receiver: FakeReceiver) -> None:
        """Have notifications to the receiver's address handed to it."""
        self._known[receiver.url] = receiver

    def all(self) -> list[FakeReceiver]:
        """Return them all."""
        return list(self._known.values())

    def transport(self) -> Transport:
        """Return what the sender sends with."""
        return _Transport(self._known)


class _Transport(Transport):
    def __init__(self, known: Mapping[str, FakeReceiver]) -> None:
        self._receivers = known

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Outcome:  # noqa: ASYNC109
        receiver = self._receivers.get(url)
        if receiver is None:
            return Outcome(error="nothing is sent from tests but to a FakeReceiver")
        status = receiver.receive(body, headers)
        if 200 <= status < 300:
            return Outcome(status)
        return Outcome(status, f"answered {status}")

    async def close(self) -> None:
        """There is no connection."""
