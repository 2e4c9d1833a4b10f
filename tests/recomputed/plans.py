"""Recomputes the macros that take limits: pick, and deployment_plan, which multiplies its runs."""

import math
from collections.abc import Iterator
from typing import Any

from tests.recomputed.declared import Row, World, by, declare, keyed, rows_of, sortable, times
from tests.recomputed.picks import FIGURES, picked
from tests.recomputed.runs import current

# In the order in which they are named where a run misses two by the same ratio.
CEILINGS = {
    "max_median_itl_ms": "median_itl_ms",
    "max_p90_itl_ms": "p90_itl_ms",
    "max_p95_itl_ms": "p95_itl_ms",
    "max_p99_itl_ms": "p99_itl_ms",
    "min_tokens_per_second": "tokens_per_second",
    "max_gpu_power_watts_total": "gpu_power_watts_total",
    "max_num_gpus": "num_gpus",
}


def missed_by(run: Row, limit: str, value: Any) -> float | None:
    """Return by what ratio a run misses a limit, at most 1 where it keeps it; None where no size of miss is one."""
    if limit == "only_precision":
        return 0.0 if run["precision"] == value.upper() else None
    measured = run[CEILINGS[limit]]
    if limit.startswith("min_"):
        return value / measured if value < math.inf else None
    return measured / value if measured is not None and value > 0 else None


def nearest(runs: list[Row], limits: dict[str, Any]) -> Row:
    """Name the run whose worst ratio to a limit is the smallest, and that limit; or the one that none can keep."""
    best: tuple[Any, ...] | None = None
    given = [limit for limit in ("only_precision", *CEILINGS) if limits.get(limit) is not None]
    missed = [{limit: missed_by(run, limit, limits[limit]) for limit in given} for run in runs]
    impossible = (limit for limit in given if all(ratios[limit] is None for ratios in missed))
    named: Row = {"nearest_row_id": None, "nearest_limit": next(impossible, None), "nearest_ratio": None}
    for run, ratios in zip(runs, missed, strict=True):
        if None in ratios.values():
            continue
        worst = max(ratios.values())
        ties = ("joules_per_output_token", "num_gpus", "max_num_seqs", "repeat", "configuration_key")
        rank = sortable(worst, *(run[name] for name in ties))
        if best is None or rank < best:
            best = rank
            limit = next(limit for limit, ratio in ratios.items() if ratio == worst)
            named = {"nearest_row_id": run["row_id"], "nearest_limit": limit, "nearest_ratio": worst}
    return named


@declare(
    f"task model gpu qualifies {FIGURES.removesuffix(' has_finding')} nearest_row_id nearest_limit nearest_ratio"
    " has_finding runs_left_out model_name source data_version"
    " boundary licence",
    order="task model gpu boundary source",
)
def pick(world: World, without_findings: bool = False, **limits: Any) -> Iterator[Row]:
    """The run of least energy that keeps every limit given; the release's own deadline plays no part."""
    given = {limit: value for limit, value in limits.items() if value is not None}
    among = [run for run in current(world) if not (without_findings and run["has_finding"])]
    for runs in by(among, "task", "model", "gpu", "boundary", "source"):
        within = []
        for run in runs:
            ratios = [missed_by(run, limit, value) for limit, value in given.items()]
            if all(ratio is not None and ratio <= 1 for ratio in ratios):
                within.append(run)
        none = dict.fromkeys(("nearest_row_id", "nearest_limit", "nearest_ratio"))
        yield {**picked(within, runs), **(none if within else nearest(runs, given))}


@declare(
    "task model gpu qualifies replicas gpus gpu_watts kwh_per_day cost_per_month currency kgco2e_per_month"
    " last_replica_utilisation tokens_per_second_each num_gpus max_num_seqs precision median_itl_ms p99_itl_ms"
    " wh_per_million_output_tokens nearest_row_id nearest_limit has_finding runs_left_out scenario pue source"
    " data_version boundary licence",
    order="task model gpu boundary source",
)
def deployment_plan(
    world: World, demand_tokens_per_second: float, under_scenario: str | None = None, **limits: float | None
) -> Iterator[Row]:
    """Whole replicas of the pick, all at full power; a month is 365 / 12 days."""
    unknown = dict.fromkeys(("name", "currency", "pue", "price_per_kwh", "gco2e_per_kwh"))
    scenario = keyed(world["scenario"], "name")[under_scenario] if under_scenario else unknown
    for row in rows_of(world, "pick", **limits):
        plan = {
            **row,
            "currency": scenario["currency"],
            "scenario": scenario["name"],
            "pue": scenario["pue"],
            "tokens_per_second_each": row["tokens_per_second"],
        }
        count = None
        if row["qualifies"]:
            count = math.ceil(demand_tokens_per_second / row["tokens_per_second"])
            rest = demand_tokens_per_second / row["tokens_per_second"] - (count - 1)
        watts = times(count, row["gpu_power_watts_total"])
        kwh_per_day = times(watts, 0.024, 1.0 if scenario["pue"] is None else scenario["pue"])
        yield {
            **plan,
            "replicas": count,
            "gpus": times(count, row["num_gpus"]),
            "gpu_watts": watts,
            "kwh_per_day": kwh_per_day,
            "cost_per_month": times(kwh_per_day, 365 / 12, scenario["price_per_kwh"]),
            "kgco2e_per_month": times(kwh_per_day, 365 / 12, scenario["gco2e_per_kwh"], 0.001),
            "last_replica_utilisation": None if count is None else rest,
        }
