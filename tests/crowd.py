"""Fills an empty database with a crowd of runs, drawn by a seed: few different values, so that they tie and repeat.

Most keep every rule of data_quality; some break one. It holds what the shipped documents don't: two sources and
boundaries, releases that follow each other in two formats, runs without a limit, images that aren't square, a GPU
without vendor facts.
"""

import random
from datetime import date
from typing import Any

import duckdb
import pyarrow as pa

Row = dict[str, Any]

# Slug: name, total and active parameters (billions), architecture, precision.
TEXT_MODELS: dict[str, tuple[str, float, float, str, str]] = {
    "ant-8b": ("Ant 8B", 8.0, 8.0, "Dense Transformer", "BF16"),
    "ant-8b-fp8": ("Ant 8B FP8", 8.0, 8.0, "Dense Transformer", "FP8"),
    "bee-30b": ("Bee-30B A3B", 30.0, 3.0, "MoE", "BF16"),
    "bee-30b-Mx-6": ("Bee-30B A3B MX 6", 30.0, 3.0, "MoE", "MX_6"),
    "cat": ("Cat", 70.0, 12.0, "Hybrid MoE", "MXFP4"),
    "dog-4b-fp8": ("Dog 4B FP8", 4.0, 4.0, "Dense Transformer", "FP8"),
    "dog-4b": ("Dog 4B", 4.5, 4.5, "Dense Transformer", "BF16"),
    "elk-1.6b": ("Elk 1.6B", 1.6, 1.6, "Dense Transformer", "BF16"),
}
SAME_BUT_FOR_PRECISION = (("ant-8b", "ant-8b-fp8"), ("bee-30b", "bee-30b-Mx-6"))
# Slug: name, parameters, precision.
BATCH_MODELS = {"paint": ("Paint", 2.0, "BF16"), "brush": ("Brush 3B", 3.0, "FP8"), "pen": ("Pen", 0.6, "BF16")}
# GPU, and setups that differ in few things: num_gpus, and tensor, data, expert, pipeline parallel. Some can't be.
SETUPS = (
    ("H100", (1, 1, 1, 1), (2, 2, 1, 1), (2, 1, 2, 1)),
    ("H100", (4, 1, 4, 4), (4, 1, 4, 1), (2, 1, 2, 1)),
    ("H100", (4, 1, 4, 1), (4, 1, 2, 1)),
    ("B200", (1, 1, 1, 1), (2, 1, 1, 2), (4, 2, 2, 1)),
    ("B200", (2, 2, 1, 1), (2, 1, 1, 1)),
    ("B200", (2, 2, 1, 1), (2, 1, 1, 1, 2)),
    ("X1", (4, 4, 1, 1), (2, 2, 1, 1)),
)
OTHER_SETUP = ("X1", 2, 2, 1, 1)
# Ulysses degree, ring degree and batch size of runs that need the same: fewer GPUs win, then the smaller batch.
BATCH_TIES = (((1, 1, 8), (2, 1, 1)), ((1, 1, 8), (1, 1, 4)), ((2, 1, 4), (2, 1, 4), (2, 1, 4)))
# Ids of models that share a slug, two of them being one model; the last two differ from the others in a sign alone.
SHARED_SLUGS = (("cat", "kin/cat"), ("cat", "Kin/cat"), ("elk-1.6b", "org/elk-1.6b"), ("elk-1.6b", "org/elk-1-6b"))
# Source, task, format, data_version, compiled, boundary, itl_deadline_ms, and what else is said of it.
RELEASES: tuple[tuple[Any, ...], ...] = (
    (1, "chat", "leaderboard", "2025-10-01", "2025-10-01", "gpu_only", 500),
    (1, "chat", "leaderboard", "2025-12-01", "2025-12-02", "gpu_only", 100),
    (1, "chat", "leaderboard", "2026-02-01", "2026-02-01", "gpu_only", 500),
    (1, "chat", "model_document", "2025-12-01", "2025-12-02", "gpu_only", 500),
    (1, "chat", "model_document", "2026-02-01", "2026-02-01", "gpu_only", 250),
    (1, "chat", "model_document", "2026-01-15", "2026-02-02", "gpu_only", 500),
    (2, "chat", "leaderboard", "2026-01-10", "2026-01-10", "gpu_only", 500),
    (2, "chat", "leaderboard", "2026-01-01", "2026-01-01", "wall", 500),
    (2, "chat", "leaderboard", "2026-03-01", "2026-03-01", "wall", 100),
    (3, "chat", "leaderboard", "2026-01-20", "2026-02-01", "gpu_only", None),
    (1, "code", "model_document", "2025-12-01", "2025-12-02", "gpu_only", 500),
    (1, "code", "model_document", "2026-02-01", "2026-02-01", "gpu_only", 500),
    (1, "code", "leaderboard", "2026-02-01", "2026-02-01", "gpu_only", 500),
    (1, "code", "leaderboard", "2026-02-03", "2026-02-01", "gpu_only", 500),
    (1, "look", "model_document", "2026-02-01", "2026-02-01", "gpu_only", 500),
    (3, "look", "model_document", "2026-02-01", "2026-02-01", "gpu_only", 250),
    (2, "code", "leaderboard", "2026-03-01", "2026-03-01", "wall", 500),
    (1, "paint", "leaderboard", "2025-12-01", "2025-12-02", "gpu_only", None),
    (1, "paint", "leaderboard", "2026-02-01", "2026-02-01", "gpu_only", None),
    (2, "paint", "leaderboard", "2026-03-01", "2026-03-01", "wall", None),
    (1, "sketch", "leaderboard", "2026-02-01", "2026-02-01", "gpu_only", None),
    (1, "clip", "leaderboard", "2026-02-01", "2026-02-01", "gpu_only", None),
    (1, "film", "leaderboard", "2025-12-01", "2025-12-02", "gpu_only", None),
    (1, "film", "leaderboard", "2026-02-01", "2026-02-01", "gpu_only", None),
    (2, "film", "leaderboard", "2026-03-01", "2026-03-01", "wall", None),
    (1, "code", "leaderboard", "2027-12-03", "2027-12-03", "gpu_only", 500),
    (2, "chat", "model_document", "2026-02-01", "2026-02-01", "gpu_only", 500, {"origin": "own"}),
    (4, "chat", "leaderboard", "2026-01-01", "2026-01-01", "gpu_only", 500, {"has_all_tasks": True}),
    (4, "code", "leaderboard", "2026-02-01", "2026-02-01", "gpu_only", 500, {"has_all_tasks": True}),
    (2, "odd", "leaderboard", "2026-03-01", "2026-03-01", "gpu_only", 500),
    (2, "odd", "leaderboard", "2028-01-01", "2027-12-02", "gpu_only", 500),
    (3, "code", "leaderboard", "2024-01-01", "2024-01-01", "wall", 1),
)
UNKNOWN_FIELDS = [
    {"release_key": key, "place": place, "field": field, "type": kind, "objects": objects, "example": example}
    for key, place, field, kind, objects, example in (
        (1, "$.configurations[*].gpu_clock_mhz", "gpu_clock_mhz", "number", 12, "1980"),
        (3, "$.configurations[*].gpu_clock_mhz", "gpu_clock_mhz", "number", 9, "1830"),
        (3, "$.gpu_clock_mhz", "gpu_clock_mhz", "text", 1, '"fast"'),
    )
]
KINDS = {
    "chat": "text",
    "code": "text",
    "look": "text",
    "odd": "text",
    "paint": "image",
    "sketch": "image",
    "film": "video",
    "clip": "video",
}


def fill(database: duckdb.DuckDBPyConnection, tables: dict[str, list[Row]]) -> None:
    """Insert rows into a database without any."""
    for name, rows in tables.items():
        if rows:
            database.register("crowd", pa.Table.from_pylist(rows))
            database.execute(f"insert into {name} by name from crowd")
            database.unregister("crowd")


def crowd(seed: int = 1) -> dict[str, list[Row]]:
    """Draw the rows of every table, a table after those that it references."""
    draw = random.Random(seed)
    made: dict[str, list[Row]] = {
        "build": [{"energydb_version": "1.2.3", "energydb_released": date(2026, 12, 3), "digest": "none"}],
        "boundary": [{"name": name} for name in sorted({said[5] for said in RELEASES})],
        "source": [
            {"source_key": key, "name": name, "publisher": f"{name}, Inc.", "url": f"https://{key}.example/"}
            for key, name in enumerate(("Board", "Mill", "Attic", "Loft"), 1)
        ],
        "task": [{"id": task, "kind": kind} for task, kind in KINDS.items()],
        "gpu": [
            {"name": "H100", "memory_gb": 80.0, "rated_watts": 700.0, "facts_source": "the sheet of one"},
            {"name": "B200", "memory_gb": 180.0, "rated_watts": 1000.0, "facts_source": "the sheet of the other"},
            *({"name": name} for name in ("X1", "x-1", "X 1", "cuda:0")),
        ],
        "release": [release(draw, key, said) for key, said in enumerate(RELEASES, 1)],
        **{name: [] for name in ("file", "model", "configuration", "image_configuration", "video_configuration")},
        **{name: [] for name in ("published_pick", "output_length_bin")},
        "scenario": SCENARIOS,
        "unknown_field": UNKNOWN_FIELDS,
    }
    *full, _ = made["release"]  # one release is empty
    for of_release in full:
        draw = random.Random(f"{seed}, {of_release['release_key']}")  # a change to one release leaves the others
        if of_release["task"] == "odd":
            add_odd_models(draw, made, of_release)
        elif KINDS[of_release["task"]] == "text":
            add_text_models(draw, made, of_release)
        else:
            add_batch_models(draw, made, of_release)
    mark(random.Random(f"{seed}, marks"), made)
    return made


def mark(draw: random.Random, made: dict[str, list[Row]]) -> None:
    """Say what is to be known of some runs, what of some models was left out, and what fields some releases had."""
    kinds = {"text": "configuration", "image": "image_configuration", "video": "video_configuration"}
    made["marked_run"] = [
        {"kind": kind, "run_key": run[f"{table}_key"], "has_finding": draw.random() < 0.8, "is_withdrawn": True}
        for kind, table in kinds.items()
        for run in made[table]
        if draw.random() < 0.15
    ]
    for marked in made["marked_run"]:
        marked["is_withdrawn"] = not marked["has_finding"] or draw.random() < 0.3
    tasks = {of_release["release_key"]: of_release["task"] for of_release in made["release"]}
    of_models = [model for model in made["model"] if draw.random() < 0.5]
    whole = [model for model in made["model"] if draw.random() < 0.05]  # as if a newer release had lost it whole
    faults = [
        *((model["release_key"], model["model_key"], model["identity"]) for model in of_models + of_models[:5]),
        *((max(tasks), None, model["identity"]) for model in whole[:3]),
        *((None, None, model["identity"]) for model in whole[3:]),
        *((release_key, None, None) for release_key in (1, 9, None)),
    ]
    made["left_out"] = [
        {
            "left_out_key": key,
            "release_key": release_key,
            "model_key": model_key,
            "task": task,
            "model_id": identity,
            "identity": identity,
            "file_name": "lost.json",
            "place": f"$[{key}]",
            "fault": "expected a number, got text",
            "runs": draw.choice([None, 0, 1, 4] if task in ("code", "odd", "sketch") else [0, 1, 4]),
        }
        for key, (release_key, model_key, identity) in enumerate(faults, 1)
        for task in [tasks.get(release_key) if key % 7 else None]
    ]
    made["unknown_field"] = [
        {
            "release_key": of_release["release_key"],
            "place": f"$.configurations[*].{field}",
            "field": field,
            "type": "a number",
            "objects": 3,
            "example": str(of_release["release_key"]),
        }
        for of_release in made["release"]
        for field in ("fan_speed", "humidity")
        if draw.random() < 0.5
    ]


def release(draw: random.Random, key: int, at_a_glance: tuple[Any, ...]) -> Row:
    """Describe a release, in words that none of its other fields has."""
    source, task, form, version, compiled, boundary, deadline, *more = at_a_glance
    said = (
        *("unit", "workload", "method", "selection", "data_url", "licence", "cite", "cite_url", "caveat", "version"),
        *("document_version", "compiled_evidence", "used_for", "configurations_note"),
    )
    dates = {
        "data_version": version,
        "compiled": compiled,
        "released": draw.choice([None, "2025-09-01", compiled]),
        "retrieved": draw.choice([None, compiled, "2026-03-02", "2025-09-02"]),
        "updated": draw.choice([None, "2026-03-03"]),
    }
    return {
        "release_key": key,
        "source_key": source,
        "task": task,
        "format": form,
        "boundary": boundary,
        "origin": "published",
        "measurement_window": "whole_run" if key == 3 else "steady_state",
        "basis": "stated" if key == 3 else "measured",
        "is_complete": form == "leaderboard",
        "has_all_tasks": False,
        "itl_deadline_ms": deadline,
        **{field: f"{field} {key}" for field in said},
        **{field: None if day is None else date.fromisoformat(day) for field, day in dates.items()},
        **(more[0] if more else {}),
    }


def add_model(draw: random.Random, made: dict[str, list[Row]], of_release: Row, slug: str, **said: Any) -> int:
    """Add a model with a file of its own; now and then a release says something else of it."""
    key = len(made["model"]) + 1
    made["file"].append(
        {
            "file_key": key,
            "release_key": of_release["release_key"],
            "file_name": f"{slug}.json",
            "sha256": f"{key:064x}",
        }
    )
    if draw.random() < 0.15:
        said |= draw.choice(
            [
                {"name": "Other 70B"},
                {"active_params_b": said["params_b"] * 1.5},
                {"active_params_b": said["params_b"] / 4},
                {"params_b": 0.005},
                {"architecture": "MoE", "active_params_b": said["params_b"]},
            ]
        )
    made["model"].append(
        {
            "model_key": key,
            "release_key": of_release["release_key"],
            "file_key": key,
            "slug": slug,
            "model_id": f"org/{slug}",
            **said,
            "identity": said.get("model_id", f"org/{slug}").lower(),
        }
    )
    return key


def add_text_models(draw: random.Random, made: dict[str, list[Row]], of_release: Row) -> None:
    """Add some of the text models to a release, with runs, picks and lengths of outputs."""
    slugs = [*draw.choice(SAME_BUT_FOR_PRECISION), *draw.sample(sorted(TEXT_MODELS), 2)]
    ids = [(slug, f"org/{slug}") for slug in slugs]
    if (of_release["source_key"], of_release["task"]) == (4, "code"):
        ids += SHARED_SLUGS
    for slug, model_id in sorted(set(ids)):
        name, total, active, architecture, precision = TEXT_MODELS[slug]
        said = {"name": name, "params_b": total, "active_params_b": active, "architecture": architecture}
        said["model_id"] = model_id
        key = add_model(draw, made, of_release, slug, **said)
        lacks = draw.choice([None, None, None, "p95_itl_ms", "avg_running_batch"])
        runs: list[Row] = []
        chosen = [(gpu, *draw.choice(setups)) for gpu, *setups in draw.sample(SETUPS, 2) for _ in range(2)]
        limits = draw.choice([*[[8, 8, 16, 16, 32, 64, None]] * 3, [12, 12, 24, 48, None]])
        for setup in chosen:
            for limit in draw.sample(limits, 3):
                weights = draw.choice(["FP8", precision]) if slug in ("cat", "elk-1.6b") else precision
                run = text_run(draw, slug, weights, setup, limit, of_release["itl_deadline_ms"])
                same = ("gpu", "num_gpus", "max_num_seqs")
                before = [other for other in runs if all(other[field] == run[field] for field in same)]
                run["repeat"] = len(before) + 1
                if before and draw.random() < 0.25:
                    joules = draw.choice([0.2, 0.3])
                    run |= needing(run, joules)
                    before[0] |= needing(before[0], joules)
                if lacks:
                    run[lacks] = None
                if draw.random() < 0.12:
                    run |= fault(draw, run)
                runs.append(run)
        if draw.random() < 0.3:
            make_late_tie(runs, of_release["itl_deadline_ms"])
        add_runs(draw, made["configuration"], "configuration_key", key, runs)
        for run in runs:
            if draw.random() < 0.5:
                made["output_length_bin"] += bins(draw, run["configuration_key"])
        if of_release["format"] == "model_document":
            add_picks(draw, made, runs, of_release["itl_deadline_ms"])


def add_odd_models(draw: random.Random, made: dict[str, list[Row]], of_release: Row) -> None:
    """Add models and GPUs of several spellings, formats that ids and precisions say otherwise, and smooth curves.

    Of some of those one run needs half or twice as much, and draws as much more; of some two.
    """
    spellings = {
        "fox": "org/Fox",
        "Fox": "org/fox",
        "FOX": "org/fox ",
        "gnu-int4": "org/gnu",
        "hen": "org/hen-FP8-kv",
    }
    for slug, model_id in spellings.items():
        said = {"params_b": 8.0, "active_params_b": 8.0, "architecture": None, "name": slug}
        key = add_model(draw, made, of_release, slug, **said)
        made["model"][-1] |= {"model_id": model_id, "identity": model_id.strip().lower()}
        runs: list[Row] = []
        for gpu in ("H100", *draw.sample(["X1", "x-1", "X 1", "cuda:0"], 3)):
            setup = (gpu, *draw.choice([(1, 1, 1, 1), (2, 2, 1, 1), (4, 1, 2, 1)]))
            further = draw.choice([None, None, "context_parallel 2"])
            precision = draw.choice(["AWQ", "FP8", "BF16", "MXFP8"])
            limits = [8, 16, 32, 64, 128][: draw.choice([3, 4, 5])]
            odd = dict.fromkeys(draw.sample(limits, draw.choice([0, 1, 1, 2])), draw.choice([0.5, 2.0, 3.0]))
            for limit in limits:
                run = text_run(draw, slug, precision, setup, limit, of_release["itl_deadline_ms"])
                run |= {"tokens_per_second": 100.0 * limit**0.6, "median_itl_ms": 10.0 * limit**0.4, "repeat": 1}
                run |= needing(run, round(2.3 * limit**-0.4 * setup[1] * odd.get(limit, 1.0), draw.choice([3, 9])))
                run["energy_per_request_joules"] = round(
                    run["energy_per_request_joules"] * draw.choice([1, 1, 1.01]), 1
                )
                run |= {"gpu_as_published": draw.choice([None, gpu.lower()]), "other_parallel": further}
                runs.append(run)
        add_runs(draw, made["configuration"], "configuration_key", key, runs)


def make_late_tie(runs: list[Row], deadline: int | None) -> None:
    """Make the run that would win every tie on its GPU a late one, which needs as little as the least in time."""
    first = min(runs, key=lambda run: (run["num_gpus"], run["max_num_seqs"] or 1000, run["repeat"]))
    in_time = [
        run["joules_per_output_token"]
        for run in runs
        if run is not first and run["gpu"] == first["gpu"] and deadline and run["median_itl_ms"] <= deadline
    ]
    if in_time:
        slower = {name: first[name] + 600 for name in ("median_itl_ms", "p90_itl_ms", "p99_itl_ms")}
        first |= {**needing(first, min(in_time)), **slower}


def add_runs(draw: random.Random, made: list[Row], key_name: str, model_key: int, runs: list[Row]) -> None:
    """Give runs their keys in any order, so that it isn't that of their repeats."""
    draw.shuffle(runs)
    for run in runs:
        run |= {key_name: len(made) + 1, "model_key": model_key}
        made.append(run)


def text_run(draw: random.Random, slug: str, precision: str, setup: Any, limit: int | None, deadline: Any) -> Row:
    """Draw a run that keeps the rules; its latencies and energy are of few values."""
    gpu, num_gpus, tensor, data, expert, *pipeline = setup
    median = draw.choice([12.5, 20.0, 25.0, 40.0, 80.0, 100.0, 240.0, 250.0, 500.0, 600.0])
    p90 = median + draw.choice([0.0, 2.0, 10.0])
    p95 = p90 + draw.choice([1.0, 5.0, 15.0])
    batch = (limit or 24) * draw.choice([0.5, 0.75])
    joules = draw.choice([0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0]) * draw.choice([1.0, 1.0, 1.0, 7.0])
    speed = batch / median * 1000 * draw.choice([0.5, 0.75])
    others = ["context_parallel 2" if setup == OTHER_SETUP else None]
    if num_gpus == 4:
        others = [None, None, None, "context_parallel 2"]
    run = {
        "gpu": gpu,
        "num_gpus": num_gpus,
        "tensor_parallel": tensor,
        "data_parallel": data,
        "expert_parallel": expert,
        "pipeline_parallel": pipeline[0] if pipeline else 1,
        "precision": precision,
        # What is written otherwise is the same format: only slugs know of it.
        "precision_as_published": "fp8" if precision == "FP8" else None,
        "gpu_as_published": "h100-sxm" if gpu == "H100" else None,
        "max_num_seqs": limit,
        "avg_requests_in_flight": batch,
        "avg_running_batch": batch,
        "median_itl_ms": median,
        "p90_itl_ms": p90,
        "p95_itl_ms": p95,
        "p99_itl_ms": p95 + draw.choice([0.0, 3.0, 30.0]),
        "tokens_per_second": speed,
        "avg_output_tokens": draw.choice([120.5, 240.0, 360.0]),
        "under_itl_deadline": deadline is None or median <= deadline,
        "row_id": f"{slug}/{gpu}/{num_gpus}/{'none' if limit is None else limit}",
        "parallel_notes": draw.choice([None, None, "attention copied"]),
        "other_parallel": draw.choice(others)
        if num_gpus == 4
        else "context_parallel 2"
        if setup == OTHER_SETUP
        else None,
    }
    return run | needing(run, joules)


def needing(run: Row, joules: float) -> Row:
    """Return the figures of a run that needs so much energy per token."""
    return {
        "joules_per_output_token": joules,
        "wh_per_million_output_tokens": round(joules / 3600 * 1e6, 2),
        "gpu_power_watts_total": joules * run["tokens_per_second"],
        "energy_per_request_joules": joules * run["avg_output_tokens"],
    }


def fault(draw: random.Random, run: Row) -> Row:
    """Return what makes a run break one rule of data_quality."""
    return draw.choice(
        [
            {"wh_per_million_output_tokens": run["wh_per_million_output_tokens"] * 1.2},
            {"wh_per_million_output_tokens": run["wh_per_million_output_tokens"] * 0.7},
            {"gpu_power_watts_total": run["gpu_power_watts_total"] * 0.9},
            {"p90_itl_ms": run["median_itl_ms"] - 1},
            {"p95_itl_ms": run["p99_itl_ms"] + 1},
            {"p95_itl_ms": None},
            {"avg_running_batch": run["avg_requests_in_flight"] + 1},
            {"avg_running_batch": None},
            {"avg_requests_in_flight": 65.0},
            {"avg_requests_in_flight": 0.5},
            {"under_itl_deadline": not run["under_itl_deadline"]},
            {"tensor_parallel": 8},
            {"expert_parallel": 3},
            {"row_id": "else"},
            {"p99_itl_ms": 501 * run["median_itl_ms"]},
            {"avg_output_tokens": 1.5},
            {"avg_output_tokens": 200001.0},
            {"precision": "INT4"},
            {"tokens_per_second": run["tokens_per_second"] * 4},
            {"tokens_per_second": run["tokens_per_second"] / 40},
            {"repeat": run["repeat"] + 2},
        ]
    )


def add_picks(draw: random.Random, made: dict[str, list[Row]], runs: list[Row], deadline: Any) -> None:
    """Say what a document calls best on each GPU: mostly the least in time, else any run, or none."""
    for gpu in sorted({run["gpu"] for run in runs}):
        on_gpu = [run for run in runs if run["gpu"] == gpu]
        in_time = [run for run in on_gpu if deadline is not None and run["median_itl_ms"] <= deadline]
        chance = draw.random()
        pick = min(in_time, key=lambda run: run["joules_per_output_token"]) if in_time else draw.choice(on_gpu)
        if chance < 0.25:
            pick = draw.choice(on_gpu)
        if chance < 0.85:
            made["published_pick"].append(
                {"model_key": pick["model_key"], "gpu": gpu, "configuration_key": pick["configuration_key"]}
            )


def bins(draw: random.Random, key: int) -> list[Row]:
    """Draw the lengths of a run's outputs, in bins of unlike width; of some runs none is counted."""
    edges = draw.choice([[1.0, 40.0, 100.0, 150.5, 400.0, 1000.0], [2.0, 50.0, 90.5, 300.0, 350.0]])
    most = draw.choice([0, 1, 9, 100])
    return [
        {
            "configuration_key": key,
            "bin": place,
            "from_tokens": edges[place - 1],
            "to_tokens": edges[place],
            "requests": draw.randint(0, most) * draw.choice([0, 1, 1, 10]),
        }
        for place in range(1, len(edges))
    ]


def add_batch_models(draw: random.Random, made: dict[str, list[Row]], of_release: Row) -> None:
    """Add some of the image or video models to a release, with runs."""
    kind = KINDS[of_release["task"]]
    table = f"{kind}_configuration"
    for slug in sorted(draw.sample(sorted(BATCH_MODELS), 2)):
        name, params, precision = BATCH_MODELS[slug]
        said = {"name": name, "params_b": params, "active_params_b": params, "architecture": None}
        key = add_model(draw, made, of_release, slug, **said)
        seen: list[Row] = []
        runs: list[Row] = []
        for _ in range(20):
            setting, figures = batch_run(draw, kind, precision)
            seen.append(setting)
            runs.append({**setting, **figures, "repeat": seen.count(setting)})
        product = {**draw.choice(seen), "gpu": "H100"}
        for ulysses, ring, batch_size in draw.choice(BATCH_TIES):
            degrees = {"num_gpus": ulysses * ring, "ulysses_degree": ulysses, "ring_degree": ring}
            setting = {**product, **degrees, "batch_size": batch_size}
            seen.append(setting)
            figures = batch_figures(kind, setting, seconds=10.0, joules=200.0)
            runs.append({**setting, **figures, "repeat": seen.count(setting)})
        add_runs(draw, made[table], f"{table}_key", key, runs)


def batch_run(draw: random.Random, kind: str, precision: str) -> tuple[Row, Row]:
    """Draw an image or video run: its setting and what was measured."""
    gpu, ulysses, ring = draw.choice([("H100", 1, 1), ("H100", 2, 1), ("H100", 1, 2), ("B200", 1, 1), ("X1", 4, 1)])
    height, width = draw.choice([(480, 832), (832, 480), (480, 480)])
    setting = {
        "gpu": gpu,
        "num_gpus": ulysses * ring,
        "ulysses_degree": ulysses,
        "ring_degree": ring,
        "precision": precision,
        "other_parallel": "cfg_parallel 2" if ring == 2 else None,
        "gpu_as_published": "h100-sxm" if gpu == "H100" else None,
        "precision_as_published": "fp8" if precision == "FP8" else None,
        f"{kind}_height": height,
        f"{kind}_width": width,
        "inference_steps": draw.choice([20, 20, 20, 50]),
        "batch_size": draw.choice([1, 4, 4, 8]),
    }
    if kind == "video":
        setting |= {"num_frames": draw.choice([81, 81, 81, None]), "fps": draw.choice([15.0, 15.0, 15.0, 24.0, None])}
    slowest = {"image": 30.0, "video": 300.0}[kind]
    seconds = draw.choice([0.25, 0.5, 1.0, 1.1]) * slowest
    joules = draw.choice([300.0, 300.0, 300.0, 600.0]) * slowest / 3
    figures = batch_figures(kind, setting, seconds, joules)
    if draw.random() < 0.15:
        off = draw.choice(["gpu_power_watts_total", f"{kind}s_per_second"])
        figures[off] *= draw.choice([1.5, 0.8])
    if draw.random() < 0.05:
        setting["num_gpus"] += 1
    return setting, figures


def batch_figures(kind: str, setting: Row, seconds: float, joules: float) -> Row:
    """Return the figures of a run whose batch takes so long, and of which one needs so much energy."""
    rate = setting["batch_size"] / seconds
    return {
        "batch_latency_s": seconds,
        f"joules_per_{kind}": joules,
        f"{kind}s_per_second": rate,
        "gpu_power_watts_total": joules * rate,
    }


def scenario(name: str, pue: float, price: float | None, grams: float | None, litres: float | None) -> Row:
    """Describe a scenario, in words that none of its other fields has."""
    return {
        "name": name,
        "pue": pue,
        "pue_source": f"pue of {name}",
        "price_per_kwh": price,
        "currency": price and f"coins of {name}",
        "price_source": price and f"price of {name}",
        "gco2e_per_kwh": grams,
        "gco2e_source": grams and f"grid of {name}",
        "litres_per_kwh": litres,
        "litres_source": litres and f"water of {name}",
    }


SCENARIOS = [
    scenario("sea", 1.1, 0.07, 400.0, 1.8),
    scenario("hill", 1.5, None, 32.0, None),
    scenario("bog", 1.0, 0.2, None, 0.5),
]
