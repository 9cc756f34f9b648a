"""The private descriptor pool that all generated modules of this package live in.

Protobuf refuses to register two files that define the same names in one pool, and the official SDK registers
``lf.a2a.v1`` in the default one. A site that serves A2A often calls other agents with that SDK in the same process, so
nothing of ours goes into the default pool. A message can only refer to types of its own pool: that is why ``Struct``,
``Timestamp`` and the others are here once more. They do the same as those of ``google.protobuf.struct_pb2`` and its
like but are not the same classes; between the two, go through bytes or JSON.

Invariant: ``POOL`` holds every dependency of a file before the file itself.
"""

from __future__ import annotations

from importlib import import_module

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

POOL = DescriptorPool()


def load(serialized: bytes) -> FileDescriptor:
    """Put a serialized ``FileDescriptorProto`` and all it imports into the pool and return its descriptor.

    Loading the same file again is harmless. Raises ``ModuleNotFoundError`` when the module of an imported file is not
    installed and ``TypeError`` when another file of the pool already defines the same names.
    """
    file = FileDescriptorProto.FromString(serialized)
    for path in file.dependency:
        _copy(_installed(path))
    POOL.AddSerializedFile(serialized)
    return POOL.FindFileByName(file.name)


def message_class(full_name: str, module: str) -> type[Message]:
    """Return the class of a message of the pool; ``module`` is where it can be imported from (for repr and pickle).

    Raises ``KeyError`` when the pool does not know the name.
    """
    found = GetMessageClass(POOL.FindMessageTypeByName(full_name))
    found.__module__ = module
    return found


def _installed(path: str) -> FileDescriptor:
    """The descriptor that the installed module of a .proto file has: the one that fits the protobuf at hand."""
    descriptor: FileDescriptor = import_module(path.removesuffix(".proto").replace("/", ".") + "_pb2").DESCRIPTOR
    return descriptor


def _copy(file: FileDescriptor) -> None:
    for dependency in file.dependencies:
        _copy(dependency)
    POOL.AddSerializedFile(file.serialized_pb)
