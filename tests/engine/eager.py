"""A Celery app that carries out its tasks where they are sent."""

from __future__ import annotations

from celery import Celery

app = Celery("eager", set_as_current=False)
app.conf.task_always_eager = True
