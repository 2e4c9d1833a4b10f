"""Recomputes the rules of data_quality that look around: at names, sizes, other runs, formats and releases."""

import math
import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from typing import Any

from tests.recomputed.declared import Row, World, by, declare, keyed, rows_of, text

Finding = tuple[str, str, str | None, float | None]
KINDS = {"text": "configuration", "image": "image_configuration", "video": "video_configuration"}

# A word of an id that names a format: a precision of that format has one of these in its name.
BITS8, BITS4 = ("INT8", "W8", "8BIT", "8-BIT"), ("INT4", "W4", "4BIT", "4-BIT", "AWQ", "GPTQ")
FORMATS = {
    **dict.fromkeys(("bf16", "bfloat16"), ("BF16", "BFLOAT16")),
    **dict.fromkeys(("fp8", "mxfp8"), ("FP8", "F8", "FLOAT8")),
    **dict.fromkeys(("fp4", "nvfp4", "mxfp4"), ("FP4",)),
    **dict.fromkeys(("int4", "w4a16"), BITS4),
    "fp16": ("FP16", "FLOAT16"),
    "mxfp6": ("FP6",),
    "int8": BITS8,
    "awq": ("INT", "W4", "W8", "BIT", "AWQ"),
    "gptq": ("INT", "W4", "W8", "BIT", "GPTQ"),
}
MAKERS = ["nvidia", "amd", "intel", "apple"]
NO_CARDS = (
    *("cuda", "rocm", "hip", "xpu", "cpu", "tpu", "npu", "mps", "gpu", "gpus", "device", "accelerator"),
    *("unknown", "none", "null", "other", "default", "na", "n/a", "n.a", "n-a", "n_a"),
)
# What documents round a figure to: half of the last decimal.
HALVES = {
    "joules_per_output_token": 5e-8,
    "wh_per_million_output_tokens": 0.005,
    "gpu_power_watts_total": 0.5,
    "tokens_per_second": 0.05,
    "avg_output_tokens": 0.5,
    "avg_requests_in_flight": 0.05,
    **dict.fromkeys(("median_itl_ms", "p90_itl_ms", "p95_itl_ms", "p99_itl_ms"), 0.05),
}


def half_of_last_decimal(value: float) -> float:
    """Say how far a figure may lie from what it was rounded from; where it is written in powers of ten it wasn't."""
    written = repr(value)
    if "e-" in written:
        return 0.0
    decimals = written.partition(".")[2] if "e" not in written else ""
    return 0.5 * math.pow(10, -len(decimals.rstrip("0")))


def of_power(run: Row) -> float:
    """Return what rounding explains of the power of a text run, W."""
    watts = run["joules_per_output_token"] * run["tokens_per_second"]
    fewest = min(half_of_last_decimal(run["joules_per_output_token"]), 0.0005)
    return max(1.0, 0.001 * watts, run["tokens_per_second"] * fewest)


def of_a_request(run: Row) -> Iterator[Finding]:
    """Hold energy per request against energy per token and tokens."""
    joules, tokens, found = (
        run[name] for name in ("joules_per_output_token", "avg_output_tokens", "energy_per_request_joules")
    )
    if found is None:
        return
    halves = [half_of_last_decimal(value) for value in (joules, tokens, found)]
    tolerance = max(1e-9 * joules * tokens, min(halves[0], 0.0005) * tokens + halves[1] * joules + halves[2])
    if abs(found - joules * tokens) > tolerance:
        yield "energy_per_request_joules", text(joules * tokens), text(found), tolerance


def of_size(run: Row, kind: str, model: Row) -> Iterator[Finding]:
    """Hold the energy for one against the size of the model, and of what it makes."""
    active, total = model["active_params_b"], model["params_b"]
    if kind == "text":
        name, least, most = "joules_per_output_token", 0.0002, 5
        of, size = "sqrt(params_b x active_params_b)", math.sqrt(total * active)
    else:
        name, least, most = f"joules_per_{kind}", 0.1, 5000
        frames = run["num_frames"] if kind == "video" else 1
        if frames is None:
            return
        of = f"active_params_b x megapixels x {'num_frames x ' if kind == 'video' else ''}inference_steps"
        pixels = float(run[f"{kind}_height"]) * run[f"{kind}_width"]
        size = pixels * frames * run["inference_steps"] / 1e6 * active
    if not least <= run[name] / size <= most:
        yield name, f"{least} to {most} x {of}: {size}", text(run[name]), None


def of_precision(run: Row, model: Row) -> Iterator[Finding]:
    """Hold the precision against what the model's id says."""
    words = re.split("[^a-z0-9]+", f"{model['model_id']} {model['slug']}".lower())
    formats = sorted({word for word in words if word in FORMATS})
    if formats and not any(part in run["precision"].upper() for word in formats for part in FORMATS[word]):
        yield "precision", f"{' or '.join(formats)}, as its id says", run["precision"], None


def of_power_each(run: Row, rated: float | None) -> Iterator[Finding]:
    """Hold the power of one GPU against its rating, or where there is none against that of any."""
    each, gpus = run["gpu_power_watts_total"] / run["num_gpus"], run["num_gpus"]
    if rated is not None and not 0.1 <= each / rated <= 1.1:
        expected = f"0.1 to 1.1 of rated_watts x num_gpus: {rated * gpus}"
        yield "gpu_power_watts_total", expected, text(run["gpu_power_watts_total"]), None
    if rated is None and not 5 <= each <= 2000:
        expected = f"5 to 2000 x num_gpus: {5 * gpus} to {2000 * gpus}"
        yield "gpu_power_watts_total", expected, text(run["gpu_power_watts_total"]), None


def copies(world: World, kind: str) -> Iterator[tuple[Row, Finding]]:
    """Find runs that come twice: in the order of energy each beside the one before."""
    joules, rate = f"joules_per_{kind}", f"{kind}s_per_second"
    setting = ["ulysses_degree", "ring_degree", f"{kind}_height", f"{kind}_width", "inference_steps", "batch_size"]
    if kind == "text":
        joules, rate, setting = "joules_per_output_token", "tokens_per_second", ["max_num_seqs"]
    if kind == "video":
        setting += ["num_frames", "fps"]
    for same in by(world[KINDS[kind]], "model_key", "gpu", "num_gpus", *setting):
        ordered = sorted(same, key=lambda run: (run[joules], run["repeat"]))
        for before, run in pairwise(ordered):
            names = (joules, "gpu_power_watts_total", rate)
            if all(abs(run[name] / before[name] - 1) < 1e-9 for name in names):
                yield run, ("repeat", f"another measurement than repeat {before['repeat']}", "the same figures", None)


def between_releases(world: World) -> Iterator[tuple[Row, Finding]]:
    """Hold one run in two formats against itself, and one setting against the release before."""
    releases, models = keyed(world["release"], "release_key"), keyed(world["model"], "model_key")
    sources, files = keyed(world["source"], "source_key"), keyed(world["file"], "file_key")
    runs = []
    for run in world["configuration"]:
        model = models[run["model_key"]]
        release = releases[model["release_key"]]
        named = {"source": sources[release["source_key"]]["name"], "file_name": files[model["file_key"]]["file_name"]}
        runs.append({"other_parallel": None, **release, **named, "identity": model["identity"], **run})
    told = ("source", "task", "boundary", "origin", "identity", "gpu", "num_gpus", "max_num_seqs", "repeat")
    for same in by(runs, "compiled", *told):
        ordered = sorted(same, key=lambda run: (run["format"], run["configuration_key"]))
        if ordered[0]["format"] == ordered[-1]["format"]:
            continue
        for run in ordered:
            other = ordered[-1] if run["format"] == ordered[0]["format"] else ordered[0]
            for name, half in HALVES.items():
                tolerance = half * (1 + 1e-6)
                if None not in (run[name], other[name]) and abs(run[name] - other[name]) > tolerance:
                    expected = f"{other[name]} as {other['row_id']} in {other['file_name']}"
                    yield run, (name, expected, text(run[name]), None)
    degrees = [f"{kind}_parallel" for kind in ("tensor", "data", "expert", "pipeline", "other")]
    for same in by(runs, "format", *told, *degrees, "precision"):
        order = ("compiled", "data_version", "release_key", "configuration_key")
        ordered = sorted(same, key=lambda run: [run[name] for name in order])
        for before, run in pairwise(ordered):
            joules = [one["joules_per_output_token"] for one in (before, run)]
            if not 0.2 <= joules[1] / joules[0] <= 5:
                expected = f"0.2 to 5 x what the release of {before['data_version']} has: {joules[0]}"
                yield run, ("joules_per_output_token", expected, text(joules[1]), None)


def of_dates(detail: Row, build: list[Row]) -> Iterator[Finding]:
    """Find what is dated a year or more after energydb, or in another age."""
    if min(detail["compiled"], detail["data_version"]) < date(2010, 1, 1):
        found = f"{detail['compiled']}, {detail['data_version']}"
        yield "dates", "compiled and data_version since 2010-01-01", found, None
    if build:
        released = build[0]["energydb_released"]
        is_leap_day = (released.month, released.day) == (2, 29)
        too_late = date(released.year + 1, released.month, 28 if is_leap_day else released.day)
        if max(detail["compiled"], detail["data_version"]) >= too_late:
            found = f"{detail['compiled']}, {detail['data_version']}"
            yield "dates", f"compiled and data_version before {too_late}", found, None


def namesakes(world: World) -> Iterator[tuple[Row, Finding]]:
    """Find models that are in one release more than once, each with the next."""
    files = keyed(world["file"], "file_key")
    for same in by(sorted(world["model"], key=lambda model: model["model_key"]), "release_key", "identity"):
        for place, model in enumerate(same if len(same) > 1 else []):
            other = same[(place + 1) % len(same)]
            found = f"also {other['slug']} ({other['model_id']}) in {files[other['file_key']]['file_name']}"
            yield model, ("identity", "one model of this id in a release", found, None)


def is_no_card(name: str) -> bool:
    """Tell whether a name says nothing of which GPU it is: a maker or what it computes with, and perhaps a digit."""
    kept = re.sub("^[^a-z0-9]+|[^a-z0-9]+$", "", name.lower())
    kept = re.sub("[^a-z0-9]*(?<![0-9])[0-9]$", "", kept)
    for maker in MAKERS:
        if kept.startswith(maker):
            kept = re.sub("^[^a-z0-9]+", "", kept.removeprefix(maker))
            break
    return kept in ("", *NO_CARDS)


def of_gpus(world: World) -> Iterator[Row]:
    """Find GPUs that aren't named, and those that are named in two ways; of each model that has them."""
    names = sorted(gpu["name"] for gpu in world["gpu"])
    expected: dict[str, list[str]] = {name: ["the name of a card"] if is_no_card(name) else [] for name in names}
    folded = [{"name": name, "folded": re.sub(r"[\s._-]", "", name.lower())} for name in names]
    for same in by(folded, "folded"):
        for place, one in enumerate(same if len(same) > 1 else []):
            other = same[(place + 1) % len(same)]["name"]
            expected[one["name"]].append(f"one spelling in a file, not also {other}")
    seen = {(kind, run["model_key"], run["gpu"]) for kind, table in KINDS.items() for run in world[table]}
    for kind, model_key, gpu in seen:
        for said in expected[gpu]:
            yield about(kind, model_key, gpu, ("gpu", said, gpu, None))


def of_curves(world: World) -> Iterator[Row]:
    """Find the runs that lie off their curve, and the curves that are uneven with no one to blame."""

    def rounded(run: Row, name: str) -> float:
        return round(run[f"{name}_to_line"], 3)

    points = rows_of(world, "curve_point")
    for run in points:
        if run["judgement"] == "off its curve":
            ratios = ", ".join(str(rounded(run, name)) for name in ("joules", "watts"))
            expected = f"joules, watts and rate near the line through its neighbours on {run['curve']}"
            finding = ("curve", expected, f"{ratios} and {rounded(run, 'rate')} of it", None)
            found = about(run["kind"], run["model_key"], run["gpu"], finding)
            yield {**found, "run_key": run["run_key"], "row_id": run["row_id"], "repeat": run["repeat"]}
    for curve in by((run for run in points if run["judgement"] == "on an uneven curve"), "kind", "curve_key"):
        joules, watts = ([rounded(run, name) for run in curve] for name in ("joules", "watts"))
        found_there = f"joules {min(joules)} to {max(joules)} and watts {min(watts)} to {max(watts)}"
        found_there += " of the lines through neighbours"
        first = curve[0]
        finding = ("curve", f"an even curve of {first['curve']}", found_there, None)
        yield about(first["kind"], first["model_key"], first["gpu"], finding)


def about(kind: str, model_key: int, gpu: str | None, finding: Finding) -> Row:
    """Say which model, and which of its GPUs, a finding is about."""
    said: dict[str, Any] = {"kind": kind, "model_key": model_key, "gpu": gpu}
    said |= dict.fromkeys(("run_key", "row_id", "repeat"))
    return said | dict(zip(("check_name", "expected", "found", "tolerance"), finding, strict=True))


@declare(
    "task model gpu row_id repeat has_finding is_withdrawn document data_version boundary licence kind run_key"
    " model_key",
    order="kind run_key",
)
def run_mark(world: World) -> Iterator[Row]:
    """Each run that was withdrawn, or whose energy a finding touches: its own, its model's, GPU's or curve's."""
    details = keyed(rows_of(world, "model_detail"), "model_key")
    findings = [finding for finding in rows_of(world, "data_quality") if finding["touches_energy"]]
    runs = {(finding["kind"], finding["run_key"]) for finding in findings if finding["run_key"] is not None}
    wider = [finding for finding in findings if finding["run_key"] is None and finding["check_name"] != "curve"]
    models = {finding["model_key"] for finding in wider if finding["gpu"] is None}
    gpus = {(finding["model_key"], finding["gpu"]) for finding in wider}
    points = rows_of(world, "curve_point")
    runs |= {(run["kind"], run["run_key"]) for run in points if run["judgement"] == "on an uneven curve"}
    withdrawn = {(run["kind"], run["run_key"]) for run in rows_of(world, "withdrawn_run")}
    for run in points:
        key = run["kind"], run["run_key"]
        doubted = key in runs or run["model_key"] in models or (run["model_key"], run["gpu"]) in gpus
        if doubted or key in withdrawn:
            marks = {"has_finding": doubted, "is_withdrawn": key in withdrawn}
            yield {**details[run["model_key"]], **run, **marks}
