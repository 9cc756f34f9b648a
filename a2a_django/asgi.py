"""The ASGI application of a site that answers A2A calls without a thread, in ``asgi.py``::

    from a2a_django.asgi import get_asgi_application

    application = get_asgi_application()

It stands in the place of Django's function of that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from a2a_django.bindings.consumers.application import Application
    from a2a_django.bindings.consumers.asgi import AsgiApplication


def get_asgi_application(application: AsgiApplication | None = None) -> Application:
    """Return an ASGI application with consumers for the addresses of ``a2a_django.urls``; all else goes to the site.

    ``application`` is what the site is served by, an ASGI 3 application; by default Django's own. It also gets the
    scopes that are not HTTP. The addresses are those that ``ROOT_URLCONF`` includes, so ``urls.py`` stays as it is.

    The site's middleware does not see the calls, with these exceptions: the headers of ``SecurityMiddleware`` and
    ``XFrameOptionsMiddleware`` are sent, and what ``SecurityMiddleware`` or ``CommonMiddleware`` would refuse or
    redirect (hosts, HTTP in the place of HTTPS) is left to the site. Authenticators find ``request.session`` and
    ``request.user`` where the site has the middleware for them.
    """
    # Not at the top: asgi.py imports this module before Django is set up.
    import django
    from django.apps import apps

    if not apps.ready:
        django.setup(set_prefix=False)
    from django.core.asgi import get_asgi_application as get_django_application

    from a2a_django.bindings.consumers.application import Application

    return Application(application or cast("AsgiApplication", get_django_application()))
