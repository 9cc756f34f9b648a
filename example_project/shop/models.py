"""What a small shop keeps about its goods and orders."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Product(models.Model):
    """Something that the shop sells."""

    sku = models.CharField(_("article number"), max_length=20, unique=True)
    name = models.CharField(_("name"), max_length=100)
    price = models.DecimalField(_("price"), max_digits=8, decimal_places=2)
    stock = models.PositiveIntegerField(_("in stock"), default=0)

    class Meta:
        verbose_name = _("product")
        verbose_name_plural = _("products")
        ordering = ["sku"]

    def __str__(self) -> str:
        return self.name


class Order(models.Model):
    """What a customer has bought, and where it is now."""

    class Status(models.TextChoices):
        PAID = "paid", _("paid and waiting to be packed")
        PACKED = "packed", _("packed and waiting for the carrier")
        SHIPPED = "shipped", _("on its way")
        DELIVERED = "delivered", _("delivered")
        RETURNED = "returned", _("returned")

    number = models.PositiveIntegerField(_("number"), unique=True)
    customer = models.CharField(_("customer"), max_length=100)
    status = models.CharField(_("status"), max_length=10, choices=Status, default=Status.PAID)
    placed_at = models.DateTimeField(_("placed"), default=timezone.now)
    carrier = models.CharField(_("carrier"), max_length=50, blank=True)
    tracking = models.CharField(_("tracking number"), max_length=50, blank=True)

    class Meta:
        verbose_name = _("order")
        verbose_name_plural = _("orders")
        ordering = ["-placed_at"]

    def __str__(self) -> str:
        return str(self.number)


class OrderLine(models.Model):
    """One product of an order."""

    order = models.ForeignKey(Order, models.CASCADE, related_name="lines", verbose_name=_("order"))
    product = models.ForeignKey(Product, models.PROTECT, related_name="+", verbose_name=_("product"))
    quantity = models.PositiveIntegerField(_("quantity"), default=1)

    class Meta:
        verbose_name = _("order line")
        verbose_name_plural = _("order lines")
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["order", "product"], name="shop_line_once_an_order")]

    def __str__(self) -> str:
        return f"{self.quantity} x {self.product}"


class Stocktake(models.Model):
    """A walk along the shelves that the agent did, or began."""

    class Outcome(models.TextChoices):
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        CANCELLED = "cancelled", _("cancelled")

    task_id = models.CharField(_("task"), max_length=64, unique=True)
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome, default=Outcome.RUNNING)
    products = models.PositiveIntegerField(_("products counted"), default=0)
    started_at = models.DateTimeField(_("started"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    class Meta:
        verbose_name = _("stocktake")
        verbose_name_plural = _("stocktakes")
        ordering = ["-started_at"]

    def __str__(self) -> str:
        return f"{self.started_at:%Y-%m-%d %H:%M} ({self.get_outcome_display()})"


class Notification(models.Model):
    """What an agent of another site told this one about a task."""

    #: So many are kept.
    LATEST = 50

    # Of the body: notifications are delivered at least once, and the same one is no news.
    digest = models.CharField(max_length=64, unique=True, editable=False)
    task_id = models.CharField(_("task"), max_length=1024, blank=True)
    kind = models.CharField(_("kind"), max_length=20)
    event = models.JSONField(_("event"))
    received_at = models.DateTimeField(_("received"), auto_now_add=True)

    class Meta:
        verbose_name = _("notification")
        verbose_name_plural = _("notifications")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.kind} {self.task_id}"
