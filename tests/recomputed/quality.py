"""Recomputes data_quality: the rules of physics and of the publication, a function a thing that keeps them."""

import re
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

from tests.recomputed import doubts
from tests.recomputed.declared import Row, World, by, declare, keyed, rows_of, text
from tests.recomputed.doubts import KINDS, Finding

TOUCHES_ENERGY = {
    *("joules_per_output_token", "joules_per_image", "joules_per_video", "wh_per_million_output_tokens"),
    *("energy_per_request_joules", "gpu_power_watts_total", "tokens_per_second", "images_per_second"),
    *("videos_per_second", "num_gpus", "precision", "gpu", "identity", "curve"),
}


def of_text_run(run: Row, detail: Row, model: Row) -> Iterator[Finding]:
    """Hold one text run against the rules that it must keep by itself."""
    joules, median, flight = run["joules_per_output_token"], run["median_itl_ms"], run["avg_requests_in_flight"]
    wh = joules / 3600 * 1e6
    if abs(run["wh_per_million_output_tokens"] - wh) > 0.01:
        yield "wh_per_million_output_tokens", text(wh), text(run["wh_per_million_output_tokens"]), 0.01
    watts = joules * run["tokens_per_second"]
    if abs(run["gpu_power_watts_total"] - watts) > doubts.of_power(run):
        yield "gpu_power_watts_total", text(watts), text(run["gpu_power_watts_total"]), doubts.of_power(run)
    yield from doubts.of_a_request(run)
    latencies = [median, run["p90_itl_ms"], run["p95_itl_ms"], run["p99_itl_ms"]]
    known = [latency for latency in latencies if latency is not None]
    if known != sorted(known):
        expected = "median_itl_ms <= p90_itl_ms <= p95_itl_ms <= p99_itl_ms"
        yield "itl_order", expected, ", ".join(map(str, known)), None
    deadline = detail["itl_deadline_ms"]
    if deadline is not None and median != deadline and run["under_itl_deadline"] != (median < deadline):
        yield "under_itl_deadline", text(median < deadline), text(run["under_itl_deadline"]), None
    if run["avg_running_batch"] not in (None, flight):
        yield "avg_running_batch", f"avg_requests_in_flight: {flight}", text(run["avg_running_batch"]), None
    limit = run["max_num_seqs"]
    if limit is not None and limit < flight:
        yield "max_num_seqs", f"at least avg_requests_in_flight: {flight}", text(limit), None
    if limit is not None and limit > 10 * flight:
        yield "max_num_seqs", f"at most 10 x avg_requests_in_flight: {10 * flight}", text(limit), None
    tensor, data, expert, stages = (run[f"{kind}_parallel"] for kind in ("tensor", "data", "expert", "pipeline"))
    num_gpus = run["num_gpus"]
    copied = tensor * data * stages == num_gpus == expert * stages
    if run.get("other_parallel") is None and tensor * data * expert * stages != num_gpus and not copied:
        expected = f"tensor_parallel x data_parallel x expert_parallel: {tensor} x {data} x {expert}"
        if stages > 1:
            expected = expected.replace(":", " x pipeline_parallel:") + f" x {stages}"
        yield "num_gpus", expected, text(num_gpus), None
    gpu = run.get("gpu_as_published") or run["gpu"]
    name = f"{detail['slug']}/{gpu}/{num_gpus}/{'none' if limit is None else limit}"
    if run["row_id"] != name:
        yield "row_id", name, run["row_id"], None
    if run["p99_itl_ms"] > 500 * median:
        yield "p99_itl_ms", f"at most 500 x median_itl_ms: {500 * median}", text(run["p99_itl_ms"]), None
    if not 2 <= run["avg_output_tokens"] <= 200000:
        yield "avg_output_tokens", "2 to 200000 tokens", text(run["avg_output_tokens"]), None
    if not 0.05 <= run["tokens_per_second"] * median / 1000 / flight <= 1.5:
        expected = f"0.05 to 1.5 of avg_requests_in_flight / median_itl_ms: {flight / median * 1000}"
        yield "tokens_per_second", expected, text(run["tokens_per_second"]), None


def among_runs(runs: list[Row]) -> Iterator[tuple[Row, Finding]]:
    """Hold the text runs of a model against each other: late fields, and gaps in their repeats."""
    for field in ("p95_itl_ms", "avg_running_batch"):
        lacking = [run for run in runs if run[field] is None]
        if len(lacking) < len(runs):
            for run in lacking:
                yield run, (field, "a value, as other runs of this document have one", "NULL", None)
    for setting in by(runs, "gpu", "num_gpus", "max_num_seqs"):
        repeats = {run["repeat"] for run in setting}
        for run in setting:
            if run["repeat"] > 1 and run["repeat"] - 1 not in repeats:
                expected = f"a run of the same gpu, num_gpus and max_num_seqs with repeat {run['repeat'] - 1}"
                yield run, ("repeat", expected, text(run["repeat"]), None)


def of_batch_run(run: Row, kind: str) -> Iterator[Finding]:
    """Hold one image or video run against the rules that it must keep: to a millionth."""
    rate = run[f"{kind}s_per_second"]
    for name, expected in (
        ("gpu_power_watts_total", run[f"joules_per_{kind}"] * rate),
        (f"{kind}s_per_second", run["batch_size"] / run["batch_latency_s"]),
    ):
        if abs(run[name] - expected) > 1e-6 * expected:
            yield name, text(expected), text(run[name]), 1e-6 * expected
    degrees = run["ulysses_degree"], run["ring_degree"]
    if run.get("other_parallel") is None and degrees[0] * degrees[1] != run["num_gpus"]:
        yield "num_gpus", "ulysses_degree x ring_degree: {} x {}".format(*degrees), text(run["num_gpus"]), None


def of_model(model: Row, detail: Row) -> Iterator[Finding]:
    """Hold what a release says of a model, and of itself, against what can be."""
    total, active, architecture = model["params_b"], model["active_params_b"], model["architecture"]
    if active > total:
        yield "active_params_b", f"at most params_b: {total}", text(active), None
    if architecture == "Dense Transformer" and active < total:
        expected = "a model with all parameters active, or another architecture than Dense Transformer"
        yield "architecture", expected, f"{active} of {total} billion active in a Dense Transformer", None
    if architecture == "MoE" and active == total:
        expected = "a model with some parameters active, or another architecture than MoE"
        yield "architecture", expected, f"{active} of {total} billion active in an MoE", None
    if not 0.01 <= total <= 10000:
        yield "params_b", "0.01 to 10000 billions", text(total), None
    sizes = re.findall(r"(?:^|(?<=[ -]))([0-9]+(?:\.[0-9]+)?)B(?=$|[ -])", model["name"])
    if sizes and not any(0.5 <= float(sizes[0]) / params <= 2 for params in (total, active)):
        yield "params_b", f"a size near that of the name: {sizes[0]} billion", f"{total} and {active} active", None
    dates = [detail[name] for name in ("released", "compiled", "retrieved", "updated")]
    pairs = [*pairwise(dates), (detail["compiled"], detail["data_version"])]
    if any(None not in pair and pair[0] > pair[1] for pair in pairs):
        found = ", ".join(str(day) for day in (*dates, detail["data_version"]) if day is not None)
        yield "dates", "released <= compiled <= retrieved <= updated, compiled <= data_version", found, None


def published(world: World) -> Iterator[Row]:
    """Hold what documents call best against the least in time of each GPU; only documents publish picks."""
    details = keyed(rows_of(world, "model_detail"), "model_key")
    runs = keyed(world["configuration"], "configuration_key")
    picks = {(pick["model_key"], pick["gpu"]): runs[pick["configuration_key"]] for pick in world["published_pick"]}
    measured = {
        (run["model_key"], run["gpu"])
        for run in world["configuration"]
        if details[run["model_key"]]["format"] == "model_document"
    }
    for model_key, gpu in measured | picks.keys():
        deadline = details[model_key]["itl_deadline_ms"]
        pick: Row = picks.get((model_key, gpu), {})
        least = min(
            (
                run["joules_per_output_token"]
                for run in world["configuration"]
                if (run["model_key"], run["gpu"]) == (model_key, gpu)
                and (model_key, gpu) in measured
                and deadline is not None
                and run["median_itl_ms"] <= deadline
            ),
            default=None,
        )
        joules = pick.get("joules_per_output_token")
        is_late = bool(pick) and deadline is not None and pick["median_itl_ms"] > deadline
        if joules != least or is_late:
            yield {
                "kind": "text",
                "model_key": model_key,
                "gpu": gpu,
                "run_key": pick.get("configuration_key"),
                "row_id": pick.get("row_id"),
                "repeat": pick.get("repeat"),
                "check_name": "published_pick",
                "expected": "no pick within the deadline" if least is None else f"joules_per_output_token {least}",
                "found": "no pick" if joules is None else f"joules_per_output_token {joules}",
                "tolerance": None,
            }


def findings(world: World) -> Iterator[Row]:
    """Yield every finding, without what is said of its model."""
    details = keyed(rows_of(world, "model_detail"), "model_key")
    models, rated = keyed(world["model"], "model_key"), {gpu["name"]: gpu["rated_watts"] for gpu in world["gpu"]}
    for kind, table in KINDS.items():
        for run in world[table]:
            model = models[run["model_key"]]
            own = of_text_run(run, details[run["model_key"]], model) if kind == "text" else of_batch_run(run, kind)
            shared = (
                doubts.of_power_each(run, rated[run["gpu"]]),
                doubts.of_size(run, kind, model),
                doubts.of_precision(run, model),
            )
            for finding in chain(own, *shared):
                yield found_in(kind, run, finding)
        for run, finding in doubts.copies(world, kind):
            yield found_in(kind, run, finding)
    for runs in by(world["configuration"], "model_key"):
        for run, finding in among_runs(runs):
            yield found_in("text", run, finding)
    for run, finding in doubts.between_releases(world):
        yield found_in("text", run, finding)
    for model in world["model"]:
        detail = details[model["model_key"]]
        for finding in chain(of_model(model, detail), doubts.of_dates(detail, world["build"])):
            yield doubts.about(detail["kind"], model["model_key"], None, finding)
    for model, finding in doubts.namesakes(world):
        yield doubts.about(details[model["model_key"]]["kind"], model["model_key"], None, finding)
    yield from doubts.of_gpus(world)
    yield from doubts.of_curves(world)
    yield from published(world)


def found_in(kind: str, run: dict[str, Any], finding: Finding) -> Row:
    """Say which run, or which model where there is none, a finding is about."""
    table = "configuration" if kind == "text" else f"{kind}_configuration"
    return {
        "kind": kind,
        "model_key": run["model_key"],
        "run_key": run.get("run_key", run.get(f"{table}_key")),
        **{name: run.get(name) for name in ("gpu", "row_id", "repeat")},
        **dict(zip(("check_name", "expected", "found", "tolerance"), finding, strict=True)),
    }


@declare(
    "task model gpu check_name expected found tolerance touches_energy row_id repeat document"
    " data_version kind run_key model_key",
    order="task model document gpu run_key check_name",
)
def data_quality(world: World) -> Iterator[Row]:
    """Every finding, named by its task, model and document."""
    details = keyed(rows_of(world, "model_detail"), "model_key")
    for finding in findings(world):
        touches = finding["check_name"] in TOUCHES_ENERGY
        yield {**details[finding["model_key"]], **finding, "touches_energy": touches}
