"""The Channels consumers in front of Django's application: the calls are answered without a thread."""

from __future__ import annotations

from a2a_django.asgi import get_asgi_application

application = get_asgi_application()
