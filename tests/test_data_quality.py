"""Each rule of the data, broken on purpose: one finding, with what was expected and what was found."""

import pytest

from tests.conftest import add_model, add_release, add_run, answer, insert


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
    ({"p99_itl_ms": 10001.0}, ("p99_itl_ms", "at most 500 x median_itl_ms: 10000.0", "10001.0", None)),
    (
        {"max_num_seqs": 81, "row_id": "small/H100/1/81"},
        ("max_num_seqs", "at most 10 x avg_requests_in_flight: 80.0", "81", None),
    ),
    ({"avg_output_tokens": 350_000}, ("avg_output_tokens", "2 to 200000 tokens", "350000.0", None)),
    ({"avg_output_tokens": 1}, ("avg_output_tokens", "2 to 200000 tokens", "1.0", None)),
    ({"precision": "bf16"}, ("precision", "BF16, FP8 or MXFP4", "bf16", None)),
    ({"repeat": 2}, ("repeat", "a run of the same gpu, num_gpus and max_num_seqs with repeat 1", "2", None)),
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


MODELS = [
    ({"active_params_b": 9.0, "architecture": "Hybrid"}, ("active_params_b", "at most params_b: 8.0", "9.0")),
    (
        {"active_params_b": 2.0},
        (
            "architecture",
            "a model with all parameters active, or another architecture than Dense Transformer",
            "2.0 of 8.0 billion active in a Dense Transformer",
        ),
    ),
    (
        {"architecture": "MoE"},
        (
            "architecture",
            "a model with some parameters active, or another architecture than MoE",
            "8.0 of 8.0 billion active in an MoE",
        ),
    ),
    ({"params_b": 8e9, "active_params_b": 8e9}, ("params_b", "0.01 to 10000 billions", "8000000000.0")),
    (
        {"name": "Small 70B Instruct"},
        ("params_b", "a size near that of the name: 70 billion", "8.0 and 8.0 active"),
    ),
]


@pytest.mark.parametrize(("values", "finding"), MODELS, ids=lambda value: str(value)[:40])
def test_a_model_that_cannot_be_as_described_is_found(database, values, finding):
    """More active than total parameters, another architecture, a slip of 10⁹, another size than its name's."""
    add_model(database, **values)

    assert [row[:3] for row in findings(database)] == [finding]


@pytest.mark.parametrize(
    "values",
    [
        {"name": "Mix 17B 16E", "params_b": 109.0, "active_params_b": 17.0, "architecture": "MoE"},
        {"name": "Tiny 1.6B", "params_b": 1.6, "active_params_b": 1.6},
        {"name": "Small B200 edition"},
    ],
    ids=lambda values: values["name"],
)
def test_a_size_in_a_name_is_the_total_or_the_active_one(database, values):
    add_model(database, **values)

    assert findings(database) == []


@pytest.mark.parametrize(
    "dates",
    [
        {"released": "2026-01-02"},
        {"retrieved": "2025-12-31"},
        {"retrieved": "2026-01-03", "updated": "2026-01-02"},
        {"data_version": "2025-12-31"},
    ],
    ids=str,
)
def test_dates_out_of_order_are_found(database, dates):
    """What is compiled on 1 January can't be released after it, nor retrieved before."""
    add_model(database, release_key=add_release(database, **dates))

    ((check, expected, _, _),) = findings(database)
    assert (check, expected) == ("dates", "released <= compiled <= retrieved <= updated, compiled <= data_version")


@pytest.mark.parametrize("watts", [69.0, 771.0])
def test_power_beyond_the_rating_is_found(database, watts):
    """An H100 is rated at 700 W: under a tenth it idles, over 110 % it is another's power."""
    insert(database, "gpu", name="H100", rated_watts=700.0)
    joules = watts / 400
    key = add_run(database, joules_per_output_token=joules, gpu_power_watts_total=watts)
    insert(database, "published_pick", model_key=1, gpu="H100", configuration_key=key)

    assert findings(database) == [
        ("gpu_power_watts_total", "0.1 to 1.1 of rated_watts x num_gpus: 700.0", str(watts), None)
    ]


@pytest.mark.parametrize("field", ["p95_itl_ms", "avg_running_batch"])
def test_a_late_field_is_in_all_runs_or_in_none(database, field):
    """An early document lacks it everywhere; here it was lost."""
    key = add_run(database, **{field: None})
    add_run(database, max_num_seqs=16, joules_per_output_token=1.5)
    insert(database, "published_pick", model_key=1, gpu="H100", configuration_key=key)

    assert findings(database) == [(field, "a value, as other runs of this document have one", "NULL", None)]
