"""best_pick: the published index, computed."""

import json

from tests.conftest import add_model, add_release, add_run, answer
from tests.documents import LLAMA, SCOUT


def picks(database):
    return [row["max_num_seqs"] for row in answer(database, "from best_pick")]


def test_the_published_index(seeds):
    """The three rows that the publisher shows, and no row for Scout on B200, where it never ran."""
    rows = seeds.execute(
        "select model, gpu, wh_per_million_output_tokens, num_gpus, max_num_seqs from best_pick"
    ).fetchall()

    assert rows == [
        ("llama-3-1-70b-instruct", "B200", 52.41, 2, 2048),
        ("llama-3-1-70b-instruct", "H100", 103.65, 4, 1024),
        ("llama-4-scout-17b-16e-instruct", "H100", 93.39, 4, 512),
    ]


def test_computed_and_published_picks_are_the_same_runs(seeds):
    """Held against `best` in the raw JSON, and against the table that keeps it."""
    published = {
        (document["slug"], gpu): run["row_id"]
        for document in (json.loads(path.read_text()) for path in (LLAMA, SCOUT))
        for gpu, run in document["best"].items()
    }
    computed = seeds.execute(
        "select best_pick.model, best_pick.gpu, configuration.row_id from best_pick"
        " join configuration using (configuration_key)"
    ).fetchall()

    assert {(model, gpu): row_id for model, gpu, row_id in computed} == published
    assert (
        seeds.execute("select configuration_key from best_pick order by all").fetchall()
        == seeds.execute("select configuration_key from published_pick order by all").fetchall()
    )


def test_a_pick_never_misses_the_deadline(database):
    """A cheaper run whose median ITL is over the deadline is not picked; at the deadline it is."""
    add_run(database, max_num_seqs=3, joules_per_output_token=0.1, median_itl_ms=501.0)
    add_run(database, max_num_seqs=2, joules_per_output_token=0.2, median_itl_ms=500.0)
    add_run(database, max_num_seqs=1, joules_per_output_token=0.3, median_itl_ms=20.0)

    assert picks(database) == [2]


def test_no_row_where_nothing_is_within_the_deadline(database):
    """Silence, not the least bad."""
    add_run(database, median_itl_ms=501.0)

    assert picks(database) == []


def test_joules_decide_not_rounded_watt_hours(database):
    """Published Wh are rounded: two runs may share them."""
    add_run(database, max_num_seqs=1, joules_per_output_token=0.1886749)
    add_run(database, max_num_seqs=2, joules_per_output_token=0.1886745)

    assert picks(database) == [2]


def test_ties_go_to_the_smaller_setup(database):
    """The same energy: fewer GPUs, then sequences, then the first repeat, whatever the order of rows."""
    add_run(database, num_gpus=2, max_num_seqs=1)
    add_run(database, num_gpus=1, max_num_seqs=32, repeat=2)
    add_run(database, num_gpus=1, max_num_seqs=16, repeat=2)
    add_run(database, num_gpus=1, max_num_seqs=16, repeat=1)
    add_run(database, num_gpus=1, max_num_seqs=32, repeat=1)

    rows = answer(database, "from best_pick")

    assert [(row["num_gpus"], row["max_num_seqs"], row["repeat"]) for row in rows] == [(1, 16, 1)]


def test_one_row_per_task_model_and_gpu(database):
    """A pick of one GPU, model or task hides no other's."""
    add_run(database, gpu="H100", joules_per_output_token=1.0)
    add_run(database, gpu="B200", joules_per_output_token=0.5)
    add_run(database, model_key=add_model(database, 2, slug="other"), joules_per_output_token=0.1)
    other_task = add_release(database, 2, task="code")
    add_run(database, model_key=add_model(database, 3, release_key=other_task))

    rows = answer(database, "from best_pick")

    assert [(row["task"], row["model"], row["gpu"]) for row in rows] == [
        ("chat", "other", "H100"),
        ("chat", "small", "B200"),
        ("chat", "small", "H100"),
        ("code", "small", "H100"),
    ]


def test_boundaries_are_never_ranked_together(database):
    """A wall figure is larger for the same run: the GPU-only one must not win over it."""
    add_run(database, joules_per_output_token=1.0)
    wall = add_release(database, 2, boundary="wall")
    add_run(database, model_key=add_model(database, 2, release_key=wall), joules_per_output_token=2.0)

    rows = answer(database, "from best_pick")

    assert [(row["boundary"], row["joules_per_output_token"]) for row in rows] == [("gpu_only", 1.0), ("wall", 2.0)]


def test_only_the_newest_release_counts(database):
    """An older release's cheaper run is history."""
    add_run(database, joules_per_output_token=0.5)
    newer = add_release(database, 2, compiled="2026-02-01", data_version="2026-02-01")
    add_run(database, model_key=add_model(database, 2, release_key=newer), joules_per_output_token=0.7)

    rows = answer(database, "from best_pick")

    assert [(str(row["data_version"]), row["joules_per_output_token"]) for row in rows] == [("2026-02-01", 0.7)]


def test_a_late_run_wins_no_tie(database):
    """Of equal energy and smaller, but over the deadline; whichever comes first."""
    for key, order in enumerate((("late", "in time"), ("in time", "late")), 1):
        model = add_model(database, key, slug=f"model-{key}")
        for name in order:
            late = name == "late"
            values = {"median_itl_ms": 501.0 if late else 20.0, "joules_per_output_token": 1.0}
            add_run(database, model_key=model, max_num_seqs=1 if late else 8, **values)

    assert picks(database) == [8, 8]
