"""Log records that say what they belong to.

::

    LOGGING = {
        "filters": {"a2a": {"()": "a2a_django.logs.AddFields"}},
        "handlers": {"console": {"class": "logging.StreamHandler", "filters": ["a2a"], "formatter": "json"}},
        ...
    }

The filter lets everything through and adds the attributes of ``FIELDS``; formatters that write JSON take them along by
themselves. The records of an agent's own code have them, too.
"""

from __future__ import annotations

import logging
from typing import Final

from a2a_django.telemetry import at_work

#: The attributes, "" where they do not apply: which operation a client has called, over which binding; which agent;
#: which task, and which attempt at it; and the W3C trace id.
FIELDS: Final = ("a2a_operation", "a2a_binding", "a2a_agent", "a2a_task", "a2a_attempt", "a2a_trace")


class AddFields(logging.Filter):
    """Adds ``FIELDS`` to every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the fields; always True."""
        known = at_work.get({})
        for name in FIELDS:
            setattr(record, name, known.get(name, ""))
        return True
