"""Refunds: the agent prepares one, and somebody who may change orders has to approve it in the admin's inbox."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

from asgiref.sync import sync_to_async
from django.db.models import F, Sum
from django.utils.translation import gettext as _

from a2a_django.agents import TaskContext
from a2a_django.protocol.v1 import a2a_pb2
from example_project.shop.models import Order

APPROVE, DECLINE = "Approve", "Decline"


def wants_refund(ctx: TaskContext) -> bool:
    """Whether a refund was asked for with the first message of the task."""
    first = ctx.history[0]
    return any("refund" in part.text.lower() for part in first.parts)


async def refund(ctx: TaskContext) -> AsyncIterator[Any]:
    """Ask for approval, and refund an order only when an operator has given it.

    ``ctx.operator`` is set where a member of staff answers in the admin, and by nothing that a caller can send: the
    customer who writes "Approve" gets no money.
    """
    order = await _order(ctx)
    if order is None:
        await ctx.input_required(_("Which order is to be refunded? Please tell me its number, for example 1003."))
        return
    number = {"number": order.number, "customer": order.customer}
    if ctx.operator is None:
        amount = await order.lines.aaggregate(sum=Sum(F("quantity") * F("product__price")))
        await ctx.input_required(
            _("A refund of %(amount)s for order %(number)s of %(customer)s needs the approval of the shop.")
            % {**number, "amount": f"{amount['sum'] or 0:.2f}"},  # SQLite sums with many decimals
            metadata={"choices": [APPROVE, DECLINE]},
        )
        return
    if not await sync_to_async(ctx.operator.has_perm)("shop.change_order"):
        await ctx.input_required(
            _("Whoever approves a refund has to be somebody who may change orders."),
            metadata={"choices": [APPROVE, DECLINE]},
        )
        return
    decision = ctx.text.strip().partition("\n")[0]
    if decision == APPROVE:
        await ctx.working(_("The refund is approved"))
        await Order.objects.filter(pk=order.pk).aupdate(status=Order.Status.RETURNED)
        yield _("Order %(number)s is refunded.") % number
    elif decision == DECLINE:
        await ctx.reject(_("The shop does not refund order %(number)s.") % number)
    else:
        await ctx.input_required(
            _("Please answer with “%(approve)s” or “%(decline)s”.") % {"approve": APPROVE, "decline": DECLINE},
            metadata={"choices": [APPROVE, DECLINE]},
        )


async def _order(ctx: TaskContext) -> Order | None:
    """Return the order that was named first: nobody changes what is asked for once an operator has read it."""
    for message in ctx.history:
        for part in message.parts:
            if message.role == a2a_pb2.ROLE_USER and (found := re.search(r"\d+", part.text)):
                return await Order.objects.filter(number=int(found[0][:9])).afirst()
    return None
