"""The example site for ASGI servers: agents are called without a thread, people get their pages from Django."""

from __future__ import annotations

import os

from a2a_django.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "example_project.settings")

application = get_asgi_application()
