"""Messages that an agent with ``deduplicate`` has had before: the journal's half of it (R-086, D-32).

Invariants:

* A message is claimed by making its receipt's row, whose key the database has once. Whoever has made it goes on; all
  others get what became of the message.
* A task and its message are written in the transaction of the receipt, and the one message that is an answer by itself
  is written before anybody is given it.
* Where an agent has to run before it is known which of the two there will be, the claim is *held*: committed before
  the run, with a lease that is renewed while it lasts. When that has run out, the next one takes the message over, and
  the run that had it can no longer make anything of it.
* The keys of a transaction are claimed in their order, so that processes cannot wait for one another in a circle; and a
  key whose row is known to be there is not claimed, because the row may be held by a site's own transaction.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final

from django.db import connections, transaction

from a2a_django.engine import clock
from a2a_django.engine.database import alias
from a2a_django.engine.statements import insert, passing_over
from a2a_django.models import MessageReceipt, Task
from a2a_django.protocol import wire
from a2a_django.protocol.errors import InvalidParamsError
from a2a_django.protocol.wire import Wire

#: What a transaction may change of a receipt that exists.
MUTABLE: Final = ("digest", "task", "position", "reply", "holder", "lease_expires_at")


class Repeated(Exception):
    """The message has been taken in before: it is the one at ``position`` of a task, or ``reply`` answered it."""

    def __init__(self, row: MessageReceipt) -> None:
        super().__init__(row.key)
        self.task_id: str | None = row.task_id
        self.position = row.position or 0
        self.reply: str | None = row.reply


class UnderWay(Exception):
    """The same message is at work, and it is not known yet what becomes of it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Somebody's wish to be the one who takes a message in.

    ``token`` names this wish and no other, ``known`` says that the receipt's row has been seen, ``held`` that it is
    there in the name of ``token``.
    """

    key: str
    digest: str
    agent: str
    owner: str
    message_id: str
    token: str
    known: bool = False
    held: bool = False


def claim_of(message: Wire, *, agent: str, owner: str) -> Claim:
    """Return a claim on a message as its sender has sent it."""
    named = [owner, agent, message.get("taskId", ""), message["messageId"]]
    said = _sha256(wire.ordered_text_of(message))
    return Claim(_sha256(json.dumps(named)), said, agent, owner, message["messageId"], secrets.token_hex(16))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Receipts:
    """The receipts of one journal transaction on the database ``using``."""

    def __init__(self, using: str) -> None:
        self._using = using
        self._rows: dict[str, MessageReceipt] = {}
        #: Those that are this transaction's, as long as nothing has come of them.
        self._free: set[str] = set()
        self._changed: dict[str, MessageReceipt] = {}
        self._dropped: list[Claim] = []

    def load(self, claims: Sequence[Claim]) -> None:
        """Claim messages, and read what is there already; after the tasks have been locked."""
        rows = MessageReceipt.objects.using(self._using)
        new: dict[str, Claim] = {}
        for claim in claims:
            if not (claim.held or claim.known):
                new.setdefault(claim.key, claim)
        if new:
            lease, now = clock.lease_end(self._using), wire.now()
            made = [_row(new[key], lease=lease, now=now) for key in sorted(new)]
            rows.bulk_create(made, ignore_conflicts=True)
        held = sorted(claim.key for claim in claims if claim.held)
        if held:
            self._rows = {row.pk: row for row in rows.filter(pk__in=held).order_by("pk").select_for_update()}
        if others := [claim.key for claim in claims if not claim.held]:
            self._rows |= rows.in_bulk(others)
        self._free = {key for key, claim in new.items() if key in self._rows and self.holds(claim)}

    def holds(self, claim: Claim) -> bool:
        """Return whether a message is still this claim's."""
        row = self._rows.get(claim.key)
        return row is not None and row.holder == claim.token

    def check(self, claim: Claim) -> None:
        """Let only those pass who may take the message in.

        Raises ``Repeated``, ``UnderWay``, and ``InvalidParamsError`` when another message had this id.
        """
        row = self._rows.get(claim.key)
        if row is None:  # it was there, and has been given up meanwhile
            raise UnderWay(claim.key)
        if claim.key in self._free:
            return
        if row.holder and has_expired(self._using, row) and self._take_over(row):
            return
        refuse(row, claim)

    def _take_over(self, row: MessageReceipt) -> bool:
        """Take a message from somebody whose lease has run out; False: it is in other hands."""
        rows = MessageReceipt.objects.using(self._using).filter(pk=row.pk, holder=row.holder)
        skip = connections[self._using].features.has_select_for_update_skip_locked
        found = rows.filter(lease_expires_at=row.lease_expires_at).select_for_update(skip_locked=skip).first()
        if found is None:
            return False
        self._rows[row.pk] = found
        self._free.add(row.pk)
        return True

    def hold(self, claim: Claim) -> None:
        """Have a message for oneself until it is known what comes of it; after ``check``."""
        row = self._settle(claim)
        row.holder, row.lease_expires_at = claim.token, clock.lease_end(self._using)

    def give(self, claim: Claim, task: Task, position: int) -> None:
        """Note that the message is in a task now."""
        row = self._settle(claim)
        row.task, row.position = task, position

    def answer(self, claim: Claim, text: str) -> None:
        """Note the one message that answers it."""
        self._settle(claim).reply = text

    def drop(self, claim: Claim) -> None:
        """Note that nothing comes of a message that was held: it may be sent again."""
        self._dropped.append(claim)

    def _settle(self, claim: Claim) -> MessageReceipt:
        row = self._rows[claim.key]
        row.digest, row.holder, row.lease_expires_at = claim.digest, "", None
        self._free.discard(claim.key)
        self._changed[claim.key] = row
        return row

    def save(self) -> None:
        """Write what has become of the messages; after the tasks."""
        rows = MessageReceipt.objects.using(self._using)
        if self._free:  # refused
            rows.filter(pk__in=sorted(self._free)).delete()
        if self._changed:
            changed = [self._changed[key] for key in sorted(self._changed)]
            insert(self._using, MessageReceipt, MUTABLE, ("key",))(changed)
        for claim in self._dropped:
            rows.filter(pk=claim.key, holder=claim.token).delete()

    def is_stored(self) -> bool | None:
        """Return whether ``save`` took place; None when it had nothing to say."""
        rows = MessageReceipt.objects.using(self._using)
        names = ("holder", "task_id", "position", "reply")
        for row in self._changed.values():
            return attrgetter(*names)(row) in rows.filter(pk=row.pk).values_list(*names)
        if self._dropped:
            return not any(rows.filter(pk=claim.key, holder=claim.token).exists() for claim in self._dropped)
        return None


def _row(claim: Claim, *, lease: dt.datetime, now: dt.datetime) -> MessageReceipt:
    return MessageReceipt(
        key=claim.key,
        digest=claim.digest,
        agent=claim.agent,
        owner=claim.owner,
        message_id=claim.message_id,
        holder=claim.token,
        lease_expires_at=lease,
        created_at=now,
    )


def refuse(row: MessageReceipt, claim: Claim) -> None:
    """Say what there is instead of taking the message in.

    Raises ``InvalidParamsError`` when another message had this id, else ``Repeated`` or ``UnderWay``.
    """
    if row.digest != claim.digest:
        raise InvalidParamsError.of("message.message_id", "was used before, for a message that says something else")
    if row.holder:
        raise UnderWay(claim.key)
    raise Repeated(row)


def has_expired(using: str, row: MessageReceipt) -> bool:
    """Return whether whoever holds a message has given no sign of life for too long."""
    end = row.lease_expires_at
    return end is not None and end <= clock.now(using) and end <= clock.read(using)


def look(claim: Claim) -> Claim:
    """Return the claim when it looks as if the message may be taken in. Raises what ``Receipts.check`` raises."""
    using = alias()
    row = MessageReceipt.objects.using(using).filter(pk=claim.key).first()
    if row is None:
        return replace(claim, known=False)
    if not (row.holder and has_expired(using, row)):
        refuse(row, claim)
    return replace(claim, known=True)


def renew(claims: Mapping[str, Claim]) -> list[str]:
    """Renew the leases of held claims; returns under which names those stand that are lost.

    A row that another transaction holds (an agent makes the task in its own) keeps the lease that it has: as long as it
    is held, nobody else takes the message over, and the other leases must not wait for it.
    """
    using = alias()
    tokens = {claim.key: claim.token for claim in claims.values()}
    rows = MessageReceipt.objects.using(using).filter(pk__in=list(tokens))
    with transaction.atomic(using=using):
        ours = rows.filter(holder__in=list(tokens.values())).order_by("pk")
        free = list(passing_over(ours).values_list("pk", flat=True))
        rows.filter(pk__in=free).update(lease_expires_at=clock.lease_end(using))
    held = dict(rows.values_list("pk", "holder"))
    return [name for name, claim in claims.items() if held.get(claim.key) != claim.token]
