"""Carrier 2: Channels consumers in front of Django, for ``asgi.py``: calls and streams without a thread.

What a request means is decided by the same bindings as behind Django's views; what the site's settings say about
requests (hosts, proxies, HTTPS, security headers) by Django's own code, once for each kind of request (``site``).
"""
