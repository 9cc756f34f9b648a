"""Signals for the site, sent after the commit of what they tell of.

Receivers get ``sender`` (the model class), ``task_id`` (str) and the arguments named below. They run in the engine's
writing thread, outside of any transaction (in a plain agent's own thread where it publishes inside a transaction of its
own): keep them short, hand longer work to a task queue. A receiver that fails is logged and hurts nobody.
"""

from __future__ import annotations

from django.dispatch import Signal

#: ``task_id``, ``state``
task_created = Signal()
#: ``task_id``, ``state`` (the new one)
task_state_changed = Signal()

#: ``task_id``, ``config_id``, ``number`` (of the event), ``error``, ``disabled`` (whether the webhook gets nothing
#: more): a delivery was given up. Sent by the class ``PushConfig``, in a database thread.
push_failed = Signal()
