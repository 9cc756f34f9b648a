from __future__ import annotations

from django.apps import AppConfig


class LastingConfig(AppConfig):
    name = "tests.processes.lasting"
    label = "lasting"
