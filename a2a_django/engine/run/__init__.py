"""One run: one call of an agent's ``run`` for one message.

Each room adds to the one before: ``given`` (what a run is given), ``answer`` (what its sender is answered first),
``changes`` (what it says of its task), ``life`` (from its start to its end); ``calls`` is the call of the agent itself.

Invariants:

* Everything a run says goes to the journal in order and names the run's attempt; once the attempt is no longer the
  task's current one, nothing more is accepted and the run is told to stop.
* At most ``changes.WINDOW`` things are on their way; a run that is faster than the database waits.
* When the run has returned, everything it said is committed, and its task is ended, parked, or given to the next
  message.
"""

from __future__ import annotations

from a2a_django.engine.run.answer import Reply
from a2a_django.engine.run.calls import call_cancel_hook
from a2a_django.engine.run.life import FAILED_TEXT, INVALID_TEXT, TIMEOUT_TEXT, Run

__all__ = ["FAILED_TEXT", "INVALID_TEXT", "TIMEOUT_TEXT", "Reply", "Run", "call_cancel_hook"]
