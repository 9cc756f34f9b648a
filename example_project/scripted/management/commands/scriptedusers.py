from __future__ import annotations

import json
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand

from a2a_django.models import APIKey


class Command(BaseCommand):
    help = "Makes the users alice and bob; prints their Authorization headers as JSON."

    def handle(self, *args: Any, **options: Any) -> None:
        headers = {}
        for name in ("alice", "bob"):
            user = get_user_model().objects.create_user(name)
            __, key = APIKey.objects.create_key(user=user, name="acceptance")
            headers[name] = f"Bearer {key}"
        self.stdout.write(json.dumps(headers))
