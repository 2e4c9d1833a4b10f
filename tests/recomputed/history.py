"""Recomputes what became of models and runs from release to release."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tests.recomputed.declared import Row, World, by, declare, keyed, over, rows_of, text
from tests.recomputed.runs import KINDS


@declare(
    "task model gpu compiled data_version wh_per_million_output_tokens energy_ratio_to_previous runs params_b"
    " active_params_b is_current format version model_name source boundary licence model_key",
    order="task model gpu boundary source format data_version model_key",
)
def model_history(world: World) -> Iterator[Row]:
    """Each model's least energy in time on each GPU, against that of the release before."""
    in_time: dict[tuple[int, str], list[Row]] = {}
    for run in rows_of(world, "configuration_detail"):
        if run["itl_deadline_ms"] is not None and run["median_itl_ms"] <= run["itl_deadline_ms"]:
            in_time.setdefault((run["model_key"], run["gpu"]), []).append(run)
    models = keyed(rows_of(world, "model_detail"), "model_key")
    rows = []
    for runs in by(rows_of(world, "measured_run"), "model_key", "gpu"):
        key, gpu = runs[0]["model_key"], runs[0]["gpu"]
        least = {
            name: min((run[name] for run in in_time.get((key, gpu), ())), default=None)
            for name in ("joules_per_output_token", "wh_per_million_output_tokens")
        }
        rows.append({**models[key], **least, "gpu": gpu, "runs": len(runs)})
    for line in by(rows, "task", "model", "gpu", "boundary", "source", "format"):
        line.sort(key=age)
        for before, row in pairwise([None, *line]):
            joules = before and before["joules_per_output_token"]
            yield {**row, "energy_ratio_to_previous": over(row["joules_per_output_token"], joules)}


def age(release: Row) -> tuple[Any, ...]:
    """Return what tells the older of two releases."""
    return release["data_version"], release["compiled"], release["release_key"]


MODEL_FIELDS = ("name", "model_id", "params_b", "active_params_b", "architecture")
# What tells a run from others of its model: all else of it is compared.
SETTINGS = {
    "text": ("num_gpus", "max_num_seqs", "repeat"),
    "image": (
        *("num_gpus", "ulysses_degree", "ring_degree", "batch_size"),
        *("image_width", "image_height", "inference_steps", "repeat"),
    ),
    "video": (
        *("num_gpus", "ulysses_degree", "ring_degree", "batch_size"),
        *("video_width", "video_height", "num_frames", "fps", "inference_steps", "repeat"),
    ),
}


def label(kind: str, run: Row) -> str:
    """Write a run's setting."""
    if kind == "text":
        limit = "none" if run["max_num_seqs"] is None else run["max_num_seqs"]
        return f"{run['num_gpus']} GPUs, max_num_seqs {limit}, repeat {run['repeat']}"
    size = f"{run[f'{kind}_width']} x {run[f'{kind}_height']}"
    if kind == "video":
        frames, fps = ("unknown" if run[name] is None else text(run[name]) for name in ("num_frames", "fps"))
        size += f", {frames} frames at {fps} fps"
    return (
        f"{run['num_gpus']} GPUs, ulysses_degree {run['ulysses_degree']}, ring_degree {run['ring_degree']},"
        f" batch_size {run['batch_size']}, {size}, {run['inference_steps']} steps, repeat {run['repeat']}"
    )


def runs_of(world: World, model: Row) -> dict[tuple[str, str], Row]:
    """Return a model's runs by GPU and setting: of each the fields that are compared, as text."""
    found = {}
    for kind, table in KINDS.items():
        told = {f"{table}_key", "model_key", "gpu", *SETTINGS[kind]}
        for run in world[table]:
            if run["model_key"] == model["model_key"]:
                compared = {name: text(value) for name, value in run.items() if name not in told}
                found[run["gpu"], label(kind, run)] = compared
    return found


def changes(old: dict[Any, Row], new: dict[Any, Row]) -> Iterator[tuple[Any, str, str | None, Any, Any]]:
    """Yield what appeared, went, or changed field by field, of things told by their keys."""
    for key in old.keys() | new.keys():
        if key not in old or key not in new:
            yield key, "appeared" if key in new else "went", None, None, None
        else:
            for field, value in new[key].items():
                if value != old[key][field]:
                    yield key, "changed", field, old[key][field], value


@declare(
    "task model gpu run change field old_value new_value data_version previous_data_version source format boundary"
    " release_key",
    order="task data_version model gpu run field release_key",
    nulls_first=True,
)
def release_change(world: World) -> Iterator[Row]:
    """Each release against the one before it: models by slug, then the runs of those that are in both."""
    names = {source["source_key"]: source["name"] for source in world["source"]}
    releases = [{**release, "source": names[release["source_key"]]} for release in world["release"]]
    for line in by(releases, "source", "task", "format", "boundary"):
        for before, release in pairwise(sorted(line, key=age)):
            old, new = (
                {model["slug"]: model for model in world["model"] if model["release_key"] == one["release_key"]}
                for one in (before, release)
            )
            found = [
                (slug, None, None, *change)
                for slug, *change in changes(
                    *(
                        {
                            slug: {field: text(model[field]) for field in MODEL_FIELDS}
                            for slug, model in models.items()
                        }
                        for models in (old, new)
                    )
                )
            ]
            for slug in old.keys() & new.keys():
                of_runs = changes(runs_of(world, old[slug]), runs_of(world, new[slug]))
                found += [(slug, *key, *change) for key, *change in of_runs]
            said = ("model", "gpu", "run", "change", "field", "old_value", "new_value")
            for values in found:
                row = {**release, "previous_data_version": before["data_version"]}
                yield row | dict(zip(said, values, strict=True))
