"""The messages of both versions beside those of the official SDK in one process, in any order of the imports."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.protocol.test_pools import python

pytestmark = pytest.mark.spec("A")

OURS = "import a2a_django.protocol.v0_3.a2a_pb2 as ours"
NEWER = "import a2a_django.protocol.v1.a2a_pb2 as newer"
SDK = (
    "import a2a.client, a2a.types.a2a_pb2_grpc, a2a.compat.v0_3.a2a_v0_3_pb2 as official, "
    "a2a.compat.v0_3.a2a_v0_3_pb2_grpc"
)
COMPARE = """
from google.protobuf import descriptor_pool, json_format
assert len({ours.Task, newer.Task, official.Task}) == 3
assert ours.POOL is newer.POOL is not official.DESCRIPTOR.pool
assert descriptor_pool.Default().FindMessageTypeByName("a2a.v1.Task") is official.Task.DESCRIPTOR
task = ours.Task(id="t1", metadata={"n": 1}, status={"state": "TASK_STATE_CANCELLED"})
assert json_format.MessageToDict(official.Task.FromString(task.SerializeToString())) == json_format.MessageToDict(task)
print("fine")
"""
ALONE = """
from google.protobuf import descriptor_pool
try:
    descriptor_pool.Default().FindFileContainingSymbol("a2a.v1.A2AService")
except KeyError:
    print("fine")
"""


@pytest.mark.parametrize("order", list(permutations([OURS, NEWER, SDK])))
def test_imports_in_any_order(order: tuple[str, ...]) -> None:
    assert python(*order, COMPARE) == "fine"


def test_nothing_of_ours_is_in_the_default_pool() -> None:
    assert python(OURS, ALONE) == "fine"
