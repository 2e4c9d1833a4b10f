"""Makes model documents that keep every rule, so that a test can break just the one it is about."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from energydb.errors import DocumentErrors
from energydb.paths import DATA
from energydb.sources.records import Document, Fault, Reading

LLAMA = DATA / "llama-3-1-70b-instruct.json"
SCOUT = DATA / "llama-4-scout-17b-16e-instruct.json"

_RUN = {
    "gpu": "H100",
    "num_gpus": 1,
    "tensor_parallel": 1,
    "data_parallel": 1,
    "expert_parallel": 1,
    "precision": "BF16",
    "max_num_seqs": 8,
    "avg_requests_in_flight": 8.0,
    "wh_per_million_output_tokens": 277.78,
    "joules_per_output_token": 1.0,
    "median_itl_ms": 20.0,
    "p90_itl_ms": 21.0,
    "p99_itl_ms": 23.0,
    "tokens_per_second": 400.0,
    "gpu_power_watts_total": 400,
    "avg_output_tokens": 350,
    "under_itl_deadline": True,
    "avg_running_batch": 8.0,
    "p95_itl_ms": 22.0,
    "row_id": "small/H100/1/8",
    "repeat": 1,
}


def run(**values: Any) -> dict[str, Any]:
    """Make a run of the model `small` in which all fields agree with `values`."""
    made = {**_RUN, **values}
    if "joules_per_output_token" in values:
        joules = values["joules_per_output_token"]
        made["wh_per_million_output_tokens"] = round(joules / 3600 * 1e6, 2)
        made["gpu_power_watts_total"] = round(joules * made["tokens_per_second"])
    if "num_gpus" in values:
        made["tensor_parallel"] = values["num_gpus"]
    if "median_itl_ms" in values:
        median = values["median_itl_ms"]
        made |= {f"p{percent}_itl_ms": median + percent / 10 for percent in (90, 95, 99)}
        made["under_itl_deadline"] = median <= 500
        made["tokens_per_second"] = round(made["avg_requests_in_flight"] / median * 1000, 1)
        made["gpu_power_watts_total"] = round(made["joules_per_output_token"] * made["tokens_per_second"])
    if "row_id" not in values:
        made["row_id"] = f"small/{made['gpu']}/{made['num_gpus']}/{made['max_num_seqs']}"
    made |= values
    return made


def document(*runs: dict[str, Any], **values: Any) -> dict[str, Any]:
    """Make a document of the model `small`, its GPUs and its picks by their rule; `source` is merged."""
    made = json.loads(SCOUT.read_text())
    made |= {
        "slug": "small",
        "name": "Small",
        "model_id": "org/Small",
        "params_b": 8.0,
        "active_params_b": 8.0,
        "architecture": "Dense Transformer",
    }
    made["source"] |= values.pop("source", {})
    made["configurations"] = list(runs) or [run()]
    made["gpus"] = sorted({run["gpu"] for run in made["configurations"]})
    within = [run for run in made["configurations"] if run["median_itl_ms"] <= made["itl_deadline_ms"]]
    made["best"] = {
        gpu: min((run for run in within if run["gpu"] == gpu), key=lambda run: run["joules_per_output_token"])
        for gpu in made["gpus"]
        if any(run["gpu"] == gpu for run in within)
    }
    made |= values
    return copy.deepcopy(made)


def older_release(**source: str) -> dict[str, Any]:
    """Return what makes a document one of an earlier release, its dates in order; `source` is merged."""
    dates = {"released": "2025-11-01", "compiled": "2025-12-01", "retrieved": "2025-12-01"}
    return {"data_version": "2025-12-01", "updated": "2025-12-01", "source": dates | source}


def write(path: Path, made: dict[str, Any]) -> Path:
    """Write a document as it would be published."""
    path.write_text(json.dumps(made, indent=2))
    return path


def only(reading: Reading) -> Document:
    """Return the one document of a reading in which nothing is at fault and nothing unknown."""
    (read,) = reading.documents
    assert (reading.faults, reading.notes, read.faults, read.unknown) == ((), (), (), ())
    return read


def faults_of(reader: Callable[[Path], Reading], path: Path) -> tuple[Fault, ...]:
    """Return every fault that a reader finds, whatever it spoils."""
    try:
        reading = reader(path)
    except DocumentErrors as error:
        return tuple(Fault(error=one) for one in error.errors)
    return (*(fault for read in reading.documents for fault in read.faults), *reading.faults)
