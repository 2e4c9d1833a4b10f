"""Writes model documents: the way back from the records, in canonical form.

Canonical is `json.dumps(document, indent=2)`: published key order, ASCII escapes, no final newline, GPUs
ascending, `row_id` and `repeat` always written, late figures only where they are known, other degrees of parallelism
only where they are above 1, each as a field of its own.
"""

import json
from typing import Any, cast

import msgspec

from energydb.sources.document_form import SAME_NAME_IN_SOURCE, Configuration, ModelDocument, Source
from energydb.sources.parts import OTHER_PARALLEL, degrees_of
from energydb.sources.records import Head, Model, Run, Runs
from energydb.units import wh_per_million_tokens


def model_document(head: Head, model: Model) -> bytes:
    """Return the document of one model under the head of its release."""
    runs: Runs[Run] = model.runs
    source = {field: getattr(head, field) for field in SAME_NAME_IN_SOURCE}
    configurations = tuple(map(_configuration, runs.records))
    gpus = sorted({configuration.gpu for configuration in configurations})
    picked = {configurations[place].gpu: configurations[place] for place in model.picks.values()}
    document = ModelDocument(
        **{field: getattr(model, field) for field in ("slug", "name", "model_id", "params_b", "active_params_b")},
        **{field: getattr(head, field) for field in ("data_version", "caveat", "boundary")},
        version=cast(str, head.document_version),
        updated=cast(Any, head.updated),
        unit=cast(str, head.unit),
        itl_deadline_ms=cast(int, head.itl_deadline_ms),
        source=Source(
            **source, licence_evidence=head.licence_evidence, configurations=cast(str, head.configurations_note)
        ),
        architecture=cast(str, model.architecture),
        gpus=tuple(gpus),
        configurations=configurations,
        best={gpu: picked[gpu] for gpu in gpus if gpu in picked},
    )
    made = msgspec.to_builtins(document)
    made["configurations"] = [_as_published(run) for run in made["configurations"]]
    made["best"] = {gpu: _as_published(run) for gpu, run in made["best"].items()}
    return json.dumps(made, indent=2).encode("ascii")


def _as_published(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run without the late fields that aren't known, and with each degree of parallelism by its own name.

    What every run has, and isn't known of this one, is null.
    """
    run = {field: value for field, value in run.items() if value is not None or field in _REQUIRED}
    degrees = degrees_of(run.get(OTHER_PARALLEL, ""))
    if degrees and not degrees.keys() & set(Configuration.__struct_fields__):
        del run[OTHER_PARALLEL]
        run |= degrees
    return run


_REQUIRED = {field.name for field in msgspec.structs.fields(Configuration) if field.required}


def _configuration(run: Run) -> Configuration:
    """Put a run in the document's form, in which power (W) and output length (tokens) are whole numbers.

    GPU and precision are written as they were published, a pipeline only where there is one.
    """
    fields = {field: getattr(run, field) for field in Configuration.__struct_fields__}
    fields["gpu"] = run.gpu_as_published or run.gpu
    fields["precision"] = run.precision_as_published or run.precision
    fields["pipeline_parallel"] = None if run.pipeline_parallel == 1 else run.pipeline_parallel
    fields |= {field: int(fields[field]) for field in ("gpu_power_watts_total", "avg_output_tokens")}
    return Configuration(**fields)


def rounded(model: Model, itl_deadline_ms: int) -> Model:
    """Round a model's runs as its document publishes them, and pick the best from the unrounded figures.

    Source: the leaderboard's published documents, which come out equal by these rules. `round` is Python's, of
    the double: SQL engines round otherwise.
    """
    runs: tuple[Run, ...] = model.runs.records
    picks: dict[str, int] = {}
    for place, run in enumerate(runs):
        if run.median_itl_ms > itl_deadline_ms:
            continue
        best = picks.setdefault(run.gpu, place)
        if _order(run) < _order(runs[best]):
            picks[run.gpu] = place
    published = Runs.of([_rounded(run, itl_deadline_ms) for run in runs])
    return msgspec.structs.replace(model, runs=published, picks=picks)


def _order(run: Run) -> tuple[float, ...]:
    """Return what picks are ordered by: least energy, then the smaller setup."""
    return (run.joules_per_output_token, run.num_gpus, run.max_num_seqs or 0, run.repeat)


def _rounded(run: Run, itl_deadline_ms: int) -> Run:
    in_flight = round(run.avg_requests_in_flight, 1)
    return msgspec.structs.replace(
        run,
        avg_requests_in_flight=in_flight,
        avg_running_batch=in_flight,
        wh_per_million_output_tokens=round(wh_per_million_tokens(run.joules_per_output_token), 2),
        joules_per_output_token=round(run.joules_per_output_token, 7),
        median_itl_ms=round(run.median_itl_ms, 1),
        p90_itl_ms=run.p90_itl_ms and round(run.p90_itl_ms, 1),
        p95_itl_ms=run.p95_itl_ms and round(run.p95_itl_ms, 1),
        p99_itl_ms=run.p99_itl_ms and round(run.p99_itl_ms, 1),
        tokens_per_second=round(run.tokens_per_second, 1),
        gpu_power_watts_total=round(run.gpu_power_watts_total),
        avg_output_tokens=round(run.avg_output_tokens),
        under_itl_deadline=run.median_itl_ms <= itl_deadline_ms,
    )
