"""The way back to documents: each figure's published digits, and the picks among equals."""

import json

import msgspec
import pytest

from energydb.ask.document_writer import model_document, rounded
from energydb.sources.document import read_document
from energydb.sources.records import Model, Run, Runs
from tests.documents import SCOUT, only, run


def model(*runs):
    """Make a model of runs in full precision."""
    records = [msgspec.convert(made, Run) for made in runs]
    return Model(
        slug="small",
        name="Small",
        model_id="org/Small",
        params_b=8.0,
        active_params_b=8.0,
        architecture="Dense Transformer",
        runs=Runs.of(records),
    )


def picks(*runs, deadline=500):
    """Name the places of the picks, by GPU."""
    return rounded(model(*runs), deadline).picks


UNROUNDED = {
    "joules_per_output_token": 0.123456789,
    "wh_per_million_output_tokens": 1.0,
    "avg_requests_in_flight": 7.3456,
    "avg_running_batch": 7.3456,
    "median_itl_ms": 20.1234,
    "p90_itl_ms": 21.4567,
    "p95_itl_ms": 22.6789,
    "p99_itl_ms": 23.8765,
    "tokens_per_second": 390.2345,
    "gpu_power_watts_total": 400.567,
    "avg_output_tokens": 350.6,
}


def test_every_figure_has_the_published_digits():
    """0.123456789 J are 34.2935… Wh a million; latencies, batch and throughput have one decimal, J seven."""
    (published,) = rounded(model(run(**UNROUNDED)), 500).runs

    assert {name: getattr(published, name) for name in UNROUNDED} == {
        "joules_per_output_token": 0.1234568,
        "wh_per_million_output_tokens": 34.29,
        "avg_requests_in_flight": 7.3,
        "avg_running_batch": 7.3,
        "median_itl_ms": 20.1,
        "p90_itl_ms": 21.5,
        "p95_itl_ms": 22.7,
        "p99_itl_ms": 23.9,
        "tokens_per_second": 390.2,
        "gpu_power_watts_total": 401,
        "avg_output_tokens": 351,
    }
    assert (published.gpu, published.num_gpus, published.max_num_seqs, published.row_id) == (
        "H100",
        1,
        8,
        "small/H100/1/8",
    )


def test_an_absent_percentile_stays_absent():
    """It came late to the format."""
    (published,) = rounded(model(run(**UNROUNDED | {"p95_itl_ms": None})), 500).runs

    assert published.p95_itl_ms is None


@pytest.mark.parametrize(("median", "within"), [(499.99, True), (500.0, True), (500.04, False)])
def test_the_deadline_is_held_against_the_unrounded_median(median, within):
    """500.04 ms is published as 500.0, and late."""
    made = rounded(model(run(median_itl_ms=median)), 500)

    assert made.runs[0].under_itl_deadline is within
    assert made.picks == ({"H100": 0} if within else {})


def test_the_least_energy_is_picked_for_each_gpu():
    """Of the unrounded figures: these would be equal in print."""
    assert picks(
        run(joules_per_output_token=0.12345672),
        run(joules_per_output_token=0.12345671, max_num_seqs=16),
        run(joules_per_output_token=0.12345673, max_num_seqs=32),
        run(joules_per_output_token=0.2, gpu="B200"),
    ) == {"H100": 1, "B200": 3}


@pytest.mark.parametrize(
    ("larger", "smaller"),
    [
        ({"num_gpus": 2, "max_num_seqs": 4}, {"num_gpus": 1, "max_num_seqs": 8}),
        ({"max_num_seqs": 16, "repeat": 1}, {"max_num_seqs": 8, "repeat": 2}),
        ({"repeat": 2}, {"repeat": 1}),
    ],
    ids=["num_gpus", "max_num_seqs", "repeat"],
)
def test_of_equal_energy_the_smaller_setup_is_picked(larger, smaller):
    """Wherever it stands: fewer GPUs, then fewer sequences, then the first repeat."""
    assert picks(run(**larger), run(**smaller)) == {"H100": 1}
    assert picks(run(**smaller), run(**larger)) == {"H100": 0}


def test_a_late_run_wins_no_tie():
    """Of equal energy, and smaller: but it misses the deadline."""
    late, in_time = run(median_itl_ms=501.0, max_num_seqs=4), run(max_num_seqs=8)
    for made in (late, in_time):
        made["joules_per_output_token"] = 1.0

    assert picks(late, in_time) == {"H100": 1}
    assert picks(in_time, late) == {"H100": 0}


def test_a_document_has_its_gpus_in_order_and_the_picks_that_there_are():
    """A GPU without a run in time has no pick; power and output length are whole numbers, two blanks indent."""
    runs = [run(gpu=gpu, gpu_power_watts_total=400.0, avg_output_tokens=350.0) for gpu in ("X1", "H100", "B200")]
    made = msgspec.structs.replace(model(*runs), picks={"X1": 0, "B200": 2})
    data = model_document(only(read_document(SCOUT)).head, made)
    read = json.loads(data)

    assert read["gpus"] == ["B200", "H100", "X1"]
    assert list(read["best"]) == ["B200", "X1"]
    assert [read["best"][gpu] for gpu in read["best"]] == [read["configurations"][place] for place in (2, 0)]
    assert b'\n      "gpu_power_watts_total": 400,\n      "avg_output_tokens": 350,\n' in data
    assert data.startswith(b'{\n  "version": "1",\n')


def written(**values):
    """Write one run, and return what is in the document of it."""
    made = msgspec.structs.replace(model(run() | values), picks={"H100": 0})
    document = json.loads(model_document(only(read_document(SCOUT)).head, made))
    (configuration,) = document["configurations"]
    assert document["best"] == {"H100": configuration}
    return configuration


def test_a_pipeline_is_written_where_there_is_one():
    """The published format has no such field: 1 goes without saying."""
    assert written(pipeline_parallel=1) == run()
    assert written(pipeline_parallel=2) == run() | {"pipeline_parallel": 2}


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (None, {}),
        ("context_parallel 2", {"context_parallel": 2}),
        ("a_parallel 2.5, ring_degree 4", {"a_parallel": 2.5, "ring_degree": 4}),
        # Not as it's written here: the text itself.
        ("ring_degree 4, a_parallel 2", {"other_parallel": "ring_degree 4, a_parallel 2"}),
        ("context_parallel 2.0", {"other_parallel": "context_parallel 2.0"}),
        ("context_parallel 02", {"other_parallel": "context_parallel 02"}),
        ("context_parallel 1", {"other_parallel": "context_parallel 1"}),
        ("context_parallel 2, context_parallel 2", {"other_parallel": "context_parallel 2, context_parallel 2"}),
        ("context_parallel 99999999999", {"other_parallel": "context_parallel 99999999999"}),
        ("context 2", {"other_parallel": "context 2"}),
        ("in words", {"other_parallel": "in words"}),
        ("tensor_parallel 2", {"other_parallel": "tensor_parallel 2"}),
    ],
)
def test_each_other_degree_is_a_field_where_the_reader_joins_them_again(text, fields):
    """Whatever else the text says stands as it is."""
    assert written(other_parallel=text) == run() | fields


def test_what_every_run_has_is_null_where_it_is_not_known():
    """The reader would miss it; what came late to the format is left absent."""
    unknown = dict.fromkeys(("max_num_seqs", "p90_itl_ms", "p99_itl_ms"))
    late = ("p95_itl_ms", "avg_running_batch")
    made = run() | unknown

    assert written(**unknown, **dict.fromkeys(late)) == {name: made[name] for name in made if name not in late}
