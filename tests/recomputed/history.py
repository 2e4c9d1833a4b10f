"""Recomputes what became of models and runs from release to release."""

from collections.abc import Iterable, Iterator
from itertools import pairwise, zip_longest
from typing import Any

from tests.recomputed.declared import Row, World, by, declare, keyed, over, rows_of, text
from tests.recomputed.runs import KINDS


@declare(
    "task model gpu compiled data_version wh_per_million_output_tokens energy_ratio_to_previous runs runs_moved"
    " largest_move params_b active_params_b is_current is_withdrawn format version runs_left_out model_name source"
    " boundary licence model_key",
    order="task model gpu boundary source format data_version model_key",
)
def model_history(world: World) -> Iterator[Row]:
    """Each model's least energy in time on each GPU, and every run, against those of the release before."""
    in_time: dict[tuple[int, str], list[Row]] = {}
    for run in rows_of(world, "configuration_detail"):
        if run["itl_deadline_ms"] is not None and run["median_itl_ms"] <= run["itl_deadline_ms"]:
            in_time.setdefault((run["model_key"], run["gpu"]), []).append(run)
    models = keyed(twins(rows_of(world, "model_detail")), "model_key")
    rows = []
    for runs in by(rows_of(world, "measured_run"), "model_key", "gpu"):
        key, gpu = runs[0]["model_key"], runs[0]["gpu"]
        least = {
            name: min((run[name] for run in in_time.get((key, gpu), ())), default=None)
            for name in ("joules_per_output_token", "wh_per_million_output_tokens")
        }
        rows.append({**models[key], **least, "gpu": gpu, "runs": len(runs), "measured": runs})
    for line in by(rows, "task", "identity", "twin", "gpu", "boundary", "source", "format"):
        line.sort(key=age)
        for before, row in pairwise([None, *line]):
            joules = before and before["joules_per_output_token"]
            yield {
                **row,
                **moves(before and before["measured"], row["measured"]),
                "energy_ratio_to_previous": over(row["joules_per_output_token"], joules),
            }


def twins(models: list[Row]) -> Iterator[Row]:
    """Yield models with their place among those of their release that are one model."""
    for same in by(models, "release_key", "identity"):
        for twin, model in enumerate(sorted(same, key=lambda row: row["model_key"])):
            yield {**model, "twin": twin}


def moves(before: list[Row] | None, runs: list[Row]) -> Row:
    """Count runs whose energy left the range of the same setting before by more than repeats differ."""
    if before is None:
        return {"runs_moved": None, "largest_move": None}
    moved, ratios = 0, []
    for now in by(runs, "setting"):
        then = [run["joules"] for run in before if run["setting"] == now[0]["setting"]]
        if then:
            both = [then, [run["joules"] for run in now]]
            is_repeated = any(len(joules) > 1 for joules in both)
            allowed = max(max(joules) / min(joules) for joules in both) if is_repeated else 1.1
            for joules in both[1]:
                ratio = joules / min(max(joules, min(then)), max(then))
                ratios.append((max(ratio, 1 / ratio), ratio))
                moved += ratios[-1][0] > allowed
    return {"runs_moved": moved, "largest_move": max(ratios)[1] if ratios else None}


def age(release: Row) -> tuple[Any, ...]:
    """Return what tells the older of two releases."""
    return release["data_version"], release["compiled"], release["release_key"]


# What a release says of itself is all that isn't a key of it, a date, or a word on what was loaded.
NOT_SAID_OF_ITSELF = {
    *("release_key", "source_key", "task", "format", "boundary", "data_version", "compiled", "released", "retrieved"),
    *("updated", "is_complete", "has_all_tasks"),
}
NOT_SAID_OF_A_MODEL = {"model_key", "release_key", "file_key", "identity"}
# What tells a run from others of its model: all else of it is compared.
BATCH_SETTING = ("num_gpus", "ulysses_degree", "ring_degree", "other_parallel", "precision", "batch_size")
SETTINGS = {
    "text": ("num_gpus", "max_num_seqs"),
    "image": (*BATCH_SETTING, "image_width", "image_height", "inference_steps"),
    "video": (*BATCH_SETTING, "video_width", "video_height", "num_frames", "fps", "inference_steps"),
}


def label(kind: str, run: Row) -> str:
    """Write a run's setting."""
    if kind == "text":
        limit = "none" if run["max_num_seqs"] is None else run["max_num_seqs"]
        return f"{run['num_gpus']} GPUs, max_num_seqs {limit}"
    size = f"{run[f'{kind}_width']} x {run[f'{kind}_height']}"
    if kind == "video":
        frames, fps = ("unknown" if run[name] is None else text(run[name]) for name in ("num_frames", "fps"))
        size += f", {frames} frames at {fps} fps"
    further = "" if run["other_parallel"] is None else f", {run['other_parallel']}"
    return (
        f"{run['num_gpus']} GPUs, ulysses_degree {run['ulysses_degree']}, ring_degree {run['ring_degree']}{further},"
        f" {run['precision']}, batch_size {run['batch_size']}, {size}, {run['inference_steps']} steps"
    )


def said_of(row: Row, without: Iterable[str]) -> Row:
    """Return what is said in a row, as text."""
    return {name: text(value) for name, value in row.items() if name not in without}


def runs_of(world: World, model_key: int) -> list[Row]:
    """Return a model's runs in the order of their repeats: GPU, setting, repeat, and the values compared, as text."""
    found = []
    for kind, table in KINDS.items():
        told = {f"{table}_key", "model_key", "gpu", "repeat", *SETTINGS[kind]}
        for run in world[table]:
            if run["model_key"] == model_key:
                said = {"gpu": run["gpu"], "setting": label(kind, run), "repeat": run["repeat"]}
                found.append({**said, "key": run[f"{table}_key"], "says": said_of(run, told)})
    return sorted(found, key=lambda run: (run["repeat"], run["key"]))


Change = tuple[Any, ...]


def in_both(old: Row | None, new: Row | None) -> Iterator[Change]:
    """Yield what became of a thing: appeared, went, or changed field by field."""
    if old is None or new is None:
        yield "appeared" if old is None else "went", None, None, None
        return
    for field in new:
        if new[field] != old[field]:
            yield "changed", field, old[field], new[field]


def run_changes(old: list[Row], new: list[Row], gone: set[str]) -> Iterator[Change]:
    """Pair the runs of each setting, equal ones first and then in order, and yield what became of each."""
    for setting in {(run["gpu"], run["setting"]) for run in (*old, *new)}:
        before, after = ([run for run in runs if (run["gpu"], run["setting"]) == setting] for runs in (old, new))
        for run in list(after):
            equal = next((other for other in before if other["says"] == run["says"]), None)
            if equal is not None:
                before.remove(equal)
                after.remove(run)
        for one, other in zip_longest(before, after):
            name = f"{setting[1]}, repeat {(other or one)['repeat']}"
            for change in in_both(one and one["says"], other and other["says"]):
                if change[1] not in gone:
                    yield setting[0], name, *change


def columns_gone(world: World, before: Row, release: Row) -> set[str]:
    """Name the fields that runs had in one release and none has in the next."""
    known: list[dict[str, bool]] = []
    for one in (before, release):
        models = {model["model_key"] for model in world["model"] if model["release_key"] == one["release_key"]}
        known.append({})
        for kind, table in KINDS.items():
            told = {f"{table}_key", "model_key", "gpu", "repeat", *SETTINGS[kind]}
            for run in world[table]:
                if run["model_key"] in models:
                    for name in run.keys() - told:
                        known[-1][name] = known[-1].get(name, False) or run[name] is not None
    old, new = known
    return {name for name in new if old.get(name) and not new[name]}


def release_changes(world: World, before: Row, release: Row) -> Iterator[Change]:
    """Yield what a release says of itself otherwise than one before, and fields that energydb doesn't know."""
    tables = keyed(world["release"], "release_key")
    yield from in_both(*(said_of(tables[one["release_key"]], NOT_SAID_OF_ITSELF) for one in (before, release)))
    old, new = (
        {field["place"]: field["example"] for field in world["unknown_field"] if field["release_key"] == key}
        for key in (before["release_key"], release["release_key"])
    )
    yield from (("appeared", place, None, new[place]) for place in new.keys() - old.keys())
    yield from (("went", place, old[place], None) for place in old.keys() - new.keys())


def model_changes(world: World, before: Row, release: Row, gone: set[str]) -> Iterator[Change]:
    """Yield what became of models, and of the runs of those that are in both releases."""
    models = [
        {(row["identity"], row["twin"]): row for row in found}
        for found in (
            [row for row in twins(rows_of(world, "model_detail")) if row["release_key"] == one["release_key"]]
            for one in (before, release)
        )
    ]
    tables = keyed(world["model"], "model_key")
    for one in models[0].keys() | models[1].keys():
        old, new = (held.get(one) for held in models)
        said = (row and said_of(tables[row["model_key"]], NOT_SAID_OF_A_MODEL) for row in (old, new))
        name = (new or old or {})["model"]
        yield from ((name, None, None, *change) for change in in_both(*said))
        if old and new:
            runs = (runs_of(world, row["model_key"]) for row in (old, new))
            yield from ((name, *change) for change in run_changes(*runs, gone))


@declare(
    "task model gpu run change field old_value new_value data_version previous_data_version source format boundary"
    " release_key",
    order="task data_version model gpu run field release_key",
    nulls_first=True,
)
def release_change(world: World) -> Iterator[Row]:
    """Each release against the one before it: itself, its models by identity, the runs of those that are in both."""
    for line in by(rows_of(world, "release_detail"), "source", "task", "format"):
        for release in line:
            earlier = [one for one in line if one["boundary"] == release["boundary"] and age(one) < age(release)]
            previous = max(earlier, key=age, default=None)
            days = [age(one)[:2] for one in line if age(one)[:2] < age(release)[:2]]
            of_day = [one for one in line if days and age(one)[:2] == max(days)]
            found: list[tuple[Row, Change]] = []
            if of_day and release["boundary"] not in {one["boundary"] for one in of_day}:
                were = ", ".join(sorted({one["boundary"] for one in of_day}))
                changed = ("changed", "boundary", were, release["boundary"])
                found.append((of_day[0], (None, None, None, *changed)))
            compared = previous or max(of_day, key=age, default=None)
            if compared:
                itself = release_changes(world, compared, release)
                found += [(compared, (None, None, None, *change)) for change in itself]
            if previous:
                gone = columns_gone(world, previous, release)
                found += [(previous, (None, None, None, "went", field, None, None)) for field in gone]
                found += [(previous, change) for change in model_changes(world, previous, release, gone)]
            said = ("model", "gpu", "run", "change", "field", "old_value", "new_value")
            for before, values in found:
                row = {**release, "previous_data_version": before["data_version"]}
                yield row | dict(zip(said, values, strict=True))
