"""The example site with what a careful site adds: a Content-Security-Policy that lets in nothing inline and nothing
from elsewhere. The scripted agent is there beside the order desk."""

from __future__ import annotations

from example_project.settings import *  # noqa: F403
from example_project.settings import A2A as EXAMPLE_A2A
from example_project.settings import INSTALLED_APPS, MIDDLEWARE

INSTALLED_APPS = [*INSTALLED_APPS, "example_project.scripted"]
SCRIPTED_VARIANT = "main"
MIDDLEWARE = ["tests.browser.policy.strict", *MIDDLEWARE]
ROOT_URLCONF = "tests.browser.urls"

A2A = {
    **EXAMPLE_A2A,
    "DEFAULT_AGENT": "order-desk",
    # Receivers of the tests.
    "WEBHOOK_ALLOWED_HOSTS": ["127.0.0.1", "localhost"],
}
