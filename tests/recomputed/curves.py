"""Recomputes what runs say of each other: curves, frontiers, scaling, repeats, and lengths of outputs."""

import math
from collections.abc import Iterator

from tests.recomputed.declared import Row, World, by, declare, mean, over, rows_of
from tests.recomputed.runs import current

SETUP = (
    *("task", "model", "gpu", "boundary", "source", "num_gpus"),
    *("tensor_parallel", "data_parallel", "expert_parallel", "pipeline_parallel", "other_parallel", "precision"),
)


def limited(world: World) -> list[Row]:
    """Return the current runs that have a place on a curve."""
    return [run for run in current(world) if run["max_num_seqs"] is not None]


@declare(
    "task model gpu num_gpus max_num_seqs wh_per_million_output_tokens median_itl_ms tokens_per_second"
    " energy_ratio_to_best repeat next_smaller_max_num_seqs energy_ratio_to_next_smaller"
    " throughput_ratio_to_next_smaller p90_itl_ms p95_itl_ms p99_itl_ms gpu_power_watts_total avg_running_batch"
    " joules_per_output_token precision tensor_parallel data_parallel expert_parallel pipeline_parallel"
    " other_parallel configuration_key has_finding runs_left_out source data_version boundary licence",
    order=f"{' '.join(SETUP)} max_num_seqs repeat",
)
def concurrency_curve(world: World) -> Iterator[Row]:
    """Each run against the least of its curve, and the mean of the runs at the next smaller max_num_seqs."""
    for curve in by(current(world), *SETUP):
        least = min(run["joules_per_output_token"] for run in curve)
        for run in curve:
            smaller = max(
                (
                    other["max_num_seqs"]
                    for other in curve
                    if None not in (run["max_num_seqs"], other["max_num_seqs"])
                    and other["max_num_seqs"] < run["max_num_seqs"]
                ),
                default=None,
            )
            there = [other for other in curve if smaller is not None and other["max_num_seqs"] == smaller]
            yield {
                **run,
                "energy_ratio_to_best": run["joules_per_output_token"] / least,
                "next_smaller_max_num_seqs": smaller,
                "energy_ratio_to_next_smaller": ratio_to(there, run, "joules_per_output_token"),
                "throughput_ratio_to_next_smaller": ratio_to(there, run, "tokens_per_second"),
            }


def ratio_to(others: list[Row], run: Row, name: str) -> float | None:
    """Hold a figure of a run against the mean of others."""
    return run[name] / mean(other[name] for other in others) if others else None


@declare(
    "task model gpu num_gpus max_num_seqs energy_ratio_to_best wh_per_million_output_tokens"
    " extra_wh_per_million_output_tokens saving_over_next_smaller next_smaller_max_num_seqs median_itl_ms p99_itl_ms"
    " repeat precision tensor_parallel data_parallel expert_parallel"
    " pipeline_parallel other_parallel configuration_key has_finding runs_left_out source data_version boundary"
    " licence",
    order=f"{' '.join(SETUP)} max_num_seqs repeat",
)
def low_load_penalty(world: World) -> Iterator[Row]:
    """What each run needs above the least of its curve, and what the last step up saved."""
    for row in rows_of(world, "concurrency_curve"):
        wh, saved_to = row["wh_per_million_output_tokens"], row["energy_ratio_to_next_smaller"]
        yield {
            **row,
            "extra_wh_per_million_output_tokens": wh - wh / row["energy_ratio_to_best"],
            "saving_over_next_smaller": None if saved_to is None else 1 - saved_to,
        }


@declare(
    "task model gpu max_num_seqs fewer_num_gpus num_gpus energy_ratio throughput_ratio latency_ratio"
    " scaling_efficiency wh_per_million_output_tokens tokens_per_second median_itl_ms precision has_finding"
    " runs_left_out source data_version boundary licence",
    order="task model gpu precision boundary source num_gpus max_num_seqs",
)
def gpu_scaling(world: World) -> Iterator[Row]:
    """Each number of GPUs against the next smaller one, however the model is split on them."""
    figures = ("joules_per_output_token", "wh_per_million_output_tokens", "tokens_per_second", "median_itl_ms")
    for same in by(limited(world), "task", "model", "gpu", "precision", "boundary", "source", "max_num_seqs"):
        steps = [
            {
                **runs[0],
                **{name: mean(run[name] for run in runs) for name in figures},
                "has_finding": any(run["has_finding"] for run in runs),
            }
            for runs in by(same, "num_gpus")
        ]
        for step in steps:
            fewer = [other for other in steps if other["num_gpus"] < step["num_gpus"]]
            if fewer:
                before = max(fewer, key=lambda other: other["num_gpus"])
                each, each_before = (row["tokens_per_second"] / row["num_gpus"] for row in (step, before))
                yield {
                    **step,
                    "fewer_num_gpus": before["num_gpus"],
                    "has_finding": step["has_finding"] or before["has_finding"],
                    "energy_ratio": step["joules_per_output_token"] / before["joules_per_output_token"],
                    "throughput_ratio": step["tokens_per_second"] / before["tokens_per_second"],
                    "latency_ratio": step["median_itl_ms"] / before["median_itl_ms"],
                    "scaling_efficiency": each / each_before,
                }


@declare(
    "percentile task model gpu itl_ms wh_per_million_output_tokens num_gpus max_num_seqs precision tokens_per_second"
    " gpu_power_watts_total joules_per_output_token repeat configuration_key has_finding runs_left_out"
    " source data_version boundary licence",
    order="task model boundary source percentile itl_ms joules_per_output_token configuration_key",
)
def energy_latency_frontier(world: World) -> Iterator[Row]:
    """Runs that none of their task and model equals in one of energy and latency and beats in the other."""
    for percentile in ("median", "p99"):
        known = [run for run in current(world) if run[f"{percentile}_itl_ms"] is not None]
        for rivals in by(known, "task", "model", "boundary", "source"):
            points = [(run[f"{percentile}_itl_ms"], run["joules_per_output_token"]) for run in rivals]
            for run, (itl, joules) in zip(rivals, points, strict=True):
                beaten = any(
                    (other_itl <= itl and other_joules < joules) or (other_itl < itl and other_joules <= joules)
                    for other_itl, other_joules in points
                )
                if not beaten:
                    yield {**run, "percentile": percentile, "itl_ms": itl}


@declare(
    "task model gpu num_gpus max_num_seqs runs energy_spread latency_spread throughput_spread"
    " least_wh_per_million_output_tokens most_wh_per_million_output_tokens tensor_parallel data_parallel"
    " expert_parallel pipeline_parallel other_parallel precision has_finding runs_left_out source data_version"
    " boundary licence",
    order="task model gpu num_gpus max_num_seqs tensor_parallel"
    " data_parallel expert_parallel pipeline_parallel other_parallel precision boundary source",
)
def repeat_spread(world: World) -> Iterator[Row]:
    """Settings that were run more than once, and the widest gap between their runs."""
    for runs in by(current(world), *SETUP, "max_num_seqs"):
        if len(runs) > 1:
            wh = sorted(run["wh_per_million_output_tokens"] for run in runs)
            yield {
                **runs[0],
                "runs": len(runs),
                "has_finding": any(run["has_finding"] for run in runs),
                "energy_spread": spread(runs, "joules_per_output_token"),
                "latency_spread": spread(runs, "median_itl_ms"),
                "throughput_spread": spread(runs, "tokens_per_second"),
                "least_wh_per_million_output_tokens": wh[0],
                "most_wh_per_million_output_tokens": wh[-1],
            }


def spread(runs: list[Row], name: str) -> float:
    """Return how much larger the largest is than the smallest, as a share."""
    ordered = sorted(run[name] for run in runs)
    return ordered[-1] / ordered[0] - 1


@declare(
    "task model gpu num_gpus max_num_seqs avg_output_tokens p50_output_tokens p90_output_tokens p99_output_tokens"
    " bin_tokens requests repeat joules_per_request configuration_key has_finding"
    " runs_left_out source data_version boundary licence",
    order="task model gpu num_gpus max_num_seqs repeat configuration_key",
)
def output_length(world: World) -> Iterator[Row]:
    """Each current run's lengths, to the upper edge of a bin; a run whose bins are all empty has none."""
    bins = {rows[0]["configuration_key"]: rows for rows in by(world["output_length_bin"], "configuration_key")}
    for run in current(world):
        held = sorted(bins.get(run["configuration_key"], ()), key=lambda row: row["bin"])
        requests = sum(row["requests"] for row in held)
        if requests:
            yield {
                **run,
                "requests": requests,
                "bin_tokens": max(row["to_tokens"] - row["from_tokens"] for row in held),
                **{f"p{share}_output_tokens": length_of(held, share, requests) for share in (50, 90, 99)},
            }


def length_of(bins: list[Row], percent: int, requests: int) -> float:
    """Return the upper edge of the first bin by which that share of the requests had ended; in whole numbers."""
    so_far = 0
    for row in bins:
        so_far += row["requests"]
        if 100 * so_far >= percent * requests:
            return row["to_tokens"]
    raise ValueError("no such bin")


@declare(
    "task model gpu num_gpus concurrency wh_per_million_output_tokens joules_per_output_token how"
    " lower_max_num_seqs upper_max_num_seqs lower_joules_per_output_token upper_joules_per_output_token precision"
    " tensor_parallel data_parallel expert_parallel pipeline_parallel other_parallel has_finding runs_left_out"
    " source data_version boundary licence",
    order=" ".join(SETUP),
)
def energy_at(world: World, at_concurrency: float) -> Iterator[Row]:
    """Each curve read off at a concurrency, along a straight line between neighbours in logarithms of both."""
    for curve in by(limited(world), *SETUP):
        points = {
            runs[0]["max_num_seqs"]: mean(run["joules_per_output_token"] for run in runs)
            for runs in by(curve, "max_num_seqs")
        }
        lower = max((point for point in points if point <= at_concurrency), default=None)
        upper = min((point for point in points if point >= at_concurrency), default=None)
        if lower is None or upper is None:
            how, joules = f"not measured beyond {min(points)} to {max(points)}", None
        elif lower == upper:
            how, joules = "measured", points[lower]
        else:
            how = "interpolated"
            way = (math.log(at_concurrency) - math.log(lower)) / (math.log(upper) - math.log(lower))
            joules = math.exp((1 - way) * math.log(points[lower]) + way * math.log(points[upper]))
        yield {
            **curve[0],
            "concurrency": float(at_concurrency),
            "how": how,
            "has_finding": any(run["has_finding"] for run in curve if run["max_num_seqs"] in (lower, upper)),
            "joules_per_output_token": joules,
            "wh_per_million_output_tokens": over(joules, 0.0036),
            "lower_max_num_seqs": lower,
            "upper_max_num_seqs": upper,
            "lower_joules_per_output_token": points.get(lower),
            "upper_joules_per_output_token": points.get(upper),
        }
