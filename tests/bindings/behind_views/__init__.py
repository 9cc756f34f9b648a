"""The example site behind Django's own ASGI application: its calls are answered by the views."""
