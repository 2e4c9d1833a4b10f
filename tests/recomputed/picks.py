"""Recomputes the picks, by sorting, and what compares or multiplies them."""

import re
from collections.abc import Iterable, Iterator
from itertools import permutations

from tests.recomputed.declared import Row, World, by, declare, keyed, mean, over, rows_of, sortable, text, times
from tests.recomputed.runs import at_least_lost, current, day_of, faults_of

PERCENTILES = ("median", "p90", "p95", "p99")
BUDGETS = (25, 50, 100, 250, 500)


def least(runs: Iterable[Row]) -> Row:
    """Return the text run of least energy; ties go to fewer GPUs, then max_num_seqs, then repeat."""
    ties = ("joules_per_output_token", "num_gpus", "max_num_seqs", "repeat", "configuration_key")
    return min(runs, key=lambda run: sortable(*(run[name] for name in ties)))


@declare(
    "task model gpu wh_per_million_output_tokens num_gpus max_num_seqs precision median_itl_ms p90_itl_ms p95_itl_ms"
    " p99_itl_ms tokens_per_second gpu_power_watts_total joules_per_output_token joules_per_request avg_output_tokens"
    " tensor_parallel data_parallel expert_parallel pipeline_parallel other_parallel"
    " itl_deadline_ms repeat configuration_key has_finding runs_left_out model_name source"
    " data_version boundary licence",
    order="task model gpu boundary source",
)
def best_pick(world: World) -> Iterator[Row]:
    """The run of least energy among those in time; a release without a deadline has none in time."""
    in_time = [
        run
        for run in current(world)
        if run["itl_deadline_ms"] is not None and run["median_itl_ms"] <= run["itl_deadline_ms"]
    ]
    for runs in by(in_time, "task", "model", "gpu", "boundary", "source"):
        yield least(runs)


def batch_picks(world: World, kind: str, deadline: float, *product: str) -> Iterator[Row]:
    """Yield the run of least energy of each product among those whose batch is done in time."""
    in_time = [run for run in current(world, f"{kind}_configuration_detail") if run["batch_latency_s"] <= deadline]
    ties = (f"joules_per_{kind}", "num_gpus", "batch_size", "repeat", f"{kind}_configuration_key")
    for runs in by(in_time, "task", "model", "gpu", "boundary", "source", *product):
        pick = min(runs, key=lambda run: [run[name] for name in ties])
        yield {**pick, "batch_latency_deadline_s": deadline}


@declare(
    "task model gpu joules_per_image num_gpus batch_size batch_latency_s image_height image_width inference_steps"
    " batch_latency_deadline_s images_per_second gpu_power_watts_total ulysses_degree ring_degree other_parallel"
    " precision repeat image_configuration_key has_finding runs_left_out model_name source data_version boundary"
    " licence",
    order="task model gpu boundary source image_height image_width inference_steps",
)
def best_image_pick(world: World) -> Iterator[Row]:
    """Within 30 s; another size or number of steps is another product."""
    return batch_picks(world, "image", 30.0, "image_height", "image_width", "inference_steps")


@declare(
    "task model gpu joules_per_video num_gpus batch_size batch_latency_s video_height video_width num_frames fps"
    " inference_steps batch_latency_deadline_s videos_per_second gpu_power_watts_total ulysses_degree ring_degree"
    " other_parallel precision repeat video_configuration_key has_finding runs_left_out model_name source"
    " data_version boundary licence",
    order="task model gpu boundary source video_height video_width num_frames fps inference_steps",
)
def best_video_pick(world: World) -> Iterator[Row]:
    """Within 300 s; another size, length or number of steps is another product."""
    return batch_picks(world, "video", 300.0, "video_height", "video_width", "num_frames", "fps", "inference_steps")


def products(world: World) -> Iterator[Row]:
    """Yield every pick with the product that its place counts in, and what it needs."""
    nothing = dict.fromkeys(("wh_per_million_output_tokens", "joules_per_image", "joules_per_video"))
    for row in rows_of(world, "best_pick"):
        yield {**nothing, **row, "product": "output tokens", "joules": row["joules_per_output_token"]}
    for row in rows_of(world, "best_image_pick"):
        product = f"images of {row['image_width']} x {row['image_height']}"
        yield {**nothing, **row, "product": product, "joules": row["joules_per_image"]}
    for row in rows_of(world, "best_video_pick"):
        frames, fps = ("unknown" if row[name] is None else text(row[name]) for name in ("num_frames", "fps"))
        product = f"videos of {row['video_width']} x {row['video_height']}, {frames} frames at {fps} fps"
        yield {**nothing, **row, "product": product, "joules": row["joules_per_video"]}


@declare(
    "task place model wh_per_million_output_tokens joules_per_image joules_per_video gpu num_gpus product has_finding"
    " runs_left_out model_name source data_version boundary licence",
    order="task boundary source product place model",
)
def task_ranking(world: World) -> Iterator[Row]:
    """Each model by its best pick on whatever GPU; those that tie share the place, and the next one is left out."""
    for rivals in by(products(world), "task", "boundary", "source", "product"):
        best = [
            min(of_model, key=lambda row: (row["joules"], row["num_gpus"], row["gpu"]))
            for of_model in by(rivals, "model")
        ]
        place = ("task", "boundary", "source")
        current_models = [
            model
            for model in rows_of(world, "model_detail")
            if model["is_current"] and all(model[name] == rivals[0][name] for name in place)
        ]
        may_count = [
            fault
            for fault in faults_of(world, rivals[0])
            if fault["lacking"] is None or may_matter(fault, current_models)
        ]
        for row in best:
            row["runs_left_out"] = at_least_lost(may_count)
            yield {**row, "place": 1 + sum(other["joules"] < row["joules"] for other in best)}


def may_matter(fault: Row, models: list[Row]) -> bool:
    """Tell whether a ranking would have rested on what its release lacks: it has nothing newer instead."""
    day = day_of(fault["lacking"])
    is_replaced = any(day_of(model) > day for model in models if model["identity"] == fault["identity"])
    return not (is_replaced or fault["lacking"]["is_dated_ahead"] or all(day_of(model) > day for model in models))


def with_model(world: World) -> Iterator[Row]:
    """Yield the best picks with what the same release says of the model."""
    models = keyed(rows_of(world, "model_detail"), "model_key")
    runs = keyed(world["configuration"], "configuration_key")
    for pick in rows_of(world, "best_pick"):
        run = runs[pick["configuration_key"]]
        yield {**models[run["model_key"]], **run, **pick}


def base_slug(row: Row) -> str:
    """Return the slug without its last words where those are the precision, as published or by its usual name."""
    slug: str = row["slug"]
    for precision in filter(None, (row["precision_as_published"], row["precision"])):
        ending = "-" + re.sub("[^a-z0-9]+", "-", precision.lower())
        if slug.lower().endswith(ending):
            return slug[: -len(ending)]
    return slug


@declare(
    "task architecture model gpu wh_per_million_output_tokens active_params_b"
    " wh_per_million_output_tokens_per_active_b params_b active_share num_gpus precision has_finding runs_left_out"
    " model_name source data_version boundary licence",
    order="task architecture gpu wh_per_million_output_tokens_per_active_b model boundary source",
)
def architecture_comparison(world: World) -> Iterator[Row]:
    """Each best pick's energy for a billion active parameters."""
    for row in with_model(world):
        active = row["active_params_b"]
        yield {
            **row,
            "wh_per_million_output_tokens_per_active_b": row["wh_per_million_output_tokens"] / active,
            "active_share": active / row["params_b"],
        }


@declare(
    "task model gpu other_precision energy_ratio num_gpus other_num_gpus max_num_seqs other_max_num_seqs"
    " energy_ratio_at_shared_max_num_seqs shared_max_num_seqs wh_per_million_output_tokens"
    " other_wh_per_million_output_tokens precision other_model params_b has_finding"
    " runs_left_out source data_version boundary licence",
    order="task model gpu boundary source other_precision other_model",
)
def precision_comparison(world: World) -> Iterator[Row]:
    """BF16 against the same model in another format: at their picks, and at the largest max_num_seqs they share."""
    at: dict[tuple[str, ...], dict[int, float]] = {}
    limited = [run for run in current(world) if run["max_num_seqs"] is not None]
    for runs in by(limited, "task", "gpu", "boundary", "source", "model", "max_num_seqs"):
        key = tuple(runs[0][name] for name in ("task", "gpu", "boundary", "source", "model"))
        joules = mean(run["joules_per_output_token"] for run in runs)
        at.setdefault(key, {})[runs[0]["max_num_seqs"]] = joules
    for same in by(with_model(world), "task", "gpu", "boundary", "source", "params_b"):
        for one, other in permutations(same, 2):
            if base_slug(one) != base_slug(other):
                continue
            if one["precision"] != "BF16" or other["precision"] == "BF16":
                continue
            mine, theirs = (
                at.get((row["task"], row["gpu"], row["boundary"], row["source"], row["model"]), {})
                for row in (one, other)
            )
            shared = max(mine.keys() & theirs.keys(), default=None)
            yield {
                **one,
                "other_precision": other["precision"],
                "other_model": other["model"],
                "other_num_gpus": other["num_gpus"],
                "other_max_num_seqs": other["max_num_seqs"],
                "other_wh_per_million_output_tokens": other["wh_per_million_output_tokens"],
                "energy_ratio": other["joules_per_output_token"] / one["joules_per_output_token"],
                "shared_max_num_seqs": shared,
                "has_finding": one["has_finding"] or other["has_finding"],
                "runs_left_out": one["runs_left_out"] + other["runs_left_out"],
                "energy_ratio_at_shared_max_num_seqs": None if shared is None else theirs[shared] / mine[shared],
            }


FIGURES = (
    "wh_per_million_output_tokens num_gpus max_num_seqs precision median_itl_ms p90_itl_ms p95_itl_ms p99_itl_ms"
    " tokens_per_second gpu_power_watts_total joules_per_output_token joules_per_request avg_output_tokens"
    " tensor_parallel data_parallel expert_parallel pipeline_parallel other_parallel repeat configuration_key"
    " has_finding"
)


def picked(within: list[Row], among: list[Row]) -> Row:
    """Return the least of the runs that are within the limits; where none is, one of the others without figures."""
    if within:
        return {**least(within), "qualifies": True}
    return {**among[0], **dict.fromkeys(FIGURES.split()), "qualifies": False}


@declare(
    f"percentile budget_ms task model gpu qualifies {FIGURES} runs_left_out model_name source data_version boundary"
    " licence",
    order="task model gpu boundary source percentile budget_ms",
)
def pick_by_budget(world: World) -> Iterator[Row]:
    """Each percentile within each budget; a run that lacks the percentile is within none."""
    for runs in by(current(world), "task", "model", "gpu", "boundary", "source"):
        for percentile in PERCENTILES:
            known = [run for run in runs if run[f"{percentile}_itl_ms"] is not None]
            for budget in BUDGETS:
                within = [run for run in known if run[f"{percentile}_itl_ms"] <= budget]
                yield {**picked(within, runs), "percentile": percentile, "budget_ms": budget}


@declare(
    "percentile budget_ms task model gpu other_gpu energy_ratio throughput_ratio power_ratio"
    " wh_per_million_output_tokens other_wh_per_million_output_tokens num_gpus other_num_gpus max_num_seqs"
    " other_max_num_seqs has_finding runs_left_out source data_version boundary licence",
    order="task model gpu other_gpu boundary source percentile budget_ms",
)
def gpu_comparison(world: World) -> Iterator[Row]:
    """The picks of two GPUs within one budget, each pair once; only where both have one."""
    found = [row for row in rows_of(world, "pick_by_budget") if row["qualifies"]]
    for same in by(found, "percentile", "budget_ms", "task", "model", "boundary", "source"):
        for one, other in permutations(same, 2):
            if one["gpu"] < other["gpu"]:
                yield {
                    **one,
                    "other_gpu": other["gpu"],
                    "other_num_gpus": other["num_gpus"],
                    "other_max_num_seqs": other["max_num_seqs"],
                    "other_wh_per_million_output_tokens": other["wh_per_million_output_tokens"],
                    "energy_ratio": one["joules_per_output_token"] / other["joules_per_output_token"],
                    "throughput_ratio": one["tokens_per_second"] / other["tokens_per_second"],
                    "has_finding": one["has_finding"] or other["has_finding"],
                    "power_ratio": one["gpu_power_watts_total"] / other["gpu_power_watts_total"],
                }


def in_scenarios(world: World, wh: str, unit: str) -> Iterator[Row]:
    """Yield each best pick in each scenario, `wh` of it being what is multiplied; PUE doesn't multiply water."""
    for pick in rows_of(world, "best_pick"):
        gpu_kwh = pick[wh] / 1000 if wh.startswith("wh") else pick[wh] / 3.6e6
        for scenario in world["scenario"]:
            site_kwh = gpu_kwh * scenario["pue"]
            yield {
                **scenario,
                **pick,
                "scenario": scenario["name"],
                f"floor_wh_per_{unit}": site_kwh * 1000,
                f"floor_cost_per_{unit}": times(site_kwh, scenario["price_per_kwh"]),
                f"floor_gco2e_per_{unit}": times(site_kwh, scenario["gco2e_per_kwh"]),
                f"floor_litres_per_{unit}": times(gpu_kwh, scenario["litres_per_kwh"]),
            }


FIGURES_IN_SCENARIO = "pue price_per_kwh gco2e_per_kwh litres_per_kwh num_gpus max_num_seqs precision"
SOURCES_IN_SCENARIO = (
    "pue_source price_source gco2e_source litres_source model_name configuration_key has_finding runs_left_out"
    " source data_version boundary licence"
)


@declare(
    "task model gpu scenario floor_wh_per_million_output_tokens floor_cost_per_million_output_tokens currency"
    " floor_gco2e_per_million_output_tokens floor_litres_per_million_output_tokens wh_per_million_output_tokens"
    f" {FIGURES_IN_SCENARIO} avg_output_tokens joules_per_request {SOURCES_IN_SCENARIO}",
    order="task model gpu boundary source scenario",
)
def footprint(world: World) -> Iterator[Row]:
    """A million tokens in each scenario."""
    return in_scenarios(world, "wh_per_million_output_tokens", "million_output_tokens")


@declare(
    "task model gpu scenario floor_wh_per_request floor_cost_per_request currency floor_gco2e_per_request"
    f" floor_litres_per_request avg_output_tokens joules_per_request {FIGURES_IN_SCENARIO}"
    f" {SOURCES_IN_SCENARIO}",
    order="task model gpu boundary source scenario",
)
def request_energy(world: World) -> Iterator[Row]:
    """A request in each scenario."""
    return in_scenarios(world, "joules_per_request", "request")


@declare(
    "task model gpu num_gpus max_num_seqs gpu_power_watts_total gpu_power_watts_each share_of_rated_watts"
    " rated_watts tokens_per_second wh_per_million_output_tokens precision repeat facts_source configuration_key"
    " has_finding runs_left_out source data_version boundary licence",
    order="task model gpu num_gpus max_num_seqs repeat configuration_key",
)
def gpu_power(world: World) -> Iterator[Row]:
    """Each current run's power, and its share of the rating where that is known."""
    gpus = keyed(world["gpu"], "name")
    for run in current(world):
        rated = gpus[run["gpu"]]["rated_watts"]
        yield {**gpus[run["gpu"]], **run, "share_of_rated_watts": over(run["gpu_power_watts_each"], rated)}
