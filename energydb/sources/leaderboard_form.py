"""The form of the files of the ML.ENERGY Leaderboard's public data: their fields with their types and ranges."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Generic, TypeVar, cast

import msgspec
from msgspec import Meta, Struct

from energydb.names import NAMED
from energydb.sources.records import TaskKind
from energydb.sources.strict_json import Count, Positive, Text, Visible

RUNS = "configurations"

_ABSENT = cast(Any, None)  # optional where absent, while a null is refused
# A Hugging Face id, of which the last part names the model.
ModelId = Annotated[str, Meta(max_length=2**16, pattern=NAMED)]


class Described(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What index, task and model files say of a model; parameters in billions."""

    total_params_billions: Positive
    activated_params_billions: Positive
    weight_precision: Visible
    architecture: Visible = _ABSENT


class IndexModel(Described, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model as the index lists it."""

    nickname: Visible


class Index(Struct, frozen=True, forbid_unknown_fields=True):
    """`index.json`: the tasks by architecture, and the models by Hugging Face id."""

    architectures: dict[Visible, tuple[Visible, ...]]
    last_updated: date
    models: dict[Visible, IndexModel]
    tasks: Annotated[tuple[Visible, ...], Meta(min_length=1)]


class Measured(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a run says of itself, in a task's file and in a model's."""

    gpu_model: Visible
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

    model_id: ModelId
    nickname: Visible
    total_params_billions: Positive
    activated_params_billions: Positive
    weight_precision: Visible
    architecture: Visible
    tensor_parallel: Count
    data_parallel: Count
    expert_parallel: Count
    pipeline_parallel: Count = _ABSENT
    other_parallel: Text = _ABSENT


class ImageRow(MeasuredImage, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run in an image task's file."""

    model_id: ModelId
    nickname: Visible
    total_params_billions: Positive
    activated_params_billions: Positive
    weight_precision: Visible
    architecture: Visible = _ABSENT
    ulysses_degree: Count
    ring_degree: Count
    other_parallel: Text = _ABSENT


class VideoRow(MeasuredVideo, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run in a video task's file."""

    model_id: ModelId
    nickname: Visible
    total_params_billions: Positive
    activated_params_billions: Positive
    weight_precision: Visible
    architecture: Visible = _ABSENT
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
    architecture: Visible = _ABSENT


class ModelFile(Described, Generic[R], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`models/<id>__<task>.json`: the runs of one model on one task, once more, and what goes with them."""

    model_id: ModelId
    task: Text
    configurations: Annotated[tuple[R, ...], Meta(min_length=1)]
    nickname: Visible = _ABSENT
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

# Of which kinds the tasks in the index's lists are, by the list's name.
GROUPS: Mapping[str | None, tuple[TaskKind, ...]] = {
    "llm": ("text",),
    "mllm": ("text",),
    "diffusion": ("image", "video"),
}
