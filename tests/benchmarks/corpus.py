"""Makes model documents for the benchmarks: as many as wanted, with varied values that keep every rule."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from energydb.paths import DATA

RUNS_EACH = 100
_RATED_WATTS = {"B200": 1000, "H100": 700}
_NUM_GPUS = (1, 2, 4, 8)
_MAX_NUM_SEQS = (8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
_REPEATED = 4
_SEED = json.loads((DATA / "llama-3-1-70b-instruct.json").read_bytes())


def write_corpus(folder: Path, documents: int) -> list[Path]:
    """Write `documents` documents of `RUNS_EACH` runs, the same ones each time; return their paths in order."""
    folder.mkdir(parents=True)
    paths = []
    for number in range(documents):
        document = _document(number)
        paths.append(folder / f"{document['slug']}.json")
        paths[-1].write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=2))
    return paths


def _document(number: int) -> dict[str, Any]:
    chance = random.Random(number)
    slug = f"model-{number:05}"
    active = round(chance.uniform(1, 40), 1)
    is_moe = chance.random() < 0.5
    params = round(active * chance.uniform(2, 20), 1) if is_moe else active
    runs = list(_runs(chance, slug, (active * params) ** 0.5))
    return {
        **_SEED,
        "slug": slug,
        "name": f"Model {number:05}",
        "model_id": f"org/Model-{number:05}",
        "params_b": params,
        "active_params_b": active,
        "architecture": "MoE" if is_moe else "Dense Transformer",
        "gpus": sorted(_RATED_WATTS),
        "configurations": runs,
        "best": dict(_best(runs)),
    }


def _runs(chance: random.Random, slug: str, size: float) -> Iterator[dict[str, Any]]:
    settings = [
        (gpu, num_gpus, max_num_seqs)
        for gpu in sorted(_RATED_WATTS)
        for num_gpus in _NUM_GPUS
        for max_num_seqs in _MAX_NUM_SEQS
    ]
    repeated = chance.sample(settings, _REPEATED)
    base_joules = size * chance.uniform(0.1, 0.3)
    for setting in settings:
        for repeat in (1, 2) if setting in repeated else (1,):
            yield _run(chance, slug, *setting, repeat, base_joules)


def _run(
    chance: random.Random, slug: str, gpu: str, num_gpus: int, max_num_seqs: int, repeat: int, base_joules: float
) -> dict[str, Any]:
    in_flight = round(max_num_seqs * chance.uniform(0.85, 1), 1)
    # Runs of one curve lie on a line, nearly: what needs less for a token draws a little more.
    watts = 0.3 * _RATED_WATTS[gpu] * num_gpus * (max_num_seqs / 8) ** 0.15 * chance.uniform(0.99, 1.01)
    joules = round(base_joules * (max_num_seqs / 8) ** -0.45 * chance.uniform(0.99, 1.01), 7)
    tokens_per_second = round(watts / joules, 1)
    median_ms = round(in_flight / tokens_per_second * 1000 * chance.uniform(0.4, 1), 1)
    p90_ms = round(median_ms * chance.uniform(1, 1.8), 1)
    p95_ms = round(p90_ms * chance.uniform(1, 1.8), 1)
    tensor_parallel = chance.choice([degree for degree in _NUM_GPUS if degree <= num_gpus])
    return {
        "gpu": gpu,
        "num_gpus": num_gpus,
        "tensor_parallel": tensor_parallel,
        "data_parallel": 1,
        "expert_parallel": num_gpus // tensor_parallel,
        "precision": "FP8" if chance.random() < 0.3 else "BF16",
        "max_num_seqs": max_num_seqs,
        "avg_requests_in_flight": in_flight,
        "wh_per_million_output_tokens": round(joules / 3600 * 1e6, 2),
        "joules_per_output_token": joules,
        "median_itl_ms": median_ms,
        "p90_itl_ms": p90_ms,
        "p99_itl_ms": round(p95_ms * chance.uniform(1, 3), 1),
        "tokens_per_second": tokens_per_second,
        "gpu_power_watts_total": round(joules * tokens_per_second),
        "avg_output_tokens": chance.randint(250, 900),
        "under_itl_deadline": median_ms <= _SEED["itl_deadline_ms"],
        "avg_running_batch": in_flight,
        "p95_itl_ms": p95_ms,
        "row_id": f"{slug}/{gpu}/{num_gpus}/{max_num_seqs}",
        "repeat": repeat,
    }


def _best(runs: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for gpu in sorted(_RATED_WATTS):
        in_time = [run for run in runs if run["gpu"] == gpu and run["under_itl_deadline"]]
        if in_time:
            yield gpu, min(in_time, key=lambda run: run["joules_per_output_token"])
