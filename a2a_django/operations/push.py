"""The four operations on push notification configs (Spec 3.1.7 to 3.1.10); no agent of this site offers them yet."""

from __future__ import annotations

from typing import NoReturn

from a2a_django.operations.context import CallContext
from a2a_django.protocol.errors import PushNotificationNotSupportedError
from a2a_django.protocol.wire import Wire


async def refuse(call: CallContext, request: Wire) -> NoReturn:
    """Raise ``PushNotificationNotSupportedError``, as an agent without the capability has to (R-102)."""
    raise PushNotificationNotSupportedError()
