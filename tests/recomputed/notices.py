"""Recomputes notice: what a release holds that isn't among what energydb knows."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.recomputed.declared import Row, World, declare, keyed, rows_of
from tests.recomputed.runs import KINDS

KNOWN = {
    "precision": {"BF16", "FP8", "MXFP4"},
    "architecture": {"Dense Transformer", "MoE", "Mamba-Transformer Hybrid", "diffusion"},
    "task": {
        "gpqa",
        "sourcegraph-fim",
        "lm-arena-chat",
        "image-chat",
        "video-chat",
        "text-to-image",
        "text-to-video",
    },
}


@declare(
    "kind name runs task model type example source data_version format place release_key",
    order="kind name task source data_version release_key place",
)
def notice(world: World) -> Iterator[Row]:
    """Each field that wasn't kept; and by release and name what its runs hold that isn't known, or lack."""
    details = keyed(rows_of(world, "model_detail"), "model_key")
    releases, sources = keyed(world["release"], "release_key"), keyed(world["source"], "source_key")
    stated = {gpu["name"] for gpu in world["gpu"] if gpu["facts_source"] is not None}
    runs: Counter[tuple[int, str, str]] = Counter()
    models = defaultdict(set)
    for table in KINDS.values():
        for run in world[table]:
            detail = details[run["model_key"]]
            holds = {
                "gpu": run["gpu"],
                "precision": run["precision"],
                "parallelism": run["other_parallel"],
                "architecture": detail["architecture"],
                "task": detail["task"],
            }
            new = [
                (kind, name)
                for kind, name in holds.items()
                if name is not None and name not in KNOWN.get(kind, stated if kind == "gpu" else ())
            ]
            if table == "configuration":
                limits = ("max_num_seqs", "p90_itl_ms", "p95_itl_ms", "p99_itl_ms")
                new += [("no value", name) for name in limits if run[name] is None]
            for thing in new:
                runs[detail["release_key"], *thing] += 1
                models[detail["release_key"], *thing].add(detail["model"])
    of_all = {"type": None, "example": None, "place": ""}
    found = [
        {
            "release_key": key,
            "kind": kind,
            "name": name,
            "runs": count,
            "model": min(models[key, kind, name]),
            **of_all,
        }
        for (key, kind, name), count in runs.items()
    ]
    for field in world["unknown_field"]:
        found.append({**field, "kind": "field", "name": field["field"], "runs": field["objects"], "model": None})
    for row in found:
        release = releases[row["release_key"]]
        about = {name: release[name] for name in ("task", "data_version", "format")}
        yield {**row, **about, "source": sources[release["source_key"]]["name"]}
