"""The checked-in modules are what proto/generate.py makes of the proto, and its --check notices when they are not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from a2a_django.protocol.v1 import a2a_pb2

ROOT = Path(__file__).resolve().parents[2]
MODULE = Path("a2a_django/protocol/v1/a2a_pb2.py")
MODULES = (MODULE, Path("a2a_django/protocol/v0_3/a2a_pb2.py"))


def generate(root: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(root / "proto/generate.py"), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the proto and the modules made of it, to be changed at will."""
    shutil.copytree(ROOT / "proto", tmp_path / "proto", ignore=shutil.ignore_patterns("__pycache__"))
    for module in MODULES:
        (tmp_path / module.parent).mkdir(parents=True)
        for suffix in (".py", ".pyi"):
            shutil.copy((ROOT / module).with_suffix(suffix), (tmp_path / module).with_suffix(suffix))
    return tmp_path


def test_the_modules_are_up_to_date(tmp_path: Path) -> None:
    run = generate(ROOT, "--check", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
    assert "up to date" in run.stdout


def test_check_notices_a_changed_proto_and_changes_nothing(checkout: Path) -> None:
    proto = checkout / "proto/a2a.proto"
    proto.write_text(
        proto.read_text(encoding="utf-8").replace("string url = 4 [", "string link = 4 ["), encoding="utf-8"
    )
    before = (checkout / MODULE).read_bytes()
    run = generate(checkout, "--check", cwd=checkout / "proto")
    assert run.returncode == 1
    assert f"{MODULE} is not what proto/ says; run `python proto/generate.py`" in run.stdout
    assert f"{MODULE}i is not what proto/ says" in run.stdout
    assert (checkout / MODULE).read_bytes() == before


def test_generate_brings_a_changed_module_back(checkout: Path) -> None:
    before = (checkout / MODULE).read_bytes()
    (checkout / MODULE).write_bytes(before.replace(b"ROLE_AGENT = 2", b"ROLE_AGENT = 3"))
    (checkout / MODULE).with_suffix(".pyi").unlink()
    assert generate(checkout, "--check", cwd=checkout).returncode == 1
    run = generate(checkout, cwd=checkout)
    assert (run.returncode, run.stdout.split()) == (0, ["wrote", str(MODULE), "wrote", f"{MODULE}i"])
    assert (checkout / MODULE).read_bytes() == before
    assert generate(checkout, "--check", cwd=checkout).returncode == 0


def test_check_notices_a_merge_conflict(checkout: Path) -> None:
    module = checkout / MODULE
    module.write_text("<<<<<<< HEAD\n" + module.read_text(encoding="utf-8"), encoding="utf-8")
    run = generate(checkout, "--check", cwd=checkout)
    assert (run.returncode, run.stderr) == (1, "")
    assert f"{MODULE} is not what proto/ says" in run.stdout


def test_another_encoding_of_the_same_file_is_up_to_date(checkout: Path) -> None:
    """Releases of googleapis-common-protos differ in whether the annotation REQUIRED is packed."""
    pool = DescriptorPool()  # without google.api: the annotations are unknown fields, kept as they are
    pool.AddSerializedFile(descriptor_pb2.DESCRIPTOR.serialized_pb)
    file: Any = GetMessageClass(pool.FindMessageTypeByName("google.protobuf.FileDescriptorProto"))()
    file.ParseFromString(a2a_pb2.DESCRIPTOR.serialized_pb)
    packed, unpacked = b"\xe2\x41\x01\x02", b"\xe0\x41\x02"
    for field in (field for message in file.message_type for field in message.field):
        options = field.options.SerializeToString()
        if options in (packed, unpacked):
            field.options.ParseFromString(unpacked if options == packed else packed)
    other = file.SerializeToString()
    assert other != a2a_pb2.DESCRIPTOR.serialized_pb

    write = f"import generate; print(generate.literal({other!r}))"
    literal = subprocess.run(
        [sys.executable, "-c", write], cwd=checkout / "proto", capture_output=True, text=True, check=True
    ).stdout
    module = checkout / MODULE
    head, _, rest = module.read_text(encoding="utf-8").partition("_pool.load(\n")
    module.write_text(f"{head}_pool.load(\n{literal}" + rest[rest.index(")\n\n") :], encoding="utf-8")
    assert module.read_bytes() != (ROOT / MODULE).read_bytes()

    run = generate(checkout, "--check", cwd=checkout)
    assert run.returncode == 0, run.stdout


def test_a_mistake_in_the_proto_is_reported(checkout: Path) -> None:
    proto = checkout / "proto/a2a.proto"
    proto.write_text(proto.read_text(encoding="utf-8") + "\nmessage Broken { Nowhere x = 1; }\n", encoding="utf-8")
    run = generate(checkout, cwd=checkout)
    assert run.returncode == 1
    assert '"Nowhere" is not defined' in run.stderr
