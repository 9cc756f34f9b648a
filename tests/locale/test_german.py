"""The German translation: all of it, with the same placeholders, as the code has its texts, and compiled."""

from __future__ import annotations

import ast
import gettext
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.admin.kit import operator

ROOT = Path(__file__).resolve().parent.parent.parent
CATALOGUE = ROOT / "a2a_django/locale/de/LC_MESSAGES/django.po"

Entry = tuple[str, tuple[str, ...], bool]


def entries(path: Path) -> list[Entry]:
    """The entries of a catalogue: text (with its plural), translations, and whether somebody has to look at it."""
    found: list[Entry] = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        values: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if line.startswith("#"):
                continue
            keyword, quote, _ = line.partition('"')
            name = keyword.strip() or name
            values[name] = values.get(name, "") + str(ast.literal_eval(line[len(keyword) :])) if quote else ""
        source = values.get("msgid", "") + "\0" * ("msgid_plural" in values) + values.get("msgid_plural", "")
        translations = tuple(value for key, value in values.items() if key.startswith("msgstr"))
        if source:
            found.append((source, translations, "#, fuzzy" in block))
    return found


def signs(text: str) -> list[str]:
    """What a translation has to leave: placeholders and tags."""
    return sorted(re.findall(r"%(?:\(\w+\))?[sdr]|</?\w+>", text))


def test_every_text_is_translated_with_its_placeholders() -> None:
    found = entries(CATALOGUE)
    assert len(found) > 300
    for source, translations, unsure in found:
        assert not unsure, source
        for original, german in zip(source.split("\0"), translations, strict=True):
            assert german, source
            # "one" need not say the number again.
            if "\0" not in source or original != source.split("\0")[0]:
                assert signs(german) == signs(original), source
            assert original[:1].isspace() == german[:1].isspace(), source
            assert original[-1:].isspace() == german[-1:].isspace(), source


def test_the_compiled_catalogue_is_the_written_one() -> None:
    with CATALOGUE.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for source, translations, _ in entries(CATALOGUE):
        singular, _, plural = source.partition("\0")
        if plural:
            assert (compiled.ngettext(singular, plural, 1), compiled.ngettext(singular, plural, 2)) == translations
        else:
            assert (compiled.gettext(singular),) == translations


@pytest.mark.skipif(shutil.which("xgettext") is None, reason="needs gettext")
def test_the_code_has_no_text_that_the_catalogue_has_not(tmp_path: Path) -> None:
    copy = tmp_path / "a2a_django"
    shutil.copytree(ROOT / "a2a_django", copy, ignore=shutil.ignore_patterns("__pycache__", "migrations", "static"))
    command = [sys.executable, "-m", "django", "makemessages", "-l", "de", "--no-location", "--no-wrap"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    subprocess.run(command, cwd=copy, env=environment, check=True, capture_output=True)
    now = {source for source, _, _ in entries(copy / "locale/de/LC_MESSAGES/django.po")}
    assert now == {source for source, _, _ in entries(CATALOGUE)}


@pytest.mark.django_db
def test_the_desk_speaks_german(settings: Settings) -> None:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "django.middleware.locale.LocaleMiddleware"]
    client = operator(superuser=True)
    dashboard = "/admin/a2a_django/agentsetting/dashboard/"
    assert "Warten auf einen Menschen" in client.get(dashboard, headers={"Accept-Language": "de"}).content.decode()
    assert "Waiting for a human" in client.get(dashboard, headers={"Accept-Language": "en"}).content.decode()
