"""Each rule of the data, broken on purpose: one finding, with what was expected and what was found."""

import pytest

from tests.conftest import add_model, add_run, answer, insert


def findings(database):
    return [
        (row["check_name"], row["expected"], row["found"], row["tolerance"])
        for row in answer(database, "from data_quality")
    ]


def test_good_data_has_no_findings(seeds):
    """Both shipped documents keep every rule."""
    assert seeds.execute("from data_quality").fetchall() == []


BROKEN = [
    # 1 J per token is 277.777… Wh per million: 0.01 Wh is what rounding explains.
    (
        {"wh_per_million_output_tokens": 277.79},
        ("wh_per_million_output_tokens", "277.77777777777777", "277.79", 0.01),
    ),
    # 1 J x 400 tokens/s = 400 W; 1 W is more than 0.1 % of it.
    ({"gpu_power_watts_total": 402}, ("gpu_power_watts_total", "400.0", "402.0", 1.0)),
    # 4 J x 400 tokens/s = 1,600 W, of which 0.1 % are 1.6 W.
    (
        {"joules_per_output_token": 4.0, "gpu_power_watts_total": 1602},
        ("gpu_power_watts_total", "1600.0", "1602.0", 1.6),
    ),
    (
        {"p90_itl_ms": 19.0},
        (
            "itl_order",
            "median_itl_ms <= p90_itl_ms <= p95_itl_ms <= p99_itl_ms",
            "20.0, 19.0, 22.0, 23.0",
            None,
        ),
    ),
    (
        {"p95_itl_ms": 24.0},
        (
            "itl_order",
            "median_itl_ms <= p90_itl_ms <= p95_itl_ms <= p99_itl_ms",
            "20.0, 21.0, 24.0, 23.0",
            None,
        ),
    ),
    ({"under_itl_deadline": False}, ("under_itl_deadline", "true", "false", None)),
    ({"avg_running_batch": 7.9}, ("avg_running_batch", "avg_requests_in_flight: 8.0", "7.9", None)),
    (
        {"max_num_seqs": 7},
        ("max_num_seqs", "at least avg_requests_in_flight: 8.0", "7", None),
    ),
    (
        {"num_gpus": 4, "tensor_parallel": 2},
        ("num_gpus", "tensor_parallel x data_parallel x expert_parallel: 2 x 1 x 1", "4", None),
    ),
    ({"repeat": 2}, ("repeat", "1 to 1 without gaps", "2", None)),
    ({"row_id": "small/H100/1/9"}, ("row_id", "small/H100/1/8", "small/H100/1/9", None)),
    (
        # 1000 times too slow, and its power with it: only the batch gives it away.
        {"tokens_per_second": 0.4, "gpu_power_watts_total": 0.4},
        ("tokens_per_second", "0.05 to 1.5 of avg_requests_in_flight / median_itl_ms: 400.0", "0.4", None),
    ),
]


@pytest.mark.parametrize(("values", "finding"), BROKEN, ids=lambda value: str(value)[:40])
def test_a_broken_rule_is_found(database, values, finding):
    """One rule broken gives one row, of that rule."""
    key = add_run(database, **values)
    insert(database, "published_pick", model_key=1, gpu="H100", configuration_key=key)

    assert findings(database) == [finding]


@pytest.mark.parametrize(
    "values",
    [
        {"wh_per_million_output_tokens": 277.785},
        {"gpu_power_watts_total": 401},
        {"joules_per_output_token": 4.0, "gpu_power_watts_total": 1601.5},
        {"median_itl_ms": 500.0, "under_itl_deadline": False},
        {"median_itl_ms": 500.0, "under_itl_deadline": True},
        {"p95_itl_ms": None, "avg_running_batch": None},
        {"num_gpus": 8, "tensor_parallel": 1, "data_parallel": 8, "expert_parallel": 8},
        {"num_gpus": 8, "tensor_parallel": 1, "expert_parallel": 8},
    ],
    ids=str,
)
def test_what_rounding_or_the_format_explains_is_no_finding(database, values):
    """The tolerances of the publication, to their edge."""
    key = add_run(database, **values)
    insert(database, "published_pick", model_key=1, gpu="H100", configuration_key=key)

    assert findings(database) == []


def test_a_published_pick_that_is_not_the_least_is_found(database):
    """What the document calls best is evidence against the computed pick."""
    add_run(database, max_num_seqs=8, joules_per_output_token=1.0)
    key = add_run(database, max_num_seqs=16, joules_per_output_token=2.0)
    insert(database, "published_pick", model_key=1, gpu="H100", configuration_key=key)

    assert findings(database) == [
        ("published_pick", "joules_per_output_token 1.0", "joules_per_output_token 2.0", None)
    ]


def test_a_published_pick_over_the_deadline_is_found(database):
    """Nothing is within the deadline, so nothing can be called best."""
    key = add_run(database, median_itl_ms=501.0)
    insert(database, "published_pick", model_key=1, gpu="H100", configuration_key=key)

    assert findings(database) == [
        ("published_pick", "no pick within the deadline", "joules_per_output_token 1.0", None)
    ]


def test_a_missing_published_pick_is_found(database):
    """A document that forgets a GPU's best says less than it should."""
    add_run(database)

    assert findings(database) == [("published_pick", "joules_per_output_token 1.0", "no pick", None)]


def test_more_active_than_total_parameters_is_found(database):
    """A model can't use more parameters for a token than it has."""
    add_model(database, params_b=8.0, active_params_b=9.0)

    assert findings(database) == [("active_params_b", "at most params_b: 8.0", "9.0", None)]
