"""From the sender to a receiver and through the receiver's own checks."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import RequestFactory

from a2a_django.signing import public_jwks
from a2a_django.webhooks import InvalidNotification, Notification, verify
from tests.keys import pem
from tests.push.kit import Told, at_rest, until
from tests.push.receiver import Hook, Post, Receiver

pytestmark = [pytest.mark.usefixtures("sound_rows")]

TOKEN = "t0ken"


def request_of(hook: Hook, post: Post) -> Any:
    headers = {name: value for name, value in post.headers.items() if name.lower() != "content-length"}
    headers["Host"] = urlsplit(hook.url).netloc
    return RequestFactory().post(post.path, post.body, content_type=headers.pop("Content-Type"), headers=headers)


def checked(hook: Hook, post: Post) -> Notification:
    return verify(
        request_of(hook, post), token=TOKEN, jwks=public_jwks(), issuer="https://shop.example", audience=hook.url
    )


def test_what_is_sent_is_what_the_receiver_finds_good(receiver: Receiver, quick: Any, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    quick(BASE_URL="https://shop.example", SIGNING_KEYS=[pem(), pem()], WEBHOOK_SIGNATURES=["jwt", "hmac"])
    hook, other = receiver.hook(500, 200), receiver.hook()
    told = Told(hook.url, other.url, token=TOKEN, scheme="Bearer", credentials="c")
    told.move("WORKING")
    told.say("ü\u2028")
    told.move("COMPLETED")
    until(lambda: all(at_rest(one) for one in told.configs))
    found = [checked(hook, post) for post in hook.posts]
    assert [one.kind for one in found] == ["statusUpdate", "statusUpdate", "artifactUpdate", "statusUpdate"]
    assert {one.task_id for one in found} == {told.task.pk}
    # The attempt that failed and the one after it: the same event, proven anew.
    assert found[0].event == found[1].event
    assert len({str((one.claims or {})["jti"]) for one in found}) == len(found)
    assert {post.headers["Authorization"] for post in hook.posts} == {"Bearer c"}
    # What one webhook got is no proof at another, and no proof of another event.
    with pytest.raises(InvalidNotification):
        checked(hook, other.posts[0])
    mixed = Post(hook.posts[0].path, hook.posts[0].headers, hook.posts[2].body, 0)
    with pytest.raises(InvalidNotification):
        checked(hook, mixed)
