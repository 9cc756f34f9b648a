"""Whoever deletes the folder of the dialect deletes the dialect, and nothing else has to be changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import a2a_django
from tests.bindings.v0_3 import test_removal

ON = '"TUTORIAL_DIALECT": True, "PERMISSION_CLASSES"'
MORE = """
short = {"role": "user", "parts": [{"text": "hi"}]}
found["short"] = call("message/send", {"message": short})
found["paths"] = [client.get(path).status_code for path in ("/sse?taskId=x", "/a2a/sse", "/.well-known/agent-card")]
import a2a_django.bindings.grpc.server
"""


def test_without_the_folder_there_is_0_3_and_no_dialect(tmp_path: Path) -> None:
    shutil.copytree(
        Path(a2a_django.__file__).parent, tmp_path / "a2a_django", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.rmtree(tmp_path / "a2a_django" / "bindings" / "dialect")
    script = test_removal.SCRIPT.replace('"PERMISSION_CLASSES"', ON)
    script = script.replace("import a2a_django.bindings.grpc.server\n", MORE.lstrip())
    found = test_removal.answers(tmp_path, script)
    assert found["new"]["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert found["old"]["result"]["status"]["state"] == "completed"
    assert found["short"]["error"]["code"] == -32602
    assert found["paths"] == [404, 404, 404]
