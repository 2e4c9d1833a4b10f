"""The files of the ML.ENERGY Leaderboard's public data, typed and read strictly, each by itself."""

import hashlib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar, cast

import msgspec
from msgspec import Meta, Struct

from energydb.errors import DocumentError, DocumentErrors
from energydb.sources.parts import PartFault, UnknownField, decode_parts
from energydb.sources.records import File, TaskKind
from energydb.sources.strict_json import Count, Positive, Text, read_bytes

INDEX = "index.json"
TASKS = "tasks"
MODELS = "models"
RUNS = "configurations"

# Fields of the publisher's earlier schema, which measured and named things otherwise, and when it was given up.
EARLIER_SCHEMA = ("is_moe", "timelines", "timeline", "itl_distribution", "kv_cache_usage_percent")
SCHEMA_SINCE = "2025-11-30"

_ABSENT = cast(Any, None)  # optional where absent, while a null is refused


class Described(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What index, task and model files say of a model; parameters in billions."""

    total_params_billions: Positive
    activated_params_billions: Positive
    weight_precision: Text
    architecture: Text = _ABSENT


class IndexModel(Described, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model as the index lists it."""

    nickname: Text


class Index(Struct, frozen=True, forbid_unknown_fields=True):
    """`index.json`: the tasks by architecture, and the models by Hugging Face id."""

    architectures: dict[Text, tuple[Text, ...]]
    last_updated: date
    models: dict[Text, IndexModel]
    tasks: Annotated[tuple[Text, ...], Meta(min_length=1)]


class Measured(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a run says of itself, in a task's file and in a model's."""

    gpu_model: Text
    num_gpus: Count
    avg_power_watts: Positive


class MeasuredText(Measured, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A measured run of a text model: energy in J, power in W, latency in ms."""

    avg_batch_size: Positive
    avg_output_len: Positive
    energy_per_request_joules: Positive
    energy_per_token_joules: Positive
    max_num_seqs: Count | None
    median_itl_ms: Positive
    output_throughput_tokens_per_sec: Positive
    p90_itl_ms: Positive | None
    p95_itl_ms: Positive | None
    p99_itl_ms: Positive | None


class MeasuredImage(Measured, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A measured run of an image model: energy in J, power in W, latency in s."""

    batch_latency_s: Positive
    batch_size: Count
    energy_per_image_joules: Positive
    image_height: Count
    image_width: Count
    inference_steps: Count
    throughput_images_per_sec: Positive


class MeasuredVideo(Measured, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A measured run of a video model: energy in J, power in W, latency in s."""

    batch_latency_s: Positive
    batch_size: Count
    energy_per_video_joules: Positive
    fps: Positive | None
    inference_steps: Count
    num_frames: Count | None
    throughput_videos_per_sec: Positive
    video_height: Count
    video_width: Count


class TextParallel(Struct, frozen=True, forbid_unknown_fields=True):
    """How a text model was split, and a note where attention and experts differ."""

    tensor_parallel: Count
    data_parallel: Count
    expert_parallel: Count
    notes: str  # mostly empty
    pipeline_parallel: Count = _ABSENT
    other_parallel: Text = _ABSENT


class DiffusionParallel(Struct, frozen=True, forbid_unknown_fields=True):
    """How an image or video model was split."""

    ulysses_degree: Count
    ring_degree: Count
    other_parallel: Text = _ABSENT


class Lengths(Struct, frozen=True, forbid_unknown_fields=True):
    """Output lengths: edges of the bins in tokens, one more than the requests counted in each."""

    bins: tuple[float, ...]
    counts: Annotated[tuple[Annotated[int, Meta(ge=0, le=2**31 - 1)], ...], Meta(min_length=1)]


# msgspec can't join two bases, so the three kinds of row each list what they say of their model.


class TextRow(MeasuredText, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run in a text task's file."""

    model_id: Text
    nickname: Text
    total_params_billions: Positive
    activated_params_billions: Positive
    weight_precision: Text
    architecture: Text
    tensor_parallel: Count
    data_parallel: Count
    expert_parallel: Count
    pipeline_parallel: Count = _ABSENT
    other_parallel: Text = _ABSENT


class ImageRow(MeasuredImage, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run in an image task's file."""

    model_id: Text
    nickname: Text
    total_params_billions: Positive
    activated_params_billions: Positive
    weight_precision: Text
    ulysses_degree: Count
    ring_degree: Count
    other_parallel: Text = _ABSENT


class VideoRow(MeasuredVideo, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run in a video task's file."""

    model_id: Text
    nickname: Text
    total_params_billions: Positive
    activated_params_billions: Positive
    weight_precision: Text
    ulysses_degree: Count
    ring_degree: Count
    other_parallel: Text = _ABSENT


class TextConfiguration(MeasuredText, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run in a text model's file."""

    parallelization: TextParallel
    output_length_distribution: Lengths


class ImageConfiguration(MeasuredImage, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run in an image model's file."""

    parallelization: DiffusionParallel


class VideoConfiguration(MeasuredVideo, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run in a video model's file."""

    parallelization: DiffusionParallel


R = TypeVar("R")


class TaskFile(Struct, Generic[R], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`tasks/<task>.json`: all runs of a task."""

    task: Text
    task_display_name: Text
    configurations: Annotated[tuple[R, ...], Meta(min_length=1)]
    architecture: Text = _ABSENT


class ModelFile(Described, Generic[R], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`models/<id>__<task>.json`: the runs of one model on one task, once more, and what goes with them."""

    model_id: Text
    task: Text
    configurations: Annotated[tuple[R, ...], Meta(min_length=1)]
    nickname: Text = _ABSENT
    output_length_distribution: Lengths = _ABSENT


class Shape(Struct, frozen=True):
    """How one kind of task is written: in a task's file and in a model's."""

    tasks: msgspec.json.Decoder[Any]
    models: msgspec.json.Decoder[Any]
    measured: tuple[str, ...]
    parallel: tuple[str, ...]


SHAPES: dict[TaskKind, Shape] = {
    "text": Shape(
        msgspec.json.Decoder(TaskFile[TextRow]),
        msgspec.json.Decoder(ModelFile[TextConfiguration]),
        MeasuredText.__struct_fields__,
        tuple(field for field in TextParallel.__struct_fields__ if field != "notes"),
    ),
    "image": Shape(
        msgspec.json.Decoder(TaskFile[ImageRow]),
        msgspec.json.Decoder(ModelFile[ImageConfiguration]),
        MeasuredImage.__struct_fields__,
        DiffusionParallel.__struct_fields__,
    ),
    "video": Shape(
        msgspec.json.Decoder(TaskFile[VideoRow]),
        msgspec.json.Decoder(ModelFile[VideoConfiguration]),
        MeasuredVideo.__struct_fields__,
        DiffusionParallel.__struct_fields__,
    ),
}


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


def read_file(path: Path, shape: str) -> Read[Any]:
    """Read one file, of the shape that its place in the folder calls for: what is sound of it.

    Raises:
        DocumentErrors: the first fault of form that isn't of one run or model; or, where no run is sound, theirs.
        MachineError: the file can't be read.
    """
    data = read_bytes(path)
    kind = _kind(data)
    try:
        parts = decode_parts(path, data, _INDEX if shape == INDEX else getattr(SHAPES[kind], shape))
    except DocumentErrors as error:
        raise _of_earlier_schema(path, data, error) or error from error
    runs = () if shape == INDEX else range(len(parts.value.configurations))
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


def _kind(data: bytes) -> TaskKind:
    """Tell the kind of a task by the unit of its energy."""
    if b'"energy_per_video_joules"' in data:
        return "video"
    if b'"energy_per_image_joules"' in data:
        return "image"
    return "text"
