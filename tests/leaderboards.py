"""Makes small folders of the leaderboard's public data that keep every rule."""

import json
from pathlib import Path
from typing import Any

LAST_UPDATED = "2026-02-16"

_DESCRIBED = {
    "org/Small-1B": {
        "activated_params_billions": 1.0,
        "architecture": "Dense Transformer",
        "nickname": "Small 1B",
        "total_params_billions": 1.0,
        "weight_precision": "bfloat16",
    },
    "org/Mix-8B": {
        "activated_params_billions": 2.0,
        "architecture": "MoE",
        "nickname": "Mix 8B",
        "total_params_billions": 8.0,
        "weight_precision": "fp8",
    },
    "org/Paint-Σ": {
        "activated_params_billions": 0.6,
        "nickname": "Paint-Σ",
        "total_params_billions": 0.6,
        "weight_precision": "bfloat16",
    },
    "org/Film": {
        "activated_params_billions": 1.3,
        "nickname": "Film",
        "total_params_billions": 1.3,
        "weight_precision": "bfloat16",
    },
}


def text_row(model_id: str, **values: Any) -> dict[str, Any]:
    """Make a run of a text model; what isn't given agrees with `values`."""
    row = {
        "avg_batch_size": 7.9350877,
        "avg_output_len": 100.5,
        "data_parallel": 1,
        "energy_per_token_joules": 0.5123456789,
        "expert_parallel": 1,
        "gpu_model": "H100",
        "max_num_seqs": 8,
        "median_itl_ms": 20.123456,
        "model_id": model_id,
        "num_gpus": 1,
        "output_throughput_tokens_per_sec": 390.25,
        "p90_itl_ms": 21.5,
        "p95_itl_ms": 22.5,
        "p99_itl_ms": 23.5,
        "tensor_parallel": values.get("num_gpus", 1),
        **_DESCRIBED[model_id],
        **values,
    }
    joules = row["energy_per_token_joules"]
    row.setdefault("energy_per_request_joules", joules * row["avg_output_len"])
    row.setdefault("avg_power_watts", joules * row["output_throughput_tokens_per_sec"])
    return dict(sorted(row.items()))


def image_row(**values: Any) -> dict[str, Any]:
    """Make a run of the image model."""
    row = {
        "batch_latency_s": 2.0,
        "batch_size": 1,
        "energy_per_image_joules": 600.0,
        "gpu_model": "H100",
        "image_height": 768,
        "image_width": 1360,
        "inference_steps": 20,
        "model_id": "org/Paint-Σ",
        "num_gpus": 1,
        "ring_degree": 1,
        "ulysses_degree": values.get("num_gpus", 1),
        **_DESCRIBED["org/Paint-Σ"],
        **values,
    }
    row.setdefault("throughput_images_per_sec", row["batch_size"] / row["batch_latency_s"])
    row.setdefault("avg_power_watts", row["energy_per_image_joules"] * row["throughput_images_per_sec"])
    return dict(sorted(row.items()))


def video_row(**values: Any) -> dict[str, Any]:
    """Make a run of the video model."""
    row = {
        "batch_latency_s": 100.0,
        "batch_size": 1,
        "energy_per_video_joules": 60000.0,
        "fps": 15,
        "gpu_model": "H100",
        "inference_steps": 50,
        "model_id": "org/Film",
        "num_frames": 81,
        "num_gpus": 1,
        "ring_degree": 1,
        "ulysses_degree": values.get("num_gpus", 1),
        "video_height": 480,
        "video_width": 832,
        **_DESCRIBED["org/Film"],
        **values,
    }
    row.setdefault("throughput_videos_per_sec", row["batch_size"] / row["batch_latency_s"])
    row.setdefault("avg_power_watts", row["energy_per_video_joules"] * row["throughput_videos_per_sec"])
    return dict(sorted(row.items()))


def small_tasks() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a small leaderboard: two text tasks, an image and a video task, and one repeat."""
    return {
        "lm-arena-chat": [
            text_row("org/Mix-8B", max_num_seqs=8, num_gpus=2, tensor_parallel=1, expert_parallel=2),
            text_row("org/Small-1B", max_num_seqs=8),
            text_row("org/Small-1B", max_num_seqs=8, energy_per_token_joules=0.55),
            text_row("org/Small-1B", max_num_seqs=16, energy_per_token_joules=0.4, median_itl_ms=21.0),
            text_row("org/Small-1B", max_num_seqs=32, energy_per_token_joules=0.41, median_itl_ms=21.2),
        ],
        "gpqa": [text_row("org/Small-1B", gpu_model="B200")],
        "text-to-image": [
            image_row(batch_size=1, batch_latency_s=2.0),
            image_row(batch_size=16, batch_latency_s=31.0, energy_per_image_joules=500.0),
            image_row(batch_size=4, batch_latency_s=7.0, energy_per_image_joules=550.0),
        ],
        "text-to-video": [
            video_row(),
            video_row(video_height=720, video_width=1280, energy_per_video_joules=90000.0, batch_latency_s=200.0),
            video_row(batch_size=4, batch_latency_s=301.0, energy_per_video_joules=50000.0),
        ],
    }


def write_leaderboard(
    folder: Path, tasks: dict[str, list[dict[str, Any]]] | None = None, last_updated: str = LAST_UPDATED
) -> Path:
    """Write a folder: index, task files, and the model files that belong to the rows."""
    tasks = small_tasks() if tasks is None else tasks
    (folder / "tasks").mkdir(parents=True)
    (folder / "models").mkdir()
    kinds = {task: _kind(rows) for task, rows in tasks.items()}
    described = {row["model_id"]: _pick(row, _DESCRIBED["org/Mix-8B"]) for rows in tasks.values() for row in rows}
    _write(
        folder / "index.json",
        {
            "architectures": {
                "diffusion": [task for task, kind in kinds.items() if kind != "text"],
                "llm": [task for task, kind in kinds.items() if kind == "text"],
            },
            "last_updated": last_updated,
            "models": described,
            "tasks": list(tasks),
        },
    )
    for task, rows in tasks.items():
        made = {"task": task, "task_display_name": f"The {task} task", "configurations": rows}
        _write(
            folder / "tasks" / f"{task}.json", made | ({} if kinds[task] == "text" else {"architecture": "diffusion"})
        )
        for model_id in dict.fromkeys(row["model_id"] for row in rows):
            name = f"{model_id.replace('/', '__')}__{task}.json"
            of_model = [row for row in rows if row["model_id"] == model_id]
            _write(folder / "models" / name, _model_file(task, of_model, kinds[task]))
    return folder


def change(path: Path, **values: Any) -> None:
    """Change fields at the top of a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def change_run(path: Path, place: int, **values: Any) -> None:
    """Change fields of one run in a JSON file; those that are to be ... are taken away."""
    made = json.loads(path.read_text())
    run = made["configurations"][place] | values
    made["configurations"][place] = {field: value for field, value in run.items() if value is not ...}
    path.write_text(json.dumps(made))


def _kind(rows: list[dict[str, Any]]) -> str:
    return next((kind for kind in ("image", "video") if f"energy_per_{kind}_joules" in rows[0]), "text")


def _pick(row: dict[str, Any], fields: Any) -> dict[str, Any]:
    return {field: row[field] for field in fields if field in row}


def _model_file(task: str, rows: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    first = rows[0]
    degrees = {field for row in rows for field in row if field.endswith(("_parallel", "_degree"))}
    not_in_runs = {"model_id", *_DESCRIBED["org/Mix-8B"], *degrees}
    runs = []
    for place, row in enumerate(rows):
        run = {field: value for field, value in row.items() if field not in not_in_runs}
        run["parallelization"] = _pick(row, degrees)
        if kind == "text":
            run["parallelization"]["notes"] = (
                "DP for attention, EP for MLP experts" if row["data_parallel"] > 1 else ""
            )
            run["output_length_distribution"] = {"bins": [1.0, 50.5, 100.5, 200.0], "counts": [place + 1, 5, 4]}
        runs.append(run)
    made = {"model_id": first["model_id"], "task": task, "configurations": runs}
    if kind == "text":
        counts = [run["output_length_distribution"]["counts"] for run in runs]
        made["output_length_distribution"] = {
            "bins": [1.0, 50.5, 100.5, 200.0],
            "counts": [sum(column) for column in zip(*counts, strict=True)],
        }
        return made | {
            name: value for name, value in _pick(first, _DESCRIBED["org/Mix-8B"]).items() if name != "nickname"
        }
    return made | _pick(first, _DESCRIBED["org/Paint-Σ"])


def _write(path: Path, made: object) -> None:
    path.write_text(json.dumps(made, indent=1))
