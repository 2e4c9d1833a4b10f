"""Recomputes what is known of each model and each run: joined, named, and counted."""

from collections.abc import Iterator
from typing import Any

from tests.recomputed.declared import DECLARED, Row, World, by, declare, keyed, rows_of, text

KINDS = {"text": "configuration", "image": "image_configuration", "video": "video_configuration"}


@declare(
    "task source data_version compiled is_dated_ahead is_complete has_all_tasks is_newest_complete"
    " is_before_newest_complete is_task_withdrawn newest_complete_release_key outdated_by_data_version age boundary"
    " kind publisher source_url origin measurement_window basis format version document_version released"
    " compiled_evidence retrieved updated unit itl_deadline_ms workload method selection used_for"
    " configurations_note data_url licence cite cite_url caveat release_key",
    order="release_key",
)
def release_detail(world: World) -> list[Row]:
    """Each release with its source, held against the newest complete one and the newest of which all was loaded."""
    sources, tasks = keyed(world["source"], "source_key"), keyed(world["task"], "id")
    (released,) = (build["energydb_released"] for build in world["build"])
    too_late = released.replace(year=released.year + 1)
    days = sorted({day_of(release) for release in world["release"]})
    rows = []
    for release in world["release"]:
        source = sources[release["source_key"]]
        rows.append(
            {
                **release,
                **{"publisher": source["publisher"], "source_url": source["url"], "source": source["name"]},
                "kind": tasks[release["task"]]["kind"],
                "age": days.index(day_of(release)) + 1,
                "is_dated_ahead": max(release["compiled"], release["data_version"]) >= too_late,
            }
        )
    publishing = {row["source"] for row in rows if row["origin"] != "own"}
    for row in rows:
        if row["origin"] == "own" and row["source"] in publishing:
            row["source"] += " (own)"
    for published in by(rows, "source", "boundary"):
        whole = [row for row in published if row["has_all_tasks"] and not row["is_dated_ahead"]]
        last = max(map(day_of, whole), default=None)
        version = max((row["data_version"] for row in whole if day_of(row) == last), default=None)
        for same in by(published, "task"):
            complete = [row for row in same if row["is_complete"] and not row["is_dated_ahead"]]
            newest = max(complete, key=lambda row: (*day_of(row), row["format"], row["release_key"]), default=None)
            is_gone = last is not None and all(day_of(row) < last for row in same)
            for row in same:
                is_before = newest is not None and day_of(row) < day_of(newest)
                row |= {
                    "is_newest_complete": row is newest,
                    "is_before_newest_complete": is_before,
                    "is_task_withdrawn": is_gone,
                    "newest_complete_release_key": newest and newest["release_key"],
                    "outdated_by_data_version": version if is_gone else newest["data_version"] if is_before else None,
                }
    return rows


def day_of(release: Row) -> tuple[Any, Any]:
    """Return what tells the newer of two releases."""
    return release["compiled"], release["data_version"]


def name_models(models: list[Row]) -> None:
    """Name each model as views do: by its slug, by maker and slug where several share that, the second one #2."""
    identities: dict[Any, set[str]] = {}
    for model in models:
        maker, slash, _ = model["identity"].partition("/")
        model["maker"] = maker if slash else None
        for told_by in (model["slug"], (model["slug"], model["maker"])):
            identities.setdefault(told_by, set()).add(model["identity"])
    for of_release in by(models, "release_key"):
        taken: list[str] = []
        for model in sorted(of_release, key=lambda row: row["model_key"]):
            name = model["slug"]
            if len(identities[name]) > 1:
                if len(identities[name, model["maker"]]) > 1:
                    name = model["model_id"].strip()
                elif model["maker"] is not None:
                    name = f"{model['model_id'].split('/')[0].strip()}/{name}"
            taken.append(name.lower())
            place = taken.count(name.lower())
            model["model"] = name if place == 1 else f"{name} #{place}"


@declare(
    "task model boundary data_version is_current is_withdrawn model_name model_id params_b active_params_b"
    " architecture kind source publisher source_url format version released compiled retrieved updated unit"
    " itl_deadline_ms workload method selection data_url licence cite cite_url caveat document sha256 is_dated_ahead"
    " runs_left_out slug identity file_key release_key model_key",
    order="model_key",
)
def model_detail(world: World) -> list[Row]:
    """Each model with its release; current where no release of its source, task and boundary that has it is newer."""
    releases, files = keyed(rows_of(world, "release_detail"), "release_key"), keyed(world["file"], "file_key")
    rows = []
    for model in world["model"]:
        file = files[model["file_key"]]
        rows.append(
            {
                **releases[model["release_key"]],
                **model,
                "model_name": model["name"],
                "document": file["file_name"],
                "sha256": file["sha256"],
            }
        )
    for row in rows:
        of_it = [fault for fault in faults_of(world, row) if fault["identity"] in (None, row["identity"])]
        since = [
            fault
            for fault in of_it
            if fault["release_key"] in (None, row["release_key"])
            or (day_of(fault["lacking"]) > day_of(row) and not fault["lacking"]["is_dated_ahead"])
        ]
        row["runs_left_out"] = at_least_lost(since)
    name_models(rows)
    for same in by(rows, "source", "task", "boundary", "identity"):
        newest = max(
            same, key=lambda row: (not row["is_dated_ahead"], *day_of(row), row["format"], row["release_key"])
        )
        held = {row["release_key"] for row in same}
        for row in same:
            is_lacking = row["is_before_newest_complete"] and row["newest_complete_release_key"] not in held
            row["is_withdrawn"] = row["is_task_withdrawn"] or is_lacking
            row["is_current"] = row["release_key"] == newest["release_key"] and not row["is_withdrawn"]
    return rows


def detailed(world: World, kind: str) -> Iterator[Row]:
    """Yield the runs of one kind, each with its model's detail."""
    models = keyed(rows_of(world, "model_detail"), "model_key")
    marks = {mark["run_key"]: mark for mark in world["marked_run"] if mark["kind"] == kind}
    for run in world[KINDS[kind]]:
        mark = marks.get(run[f"{KINDS[kind]}_key"], {})
        yield {
            **models[run["model_key"]],
            **run,
            **{name: mark.get(name, False) for name in ("has_finding", "is_withdrawn")},
            "gpu_power_watts_each": run["gpu_power_watts_total"] / run["num_gpus"],
        }


@declare(
    "task model gpu wh_per_million_output_tokens num_gpus max_num_seqs repeat precision median_itl_ms p90_itl_ms"
    " p95_itl_ms p99_itl_ms tokens_per_second gpu_power_watts_total gpu_power_watts_each joules_per_output_token"
    " tokens_per_joule joules_per_request energy_per_request_joules avg_output_tokens avg_running_batch"
    " avg_requests_in_flight tensor_parallel data_parallel expert_parallel pipeline_parallel other_parallel"
    " under_itl_deadline itl_deadline_ms is_current is_withdrawn has_finding runs_left_out model_name model_id"
    " params_b active_params_b architecture source data_version boundary licence format gpu_as_published"
    " precision_as_published row_id document model_key configuration_key",
    and_more=True,
)
def configuration_detail(world: World) -> Iterator[Row]:
    """Each text run, with tokens a joule and joules a request."""
    for run in detailed(world, "text"):
        joules = run["joules_per_output_token"]
        yield {**run, "tokens_per_joule": 1 / joules, "joules_per_request": joules * run["avg_output_tokens"]}


@declare(
    "task model gpu joules_per_image num_gpus batch_size batch_latency_s image_height image_width inference_steps"
    " images_per_second gpu_power_watts_total gpu_power_watts_each ulysses_degree ring_degree other_parallel"
    " precision repeat is_current is_withdrawn has_finding runs_left_out model_name model_id params_b active_params_b"
    " source data_version boundary licence gpu_as_published precision_as_published document model_key"
    " image_configuration_key"
)
def image_configuration_detail(world: World) -> Iterator[Row]:
    """Each image run."""
    return detailed(world, "image")


@declare(
    "task model gpu joules_per_video num_gpus batch_size batch_latency_s video_height video_width num_frames fps"
    " inference_steps videos_per_second gpu_power_watts_total gpu_power_watts_each ulysses_degree ring_degree"
    " other_parallel precision repeat is_current is_withdrawn has_finding runs_left_out model_name model_id params_b"
    " active_params_b source data_version boundary licence gpu_as_published precision_as_published document model_key"
    " video_configuration_key"
)
def video_configuration_detail(world: World) -> Iterator[Row]:
    """Each video run."""
    return detailed(world, "video")


def setting_of(kind: str, run: Row) -> str:
    """Write all of how a run was run but for its GPU."""
    degrees = ("tensor", "data", "expert", "pipeline") if kind == "text" else ("ulysses", "ring")
    word = "parallel" if kind == "text" else "degree"
    said = [f"{run['num_gpus']} GPUs", *(f"{name}_{word} {run[f'{name}_{word}']}" for name in degrees)]
    said += [run["other_parallel"]] if run["other_parallel"] is not None else []
    said.append(run["precision"])
    if kind == "text":
        return ", ".join([*said, f"max_num_seqs {run['max_num_seqs'] or 'none'}"])
    said += [f"batch_size {run['batch_size']}", f"{run[f'{kind}_width']} x {run[f'{kind}_height']}"]
    if kind == "video":
        said += [f"{'unknown' if run[name] is None else text(run[name])} {unit}" for name, unit in FRAMES]
    return ", ".join([*said, f"{run['inference_steps']} steps"])


FRAMES = (("num_frames", "frames"), ("fps", "fps"))
JOULES = {"text": "joules_per_output_token", "image": "joules_per_image", "video": "joules_per_video"}


@declare("kind run_key model_key gpu num_gpus precision gpu_power_watts_total joules setting row_id repeat")
def measured_run(world: World) -> Iterator[Row]:
    """Each run of any kind; only text runs have a published name."""
    for kind, table in KINDS.items():
        for run in world[table]:
            key, setting = run[f"{table}_key"], setting_of(kind, run)
            said = {"kind": kind, "run_key": key, "joules": run[JOULES[kind]], "setting": setting}
            yield {"row_id": None, **run, **said}


@declare(
    "kind run_key task model gpu setting data_version outdated_by_data_version row_id repeat model_name source"
    " boundary licence model_key",
    order="task model source boundary data_version gpu kind run_key",
)
def withdrawn_run(world: World) -> Iterator[Row]:
    """Each run that the newest complete release of its source should have, being newer, and hasn't."""
    models = keyed(rows_of(world, "model_detail"), "model_key")
    releases = keyed(rows_of(world, "release_detail"), "release_key")
    held = {
        (models[run["model_key"]]["release_key"], models[run["model_key"]]["identity"], run["gpu"], run["setting"])
        for run in rows_of(world, "measured_run")
    }
    for run in rows_of(world, "measured_run"):
        model = models[run["model_key"]]
        release = releases[model["release_key"]]
        same = (release["newest_complete_release_key"], model["identity"], run["gpu"], run["setting"])
        if release["is_task_withdrawn"] or (release["is_before_newest_complete"] and same not in held):
            yield {**release, **model, **run}


@declare(
    "task model gpu row_id repeat source data_version boundary licence caveat cite cite_url method selection"
    " publisher source_url data_url version released compiled retrieved format document sha256 is_current kind"
    " run_key"
)
def provenance(world: World) -> Iterator[Row]:
    """Each run of any kind with all that is said of where it is from."""
    models = keyed(rows_of(world, "model_detail"), "model_key")
    for run in rows_of(world, "measured_run"):
        yield {**models[run["model_key"]], **run}


@declare(
    "task source compiled data_version documents models gpus runs is_complete left_out runs_left_out boundary licence"
    " version released retrieved format energydb_version schema_revision release_key",
    order="task source data_version format release_key",
)
def contents(world: World) -> Iterator[Row]:
    """Each release with its counts, those without a model as well."""
    (build,), (revision,) = world["build"], world["alembic_version"]
    release_of = {model["model_key"]: model["release_key"] for model in world["model"]}
    for release in rows_of(world, "release_detail"):
        key = release["release_key"]
        faults = [fault for fault in world["left_out"] if fault["release_key"] == key]
        of_release = [run for run in rows_of(world, "measured_run") if release_of[run["model_key"]] == key]
        yield {
            **release,
            **lost(faults),
            "documents": sum(file["release_key"] == key for file in world["file"]),
            "models": sum(model["release_key"] == key for model in world["model"]),
            "gpus": len({run["gpu"] for run in of_release}),
            "runs": len(of_release),
            "energydb_version": build["energydb_version"],
            "schema_revision": revision["version_num"],
        }
    whole = [fault for fault in world["left_out"] if fault["release_key"] is None]
    for task in {fault["task"] for fault in whole}:
        yield {
            **dict.fromkeys(DECLARED["contents"].columns),
            **lost([fault for fault in whole if fault["task"] == task]),
            **dict.fromkeys(("documents", "models", "gpus", "runs"), 0),
            "task": task,
            "is_complete": False,
            "energydb_version": build["energydb_version"],
            "schema_revision": revision["version_num"],
        }


def faults_of(world: World, row: Row) -> Iterator[Row]:
    """Yield what was left out of the source and task of a row, or may be, each with the release that lacks it."""
    releases = keyed(rows_of(world, "release_detail"), "release_key")
    for fault in world["left_out"]:
        lacking = releases.get(fault["release_key"])
        is_of_source = lacking is None or all(lacking[name] == row[name] for name in ("source", "boundary"))
        if is_of_source and fault["task"] in (None, row["task"]):
            yield {**fault, "lacking": lacking}


def at_least_lost(faults: list[Row]) -> int:
    """Count the runs that faults lost: one, where that isn't known of a fault."""
    return sum(1 if fault["runs"] is None else fault["runs"] for fault in faults)


def lost(faults: list[Row]) -> Row:
    """Count faults, and the runs that they lost where that is known of each."""
    runs = [fault["runs"] for fault in faults]
    return {"left_out": len(faults), "runs_left_out": None if None in runs else sum(runs)}


def current(world: World, detail: str = "configuration_detail") -> list[Row]:
    """Return the runs of the newest release that holds their model."""
    return [run for run in rows_of(world, detail) if run["is_current"]]
