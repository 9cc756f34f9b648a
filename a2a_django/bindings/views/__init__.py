"""Carrier 1: Django's views. All a site needs is ``include("a2a_django.urls")``."""
