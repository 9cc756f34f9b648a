"""The report says plainly what was reached, missed and not measured."""

from __future__ import annotations

import pytest

from benchmarks.report import Section, Target, ratio, spread, table, targets_markdown


@pytest.mark.parametrize(
    ("got", "at_least", "reached"),
    [(4.0, True, True), (3.99, True, False), (4.0, False, True), (4.01, False, False), (None, True, None)],
)
def test_target(got: float | None, at_least: bool, reached: bool | None) -> None:
    assert Target("x", 4.0, got, at_least).reached is reached


def test_targets_of_all_sections_stand_in_one_table() -> None:
    first = Section("A", "text", ("a",), targets=[Target("fast", 4.0, 5.125, True), Target("flat", 1.05, 1.2, False)])
    second = Section("B", "text", ("b",), targets=[Target("later", 1.0, None, True)])
    lines = targets_markdown([first, second]).splitlines()
    assert [cell.strip() for cell in lines[4].split("|")[1:-1]] == ["fast", ">= 4", "5.12", "reached"]
    assert [cell.strip() for cell in lines[5].split("|")[1:-1]] == ["flat", "<= 1.05", "1.20", "**missed**"]
    assert [cell.strip() for cell in lines[6].split("|")[1:-1]] == ["later", ">= 1", "-", "not measured"]


def test_table_lines_up() -> None:
    assert table(("name", "n"), [("a", "10")]) == "| name |  n |\n| ---- | -: |\n| a    | 10 |"


def test_ratio_and_spread() -> None:
    assert ratio(6.0, 3.0) == 2.0
    assert ratio(None, 3.0) is None
    assert ratio(6.0, None) is None
    assert spread([3.0, 1.0, 2.0], 0) == "2 (1-3)"
