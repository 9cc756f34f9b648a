"""The playground: an operator talks to an agent as a caller would, and sees what goes over the wire.

The public addresses take the credentials that the site's callers have, which a browser signed in to the admin has not.
So the playground has doors of its own below the admin: for staff with the permission ``use_playground`` only, with a
CSRF token. Behind them are the very functions of the bindings, and the caller is the operator: the owner of the tasks,
the site's permissions and those of agents, quotas and limits are as for any other call of this user.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import NoReverseMatch, URLPattern, path, re_path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_protect

from a2a_django.access import Identity, owner_of, permit
from a2a_django.admin.console import ConsoleAdmin
from a2a_django.admin.words import playground_words
from a2a_django.agents import Agent, registry
from a2a_django.agents.cards import endpoint_path
from a2a_django.agents.directory import shown_as
from a2a_django.bindings import addresses, jsonrpc, older, rest
from a2a_django.bindings.http import Answer, Exchange, StreamAnswer
from a2a_django.bindings.views.carrier import (
    MetaHeaders,
    answered,
    exchange_of,
    is_asgi,
    raw_path,
    read_head,
    response_of,
)
from a2a_django.conf import a2a_settings
from a2a_django.models import AgentSetting, Task
from a2a_django.protocol.errors import PermissionDeniedError, UnauthenticatedError

PERMISSION: Final = "a2a_django.use_playground"

View = Callable[..., Awaitable[HttpResponseBase]]
Handle = Callable[[Exchange], Awaitable[Answer | StreamAnswer]]


class PlaygroundViews(ConsoleAdmin):
    """The addresses of the playground, in the admin of agents."""

    def has_playground_permission(self, request: HttpRequest) -> bool:
        """Return whether somebody may talk to agents here; that they may see the admin is another question."""
        return bool(request.user.is_active and request.user.has_perm(PERMISSION))

    def playground_urls(self) -> list[URLPattern]:
        """Return the page's address, and those of the doors."""
        return [
            path("playground/", self.admin_site.admin_view(self.playground), name="a2a_django_playground"),
            path("playground/jsonrpc/", self._door(self._jsonrpc), name="a2a_django_playground_jsonrpc"),
            re_path(r"^playground/rest/(?P<below>(?s:.)+)\Z", self._door(self._rest)),
        ]

    def playground(self, request: HttpRequest) -> HttpResponse:
        """Show the page."""
        if not self.has_playground_permission(request):
            raise PermissionDenied
        agents = [_told(agent, row) for agent, row in _agents()]
        chosen = request.GET.get("agent") or getattr(registry.default(), "slug", "")
        jsonrpc_url = self._address("a2a_django_playground_jsonrpc")
        context = {
            "agents": agents,
            "chosen": chosen,
            "asks_tenant": a2a_settings.TENANT_RESOLVER is not None,
            "speaks_0_3": older.speaks_0_3(),
            "streams": is_asgi(request),
            "playground": {
                "agents": {each["slug"]: each for each in agents},
                "jsonrpc": jsonrpc_url,
                "rest": jsonrpc_url.removesuffix("jsonrpc/") + "rest/",
                "csrfHeader": _csrf_header(),
                "streams": is_asgi(request),
                "maxBytes": a2a_settings.MAX_BODY_BYTES,
                "task": self._task_address(),
                "words": playground_words(),
            },
        }
        return self.page(request, "playground.html", _("Playground"), context)

    def _address(self, name: str) -> str:
        return reverse(f"admin:{name}", current_app=self.admin_site.name)

    def _task_address(self) -> str:
        """Return the address of a task in the admin with ``TASK`` in the place of its id, "" where there is none."""
        try:
            return self.address("change", "TASK", model=Task)
        except NoReverseMatch:
            return ""

    # ---------------------------------------------------------------------------------------------------- the doors

    def _door(self, answer: View) -> Any:
        """Return the view of an address: not REST framework's, not the admin's, which know no async views."""

        async def view(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
            response = await answer(request, **kwargs)
            response.headers.setdefault("Cache-Control", "no-store")
            return response

        return transaction.non_atomic_requests(login_not_required(csrf_protect(view)))

    async def _jsonrpc(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a JSON-RPC call, of 1.0 or of 0.3."""
        other = jsonrpc.other_verb(request.method or "")
        if other is not None:
            return response_of(other)
        try:
            exchange = exchange_of(request, await self._identity(request), (), endpoint_path())
        except Exception as error:
            return response_of(jsonrpc.refuse(error, jsonrpc.peek_id(read_head(request))))
        return await answered(request, jsonrpc.handle, exchange)

    async def _rest(self, request: HttpRequest, below: str) -> HttpResponseBase:
        """Answer a call of HTTP+JSON of 1.0."""
        try:
            segments = addresses.segments_below(request.path_info, raw_path(request), below.count("/") + 1)
            exchange = exchange_of(request, await self._identity(request), segments, endpoint_path())
        except Exception as error:
            return response_of(rest.refuse(error, MetaHeaders(request.META)))
        return await answered(request, rest.handle, exchange)

    async def _identity(self, request: HttpRequest) -> Identity:
        """Return the operator as a caller, once the admin and the site's policy have let them in.

        Raises ``UnauthenticatedError`` and ``PermissionDeniedError``.
        """
        user = await sync_to_async(self._operator)(request)
        identity = Identity(user, await sync_to_async(owner_of)(user), None, request)
        await permit(identity, a2a_settings.PERMISSION_CLASSES)
        return identity

    def _operator(self, request: HttpRequest) -> Any:
        if not request.user.is_authenticated:
            raise UnauthenticatedError("Sign in to the admin again")
        if not (self.admin_site.has_permission(request) and self.has_playground_permission(request)):
            raise PermissionDeniedError("The playground is for staff with the permission to use it")
        return request.user


def _agents() -> list[tuple[Agent, AgentSetting | None]]:
    rows = {row.slug: row for row in AgentSetting.objects.all()}
    return [(agent, rows.get(agent.slug)) for agent in registry.all()]


def _told(agent: Agent, row: AgentSetting | None) -> dict[str, Any]:
    """Return what the page has to know of an agent."""
    shown = shown_as(agent, row.name, row.description) if row else agent
    return {
        "slug": agent.slug,
        "name": str(shown.name),
        "enabled": row is None or row.enabled,
        "streaming": bool(agent.streaming),
        "extensions": [str(each.uri) for each in agent.extensions if each.required],
        "examples": [str(example) for skill in agent.skills for example in skill.examples][:8],
        "inputModes": list(map(str, agent.input_modes)),
    }


def _csrf_header() -> str:
    """Return the name of the header in which Django looks for the token, as it is sent."""
    return str(settings.CSRF_HEADER_NAME).removeprefix("HTTP_").replace("_", "-")
