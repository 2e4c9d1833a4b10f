"""Recomputes what is known of each model and each run: joined, named, and counted."""

from collections.abc import Iterator

from tests.recomputed.declared import Row, World, by, declare, keyed, rows_of

KINDS = {"text": "configuration", "image": "image_configuration", "video": "video_configuration"}


@declare(
    "task model boundary data_version is_current model_name model_id params_b active_params_b architecture kind"
    " source publisher source_url format version released compiled retrieved updated unit itl_deadline_ms workload"
    " method selection data_url licence cite cite_url caveat document sha256 file_key release_key model_key",
    order="model_key",
)
def model_detail(world: World) -> list[Row]:
    """Each model with its release; current where no release of its task and boundary that has it is newer."""
    releases, sources = keyed(world["release"], "release_key"), keyed(world["source"], "source_key")
    files, tasks = keyed(world["file"], "file_key"), keyed(world["task"], "id")
    rows = []
    for model in world["model"]:
        release, file = releases[model["release_key"]], files[model["file_key"]]
        source = sources[release["source_key"]]
        rows.append(
            {
                **release,
                **model,
                "model": model["slug"],
                "model_name": model["name"],
                "kind": tasks[release["task"]]["kind"],
                "source": source["name"],
                "publisher": source["publisher"],
                "source_url": source["url"],
                "document": file["file_name"],
                "sha256": file["sha256"],
            }
        )
    for same in by(rows, "task", "model", "boundary"):
        newest = max(
            same, key=lambda row: [row[name] for name in ("compiled", "data_version", "format", "release_key")]
        )
        for row in same:
            row["is_current"] = row is newest
    return rows


def detailed(world: World, kind: str) -> Iterator[Row]:
    """Yield the runs of one kind, each with its model's detail."""
    models = keyed(rows_of(world, "model_detail"), "model_key")
    for run in world[KINDS[kind]]:
        yield {
            **models[run["model_key"]],
            **run,
            "gpu_power_watts_each": run["gpu_power_watts_total"] / run["num_gpus"],
        }


@declare(
    "task model gpu wh_per_million_output_tokens num_gpus max_num_seqs repeat precision median_itl_ms p90_itl_ms"
    " p95_itl_ms p99_itl_ms tokens_per_second gpu_power_watts_total gpu_power_watts_each joules_per_output_token"
    " tokens_per_joule joules_per_request energy_per_request_joules"
    " avg_output_tokens avg_running_batch avg_requests_in_flight tensor_parallel"
    " data_parallel expert_parallel pipeline_parallel under_itl_deadline"
    " itl_deadline_ms is_current model_name model_id params_b"
    " active_params_b architecture source data_version boundary licence format row_id document model_key"
    " configuration_key",
    and_more=True,
)
def configuration_detail(world: World) -> Iterator[Row]:
    """Each text run, with tokens a joule and joules a request."""
    for run in detailed(world, "text"):
        joules = run["joules_per_output_token"]
        yield {**run, "tokens_per_joule": 1 / joules, "joules_per_request": joules * run["avg_output_tokens"]}


@declare(
    "task model gpu joules_per_image num_gpus batch_size batch_latency_s image_height image_width inference_steps"
    " images_per_second gpu_power_watts_total gpu_power_watts_each ulysses_degree ring_degree precision repeat"
    " is_current model_name model_id params_b active_params_b source data_version boundary licence document model_key"
    " image_configuration_key"
)
def image_configuration_detail(world: World) -> Iterator[Row]:
    """Each image run."""
    return detailed(world, "image")


@declare(
    "task model gpu joules_per_video num_gpus batch_size batch_latency_s video_height video_width num_frames fps"
    " inference_steps videos_per_second gpu_power_watts_total gpu_power_watts_each ulysses_degree ring_degree"
    " precision repeat is_current model_name model_id params_b active_params_b source data_version boundary licence"
    " document model_key video_configuration_key"
)
def video_configuration_detail(world: World) -> Iterator[Row]:
    """Each video run."""
    return detailed(world, "video")


@declare("kind run_key model_key gpu num_gpus precision gpu_power_watts_total row_id repeat")
def measured_run(world: World) -> Iterator[Row]:
    """Each run of any kind; only text runs have a published name."""
    for kind, table in KINDS.items():
        for run in world[table]:
            yield {"row_id": None, **run, "kind": kind, "run_key": run[f"{table}_key"]}


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
    "task source compiled data_version documents models gpus runs boundary licence version released retrieved format"
    " energydb_version schema_revision release_key",
    order="task source data_version format release_key",
)
def contents(world: World) -> Iterator[Row]:
    """Each release with its counts, those without a model as well."""
    sources = keyed(world["source"], "source_key")
    (build,), (revision,) = world["build"], world["alembic_version"]
    release_of = {model["model_key"]: model["release_key"] for model in world["model"]}
    for release in world["release"]:
        key = release["release_key"]
        of_release = [run for run in rows_of(world, "measured_run") if release_of[run["model_key"]] == key]
        yield {
            **release,
            "source": sources[release["source_key"]]["name"],
            "documents": sum(file["release_key"] == key for file in world["file"]),
            "models": sum(model["release_key"] == key for model in world["model"]),
            "gpus": len({run["gpu"] for run in of_release}),
            "runs": len(of_release),
            "energydb_version": build["energydb_version"],
            "schema_revision": revision["version_num"],
        }


def current(world: World, detail: str = "configuration_detail") -> list[Row]:
    """Return the runs of the newest release that holds their model."""
    return [run for run in rows_of(world, detail) if run["is_current"]]
