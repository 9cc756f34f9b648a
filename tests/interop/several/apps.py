from __future__ import annotations

from django.apps import AppConfig


class SeveralConfig(AppConfig):
    name = "tests.interop.several"
    label = "several"
