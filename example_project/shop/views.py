from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from example_project.shop.demo import lines_to_paste
from example_project.shop.models import Order


def front_page(request: HttpRequest) -> HttpResponse:
    """Say what is on this site and how to talk to its agent."""
    base = request.build_absolute_uri("/").rstrip("/")
    context = {"base": base, "orders": Order.objects.all()[:8], "lines": lines_to_paste(base)}
    return render(request, "shop/front_page.html", context)
