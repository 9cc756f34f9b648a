from __future__ import annotations

import hashlib

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from a2a_django.bindings.views import jsonrpc
from a2a_django.webhooks import InvalidNotification, verify
from example_project.shop.demo import lines_to_paste
from example_project.shop.models import Notification, Order


@csrf_exempt
async def front_page(request: HttpRequest) -> HttpResponseBase:
    """Show the front page; a POST is a call of a program that knows no other address than the one of the site."""
    if request.method == "POST":
        return await jsonrpc.view(request)
    return await sync_to_async(front_page_of_people)(request)


def front_page_of_people(request: HttpRequest) -> HttpResponse:
    """Say what is on this site and how to talk to its agent."""
    base = request.build_absolute_uri("/").rstrip("/")
    context = {
        "base": base,
        "orders": Order.objects.all()[:8],
        "notifications": Notification.objects.all()[:8],
        "lines": lines_to_paste(base),
    }
    return render(request, "shop/front_page.html", context)


@csrf_exempt
@require_POST
def notifications(request: HttpRequest) -> HttpResponse:
    """Take in what an agent of another site has to say about a task; this address is registered there as a webhook.

    A real site also looks whether the task is one that it has asked for.
    """
    token, jwks_url = settings.SHOP_WEBHOOK_TOKEN or None, settings.SHOP_WEBHOOK_JWKS_URL or None
    if token is None and jwks_url is None:
        return HttpResponseNotFound()  # nothing would tell who is speaking
    try:
        found = verify(request, token=token, jwks_url=jwks_url)
    except InvalidNotification as error:
        return HttpResponse(status=error.status)
    Notification.objects.get_or_create(
        digest=hashlib.sha256(request.body).hexdigest(),
        defaults={"task_id": found.task_id, "kind": found.kind, "event": found.event},
    )
    kept = Notification.objects.values_list("pk", flat=True)[: Notification.LATEST]
    Notification.objects.exclude(pk__in=list(kept)).delete()
    return HttpResponse(status=204)
