"""Reads the ML.ENERGY Leaderboard's public data: a folder of index.json, tasks/ and models/.

Figures are kept in full precision. What the folder doesn't say of its source stands here as constants.
"""

import math
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from energydb.errors import DocumentError, DocumentErrors
from energydb.sources.leaderboard_files import INDEX, MODELS, SHAPES, TASKS, Folder, ModelFile, Read, read_folder
from energydb.sources.records import AnyRun, Document, Head, ImageRun, Model, OutputLengths, Run, Runs, VideoRun
from energydb.sources.strict_json import shown, unlike
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
    "is_complete": True,
    "has_all_tasks": True,
}
# The leaderboard's own default ceiling on the median inter-token latency, for all of its text tasks.
_ITL_DEADLINE_MS = 500
_PRECISIONS = {"bfloat16": "BF16", "fp8": "FP8", "mxfp4": "MXFP4"}
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
    return (folder / TASKS).is_dir() and ((folder / INDEX).is_file() or (folder / MODELS).is_dir())


def read_leaderboard(path: Path) -> list[Document]:
    """Read a folder of the leaderboard's public data: one document a task, its models in upstream order.

    Raises:
        DocumentErrors: every faulty file, with its first fault of form; or all faults of rule, where files are
            missing or disagree.
        MachineError: a file can't be read.
    """
    folder = read_folder(path)
    faults = [*_file_faults(folder)]
    if not faults:
        faults = [fault for task in folder.tasks for fault in _task_faults(folder, task)]
    if faults:
        raise DocumentErrors(faults)
    return [_document(folder, task) for task in folder.tasks]


# --- Faults of rule: files that are missing, or disagree ------------------------------------------------


def _file_faults(folder: Folder) -> Iterator[DocumentError]:
    """Hold the list of files against what the index and the tasks name."""
    index = folder.index.content
    for task in index.tasks:
        if task not in folder.tasks:
            yield DocumentError(folder.path / TASKS / f"{task}.json", "", f"expected as {INDEX} lists it, got none")
        if sum(task in tasks for tasks in index.architectures.values()) != 1:
            yield unlike(folder.index.path, "$.architectures", "each task in one architecture's list", task)
    expected = set()
    for task, read in folder.tasks.items():
        if task not in index.tasks:
            yield unlike(read.path, "", f"one of the tasks that {INDEX} lists", task)
        if not read.content.task_display_name.strip():
            yield unlike(read.path, "$.task_display_name", "text that isn't blank", read.content.task_display_name)
        architecture = None if read.kind == "text" else "diffusion"
        if read.content.architecture != architecture:
            expected_here = shown(architecture) if architecture else "no such field in a text task"
            yield unlike(read.path, "$.architecture", expected_here, read.content.architecture)
        if read.content.task != task:
            yield unlike(read.path, "$.task", f"{shown(task)}, as the file is named", read.content.task)
        diffusion = task in index.architectures.get("diffusion", ())
        if diffusion != (read.kind != "text"):
            yield unlike(read.path, "$.configurations", "runs of the kind that the index says", read.kind)
        for model_id in dict.fromkeys(row.model_id for row in read.content.configurations):
            name = model_file_name(model_id, task)
            expected.add(name)
            if name not in folder.models:
                yield DocumentError(
                    folder.path / MODELS / name, "", f"expected as tasks/{task}.json has its runs, got none"
                )
    for name, model in folder.models.items():
        if name not in expected:
            yield unlike(model.path, "", "a model and task of a file in tasks/", name)


def _task_faults(folder: Folder, task: str) -> Iterator[DocumentError]:
    read = folder.tasks[task]
    slugs: dict[str, str] = {}
    seen: dict[Any, int] = {}
    places: dict[str, list[int]] = {}
    for place, row in enumerate(read.content.configurations):
        at = f"$.configurations[{place}]"
        places.setdefault(row.model_id, []).append(place)
        other = slugs.setdefault(_slug(row.model_id), row.model_id)
        if other != row.model_id:
            yield unlike(read.path, f"{at}.model_id", f"another last part than {shown(other)}", row.model_id)
        if row.weight_precision not in _PRECISIONS:
            yield unlike(
                read.path, f"{at}.weight_precision", f"one of {', '.join(_PRECISIONS)}", row.weight_precision
            )
        if seen.setdefault(row, place) != place:
            yield DocumentError(read.path, at, f"expected another run, got $.configurations[{seen[row]}] again")
        if read.kind == "text":
            joules = row.energy_per_token_joules * row.avg_output_len
            if not math.isclose(row.energy_per_request_joules, joules, rel_tol=1e-9):
                yield unlike(
                    read.path,
                    f"{at}.energy_per_request_joules",
                    f"energy_per_token_joules x avg_output_len, {joules}",
                    row.energy_per_request_joules,
                )
    for model_id, of_model in places.items():
        model = folder.models[model_file_name(model_id, task)]
        yield from _model_faults(folder, read, of_model, model)


def _model_faults(
    folder: Folder, task: Read[Any], places: list[int], model: Read[ModelFile[Any]]
) -> Iterator[DocumentError]:
    """Hold a model's file against its rows in the task's file, and both against the index."""
    rows = [task.content.configurations[place] for place in places]
    content = model.content
    indexed = folder.index.content.models.get(rows[0].model_id)
    if indexed is None:
        yield unlike(folder.index.path, "$.models", f"the models of tasks/{task.path.name}", rows[0].model_id)
        return
    if content.task != task.content.task:
        yield unlike(model.path, "$.task", f"{shown(task.content.task)}, as the file is named", content.task)
    if content.model_id != rows[0].model_id:
        yield unlike(model.path, "$.model_id", f"{shown(rows[0].model_id)}, as the file is named", content.model_id)
    for field in indexed.__struct_fields__:
        expected = getattr(indexed, field)
        said = [(task.path, f"$.configurations[{place}]", row) for place, row in zip(places, rows, strict=True)]
        # Files of text models carry no nickname.
        if field != "nickname" or task.kind != "text" or content.nickname is not None:
            said.append((model.path, "$", content))
        for path, at, of in said:
            if (got := getattr(of, field, None)) != expected:
                yield unlike(path, f"{at}.{field}", f"{shown(expected)} as in {INDEX}", got)
    if len(content.configurations) != len(rows):
        got_runs = len(content.configurations)
        yield unlike(model.path, "$.configurations", f"{len(rows)} runs as in tasks/{task.path.name}", got_runs)
        return
    shape = SHAPES[task.kind]
    for place, (row_place, row, run) in enumerate(zip(places, rows, content.configurations, strict=True)):
        pairs = [(field, run, field) for field in shape.measured]
        pairs += [(f"parallelization.{field}", run.parallelization, field) for field in shape.parallel]
        for said_as, of, field in pairs:
            if getattr(of, field) != getattr(row, field):
                as_in = f"{shown(getattr(row, field))} as in tasks/{task.path.name}: $.configurations[{row_place}]"
                yield unlike(model.path, f"$.configurations[{place}].{said_as}", as_in, getattr(of, field))
    if task.kind == "text":
        yield from _length_faults(model)


def _length_faults(model: Read[ModelFile[Any]]) -> Iterator[DocumentError]:
    """Hold the output lengths of each run against those of the model: the same bins, and their sums."""
    whole = model.content.output_length_distribution
    place = "$.output_length_distribution"
    if whole is None:
        yield DocumentError(model.path, place, "expected a value, got no such field")
        return
    if len(whole.bins) != len(whole.counts) + 1 or any(low >= high for low, high in pairwise(whole.bins)):
        yield unlike(model.path, f"{place}.bins", f"{len(whole.counts) + 1} ascending edges", len(whole.bins))
    runs = model.content.configurations
    for number, run in enumerate(runs):
        at = f"$.configurations[{number}].output_length_distribution"
        if run.output_length_distribution.bins != whole.bins:
            yield unlike(model.path, f"{at}.bins", f"the same as in {place}", run.output_length_distribution.bins)
        if len(run.output_length_distribution.counts) != len(whole.counts):
            got = len(run.output_length_distribution.counts)
            yield unlike(model.path, f"{at}.counts", f"{len(whole.counts)} counts as in {place}", got)
            return
    sums = [sum(counts) for counts in zip(*(run.output_length_distribution.counts for run in runs), strict=True)]
    if list(whole.counts) != sums:
        yield unlike(model.path, f"{place}.counts", f"the sums over the runs, {shown(sums)}", whole.counts)


def model_file_name(model_id: str, task: str) -> str:
    """Return the name of the file that holds a model's runs on a task."""
    return f"{model_id.replace('/', '__')}__{task}.json"


# --- From the publisher's fields to the records' --------------------------------------------------------


def _document(folder: Folder, task: str) -> Document:
    read = folder.tasks[task]
    by_model: dict[str, list[Any]] = {}
    for row in read.content.configurations:
        by_model.setdefault(row.model_id, []).append(row)
    files = [folder.models[model_file_name(model_id, task)] for model_id in by_model]
    return Document(
        path=str(read.path),
        files=(read.file, folder.index.file, *sorted((model.file for model in files), key=lambda file: file.name)),
        head=_head(folder, task),
        head_places=HEAD_PLACES,
        models=tuple(
            _model(rows, read.kind, model.content) for rows, model in zip(by_model.values(), files, strict=True)
        ),
    )


def _head(folder: Folder, task: str) -> Head:
    read = folder.tasks[task]
    updated = folder.index.content.last_updated
    return Head(
        format=FORMAT,
        task=task,
        kind=read.kind,
        data_version=updated,
        compiled=updated,
        workload=read.content.task_display_name,
        itl_deadline_ms=_ITL_DEADLINE_MS if read.kind == "text" else None,
        **SOURCE,
    )


def _model(rows: list[Any], kind: str, file: ModelFile[Any]) -> Model:
    first = rows[0]
    slug = _slug(first.model_id)
    seen: dict[tuple[object, ...], int] = {}
    runs = []
    for row, in_file in zip(rows, file.configurations, strict=True):
        derived = _derived(row, in_file, slug) if kind == "text" else {}
        run = _run(_RUNS[kind], row, precision=_PRECISIONS[row.weight_precision], repeat=1, **derived)
        setting = tuple(getattr(run, field) for field in run.SETTING)
        seen[setting] = seen.get(setting, 0) + 1
        runs.append(msgspec.structs.replace(run, repeat=seen[setting]))
    lengths = [run.output_length_distribution for run in file.configurations] if kind == "text" else []
    return Model(
        slug=slug,
        name=first.nickname,
        model_id=first.model_id,
        params_b=first.total_params_billions,
        active_params_b=first.activated_params_billions,
        architecture=first.architecture if kind == "text" else None,
        runs=Runs.of(runs),
        output_lengths=tuple(OutputLengths(of_run.bins, of_run.counts) for of_run in lengths),
    )


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
        "parallel_notes": in_file.parallelization.notes or None,
    }


_RUNS: Mapping[str, type[AnyRun]] = {"text": Run, "image": ImageRun, "video": VideoRun}
