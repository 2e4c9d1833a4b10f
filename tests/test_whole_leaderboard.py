"""The publisher's whole data, where ENERGYDB_LEADERBOARD names its folder: held against the raw JSON."""

import json
import math
import os
from collections import Counter, defaultdict
from pathlib import Path

import duckdb
import pytest

from energydb.ask.export import model_documents
from energydb.load import PUBLISHED_MODELS, load
from energydb.paths import DATA
from tests.conftest import answer
from tests.documents import LLAMA, SCOUT

FOLDER = os.environ.get("ENERGYDB_LEADERBOARD")
pytestmark = [
    pytest.mark.sweep,
    pytest.mark.skipif(not FOLDER, reason="ENERGYDB_LEADERBOARD doesn't name the leaderboard's folder"),
]
TEXT = ("gpqa", "image-chat", "lm-arena-chat", "sourcegraph-fim", "video-chat")


# Worked out from tasks/lm-arena-chat.json: model, GPU, max_num_seqs of the pick, the largest measured.
NOT_THE_LARGEST = [
    ("llama-3-1-8b-instruct", "H100", 512, 768),
    ("qwen3-30b-a3b-instruct-2507", "B200", 1024, 1536),
    ("qwen3-32b", "B200", 384, 512),
    ("qwen3-32b", "H100", 256, 384),
]


@pytest.fixture(scope="module")
def raw():
    """The rows of each task, as Python's own parser reads them."""
    return {
        path.stem: json.loads(path.read_text())["configurations"] for path in Path(FOLDER, "tasks").glob("*.json")
    }


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "energy.duckdb"
    load([Path(FOLDER)], path, strict=True)
    return path


@pytest.fixture
def whole(path):
    with duckdb.connect(str(path), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The leaderboard together with the shipped documents, which hold 42 of its runs."""
    path = tmp_path_factory.mktemp("both") / "energy.duckdb"
    load([DATA, Path(FOLDER)], path, strict=True)
    with duckdb.connect(str(path), read_only=True) as connection:
        yield connection


def test_everything_is_there(whole, raw):
    """838 text and 1,020 image and video runs, 46 models, 7 tasks; as many in each task as in its JSON."""
    counts = dict(whole.execute("select task, runs from contents").fetchall())

    assert counts == {task: len(rows) for task, rows in raw.items()}
    assert whole.execute("select count(*) from configuration").fetchone() == (838,)
    assert counts["text-to-image"] + counts["text-to-video"] == 1020
    assert counts["lm-arena-chat"] == 328
    assert whole.execute("select count(distinct model_id) from model").fetchone() == (46,) == (PUBLISHED_MODELS,)
    assert len(counts) == 7
    assert whole.execute("from data_quality").fetchall() == []
    assert whole.execute("from notice").fetchall() == []


def test_sums_are_those_of_the_json(whole, raw):
    """Of every measured column, task by task, to the last digit that summing keeps."""
    columns = {
        "joules_per_output_token": "energy_per_token_joules",
        "median_itl_ms": "median_itl_ms",
        "p90_itl_ms": "p90_itl_ms",
        "p95_itl_ms": "p95_itl_ms",
        "p99_itl_ms": "p99_itl_ms",
        "tokens_per_second": "output_throughput_tokens_per_sec",
        "gpu_power_watts_total": "avg_power_watts",
        "avg_output_tokens": "avg_output_len",
        "avg_running_batch": "avg_batch_size",
        "num_gpus": "num_gpus",
        "max_num_seqs": "max_num_seqs",
    }
    for task in TEXT:
        for column, field in columns.items():
            (values,) = whole.execute(
                f"select list({column}) from configuration_detail where task = ?", [task]
            ).fetchone()
            assert math.fsum(values) == math.fsum(row[field] for row in raw[task]), (task, column)
    for kind in ("image", "video"):
        for column, field in {
            f"joules_per_{kind}": f"energy_per_{kind}_joules",
            f"{kind}s_per_second": f"throughput_{kind}s_per_sec",
            "batch_latency_s": "batch_latency_s",
            "gpu_power_watts_total": "avg_power_watts",
            f"{kind}_height": f"{kind}_height",
            "inference_steps": "inference_steps",
        }.items():
            (values,) = whole.execute(f"select list({column}) from {kind}_configuration").fetchone()
            assert math.fsum(values) == math.fsum(row[field] for row in raw[f"text-to-{kind}"]), (kind, column)


def test_output_lengths_are_the_models(whole):
    """The bins of each model's file, summed over its runs."""
    for file in Path(FOLDER, "models").glob("*.json"):
        published = json.loads(file.read_text())
        if "output_length_distribution" not in published:
            continue
        counts = whole.execute(
            "select cast(sum(requests) as bigint) from output_length_bin"
            " join configuration_detail using (configuration_key)"
            " where model_id = ? and task = ? group by bin order by bin",
            [published["model_id"], published["task"]],
        ).fetchall()
        assert [count for (count,) in counts] == published["output_length_distribution"]["counts"], file.name


def test_every_pair_of_one_setting_is_kept(whole, raw):
    """Found in the raw JSON by themselves: two in lm-arena-chat and one in gpqa."""
    setting = ("model_id", "gpu_model", "num_gpus", "max_num_seqs")
    pairs = {
        (task, *key)
        for task in TEXT
        for key, count in Counter(tuple(row[name] for name in setting) for row in raw[task]).items()
        if count > 1
    }
    rows = answer(
        whole, "select task, model_id, gpu, num_gpus, max_num_seqs from configuration_detail where repeat = 2"
    )

    assert {tuple(row.values()) for row in rows} == pairs
    assert Counter(task for task, *_ in pairs) == {"lm-arena-chat": 2, "gpqa": 1}
    spread = answer(whole, "select task, energy_spread from repeat_spread order by task, energy_spread")
    assert [(row["task"], round(row["energy_spread"], 2)) for row in spread] == [
        ("gpqa", 0.05),
        ("lm-arena-chat", 0.10),
        ("lm-arena-chat", 0.19),
    ]


def least(rows, energy, within, product=()):
    """Pick, from raw rows, the least energy per model, GPU and product: (energy, row)."""
    picks = {}
    for row in rows:
        key = (row["model_id"], row["gpu_model"], *(row[name] for name in product))
        if within(row) and (key not in picks or row[energy] < picks[key][energy]):
            picks[key] = row
    return picks


def test_best_picks_are_those_of_the_json(whole, raw):
    """Unrounded, for every text task, model and GPU."""
    for task in TEXT:
        picks = least(raw[task], "energy_per_token_joules", lambda row: row["median_itl_ms"] <= 500)
        computed = answer(
            whole,
            "select model_id, best_pick.gpu, best_pick.joules_per_output_token, best_pick.max_num_seqs from best_pick"
            f" join configuration_detail using (configuration_key) where best_pick.task = '{task}'",
        )
        assert {tuple(row.values()) for row in computed} == {
            (*key, row["energy_per_token_joules"], row["max_num_seqs"]) for key, row in picks.items()
        }


@pytest.mark.parametrize(("kind", "deadline"), [("image", 30), ("video", 300)])
def test_image_and_video_picks_are_those_of_the_json(whole, raw, kind, deadline):
    """Unrounded, within the publisher's default deadlines."""
    size = [f"{kind}_height", f"{kind}_width", "inference_steps"] + (["num_frames", "fps"] if kind == "video" else [])
    energy = f"energy_per_{kind}_joules"
    picks = least(raw[f"text-to-{kind}"], energy, lambda row: row["batch_latency_s"] <= deadline, size)
    computed = whole.execute(
        f"select model_id, best_{kind}_pick.gpu, {', '.join(f'best_{kind}_pick.{name}' for name in size)},"
        f" best_{kind}_pick.joules_per_{kind} from best_{kind}_pick"
        f" join {kind}_configuration_detail using ({kind}_configuration_key)"
    ).fetchall()

    assert set(computed) == {(*key, row[energy]) for key, row in picks.items()}
    assert len(computed) == len(picks) == {"image": 14, "video": 10}[kind]


def test_the_best_pick_is_not_always_the_largest_batch(whole):
    """4 of the 32 of lm-arena-chat: found by holding each pick against the largest of its model and GPU."""
    rows = answer(
        whole,
        "select model, gpu, max_num_seqs, largest from best_pick join ("
        " select model, gpu, max(max_num_seqs) as largest from configuration_detail"
        " where task = 'lm-arena-chat' group by all) using (model, gpu)"
        " where task = 'lm-arena-chat' and max_num_seqs < largest order by all",
    )

    assert [tuple(row.values()) for row in rows] == NOT_THE_LARGEST
    assert whole.execute("select count(*) from best_pick where task = 'lm-arena-chat'").fetchone() == (32,)


def test_the_shipped_documents_come_out_of_the_leaderboard(path):
    """From the leaderboard alone, with a shipped document's head: both, byte for byte."""
    exported = dict(model_documents(path, "lm-arena-chat", like=LLAMA))

    assert len(exported) == 18
    assert exported[LLAMA.name] == LLAMA.read_bytes()
    assert exported[SCOUT.name] == SCOUT.read_bytes()


def test_together_with_the_documents_nothing_counts_twice(both):
    """One row per task, model and GPU; the documents' release is the newer of the two."""
    picks = answer(both, "select task, model, gpu, data_version from best_pick")
    keys = Counter((row["task"], row["model"], row["gpu"]) for row in picks)

    assert max(keys.values()) == 1
    assert sum(task == "lm-arena-chat" for task, _, _ in keys) == 32
    newer = {row["model"] for row in picks if str(row["data_version"]) == "2026-09-27"}
    assert newer == {LLAMA.stem, SCOUT.stem}
    assert both.execute("select count(*) from measured_run").fetchone() == (1858 + 42,)
    assert both.execute("select count(*) from concurrency_curve where task = 'lm-arena-chat'").fetchone() == (328,)
    assert both.execute("from data_quality").fetchall() == []
    assert both.execute("from release_change").fetchall() == []


def test_ranks_follow_the_json(whole, raw):
    """The order of a task's models by their least energy, on whatever GPU."""
    for task in TEXT:
        energy = defaultdict(lambda: math.inf)
        for row in raw[task]:
            if row["median_itl_ms"] <= 500:
                energy[row["nickname"]] = min(energy[row["nickname"]], row["energy_per_token_joules"])
        ranked = whole.execute("select model_name from task_ranking where task = ? order by place", [task]).fetchall()
        assert [name for (name,) in ranked] == sorted(energy, key=energy.get)


def test_fp8_needs_more_than_bf16_where_it_has_half_the_gpus(whole, raw):
    """Llama 3.1 405B on B200: 281.96 Wh in BF16 on 8 GPUs, 318.53 in FP8 on 4; from the raw JSON as well."""
    (row,) = answer(whole, "from precision_comparison where model = 'llama-3-1-405b-instruct' and gpu = 'B200'")

    figures = ("wh_per_million_output_tokens", "other_wh_per_million_output_tokens")
    assert [round(row[name], 2) for name in figures] == [281.96, 318.53]
    assert (row["num_gpus"], row["other_num_gpus"]) == (8, 4)
    picks = least(raw["lm-arena-chat"], "energy_per_token_joules", lambda row: row["median_itl_ms"] <= 500)
    for name, model in zip(figures, ("Llama-3.1-405B-Instruct", "Llama-3.1-405B-Instruct-FP8"), strict=True):
        assert row[name] == picks[f"meta-llama/{model}", "B200"]["energy_per_token_joules"] / 3600 * 1e6
