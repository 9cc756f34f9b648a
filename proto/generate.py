"""Generate the message modules of a2a_django from the .proto files beside this script.

    python proto/generate.py           write the modules
    python proto/generate.py --check   write nothing, exit with 1 when a module is not what would be written

Works from any directory. Needs grpcio-tools, and the package's own dependency googleapis-common-protos for the imported
files; a2a_django itself need not be installed.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# Imported so that the annotations are known fields, which compare by their value and not by their bytes.
from google.api import annotations_pb2, client_pb2, field_behavior_pb2  # noqa: F401
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError
from stub import stub_text

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WIDTH = 120
WELL_KNOWN = ("Struct", "Value", "ListValue", "Timestamp", "Empty")

MODULE = '''"""Generated from proto/{source} by `python proto/generate.py`; do not edit.

The messages and enums of {package}, in the private descriptor pool of a2a_django/protocol/pool.py.
"""

from __future__ import annotations

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper as _EnumTypeWrapper

from a2a_django.protocol import pool as _pool

POOL = _pool.POOL
DESCRIPTOR = _pool.load(
{serialized}
)

{body}
'''


@dataclass(frozen=True)
class Target:
    """One .proto file of this folder and the module (path without suffix, below the root) that is made of it."""

    source: str
    module: str


TARGETS = (
    Target("a2a.proto", "a2a_django/protocol/v1/a2a_pb2"),
    Target("a2a_v0_3.proto", "a2a_django/protocol/v0_3/a2a_pb2"),
)


def compile_proto(source: str) -> FileDescriptorProto:
    """Compile a file of this folder; exits with the compiler's own message when it is wrong."""
    google_api = importlib.util.find_spec("google.api")
    tools = importlib.util.find_spec("grpc_tools")
    if tools is None or not tools.submodule_search_locations:
        sys.exit("proto/generate.py needs grpcio-tools: pip install grpcio-tools")
    if google_api is None or not google_api.submodule_search_locations:
        sys.exit("proto/generate.py needs googleapis-common-protos: pip install googleapis-common-protos")
    includes = [
        HERE,
        Path(next(iter(tools.submodule_search_locations))) / "_proto",
        Path(next(iter(google_api.submodule_search_locations))).parent.parent,
    ]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "descriptors"
        command = [sys.executable, "-m", "grpc_tools.protoc", *(f"-I{path}" for path in includes)]
        run = subprocess.run(
            [*command, "--include_source_info", f"--descriptor_set_out={out}", source], cwd=HERE, check=False
        )
        if run.returncode:
            sys.exit(run.returncode)
        (file,) = FileDescriptorSet.FromString(out.read_bytes()).file
    return file


def serialize(file: FileDescriptorProto, standing: str) -> bytes:
    """The bytes of the file without its comments: those of the ``standing`` module when they mean the same.

    Releases of google/api/field_behavior.proto differ in how the annotation is encoded (packed or not), and a check
    must not fail because of the release that happens to be installed.
    """
    bare = FileDescriptorProto()
    bare.CopyFrom(file)
    bare.ClearField("source_code_info")
    try:
        for node in ast.walk(ast.parse(standing)):
            embedded = node.value if isinstance(node, ast.Constant) else None
            if isinstance(embedded, bytes) and FileDescriptorProto.FromString(embedded) == bare:
                return embedded
    except (SyntaxError, DecodeError):
        print("The module that stands there cannot be read (a merge, an edit by hand); it is made anew.")
    return bare.SerializeToString(deterministic=True)


def module_text(file: FileDescriptorProto, standing: str) -> str:
    """The text of the Python module that holds the serialized file and names its messages, enums and enum values."""
    names = [f"{file.package}.{message.name}" for message in file.message_type]
    names += [f"google.protobuf.{name}" for name in WELL_KNOWN]
    lines = [f'{name.rpartition(".")[2]} = _pool.message_class("{name}", __name__)' for name in names]
    for enum in file.enum_type:
        lines += ["", f'{enum.name} = _EnumTypeWrapper(DESCRIPTOR.enum_types_by_name["{enum.name}"])']
        lines += [f"{value.name} = {value.number}" for value in enum.value]
    return MODULE.format(
        source=file.name,
        package=file.package,
        serialized=literal(serialize(file, standing)),
        body="\n".join(lines),
    )


def literal(data: bytes) -> str:
    """A bytes literal in lines of at most WIDTH characters, indented by four."""
    lines, line = [], ""
    for byte in data:
        char = chr(byte)
        piece = {"\\": r"\\", '"': r"\""}.get(char, char) if 32 <= byte < 127 else f"\\x{byte:02x}"
        if len(line) + len(piece) > WIDTH - 7:
            lines.append(line)
            line = ""
        line += piece
    return "\n".join(f'    b"{line}"' for line in [*lines, line])


def main() -> int:
    """Write the modules, or with --check compare them; the exit status."""
    parser = argparse.ArgumentParser(description="Generate the message modules of a2a_django from proto/*.proto.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a module is out of date")
    check = parser.parse_args().check
    stale = []
    for target in TARGETS:
        file = compile_proto(target.source)
        for suffix in (".py", ".pyi"):
            path = ROOT / (target.module + suffix)
            standing = path.read_text(encoding="utf-8") if path.exists() else ""
            text = module_text(file, standing) if suffix == ".py" else stub_text(file, WELL_KNOWN)
            if text == standing:
                continue
            stale.append(path.relative_to(ROOT))
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
    for path in stale:
        print(f"{path} is not what proto/ says; run `python proto/generate.py`" if check else f"wrote {path}")
    if not stale:
        print("The generated modules are up to date.")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
