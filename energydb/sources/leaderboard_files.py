"""The files of the ML.ENERGY Leaderboard's public data, each read strictly and by itself."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta, Struct

from energydb.errors import DocumentError, DocumentErrors
from energydb.files import read_bytes
from energydb.sources.leaderboard_form import GROUPS, RUNS, SHAPES, Index, Measured, ModelFile, TaskFile
from energydb.sources.parts import PartFault, UnknownField, decode_parts
from energydb.sources.records import File, TaskKind
from energydb.sources.strict_json import Visible

INDEX = "index.json"
TASKS = "tasks"
MODELS = "models"

# Fields of the publisher's earlier schema, which measured and named things otherwise, and when it was given up.
EARLIER_SCHEMA = ("is_moe", "timelines", "timeline", "itl_distribution", "kv_cache_usage_percent")
SCHEMA_SINCE = "2025-11-30"

R = TypeVar("R")


class Read(Struct, Generic[R], frozen=True):
    """One file that was read: where it lies, what it is, and what it holds.

    `places` says where in the file those of its runs stand that are sound; `lost` has the parts that aren't, by place
    or key.
    """

    path: Path
    file: File
    kind: TaskKind
    content: R
    places: tuple[int, ...] = ()
    lost: dict[int | str, PartFault] = {}
    unknown: tuple[UnknownField, ...] = ()


def read_index(folder: Path) -> Read[Index]:
    """Read a folder's index: what is sound of it.

    Raises:
        DocumentErrors: the first fault of form that isn't of one model.
        MachineError: the file changes while it's read.
    """
    path = folder / INDEX
    return _read(path, read_bytes(path), "text", _INDEX)


def read_task_file(path: Path, group: str | None) -> "Read[TaskFile[Any]] | OtherKind":
    """Read a task's file, which the index lists in `group`: what is sound of it, or why none of it can be kept.

    Raises:
        DocumentErrors: the first fault of form that isn't of one run; or, where no run is sound, theirs.
        MachineError: the file changes while it's read.
    """
    data = read_bytes(path)
    if other := _other_kind(path, data):
        return other
    likeness = {kind: _likeness(data, kind) for kind in SHAPES}
    kind = max(GROUPS.get(group, SHAPES), key=likeness.__getitem__)
    if likeness[kind] <= _MOSTLY:
        kind = max(likeness, key=likeness.__getitem__)
    return _read(path, data, kind, SHAPES[kind].tasks)


def read_model_file(path: Path, kind: TaskKind) -> Read[ModelFile[Any]]:
    """Read a model's file of a task of one kind: what is sound of it.

    Raises:
        DocumentErrors: the first fault of form that isn't of one run; or, where no run is sound, theirs.
        MachineError: the file changes while it's read.
    """
    return _read(path, read_bytes(path), kind, SHAPES[kind].models)


def _read(path: Path, data: bytes, kind: TaskKind, decoder: msgspec.json.Decoder[Any]) -> Read[Any]:
    try:
        parts = decode_parts(path, data, decoder)
    except DocumentErrors as error:
        raise _of_earlier_schema(path, data, error) or error from error
    runs = () if decoder is _INDEX else range(len(parts.value.configurations))
    return Read(
        path,
        File(path.name, hashlib.sha256(data).hexdigest()),
        kind,
        parts.value,
        parts.places.get(RUNS, tuple(runs)),
        {fault.part[1]: fault for fault in parts.faults},
        parts.unknown,
    )


def _of_earlier_schema(path: Path, data: bytes, error: DocumentErrors) -> DocumentErrors | None:
    """Tell a file that lacks what is needed because the publisher then measured and named otherwise."""
    earlier = [field for field in EARLIER_SCHEMA if f'"{field}"'.encode() in data]
    if not earlier or not any("no such field" in fault.problem for fault in error.errors):
        return None
    problem = f"expected the leaderboard's schema, which is in use since {SCHEMA_SINCE}, got one before it"
    return DocumentErrors([DocumentError(path, "$", f"{problem}, with {earlier[0]}, which isn't read")])


def what_file(content: Mapping[str, Any]) -> str | None:
    """Say which of the leaderboard's files a JSON object is, by its keys; None where it's none."""
    if {"architectures", "last_updated"} <= content.keys():
        return "the index"
    if {"task", "configurations"} <= content.keys():
        return "a model's file" if "model_id" in content else "a task's file"
    return None


_INDEX = msgspec.json.Decoder(Index)
# More than this share of a kind's own fields makes a task one of that kind.
_MOSTLY = 0.5


class OtherKind(Struct, frozen=True):
    """A task of a kind that no table holds: by which energy it is measured, and how many runs it has."""

    measured_by: str
    runs: int


def _other_kind(path: Path, data: bytes) -> OtherKind | None:
    """Tell a task of a kind that isn't known: sound in all else, and measured by the energy of something else.

    One that has most fields of a known kind is of that, and its energy misspelt.
    """
    energies = {name.decode() for name in re.findall(rb'"(energy_per_[a-z0-9_]+_joules)"\s*:', data)} - _OF_ANY_KIND
    if not energies or any(
        energies & {*shape.measured} or _likeness(data, kind) > _MOSTLY for kind, shape in SHAPES.items()
    ):
        return None
    try:
        content = decode_parts(path, data, _OTHER).value
    except DocumentErrors:
        return None
    return OtherKind(", ".join(sorted(energies)), len(content.configurations))


class _OtherTask(Struct, frozen=True):
    task: Visible
    task_display_name: Visible
    configurations: Annotated[tuple[dict[str, Any], ...], Meta(min_length=1)]


_OF_ANY_KIND = {"energy_per_request_joules"}
_OTHER = msgspec.json.Decoder(_OtherTask)


def _likeness(data: bytes, kind: TaskKind) -> float:
    """Return which share of the fields that are measured in one kind of task is there, but for those of all kinds."""
    own = [field for field in SHAPES[kind].measured if field not in Measured.__struct_fields__]
    return sum(f'"{field}"'.encode() in data for field in own) / len(own)
