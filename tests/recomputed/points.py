"""Recomputes curve_point: each run against the line through its neighbours, and which one of a curve is at fault."""

import math
from collections.abc import Iterator

from tests.recomputed.declared import Row, World, by, declare, keyed, rows_of

# What an uneven curve's bound is: of a text run or not, at an end or not; each is a factor either way.
BOUNDS = {
    (True, False): (1.4, 1.9, 1.7, 2.6),
    (True, True): (1.45, 3, 2.4, 6),
    (False, False): (1.25, 1.4, 1.4, 1.6),
    (False, True): (1.35, 1.6, 1.6, 2),
}
SHARED = ["model_key", "gpu", "num_gpus", "precision", "other_parallel"]
SHARED_BY_TEXT = ["tensor_parallel", "data_parallel", "expert_parallel", "pipeline_parallel"]
SHARED_BY_BATCHES = ["ulysses_degree", "ring_degree", "inference_steps", "height", "width", "num_frames", "fps"]


def steady(joules: float, watts: float) -> float:
    """Weigh energy and power, as logarithms, so that a faster run hardly differs from a slower."""
    return 0.6 * watts + 0.4 * joules


def means(curve: list[Row]) -> list[tuple[float, float, float]]:
    """Return the points of a curve, in order: where, and the mean logarithms of energy and power there."""
    points = []
    for repeats in by(sorted(curve, key=lambda run: run["curve_at"]), "curve_at"):
        logs = [[math.log(run[name]) for run in repeats] for name in ("joules", "watts")]
        points.append((math.log(repeats[0]["curve_at"]), *(math.fsum(values) / len(values) for values in logs)))
    return points


def deviations(curve: list[Row]) -> dict[int, tuple[float, float, float]]:
    """Say of each run how far it lies from its line, in joules and in watts, and how near a bound that is."""
    points = means(curve)
    if len(points) < 3:
        return {}
    found = {}
    for run in curve:
        here = math.log(run["curve_at"])
        nth = [point[0] for point in points].index(here)
        is_end = nth in (0, len(points) - 1)
        beside = [nth - 1, nth + 1]
        if is_end:
            beside = [1, 2] if nth == 0 else [nth - 1, nth - 2]
        (one, *start), (other, *end) = (points[place] for place in beside)
        share = (here - one) / (other - one)
        joules, watts = (
            math.log(run[name]) - (start[i] + share * (end[i] - start[i]))
            for i, name in enumerate(("joules", "watts"))
        )
        measures = (steady(joules, watts), joules, watts, watts - joules)
        bounds = BOUNDS[run["kind"] == "text", is_end]
        off = max(abs(measure) / math.log(bound) for measure, bound in zip(measures, bounds, strict=True))
        nearest, next_nearest = sorted((abs(here - one), abs(here - other)))
        if is_end:
            off /= max(1.0, nearest / (next_nearest - nearest) / 1.5)
        found[run["run_key"]] = (joules, watts, off)
    return found


def remains(curve: list[Row], without: Row) -> float:
    """Say how far off the worst run of a curve is when one is taken away."""
    rest = [run for run in curve if run is not without]
    points = means(rest)
    if len(points) > 2:
        return max(off for *_, off in deviations(rest).values())
    ((one, *first), (other, *second)) = points
    return abs((steady(*second) - steady(*first)) / (other - one) + 0.1) / 0.6


def verdict(curve: list[Row], off: dict[int, float]) -> int | bool:
    """Return the key of the run at fault; else whether there is any fault."""
    if max(off.values(), default=0) <= 1:
        return False
    places = sorted({run["curve_at"] for run in curve})
    worst = min(curve, key=lambda run: (-round(off[run["run_key"]], 9), run["curve_at"]))
    nth = places.index(worst["curve_at"])
    tried = []
    for place in places[max(nth - 2, 0) : nth + 3]:
        there = [run for run in curve if run["curve_at"] == place]
        suspect = min(there, key=lambda run: (-round(off[run["run_key"]], 9), run["run_key"]))
        tried.append((remains(curve, suspect), suspect["run_key"]))
    tried.sort()
    (least, key), *_ = tried
    is_told_apart = all(least * 1.25 < more for more, _ in tried[1:2])
    return int(key) if least <= 1.5 and is_told_apart else True


def runs_on_curves(world: World) -> Iterator[Row]:
    """Yield each run of any kind with what its curve shares, in the same names."""
    for run in world["configuration"]:
        degrees = [run[f"{kind}_parallel"] for kind in ("tensor", "data", "expert")]
        degrees += [run["pipeline_parallel"]] if run["pipeline_parallel"] > 1 else []
        named = [" x ".join(map(str, degrees)), run["precision"], run.get("other_parallel")]
        yield {
            **run,
            "kind": "text",
            "run_key": run["configuration_key"],
            "curve_at": run["max_num_seqs"],
            "joules": run["joules_per_output_token"],
            "named": named,
        }
    for kind in ("image", "video"):
        for run in world[f"{kind}_configuration"]:
            named = [
                f"{run['ulysses_degree']} x {run['ring_degree']}",
                run["precision"],
                f"{run[f'{kind}_height']} x {run[f'{kind}_width']} pixels",
                f"{run['inference_steps']} steps",
                *(
                    f"{run[name]} {unit}"
                    for name, unit in (("num_frames", "frames"), ("fps", "fps"))
                    if run.get(name)
                ),
                run.get("other_parallel"),
            ]
            yield {
                **run,
                "kind": kind,
                "run_key": run[f"{kind}_configuration_key"],
                "curve_at": run["batch_size"],
                "joules": run[f"joules_per_{kind}"],
                "height": run[f"{kind}_height"],
                "width": run[f"{kind}_width"],
                "row_id": None,
                "named": named,
            }


@declare(
    "task model gpu judgement curve curve_at curve_points joules_to_line watts_to_line rate_to_line steady_to_line"
    " num_gpus precision row_id repeat document data_version boundary licence kind run_key curve_key model_key",
    order="kind run_key",
)
def curve_point(world: World) -> Iterator[Row]:
    """Each run, held against its neighbours; and of a curve that isn't even the run at fault."""
    details = keyed(rows_of(world, "model_detail"), "model_key")
    runs = [
        {
            **dict.fromkeys(SHARED + SHARED_BY_TEXT + SHARED_BY_BATCHES),
            **run,
            "watts": run["gpu_power_watts_total"],
            "curve": ", ".join(part for part in (f"{run['num_gpus']} x {run['gpu']}", *run["named"]) if part),
        }
        for run in runs_on_curves(world)
    ]
    for curve in by(runs, "kind", *SHARED, *SHARED_BY_TEXT, *SHARED_BY_BATCHES):
        on_axis = [run for run in curve if run["curve_at"] is not None]
        found = deviations(on_axis)
        blamed = verdict(on_axis, {key: off for key, (*_, off) in found.items()})
        for run in curve:
            joules, watts, _ = found.get(run["run_key"], (None,) * 3)
            lies = {"curve_points": len({other["curve_at"] for other in on_axis})}
            lies["curve_key"] = min((other["run_key"] for other in on_axis), default=None)
            judgement = "sound"
            if run["curve_at"] is None:
                judgement, lies = "no max_num_seqs", dict.fromkeys(lies)
            elif not found:
                judgement = "too few points"
            elif blamed is True:
                judgement = "on an uneven curve"
            elif blamed is not False and blamed == run["run_key"]:
                judgement = "off its curve"
            ratios = dict.fromkeys(("joules_to_line", "watts_to_line", "rate_to_line", "steady_to_line"))
            if joules is not None and run["curve_at"] is not None:
                logs = (joules, watts, watts - joules, steady(joules, watts))
                ratios = dict(zip(ratios, map(math.exp, logs), strict=True))
            yield {**details[run["model_key"]], **run, **lies, **ratios, "judgement": judgement}
