from __future__ import annotations

from django.contrib import admin

from example_project.shop.models import Notification, Order, OrderLine, Product, Stocktake


@admin.register(Product)
class ProductAdmin(admin.ModelAdmin):
    list_display = ["sku", "name", "price", "stock"]
    search_fields = ["sku", "name"]


class OrderLineInline(admin.TabularInline):
    model = OrderLine
    extra = 0
    autocomplete_fields = ["product"]


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    list_display = ["number", "customer", "status", "placed_at"]
    list_filter = ["status"]
    search_fields = ["number", "customer"]
    date_hierarchy = "placed_at"
    inlines = [OrderLineInline]


@admin.register(Stocktake)
class StocktakeAdmin(admin.ModelAdmin):
    list_display = ["started_at", "outcome", "products", "ended_at"]
    list_filter = ["outcome"]
    readonly_fields = ["task_id", "outcome", "products", "started_at", "ended_at"]


@admin.register(Notification)
class NotificationAdmin(admin.ModelAdmin):
    list_display = ["received_at", "kind", "task_id"]
    list_filter = ["kind"]
    readonly_fields = ["task_id", "kind", "event", "received_at"]
