"""The ids of tasks: they sort by time, and no two are the same, in whichever thread or process they are made."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor

from a2a_django.models.fields import uuid7

FORK = """
import os, django
django.setup()
from a2a_django.models.fields import uuid7
uuid7()
child = os.fork()
made = "\\n".join(uuid7() for _ in range(200))
if child:
    os.waitpid(child, 0)  # one after the other, so that their lines do not mix
print(made, flush=True)
if not child:
    os._exit(0)
"""


def random_bits(text: str) -> str:
    return text[-17:]


def test_they_are_of_version_7_and_in_order() -> None:
    made = [uuid7() for _ in range(5000)]  # more than there are counters in a millisecond, or bytes in store
    assert {uuid.UUID(text).version for text in made} == {7}
    assert {uuid.UUID(text).variant for text in made} == {uuid.RFC_4122}
    assert made == sorted(made)
    assert len(set(map(random_bits, made))) == len(made)


def test_threads_share_no_random_bits() -> None:
    with ThreadPoolExecutor(8) as threads:
        made = [text for some in threads.map(lambda _: [uuid7() for _ in range(500)], range(8)) for text in some]
    assert len(set(map(random_bits, made))) == len(made) == 4000


def test_a_fork_does_not_repeat_what_its_parent_makes() -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True, env=environment)
    made = done.stdout.split()
    assert len(set(map(random_bits, made))) == len(made) == 400
