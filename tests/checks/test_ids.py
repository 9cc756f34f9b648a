"""Every message has an id of its own: who silences one must not silence another with it."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict

import a2a_django.checks
from a2a_django.engine.runners import celery, django_tasks


def test_an_id_belongs_to_one_check() -> None:
    uses: dict[str, set[str]] = defaultdict(set)
    modules = [getattr(a2a_django.checks, name) for name in a2a_django.checks.__all__]
    for module in [*modules, celery, django_tasks]:
        for name, function in inspect.getmembers(
            module, lambda each: inspect.isfunction(each) or inspect.isclass(each)
        ):
            if function.__module__ == module.__name__:
                for found in re.findall(r"a2a_django\.[EWI][0-9]{3}", inspect.getsource(function)):
                    uses[found].add(f"{module.__name__}.{name}")
    assert len(uses) > 40
    assert {each: names for each, names in uses.items() if len(names) > 1} == {}
