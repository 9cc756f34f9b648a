from __future__ import annotations

from django.apps import AppConfig


class ScriptedConfig(AppConfig):
    name = "example_project.scripted"
    label = "scripted"
    verbose_name = "Scripted agent"
