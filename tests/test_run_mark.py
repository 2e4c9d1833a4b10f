"""Marks: which runs a finding is about, and that load keeps what the view works out."""

import duckdb
import pytest

from energydb.load import load
from tests.conftest import add_image_run, add_model, add_release, add_run, answer
from tests.documents import document, run, write


def marked(database):
    return [(row["kind"], row["run_key"]) for row in answer(database, "from run_mark") if row["has_finding"]]


def test_only_a_finding_that_touches_the_energy_marks_a_run(database):
    """A latency out of order is a finding, and says nothing of the energy; a power out of reach does."""
    add_release(database, format="leaderboard")
    add_run(database)
    add_run(database, gpu="B200", p90_itl_ms=1.0)
    off = add_run(database, num_gpus=2, gpu_power_watts_total=500.0)

    assert {row["run_key"] for row in answer(database, "from data_quality")} == {2, 3}
    assert marked(database) == [("text", off)]


def test_a_run_with_two_findings_is_marked_once(database):
    """A mark isn't counted."""
    add_release(database, format="leaderboard")
    add_run(database, gpu_power_watts_total=500.0, wh_per_million_output_tokens=1.0)

    assert len(answer(database, "from data_quality where touches_energy")) == 2
    assert marked(database) == [("text", 1)]


def test_runs_of_two_kinds_with_one_key_are_told_apart(database):
    """Keys count from 1 in the table of each kind."""
    add_run(database)
    add_image_run(
        database,
        model_key=add_model(
            database, 2, slug="paint", release_key=add_release(database, 2, task="text-to-image", kind="image")
        ),
        gpu_power_watts_total=400.0,
    )

    assert marked(database) == [("image", 1)]


def test_a_finding_on_a_model_marks_all_of_its_runs(database):
    """Which of two models of one id is meant can't be told; a third stays out of it."""
    add_release(database, format="leaderboard")
    for key, (slug, identity) in enumerate((("one", "org/one"), ("two", "org/one"), ("three", "org/three")), 1):
        model = add_model(database, key, slug=slug, identity=identity, release_key=1)
        for gpu in ("H100", "B200"):
            add_run(database, model_key=model, gpu=gpu, row_id=f"{slug}/{gpu}/1/8")

    assert marked(database) == [("text", key) for key in (1, 2, 3, 4)]


def test_a_finding_on_a_gpu_marks_the_runs_on_it(database):
    """Another card's are as they were."""
    add_release(database, format="leaderboard")
    for gpu in ("H100", "cuda", "cuda"):
        add_run(database, gpu=gpu, max_num_seqs=8 * (1 + len(answer(database, "from configuration"))))

    assert marked(database) == [("text", 2), ("text", 3)]


def test_a_finding_on_a_curve_marks_the_runs_of_the_curve(database):
    """The same model on the same GPU at another setup is another curve."""
    add_release(database, format="leaderboard")
    for size in (8, 12, 16, 24, 32, 48, 64):
        add_run(database, max_num_seqs=size, joules_per_output_token=0.3 if size in (12, 48) else 1.0)
    add_run(database, precision="FP8", max_num_seqs=10)

    assert {row["check_name"] for row in answer(database, "from data_quality")} == {"curve"}
    assert marked(database) == [("text", key) for key in range(1, 8)]


@pytest.mark.slow
def test_load_keeps_the_marks(tmp_path):
    """So that a pick needn't wait for every rule."""
    sizes = (8, 16, 32, 64)
    runs = [run(max_num_seqs=size, joules_per_output_token=0.5 if size == 32 else 1.0) for size in sizes]
    write(tmp_path / "small.json", document(*runs))
    load([tmp_path / "small.json"], tmp_path / "energy.duckdb", strict=False)

    with duckdb.connect(str(tmp_path / "energy.duckdb"), read_only=True) as connection:
        assert connection.execute("from marked_run").fetchall() == [("text", 3, True, False)]
