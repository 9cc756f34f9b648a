"""What may be asked of the journal about a message whose agent has to run before it is known what comes of it."""

from __future__ import annotations

from a2a_django.engine.batch import Batch
from a2a_django.engine.jobs import Job
from a2a_django.engine.receipts import Claim


class _OfClaim(Job[bool]):
    creates = True  # it is about no task

    def __init__(self, claim: Claim) -> None:
        super().__init__()
        self.task_id = claim.key
        self._claim = claim

    def claim(self) -> Claim | None:
        return self._claim


class HoldMessage(_OfClaim):
    """Have a message for oneself. Raises ``Repeated``, ``UnderWay``, ``InvalidParamsError``."""

    def apply(self, batch: Batch) -> bool:
        batch.receipts.check(self._claim)
        batch.receipts.hold(self._claim)
        return True


class KeepReply(_OfClaim):
    """Keep the one message that answers a held one; False: somebody else has taken it over."""

    def __init__(self, claim: Claim, text: str) -> None:
        super().__init__(claim)
        self.text = text

    def apply(self, batch: Batch) -> bool:
        if not batch.receipts.holds(self._claim):
            return False
        batch.receipts.answer(self._claim, self.text)
        return True


class DropMessage(_OfClaim):
    """Give a held message up: nothing came of it."""

    def apply(self, batch: Batch) -> bool:
        batch.receipts.drop(self._claim)
        return True
