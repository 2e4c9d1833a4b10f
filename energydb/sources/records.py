"""What a reader yields: typed records of one document, whatever format it came in.

The field names are the JSON keys of a model document and the column names of the tables.
"""

import functools
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

import msgspec

from energydb.errors import DocumentError
from energydb.names import model_identity
from energydb.sources.parts import UnknownField

TaskKind = Literal["text", "image", "video"]
Origin = Literal["published", "own"]
Window = Literal["steady_state", "whole_run", "stated"]
Basis = Literal["measured", "modelled", "stated", "mixed"]


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What all documents of one release share; None where a format doesn't say."""

    format: str
    name: str
    publisher: str
    url: str
    task: str
    kind: TaskKind
    data_version: date
    compiled: date
    workload: str
    licence: str
    licence_evidence: tuple[str, ...]
    cite: str
    cite_url: str
    caveat: str
    boundary: str
    origin: Origin
    measurement_window: Window
    basis: Basis
    is_complete: bool
    has_all_tasks: bool
    document_version: str | None = None
    updated: date | None = None
    unit: str | None = None
    itl_deadline_ms: int | None = None
    data_url: str | None = None
    version: str | None = None
    released: date | None = None
    compiled_evidence: str | None = None
    retrieved: date | None = None
    method: str | None = None
    selection: str | None = None
    used_for: str | None = None
    configurations_note: str | None = None

    @property
    def release(self) -> tuple[str, str, str, date]:
        """What makes two documents parts of one release: source, task, format and data version."""
        return (self.name, self.task, self.format, self.data_version)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One measured run of a text model (units in the names).

    None where a format's publisher allows it: fields that came late, no cap on sequences, no notes. Repeats share
    what is in `SETTING`.
    """

    SETTING: ClassVar[tuple[str, ...]] = ("gpu", "num_gpus", "max_num_seqs")

    gpu: str
    num_gpus: int
    tensor_parallel: int
    data_parallel: int
    expert_parallel: int
    precision: str
    max_num_seqs: int | None
    avg_requests_in_flight: float
    wh_per_million_output_tokens: float
    joules_per_output_token: float
    median_itl_ms: float
    p90_itl_ms: float | None
    p99_itl_ms: float | None
    tokens_per_second: float
    gpu_power_watts_total: float
    avg_output_tokens: float
    under_itl_deadline: bool
    avg_running_batch: float | None
    p95_itl_ms: float | None
    row_id: str
    repeat: int
    pipeline_parallel: int = 1
    energy_per_request_joules: float | None = None
    parallel_notes: str | None = None
    other_parallel: str | None = None
    gpu_as_published: str | None = None
    precision_as_published: str | None = None


class DiffusionRun(msgspec.Struct, frozen=True, kw_only=True):
    """What runs of image and of video models have in common (units in the names)."""

    SETTING: ClassVar[tuple[str, ...]] = (
        "gpu",
        "num_gpus",
        "ulysses_degree",
        "ring_degree",
        "precision",
        "batch_size",
        "inference_steps",
    )

    gpu: str
    num_gpus: int
    ulysses_degree: int
    ring_degree: int
    precision: str
    batch_size: int
    inference_steps: int
    batch_latency_s: float
    gpu_power_watts_total: float
    repeat: int
    other_parallel: str | None = None
    gpu_as_published: str | None = None
    precision_as_published: str | None = None


class ImageRun(DiffusionRun, frozen=True, kw_only=True):
    """One measured run of a model that makes images."""

    SETTING: ClassVar[tuple[str, ...]] = (*DiffusionRun.SETTING, "image_height", "image_width")

    image_height: int
    image_width: int
    joules_per_image: float
    images_per_second: float


class VideoRun(DiffusionRun, frozen=True, kw_only=True):
    """One measured run of a model that makes videos; None where the publisher doesn't say."""

    SETTING: ClassVar[tuple[str, ...]] = (*DiffusionRun.SETTING, "video_height", "video_width", "num_frames", "fps")

    video_height: int
    video_width: int
    num_frames: int | None
    fps: float | None
    joules_per_video: float
    videos_per_second: float


AnyRun = Run | ImageRun | VideoRun
R = TypeVar("R", bound=AnyRun)


class Runs(Generic[R]):
    """Runs of one kind, in document order: all of them field by field, and as records when they're asked for.

    `columns` maps the fields of `kind` to their values, run by run; one that isn't there has its default in each.
    """

    def __init__(self, kind: type[R], columns: Mapping[str, Sequence[Any]]) -> None:
        self.kind = kind
        self.columns = columns

    @classmethod
    def of(cls, records: Sequence[R]) -> "Runs[R]":
        """Put records of one kind into columns; there must be one at least."""
        return cls(type(records[0]), columns_of(records))

    def __eq__(self, other: object) -> bool:
        """Tell whether all runs are the same."""
        return isinstance(other, Runs) and (self.kind, self.columns) == (other.kind, other.columns)

    def __getitem__(self, place: int) -> R:
        """Return one run."""
        return self.records[place]

    def __len__(self) -> int:
        """Count the runs."""
        return len(next(iter(self.columns.values())))

    def column(self, field: str) -> Sequence[Any]:
        """Return the values of a field, run by run."""
        return self.columns[field] if field in self.columns else [_defaults(cast(Any, self.kind))[field]] * len(self)

    @functools.cached_property
    def records(self) -> tuple[R, ...]:
        """The runs one by one."""
        values = zip(*self.columns.values(), strict=True)
        return tuple(self.kind(**dict(zip(self.columns, of_run, strict=True))) for of_run in values)


@functools.cache
def _defaults(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.name: field.default for field in msgspec.structs.fields(kind) if not field.required}


def columns_of(records: Sequence[msgspec.Struct]) -> dict[str, Sequence[Any]]:
    """Return every field of records of one class, as its values record by record."""
    values = zip(*map(msgspec.structs.astuple, records), strict=True)
    return dict(zip(records[0].__struct_fields__, values, strict=True))


class OutputLengths(msgspec.Struct, frozen=True):
    """How many requests of one run gave outputs of which length: `edges` in tokens, one more than `counts`."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model as one document describes it, its runs in document order, and what it calls best.

    All runs are of one kind, the task's. `picks` maps a GPU to the place of the published pick in `runs`.
    `output_lengths` go with the runs one by one, and are empty where the format holds none.
    """

    slug: str
    name: str
    model_id: str
    params_b: float
    active_params_b: float
    architecture: str | None
    runs: Runs[Any]
    picks: dict[str, int] = {}
    output_lengths: tuple[OutputLengths, ...] = ()

    @property
    def identity(self) -> str:
        """What tells this model from others, however its id is spelt."""
        return model_identity(self.model_id)


class File(msgspec.Struct, frozen=True):
    """One file that was read: its base name and the SHA-256 of its bytes, in hexadecimal."""

    name: str
    sha256: str


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong at one place, and what can't be loaded for it: of which task and model, and how many runs.

    `runs` counts those that no fault before it spoilt, and is None where it isn't known; `model_id` is None where
    more than one model is spoilt.
    """

    error: DocumentError
    task: str | None = None
    model_id: str | None = None
    runs: int | None = None


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """What was read in one piece: where it lay, its files, its head and its models.

    The first of `files` is the one that holds the models. `head_places` says where in it each field of the
    head stands. `faults` are those of its parts that aren't in it, and `unknown` the fields that it has besides.
    """

    path: str
    files: tuple[File, ...]
    head: Head
    models: tuple[Model, ...]
    head_places: Mapping[str, str]
    faults: tuple[Fault, ...] = ()
    unknown: tuple[UnknownField, ...] = ()


class Reading(msgspec.Struct, frozen=True):
    """All that is sound in a file or folder, the faults of what no document came of, and what was passed over."""

    documents: tuple[Document, ...]
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
