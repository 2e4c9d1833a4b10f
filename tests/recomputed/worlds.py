"""Two ways to a world: out of a database's tables, and out of the publisher's own JSON without energydb's reader."""

import csv
import hashlib
import json
import re
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb

from tests.recomputed.declared import Row, World

PRECISIONS = {"bfloat16": "BF16", "fp8": "FP8", "mxfp4": "MXFP4"}
SAME_IN_A_BATCH = ("num_gpus", "ulysses_degree", "ring_degree", "inference_steps", "batch_size", "batch_latency_s")
# What a text run's row says by other names, or of its model.
CALLED_OTHERWISE = (
    *(
        "gpu_model",
        "weight_precision",
        "avg_batch_size",
        "avg_power_watts",
        "avg_output_len",
        "energy_per_token_joules",
    ),
    *("output_throughput_tokens_per_sec", "model_id", "nickname", "architecture"),
    *("total_params_billions", "activated_params_billions"),
)
# What a folder doesn't say of a release.
NOT_SAID = (
    *("document_version", "updated", "unit", "data_url", "version", "released", "compiled_evidence", "retrieved"),
    *("method", "selection", "used_for", "configurations_note"),
)


def world_of_tables(connection: duckdb.DuckDBPyConnection) -> World:
    """Take every row of every table of a database."""
    tables = {}
    for (name,) in connection.execute("select table_name from duckdb_tables() where not temporary").fetchall():
        cursor = connection.execute(f"from {name}")
        columns = [column[0] for column in cursor.description]
        tables[name] = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    return World(tables)


def world_of_leaderboard(
    folder: Path, says: dict[str, Any], gpus: dict[str, Any], scenarios: Path, version: str, revision: str
) -> World:
    """Make the tables that a folder of the leaderboard should give.

    `says` is what the folder doesn't say of its source, `gpus` what vendors state of theirs: (GB, W, where).
    """
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    day = date.fromisoformat(index["last_updated"])
    made: dict[str, list[Row]] = {
        name: []
        for name in (
            *("release", "task", "licence_evidence", "file", "loaded", "model"),
            *("configuration", "image_configuration", "video_configuration", "output_length_bin", "published_pick"),
        )
    }
    made["source"] = [{"source_key": 1} | {name: says[name] for name in ("name", "publisher", "url")}]
    for release_key, task in enumerate(sorted(index["tasks"]), 1):
        file = folder / "tasks" / f"{task}.json"
        content = json.loads(file.read_text(encoding="utf-8"))
        first = content["configurations"][0]
        kind = next((kind for kind in ("image", "video") if f"energy_per_{kind}_joules" in first), "text")
        made["task"].append({"id": task, "kind": kind})
        made["release"].append(
            {
                **dict.fromkeys(NOT_SAID),
                **{name: says[name] for name in ("licence", "cite", "cite_url", "caveat", "boundary")},
                **{"origin": "published", "measurement_window": "steady_state", "basis": "measured"},
                "is_complete": True,
                "has_all_tasks": True,
                "release_key": release_key,
                "source_key": 1,
                "task": task,
                "format": "leaderboard",
                "data_version": day,
                "compiled": day,
                "itl_deadline_ms": 500 if kind == "text" else None,
                "workload": content["task_display_name"],
            }
        )
        made["licence_evidence"] += [
            {"release_key": release_key, "position": position, "evidence": evidence}
            for position, evidence in enumerate(says["licence_evidence"], 1)
        ]
        by_slug: dict[str, list[Row]] = {}
        for row in content["configurations"]:
            by_slug.setdefault(slug_of(row["model_id"]), []).append(row)
        names = [f"{rows[0]['model_id'].replace('/', '__')}__{task}.json" for rows in by_slug.values()]
        file_key = len(made["file"]) + 1
        for path in (file, folder / "index.json", *(folder / "models" / name for name in sorted(names))):
            made["file"].append(
                {
                    "file_key": len(made["file"]) + 1,
                    "release_key": release_key,
                    "file_name": path.name,
                    "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                }
            )
        bins_before = len(made["output_length_bin"])
        for slug, rows in sorted(by_slug.items()):
            keys = {"model_key": len(made["model"]) + 1, "release_key": release_key, "file_key": file_key}
            said = index["models"][rows[0]["model_id"]]
            made["model"].append(
                {
                    **keys,
                    "slug": slug,
                    "name": said["nickname"],
                    "model_id": rows[0]["model_id"],
                    "identity": rows[0]["model_id"].lower(),
                    "params_b": said["total_params_billions"],
                    "active_params_b": said["activated_params_billions"],
                    "architecture": said.get("architecture") if kind == "text" else None,
                }
            )
            model_file = folder / "models" / f"{rows[0]['model_id'].replace('/', '__')}__{task}.json"
            add_runs(made, kind, slug, keys["model_key"], rows, json.loads(model_file.read_text(encoding="utf-8")))
        of_kind = "configuration" if kind == "text" else f"{kind}_configuration"
        made["loaded"] += [
            {"table_name": "model", "file_key": file_key, "rows": len(by_slug)},
            {"table_name": of_kind, "file_key": file_key, "rows": len(content["configurations"])},
            {"table_name": "published_pick", "file_key": file_key, "rows": 0},
            {
                "table_name": "output_length_bin",
                "file_key": file_key,
                "rows": len(made["output_length_bin"]) - bins_before,
            },
        ]
    measured = {run["gpu"] for name in made if name.endswith("configuration") for run in made[name]}
    facts = ("memory_gb", "rated_watts", "facts_source")
    made["gpu"] = [
        {"name": name} | dict(zip(facts, gpus.get(name, (None,) * 3), strict=True)) for name in sorted(measured)
    ]
    made["scenario"] = scenarios_of(scenarios)
    made["boundary"] = [
        {"name": "gpu_only", "gpu": True}
        | dict.fromkeys(("host", "psu", "idle_reserve", "cooling", "embodied"), False)
        | {"note": "GPUs alone, on a busy server: a floor under what the whole of it takes."}
    ]
    made["build"] = [{"energydb_version": version, "energydb_released": date(2026, 12, 3)}]
    made |= {name: [] for name in ("left_out", "unknown_field", "marked_run")}
    of_no_file = ("boundary", "build", "gpu", "licence_evidence", "release", "scenario", "source", "task", "file")
    of_no_file += ("left_out", "unknown_field")
    made["loaded"] += [{"table_name": name, "file_key": None, "rows": len(made[name])} for name in of_no_file]
    made["alembic_version"] = [{"version_num": revision}]
    return World(made)


def slug_of(model_id: str) -> str:
    """Return the last part of a Hugging Face id in small letters and digits, all else one hyphen."""
    words = re.findall("[a-z0-9]+|[^a-z0-9]+", model_id.split("/")[-1].lower())
    return "".join(word if word.isalnum() and word.isascii() else "-" for word in words)


def add_runs(
    made: dict[str, list[Row]], kind: str, slug: str, model_key: int, rows: list[Row], model: dict[str, Any]
) -> None:
    """Add the runs of a model, and the lengths of their outputs, in the publisher's order."""
    table = "configuration" if kind == "text" else f"{kind}_configuration"
    seen: list[tuple[Any, ...]] = []
    for row, of_model in zip(rows, model["configurations"], strict=True):
        run = text_run(row, slug) if kind == "text" else batch_run(row, kind)
        if kind == "text":
            run["parallel_notes"] = of_model["parallelization"]["notes"] or None
            setting = (run["gpu"], run["num_gpus"], run["max_num_seqs"])
        else:
            measured = {"batch_latency_s", "gpu_power_watts_total", f"joules_per_{kind}", f"{kind}s_per_second"}
            setting = tuple(value for name, value in run.items() if name not in measured)
        seen.append(setting)
        key = len(made[table]) + 1
        made[table].append({f"{table}_key": key, "model_key": model_key, **run, "repeat": seen.count(setting)})
        if kind == "text":
            lengths = of_model["output_length_distribution"]
            edges = enumerate(zip(pairwise(lengths["bins"]), lengths["counts"], strict=True), 1)
            made["output_length_bin"] += [
                {"configuration_key": key, "bin": place, "from_tokens": low, "to_tokens": high, "requests": requests}
                for place, ((low, high), requests) in edges
            ]


def text_run(row: Row, slug: str) -> Row:
    """Name the publisher's fields of a text run as the database does; most have the same name."""
    limit = row["max_num_seqs"]
    return {
        **{name: value for name, value in row.items() if name not in CALLED_OTHERWISE},
        "gpu": row["gpu_model"],
        "precision": PRECISIONS[row["weight_precision"]],
        **{"pipeline_parallel": 1, "other_parallel": None, "gpu_as_published": None, "precision_as_published": None},
        "avg_requests_in_flight": row["avg_batch_size"],
        "avg_running_batch": row["avg_batch_size"],
        "wh_per_million_output_tokens": row["energy_per_token_joules"] / 3600 * 1e6,
        "joules_per_output_token": row["energy_per_token_joules"],
        "tokens_per_second": row["output_throughput_tokens_per_sec"],
        "gpu_power_watts_total": row["avg_power_watts"],
        "avg_output_tokens": row["avg_output_len"],
        "under_itl_deadline": row["median_itl_ms"] <= 500,
        "row_id": f"{slug}/{row['gpu_model']}/{row['num_gpus']}/{'none' if limit is None else limit}",
    }


def batch_run(row: Row, kind: str) -> Row:
    """Name the publisher's fields of an image or video run as the database does."""
    size = [f"{kind}_height", f"{kind}_width", *(("num_frames", "fps") if kind == "video" else ())]
    return {
        "gpu": row["gpu_model"],
        "precision": PRECISIONS[row["weight_precision"]],
        **{"other_parallel": None, "gpu_as_published": None, "precision_as_published": None},
        **{name: row[name] for name in (*SAME_IN_A_BATCH, *size)},
        f"joules_per_{kind}": row[f"energy_per_{kind}_joules"],
        f"{kind}s_per_second": row[f"throughput_{kind}s_per_sec"],
        "gpu_power_watts_total": row["avg_power_watts"],
        **({"fps": float(row["fps"])} if row.get("fps") else {}),
    }


def scenarios_of(path: Path) -> list[Row]:
    """Read the table of scenarios: what is empty isn't known."""
    numbers = {"pue", "price_per_kwh", "gco2e_per_kwh", "litres_per_kwh"}
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {name: None if value == "" else float(value) if name in numbers else value for name, value in row.items()}
            for row in csv.DictReader(file)
        ]
