"""ASGI applications of sites that the checks are asked about."""

from __future__ import annotations

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application as get_django_application

from a2a_django.asgi import get_asgi_application

django = get_django_application()
consumers = get_asgi_application(django)
routed = ProtocolTypeRouter({"http": consumers})
routed_elsewhere = ProtocolTypeRouter({"http": django, "websocket": consumers})
