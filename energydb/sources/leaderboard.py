"""Reads the ML.ENERGY Leaderboard's public data: a folder of index.json, tasks/ and models/.

Figures are kept in full precision. What the folder doesn't say of its source stands here as constants.
"""

import contextlib
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from energydb.errors import DocumentError, DocumentErrors, counted, some_of
from energydb.files import is_file, is_folder, is_there, listed
from energydb.names import gpu_name, precision_name
from energydb.sources.leaderboard_files import INDEX, MODELS, TASKS, OtherKind, Read, read_index
from energydb.sources.leaderboard_form import Index, TaskFile
from energydb.sources.leaderboard_task import Task
from energydb.sources.parts import OTHER_KIND, UnknownField
from energydb.sources.records import (
    AnyRun,
    Document,
    Fault,
    Head,
    ImageRun,
    Model,
    OutputLengths,
    Reading,
    Run,
    Runs,
    VideoRun,
)
from energydb.units import wh_per_million_tokens

FORMAT = "leaderboard"

# What the leaderboard's pages and its benchmark's data set say, and its data files don't.
SOURCE: dict[str, Any] = {
    "name": "ML.ENERGY Leaderboard",
    "publisher": "The ML.ENERGY Initiative (started at SymbioticLab, University of Michigan)",
    "url": "https://ml.energy/leaderboard/",
    "licence": "Apache-2.0 per the ml-energy/benchmark-v3 dataset card",
    "licence_evidence": (
        "Hugging Face dataset ml-energy/benchmark-v3: tagged license:apache-2.0, ships a LICENSE file, and its "
        "dataset card's License section reads Apache-2.0",
        "The ML.ENERGY Leaderboard web app's footer says Apache 2.0",
        "The leaderboard repository (github.com/ml-energy/leaderboard) carries no licence file",
    ),
    "cite": "Chung et al., The ML.ENERGY Benchmark: Toward Automated Inference Energy Measurement and "
    "Optimization, NeurIPS 2025 Datasets and Benchmarks, arXiv 2505.06371",
    "cite_url": "https://arxiv.org/abs/2505.06371",
    "caveat": "GPU energy only, measured at steady state on a busy server. Host, network, cooling and idle time "
    "are not counted. Every figure is a floor; a lightly used server sits well above it.",
    "boundary": "gpu_only",
    "origin": "published",
    "measurement_window": "steady_state",
    "basis": "measured",
}
# The leaderboard's own default ceiling on the median inter-token latency, for all of its text tasks.
_ITL_DEADLINE_MS = 500
# How the publisher always writes weight formats: not kept beside, as the name that energydb has says as much.
_USUAL = {"bfloat16", "fp8", "mxfp4"}
HEAD_PLACES: Mapping[str, str] = {"workload": "$.task_display_name"}
# What the publisher calls otherwise than the records do.
_PUBLISHED_AS = {
    "gpu": "gpu_model",
    "avg_requests_in_flight": "avg_batch_size",
    "avg_running_batch": "avg_batch_size",
    "avg_output_tokens": "avg_output_len",
    "gpu_power_watts_total": "avg_power_watts",
    "joules_per_output_token": "energy_per_token_joules",
    "joules_per_image": "energy_per_image_joules",
    "joules_per_video": "energy_per_video_joules",
    "tokens_per_second": "output_throughput_tokens_per_sec",
    "images_per_second": "throughput_images_per_sec",
    "videos_per_second": "throughput_videos_per_sec",
}


def is_leaderboard(folder: Path) -> bool:
    """Tell a folder of the leaderboard's public data by what lies in it."""
    return is_folder(folder / TASKS) and (is_file(folder / INDEX) or is_folder(folder / MODELS))


def read_leaderboard(path: Path) -> Reading:
    """Read a folder of the leaderboard's public data: one document a task, its models in upstream order.

    A fault spoils a run, a model or a task; what the index and the tasks don't name is passed over. A task of a kind
    that no table holds is told as a field that isn't known.

    Raises:
        DocumentErrors: the index or a folder can't be read, or no task can be told, or none is of a known kind.
        MachineError: a file changes while it's read.
    """
    for folder in (path / TASKS, path / MODELS):
        if is_there(folder):
            listed(folder)
    index = read_index(path)
    of_groups = index.content.architectures.values()
    tasks = [Task(path, index, task) for task in dict.fromkeys(chain(index.content.tasks, *of_groups))]
    others = [_of_other_kind(task.task, task.other_kind) for task in tasks if task.other_kind]
    has_all_tasks = all(task.read is not None or task.other_kind for task in tasks)
    documents = tuple(_document(task, task.read, has_all_tasks, others) for task in tasks if task.read is not None)
    if len(others) == len(tasks):
        measured = some_of([other.example for other in others])
        problem = f"expected a task that is measured by energy per token, image or video, got {measured}"
        raise DocumentErrors([DocumentError(index.path, "$.tasks", problem)])
    lost = [fault for task in tasks if task.read is None for fault in task.faults]
    told = {id(fault.error) for task in tasks for fault in task.faults}
    of_no_task = ((model_id, part.error) for model_id, part in index.lost.items() if id(part.error) not in told)
    lost += [Fault(error=error, model_id=str(model_id), runs=0) for model_id, error in of_no_task]
    passed_over = sorted(_files(path) - {INDEX}.union(*(task.named for task in tasks)))
    notes = _passed_over(path, passed_over)
    if not any(task.faults for task in tasks):
        with_runs = {model_id for task in tasks for model_id in task.model_ids}
        notes += _without_runs(index, [model_id for model_id in index.content.models if model_id not in with_runs])
    return Reading(documents, tuple(lost), notes)


def _of_other_kind(task: str, kind: OtherKind) -> UnknownField:
    return UnknownField(f"{TASKS}/{task}.json", task, OTHER_KIND, kind.runs, kind.measured_by)


def _without_runs(index: Read[Index], model_ids: Sequence[str]) -> tuple[str, ...]:
    """Say which models the index has and no task."""
    models = counted(len(model_ids), "model")
    return (f"{index.path}: no task has runs of {models} that it lists: {some_of(model_ids)}",) if model_ids else ()


def _files(folder: Path) -> set[str]:
    """Return the places of all files, and those of empty folders, with a slash at the end."""
    within = {path: path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    files = {place for path, place in within.items() if not is_folder(path)}
    return files | {f"{place}/" for path, place in within.items() if is_folder(path) and _is_empty(path)}


def _is_empty(folder: Path) -> bool:
    """Tell a folder in which there is nothing, or nothing that can be read."""
    with contextlib.suppress(DocumentErrors):
        return not listed(folder)
    return True


def _passed_over(folder: Path, files: Sequence[str]) -> tuple[str, ...]:
    return (f"{folder}: passed over, as {INDEX} names no such files: {some_of(files)}",) if files else ()


# --- From the publisher's fields to the records' --------------------------------------------------------


def _document(task: Task, read: Read[TaskFile[Any]], has_all_tasks: bool, others: Sequence[UnknownField]) -> Document:
    files = sorted((model.file for model, _ in task.models), key=lambda file: file.name)
    return Document(
        path=str(read.path),
        files=(read.file, task.index.file, *files),
        head=_head(task.index.content, read, is_complete=not task.faults, has_all_tasks=has_all_tasks),
        head_places=HEAD_PLACES,
        models=tuple(_model(runs, read.kind, task.index.content) for _, runs in task.models),
        faults=tuple(task.faults),
        unknown=(*task.unknown, *others),
    )


def _head(index: Index, read: Read[TaskFile[Any]], *, is_complete: bool, has_all_tasks: bool) -> Head:
    return Head(
        format=FORMAT,
        task=read.content.task,
        kind=read.kind,
        data_version=index.last_updated,
        compiled=index.last_updated,
        workload=read.content.task_display_name,
        itl_deadline_ms=_ITL_DEADLINE_MS if read.kind == "text" else None,
        is_complete=is_complete,
        has_all_tasks=has_all_tasks,
        **SOURCE,
    )


def _model(pairs: Sequence[tuple[Any, Any]], kind: str, index: Index) -> Model:
    """Make a model of its runs, each as the task's file has it and as the model's."""
    first, _ = pairs[0]
    slug = _slug(first.model_id)
    seen: dict[tuple[object, ...], int] = {}
    runs = []
    for row, in_file in pairs:
        derived = _derived(row, in_file, slug) if kind == "text" else {}
        run = _run(_RUNS[kind], row, repeat=1, **_names(row), **derived)
        setting = tuple(getattr(run, field) for field in run.SETTING)
        seen[setting] = seen.get(setting, 0) + 1
        runs.append(msgspec.structs.replace(run, repeat=seen[setting]))
    lengths = [in_file.output_length_distribution for _, in_file in pairs] if kind == "text" else []
    return Model(
        slug=slug,
        name=first.nickname,
        model_id=first.model_id,
        params_b=first.total_params_billions,
        active_params_b=first.activated_params_billions,
        architecture=first.architecture or index.models[first.model_id].architecture,
        runs=Runs.of(runs),
        output_lengths=tuple(OutputLengths(of_run.bins, of_run.counts) for of_run in lengths),
    )


def _names(row: Any) -> dict[str, Any]:
    """Return the GPU and the weight format of a run by energydb's names, and by the publisher's."""
    gpu, precision = gpu_name(row.gpu_model), precision_name(row.weight_precision)
    return {
        "gpu": gpu,
        "gpu_as_published": None if gpu == row.gpu_model else row.gpu_model,
        "precision": precision,
        "precision_as_published": None if row.weight_precision in _USUAL else row.weight_precision,
    }


def _slug(model_id: str) -> str:
    """Return the last part of a Hugging Face id as it stands in addresses.

    >>> _slug("meta-llama/Llama-3.1-70B-Instruct")
    'llama-3-1-70b-instruct'
    """
    return re.sub(r"[^a-z0-9]+", "-", model_id.rpartition("/")[2].lower())


def _run(kind: type[AnyRun], row: Any, **derived: Any) -> AnyRun:
    """Make a run of what a row says, by the publisher's names, and of what is derived from it."""
    said = {field: _PUBLISHED_AS.get(field, field) for field in kind.__struct_fields__ if field not in derived}
    return kind(**derived, **{field: getattr(row, name) for field, name in said.items() if hasattr(row, name)})


def _derived(row: Any, in_file: Any, slug: str) -> dict[str, Any]:
    """Return what a run of a text model holds beside what its row says."""
    limit = "none" if row.max_num_seqs is None else row.max_num_seqs
    return {
        "wh_per_million_output_tokens": wh_per_million_tokens(row.energy_per_token_joules),
        "under_itl_deadline": row.median_itl_ms <= _ITL_DEADLINE_MS,
        "row_id": f"{slug}/{row.gpu_model}/{row.num_gpus}/{limit}",
        "pipeline_parallel": row.pipeline_parallel or 1,
        "parallel_notes": in_file.parallelization.notes or None,
    }


_RUNS: Mapping[str, type[AnyRun]] = {"text": Run, "image": ImageRun, "video": VideoRun}
