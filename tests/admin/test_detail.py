"""The page of a task: its timeline, its contents as what they are, its files."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from pytest_django import Settings

from a2a_django.admin import parts, timeline
from a2a_django.agents import content
from a2a_django.engine.journal import Journal
from a2a_django.models import PushConfig, Task, TaskEvent
from a2a_django.protocol.changes import Change
from tests.admin.kit import at, made, operator
from tests.engine.writing import chunk, follow_up, says, status

pytestmark = pytest.mark.django_db

GIF = b"GIF89a\x01\0\x01\0\0\0\0;"


def page(task: Task, client: Client | None = None, **query: Any) -> str:
    """The page of a task."""
    answer = (client or operator("view_task")).get(at("change", task.pk), query)
    assert answer.status_code == 200
    return answer.content.decode()


def told(task: Task, upto: int | None = None) -> list[tuple[str, int, str]]:
    """What is on a timeline: kind, number, text."""
    task = Task.objects.get(pk=task.pk)
    return [
        (item.kind, item.last or item.number, "|".join(part.text for part in item.parts))
        for item in timeline.page(task, upto).items
    ]


def with_parts(task: Task, *given: Any, **options: Any) -> Change:
    """An artifact of these parts."""
    return content.artifact_chunk(
        list(given), artifact_id="out", task_id=task.pk, context_id=task.context_id, **options
    )


def test_a_timeline_tells_what_happened_in_its_order(writer: Journal) -> None:
    task = made(writer, {"text": "please"})
    writer.write(says(task, status(task, "WORKING", "a moment")))
    for text in ("one ", "two ", "three"):
        writer.write(says(task, chunk(task, text, append=text != "one ")))
    writer.write(says(task, chunk(task, "other", "side", append=False)))
    writer.write(says(task, chunk(task, " more")))
    writer.write(says(task, status(task, "INPUT_REQUIRED", "which?")))
    writer.write(follow_up(writer, task, "that one"))
    assert told(task) == [
        ("message", 1, "please"),
        ("status", 1, "a moment"),
        ("artifact", 4, "one two three"),
        ("artifact", 5, "other"),
        ("artifact", 6, " more"),
        ("status", 7, "which?"),
        ("message", 4, "that one"),
    ]
    shown = page(task)
    assert '<span class="a2a-text">one two three</span>' in shown


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_pages_of_a_timeline_have_everything_once(writer: Journal, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "PAGE", size)
    task = made(writer, {"text": "0"})
    for n in range(6):
        writer.write(says(task, status(task, "WORKING", f"s{n}")))
        if n % 2:
            writer.write(follow_up(writer, task, f"u{n}"))
    whole, upto = [], Task.objects.get(pk=task.pk).last_seq
    while upto > 0:
        found = timeline.page(Task.objects.get(pk=task.pk), upto)
        whole[:0] = [part.text for item in found.items for part in item.parts]
        upto = found.after
    events = TaskEvent.objects.filter(task=task).count()
    assert events == 6
    if size == 1:  # the moments of events and messages may be the same: then the message stands first
        assert sorted(whole) == sorted(["0", "s0", "s1", "u1", "s2", "s3", "u3", "s4", "s5", "u5"])
    else:
        assert sorted(whole) == sorted(set(whole))
        assert len(whole) == 10


def test_news_are_what_the_page_does_not_have_yet(writer: Journal) -> None:
    task = made(writer, {"text": "go"})
    writer.write(says(task, chunk(task, "one ", append=False)))
    first = timeline.page(Task.objects.get(pk=task.pk))
    client = operator("view_task")
    address = at("news", task.pk)
    nothing = client.get(address, {"after": first.upto, "position": first.position}).json()
    assert nothing["items"].strip() == ""
    assert nothing["over"] is False
    writer.write(says(task, chunk(task, "two")))
    writer.write(follow_up(writer, task, "a word"))
    writer.write(says(task, status(task, "COMPLETED", "there")))
    news = client.get(address, {"after": first.upto, "position": first.position}).json()
    assert (news["seq"], news["position"], news["over"], news["more"]) == (3, 2, True, False)
    assert "data-appended" in news["items"]
    assert all(text in news["items"] for text in ("two", "a word", "there"))
    assert "one" not in news["items"]
    assert client.get(address, {"after": "x", "position": "-1"}).json()["seq"] == 3


def test_a_long_task_costs_as_little_as_a_short_one(writer: Journal, django_assert_max_num_queries: Any) -> None:
    task = made(writer)
    for n in range(1000):
        writer.write(says(task, chunk(task, f"w{n} ", append=n > 0)))
    client = operator("view_task")
    for query in ({}, {"upto": "400"}, {"upto": "1"}, {"upto": "99999999"}, {"upto": "nonsense"}):
        with django_assert_max_num_queries(12):
            shown = page(task, client, **query)
        assert len(shown) < 200_000
    assert "w999 " in page(task, client)
    assert "w199 " not in page(task, client)


def test_what_is_written_stays_text(writer: Journal) -> None:
    task = made(
        writer,
        {"text": "<script>alert(1)</script><img src=x onerror=alert(1)>"},
        {"text": "a\u202eb\u0007c\u2066d\u001be"},
        {"data": {"</pre><b>": "<i>"}},
        {"url": "javascript:alert(1)"},
        {"url": "https://e.example/<b>?\"'"},
        {"url": "data:text/html,<script>alert(1)</script>"},
        context="<b>context</b>",
        owner="<b>owner</b>",
        tenant="<b>tenant</b>",
        metadata=json.dumps({"<b>": "</script>"}),
    )
    writer.write(says(task, status(task, "INPUT_REQUIRED", "<b>question</b>", {"choices": ["<b>yes</b>", 7, " "]})))
    shown = page(task, operator("view_task", "answer_task"))
    assert ">null<" not in re.sub(r"\s", "", shown)
    for wrong in ("<script>alert", "<img src=x", "<b>", "<i>", "\u202e", "\u0007", "\u001b", "</script>alert"):
        assert wrong not in shown, wrong
    assert not re.search(r'href="(javascript|data):', shown)
    assert 'href="https://e.example/&lt;b&gt;?&quot;&#x27;" rel="noopener noreferrer nofollow"' in shown
    assert "⟨U+202E⟩" in shown
    assert "␇" in shown
    assert not re.search(r"<(style|script)(?![^>]*\ssrc=)[^>]*>|\sstyle=|\son[a-z]+=\"", shown), "something inline"


def test_there_is_nothing_inline_on_any_page(writer: Journal) -> None:
    task = made(writer)
    writer.write(says(task, status(task, "FAILED")))
    client = operator(superuser=True)
    answers = [
        client.get(at("changelist")),
        client.get(at("changelist", model="waitingtask")),
        client.get(at("change", task.pk)),
        client.post(at("changelist"), {"action": "prune_selected", "_selected_action": task.pk}),
    ]
    for answer in answers:
        assert answer.status_code == 200
        found = re.findall(r"<(?:style|script)(?![^>]*\ssrc=)[^>]*>|\sstyle=|\son[a-z]+=\"", answer.content.decode())
        assert not found, found


def test_large_contents_are_cut_and_kept_as_files(writer: Journal) -> None:
    task = made(writer, {"text": "x" * 5_000_000, "filename": "all/../of:it\r\n.txt"})
    writer.write(says(task, with_parts(task, {"key": ["y" * 1_000_000]})))
    client = operator("view_task")
    shown = page(task, client)
    assert len(shown) < 100_000
    assert "all 5000000 characters as a file" in shown
    answer = client.get(at("part", task.pk, "message", 1, 0))
    assert answer.content == b"x" * 5_000_000
    assert answer["Content-Disposition"].startswith("attachment")
    assert "\r" not in answer["Content-Disposition"]
    answer = client.get(at("part", task.pk, "event", 1, 0))
    assert json.loads(answer.content) == {"key": ["y" * 1_000_000]}
    assert client.get(at("artifact", task.pk, 1)).status_code == 200
    assert client.get(at("part", task.pk, "event", 1, 1)).status_code == 404
    assert client.get(at("part", task.pk, "event", 7, 0)).status_code == 404
    assert client.get(at("artifact", task.pk, 2)).status_code == 404


@pytest.mark.parametrize(
    "name", ["a.txt\n", "a\r\nX: y.txt", "\u202egnp.exe", "x" * 100_000 + ".txt", "..", "\ud800.txt"]
)
def test_a_file_is_given_whatever_it_is_called(writer: Journal, name: str) -> None:
    task = made(writer, {"text": "content", "filename": name})
    answer = operator("view_task").get(at("part", task.pk, "message", 1, 0))
    assert (answer.status_code, answer.content) == (200, b"content")
    header = answer["Content-Disposition"]
    assert header.startswith("attachment; filename")
    assert header.isascii()
    assert header.isprintable()
    assert len(header) < 2_000
    assert ".txt" in header


@pytest.mark.parametrize("separator", [True, False])
def test_numbers_that_are_read_again_are_written_without_separators(
    writer: Journal, settings: Settings, separator: bool
) -> None:
    settings.USE_THOUSAND_SEPARATOR = separator
    task = made(writer)
    config = PushConfig(pk=1_234_567, task=task, config_id="c", url="https://a.example/", host="a.example:443")
    config.created_at = task.created_at
    config.save()
    Task.objects.filter(pk=task.pk).update(last_seq=5678, message_count=1001, has_push=True)
    client = operator("view_task", "change_pushconfig")
    shown = page(task, client)
    for needed in ('data-seq="5678"', 'data-position="1001"', 'href="?upto=5478"', 'name="config" value="1234567"'):
        assert needed in shown, needed
    assert 'href="?upto=5678"' in page(task, client, upto=5478)


def test_more_than_a_page_can_hold_is_named_and_not_read(writer: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "READ", 2_000)
    task = made(writer, {"text": "m" * 3_000})
    writer.write(says(task, status(task, "WORKING", "s" * 3_000)))
    writer.write(says(task, status(task, "WORKING", "short")))
    shown = page(task)
    assert "mmm" not in shown
    assert "sss" not in shown
    assert shown.count("too much for this page") == 2
    assert "short" in shown


def test_pictures_are_shown_only_where_they_are_pictures(writer: Journal) -> None:
    raw = [
        (GIF, "image/gif"),
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "image/svg+xml"),
        (b"<html><script>alert(1)</script>", "image/png"),
        (GIF, "text/html"),
    ]
    given = [{"raw": base64.b64encode(data).decode(), "mediaType": kind, "filename": "x"} for data, kind in raw]
    task = made(writer, *given)
    client = operator("view_task")
    shown = page(task, client)
    assert shown.count("<img src=") == 2
    for number, is_picture in enumerate((True, False, False, True)):
        answer = client.get(at("picture", task.pk, "message", 1, number))
        assert answer.status_code == (200 if is_picture else 404)
        if is_picture:
            assert answer["Content-Type"] == "image/gif"
            assert answer["X-Content-Type-Options"] == "nosniff"
            assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
        answer = client.get(at("part", task.pk, "message", 1, number))
        assert answer["Content-Type"] == "application/octet-stream"
        assert answer["Content-Disposition"].startswith("attachment")
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer.content == raw[number][0]


def test_the_json_is_there_as_it_travels(writer: Journal) -> None:
    task = made(writer, {"text": "<script>"})
    writer.write(says(task, status(task, "WORKING", "here")))
    client = operator("view_task")
    answer = client.get(at("wire", task.pk, "message", 1))
    assert answer["Content-Type"] == "application/json"
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer.json()["parts"] == [{"text": "<script>"}]
    assert client.get(at("wire", task.pk, "event", 1)).json()["statusUpdate"]["status"]["state"] == "TASK_STATE_WORKING"
    whole = client.get(at("whole", task.pk))
    assert whole.json()["id"] == task.pk
    assert whole["Content-Disposition"].startswith("attachment")
    assert client.get(at("wire", task.pk, "event", 9)).status_code == 404


def test_a_task_whose_events_were_pruned_shows_its_messages(writer: Journal) -> None:
    task = made(writer, {"text": "hello"})
    writer.write(says(task, status(task, "WORKING", "said on the way")))
    writer.write(says(task, status(task, "COMPLETED")))
    assert told(task) == [("message", 1, "hello"), ("status", 1, "said on the way"), ("status", 2, "")]
    TaskEvent.objects.filter(task=task).delete()
    assert told(task) == [("message", 1, "hello"), ("message", 2, "said on the way"), ("status", 2, "")]
    assert "have been pruned" in page(task)


def test_other_tasks_of_the_context_are_those_of_the_same_owner(writer: Journal) -> None:
    task, friend = made(writer, context="c"), made(writer, context="c")
    stranger, elsewhere = made(writer, context="c", owner="bob"), made(writer, context="d")
    shown = page(task)
    assert friend.pk in shown
    assert stranger.pk not in shown
    assert elsewhere.pk not in shown


def test_what_is_not_there_is_not_found(writer: Journal) -> None:
    client = operator(superuser=True)
    for name in ("change", "news", "live", "do", "whole"):
        assert client.get(at(name, "01900000-0000-7000-8000-000000000000")).status_code == 404, name


def test_another_site_has_its_own_addresses(writer: Journal, settings: Any) -> None:
    settings.ROOT_URLCONF = "tests.admin.other_site"
    task = made(writer, context="c")
    made(writer, context="c")
    client = operator(superuser=True)
    shown = client.get(f"/second/a2a_django/task/{task.pk}/change/").content.decode()
    links = re.findall(r'(?:href|action|data-[a-z]+)="(/[^"]*)"', shown)
    assert any(link.startswith("/second/a2a_django/task/") for link in links)
    assert not [link for link in links if link.startswith("/admin/")]
    news = client.get(f"/second/a2a_django/task/{task.pk}/news/").json()
    assert "/admin/" not in news["items"]
    assert client.get("/second/a2a_django/task/").status_code == 200
    assert admin.site.is_registered(Task)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a\0b", "a␀b"),
        ("tab\tline\nend\r\n", "tab\tline\nend\n"),
        ("\x7f\x85", "␡⟨U+0085⟩"),
        ("\u202eabc", "⟨U+202E⟩abc"),
        ("\ud800", "⟨U+D800⟩"),
        ("مرحبا 👩\u200d💻", "مرحبا 👩\u200d💻"),
    ],
)
def test_what_cannot_be_seen_is_shown_by_a_sign(given: str, shown: str) -> None:
    assert parts.visible(given) == shown


@pytest.mark.parametrize(
    ("url", "is_web"),
    [
        ("https://e.example/", True),
        ("HTTP://e.example/", True),
        ("javascript:alert(1)", False),
        (" https://e.example/", True),
        (" javascript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        ("//e.example/", False),
        ("https:", False),
        ("ftp://e.example/", False),
        ("https://[", False),
    ],
)
def test_only_addresses_of_the_web_become_links(url: str, is_web: bool) -> None:
    assert parts.is_web(url) is is_web
