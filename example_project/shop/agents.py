"""The order desk: an agent without a language model, so that the example runs anywhere."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from a2a_django import Agent, Skill
from a2a_django.agents import TaskContext
from example_project.shop.models import Order, Product, Stocktake
from example_project.shop.refunds import refund, wants_refund


class OrderDesk(Agent):
    """Knows where every order of the shop is, and what is left on the shelves."""

    version = "1.0"
    input_modes = ["text/plain"]
    output_modes = ["text/plain", "application/json"]
    push_notifications = True
    skills = [
        Skill(
            "order-status",
            "Order status",
            "Says where an order is and what is in it. Asks for the number if it is not given.",
            tags=["orders"],
            examples=["Where is order 1003?", "Where is my order?"],
        ),
        Skill(
            "stocktake",
            "Stocktake",
            "Walks along the shelves and reports product by product. Takes a while and can be cancelled.",
            tags=["stock"],
            examples=["Please do a stocktake"],
        ),
        Skill(
            "refund",
            "Refund",
            "Refunds an order once somebody of the shop has approved it.",
            tags=["orders"],
            examples=["Please refund order 1003"],
        ),
    ]

    async def run(self, ctx: TaskContext) -> AsyncIterator[Any]:
        """Answer one message: each thing yielded is a piece of the answer that the caller sees at once."""
        if wants_refund(ctx):
            wish = refund(ctx)
        else:
            wish = stocktake(ctx) if "stock" in ctx.text.lower() else order_status(ctx)
        async for piece in wish:
            yield piece

    async def cancel(self, ctx: TaskContext) -> None:
        """Note that a stocktake ended early. The task itself is cancelled already when this runs."""
        await close_stocktake(ctx, Stocktake.Outcome.CANCELLED)


async def order_status(ctx: TaskContext) -> AsyncIterator[Any]:
    """Tell the state of the order whose number is in the message; ask for the number where there is none."""
    found = re.search(r"\d+", ctx.text)
    if found is None:
        await ctx.input_required(_("Which order do you mean? Please tell me its number, for example 1003."))
        return
    number = found[0][:9]
    await ctx.working(_("Looking up order %(number)s") % {"number": number})
    order = await Order.objects.filter(number=int(number)).afirst()
    if order is None:
        await ctx.input_required(_("There is no order %(number)s. Which one do you mean?") % {"number": number})
        return
    yield _("Order %(number)s of %(customer)s is %(status)s.") % {
        "number": order.number,
        "customer": order.customer,
        "status": order.get_status_display(),
    }
    if order.tracking:
        parcel = {"carrier": order.carrier, "tracking": order.tracking}
        yield " " + _("%(carrier)s has it under number %(tracking)s.") % parcel
    lines = [line async for line in order.lines.select_related("product")]
    for line in lines:
        yield f"\n- {line}"
    yield {
        "number": order.number,
        "status": order.status,
        "lines": [{"sku": line.product.sku, "quantity": line.quantity} for line in lines],
    }


async def stocktake(ctx: TaskContext) -> AsyncIterator[Any]:
    """Report the stock, product by product. A look at a shelf takes a moment, so that there is something to watch."""
    await ctx.working(_("Fetching the ladder"))
    walk = await Stocktake.objects.acreate(task_id=ctx.task_id)
    async for product in Product.objects.all():
        await asyncio.sleep(0.4)
        walk.products += 1
        await walk.asave(update_fields=["products"])
        yield _("%(sku)s %(name)s: %(stock)d in stock\n") % {
            "sku": product.sku,
            "name": product.name,
            "stock": product.stock,
        }
    await close_stocktake(ctx, Stocktake.Outcome.DONE)


async def close_stocktake(ctx: TaskContext, outcome: Stocktake.Outcome) -> None:
    """Write down how the stocktake of this task ended, if there is one and it has not ended yet."""
    running = Stocktake.objects.filter(task_id=ctx.task_id, outcome=Stocktake.Outcome.RUNNING)
    await running.aupdate(outcome=outcome, ended_at=timezone.now())
