"""Tasks and people for tests of the admin."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from a2a_django.engine.jobs import CreateTask, Incoming
from a2a_django.engine.journal import Journal
from a2a_django.models import Task
from a2a_django.models.fields import key_of, uuid7
from tests.engine.kit import message


def operator(*permissions: str, superuser: bool = False, name: str = "operator") -> Client:
    """A client signed in as a member of staff with these permissions of the app, "view_task" for instance."""
    user = get_user_model().objects.create_user(name, password="x", is_staff=True, is_superuser=superuser)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="a2a_django", codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def made(writer: Journal, *parts: dict[str, Any], owner: str = "alice", context: str = "", **more: Any) -> Task:
    """A task with one message of these parts, whose run has begun."""
    context = context or uuid7()
    task = Task(id=uuid7(), context_id=context, context_key=key_of(context), owner=owner, **{"agent": "tested", **more})
    wire = message(**({"parts": list(parts)} if parts else {}))
    return writer.write(CreateTask(task, Incoming(wire, {}), writer.holder)).task


def at(name: str, *arguments: Any, model: str = "task") -> str:
    """The address of a page of the admin."""
    return reverse(f"admin:a2a_django_{model}_{name}", args=arguments)
