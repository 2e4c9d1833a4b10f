"""Each rule of the data on both sides of its bound: just inside nothing is found, just outside that rule alone."""

import datetime
import shutil

import duckdb
import pytest

from tests.conftest import add_image_run, add_model, add_release, add_run, add_video_run, answer, insert


def findings(database):
    return [
        (row["check_name"], row["expected"], row["found"], row["tolerance"])
        for row in answer(database, "from data_quality")
    ]


def test_good_data_has_no_findings(seeds):
    """Both shipped documents keep every rule."""
    assert seeds.execute("from data_quality").fetchall() == []


# --- What a text run keeps by itself -------------------------------------------------------------------


def wh(found):
    return ("wh_per_million_output_tokens", "277.77777777777777", found, 0.01)


def watts(expected, found, tolerance):
    return ("gpu_power_watts_total", expected, found, tolerance)


def order(found):
    return ("itl_order", "median_itl_ms <= p90_itl_ms <= p95_itl_ms <= p99_itl_ms", found, None)


def split(degrees, found="8"):
    return ("num_gpus", f"tensor_parallel x data_parallel x expert_parallel: {degrees}", found, None)


def in_stages(degrees):
    names = "tensor_parallel x data_parallel x expert_parallel x pipeline_parallel"
    return ("num_gpus", f"{names}: {degrees}", "8", None)


def named(found, expected="small/H100/1/8"):
    return ("row_id", expected, found, None)


def at_speed(tokens_per_second):
    return {"tokens_per_second": tokens_per_second, "gpu_power_watts_total": tokens_per_second}


def on_8(tensor, data, expert):
    return {"num_gpus": 8, "tensor_parallel": tensor, "data_parallel": data, "expert_parallel": expert}


SPEED = "0.05 to 1.5 of avg_requests_in_flight / median_itl_ms: 400.0"
ON_NO_LIMIT = {"max_num_seqs": None}

# What is changed of a sound run (1 J, 400 tokens/s, 20 to 23 ms, 8 sequences), and what is then found.
RUNS = [
    # 1 J per token is 277.7777… Wh per million: 0.01 Wh is what rounding explains.
    ({"wh_per_million_output_tokens": 277.787}, None),
    ({"wh_per_million_output_tokens": 277.788}, wh("277.788")),
    ({"wh_per_million_output_tokens": 277.768}, None),
    ({"wh_per_million_output_tokens": 277.767}, wh("277.767")),
    # 1 J x 400 tokens/s = 400 W; 1 W is more than 0.1 % of it.
    ({"gpu_power_watts_total": 401.0}, None),
    ({"gpu_power_watts_total": 401.01}, watts("400.0", "401.01", 1.0)),
    ({"gpu_power_watts_total": 399.0}, None),
    ({"gpu_power_watts_total": 398.99}, watts("400.0", "398.99", 1.0)),
    # 4 J x 400 tokens/s = 1,600 W, of which 0.1 % are 1.6 W.
    ({"joules_per_output_token": 4.0, "gpu_power_watts_total": 1601.59}, None),
    ({"joules_per_output_token": 4.0, "gpu_power_watts_total": 1601.61}, watts("1600.0", "1601.61", 1.6)),
    ({"joules_per_output_token": 4.0, "gpu_power_watts_total": 1598.41}, None),
    ({"joules_per_output_token": 4.0, "gpu_power_watts_total": 1598.39}, watts("1600.0", "1598.39", 1.6)),
    ({"p90_itl_ms": 20.0}, None),
    ({"p90_itl_ms": 19.9}, order("20.0, 19.9, 22.0, 23.0")),
    ({"p95_itl_ms": 21.0}, None),
    ({"p95_itl_ms": 20.9}, order("20.0, 21.0, 20.9, 23.0")),
    ({"p99_itl_ms": 22.0}, None),
    ({"p99_itl_ms": 21.9}, order("20.0, 21.0, 22.0, 21.9")),
    ({"p95_itl_ms": None, "p99_itl_ms": 21.0}, None),
    ({"p95_itl_ms": None, "p99_itl_ms": 20.9}, order("20.0, 21.0, 20.9")),
    # Where the rounded median equals the deadline, the unrounded one may lie on either side.
    ({"median_itl_ms": 500.0, "under_itl_deadline": False}, None),
    ({"median_itl_ms": 500.0, "under_itl_deadline": True}, None),
    ({"median_itl_ms": 499.9, "under_itl_deadline": False}, ("under_itl_deadline", "true", "false", None)),
    ({"median_itl_ms": 500.1, "under_itl_deadline": True}, ("under_itl_deadline", "false", "true", None)),
    ({"median_itl_ms": 500.1, "under_itl_deadline": False}, None),
    ({"avg_running_batch": None}, None),
    ({"avg_running_batch": 7.999}, ("avg_running_batch", "avg_requests_in_flight: 8.0", "7.999", None)),
    ({"avg_running_batch": 8.001}, ("avg_running_batch", "avg_requests_in_flight: 8.0", "8.001", None)),
    ({"max_num_seqs": 8}, None),
    ({"max_num_seqs": 7}, ("max_num_seqs", "at least avg_requests_in_flight: 8.0", "7", None)),
    ({"max_num_seqs": 80}, None),
    ({"max_num_seqs": 81}, ("max_num_seqs", "at most 10 x avg_requests_in_flight: 80.0", "81", None)),
    (on_8(8, 1, 1), None),
    (on_8(2, 2, 2), None),
    (on_8(1, 1, 8), None),
    # Expert parallelism splits the same GPUs again where attention is copied.
    (on_8(1, 8, 8), None),
    (on_8(2, 4, 8), None),
    (on_8(4, 1, 1), split("4 x 1 x 1")),
    (on_8(8, 2, 1), split("8 x 2 x 1")),
    (on_8(1, 8, 4), split("1 x 8 x 4")),
    (on_8(1, 4, 8), split("1 x 4 x 8")),
    (on_8(2, 2, 1), split("2 x 2 x 1")),
    # Stages of a pipeline split the GPUs once more, the experts of each stage among its own.
    (on_8(2, 2, 1) | {"pipeline_parallel": 2}, None),
    (on_8(2, 2, 4) | {"pipeline_parallel": 2}, None),
    (on_8(4, 1, 1) | {"pipeline_parallel": 3}, in_stages("4 x 1 x 1 x 3")),
    (on_8(2, 2, 8) | {"pipeline_parallel": 2}, in_stages("2 x 2 x 8 x 2")),
    # What another kind of parallelism splits can't be told.
    (on_8(4, 1, 1) | {"other_parallel": "context_parallel 2"}, None),
    ({"row_id": "small/H100/1/8"}, None),
    # The publisher named the run after its own name of the GPU.
    ({"gpu_as_published": "h100-sxm", "row_id": "small/h100-sxm/1/8"}, None),
    ({"gpu_as_published": "h100-sxm"}, named("small/H100/1/8", "small/h100-sxm/1/8")),
    ({"row_id": "large/H100/1/8"}, named("large/H100/1/8")),
    ({"row_id": "small/B200/1/8"}, named("small/B200/1/8")),
    ({"row_id": "small/H100/2/8"}, named("small/H100/2/8")),
    ({"row_id": "small/H100/1/9"}, named("small/H100/1/9")),
    (ON_NO_LIMIT | {"row_id": "small/H100/1/none"}, None),
    (ON_NO_LIMIT | {"row_id": "small/H100/1/8"}, named("small/H100/1/8", "small/H100/1/none")),
    ({"p99_itl_ms": 10000.0}, None),
    ({"p99_itl_ms": 10000.1}, ("p99_itl_ms", "at most 500 x median_itl_ms: 10000.0", "10000.1", None)),
    ({"avg_output_tokens": 2.0}, None),
    ({"avg_output_tokens": 1.9}, ("avg_output_tokens", "2 to 200000 tokens", "1.9", None)),
    ({"avg_output_tokens": 200000.0}, None),
    ({"avg_output_tokens": 200000.1}, ("avg_output_tokens", "2 to 200000 tokens", "200000.1", None)),
    # Another precision is news, and no fault.
    ({"precision": "FP8"}, None),
    ({"precision": "NVFP4"}, None),
    ({"precision": "something else"}, None),
    # 8 sequences that each gain a token in 20 ms are 400 tokens/s; 0.05 and 1.5 of it are 20 and 600.
    (at_speed(20.0), None),
    (at_speed(19.9), ("tokens_per_second", SPEED, "19.9", None)),
    (at_speed(600.0), None),
    (at_speed(600.1), ("tokens_per_second", SPEED, "600.1", None)),
]


@pytest.fixture(scope="module")
def found(empty_database, tmp_path_factory):
    """What is found of each case of the tables below: all in one file, a release a case, as asking takes longest."""
    path = tmp_path_factory.mktemp("cases") / "energy.duckdb"
    shutil.copyfile(empty_database, path)
    cases = {}
    with duckdb.connect(str(path)) as connection:
        connection.begin()  # one, as each is written to disk
        for changes, _ in RUNS:
            key = add_case(connection, cases, changes, format="leaderboard")
            add_run(connection, model_key=key, **changes)
        for kind, add in BATCH_KINDS.items():
            for changes, _ in BATCHES:
                key = add_case(connection, cases, (kind, changes), task=f"text-to-{kind}", kind=kind)
                add(connection, model_key=key, **of_kind(kind, changes))
        for values, _ in MODELS:
            add_case(connection, cases, values, **values)
        connection.commit()
        rows = answer(connection, "from data_quality")
    said = ("check_name", "expected", "found", "tolerance")
    return {
        case: [tuple(row[name] for name in said) for row in rows if row["model_key"] == key]
        for case, key in cases.items()
    }


def add_case(connection, cases, case, **values):
    key = cases[str(case)] = len(cases) + 1
    about_release = {name: values.pop(name) for name in ("format", "task", "kind") if name in values}
    add_release(connection, key, **about_release)
    return add_model(connection, key, release_key=key, **values)


@pytest.mark.parametrize(("changes", "finding"), RUNS, ids=str)
def test_a_rule_of_a_text_run_is_broken_just_outside_its_bound(found, changes, finding):
    """One rule broken gives one row, of that rule; a tolerance holds to its edge."""
    assert found[str(changes)] == ([finding] if finding else [])


def test_without_a_deadline_nothing_is_late(database):
    """What a release doesn't say can't be broken."""
    add_release(database, itl_deadline_ms=None)
    add_run(database, under_itl_deadline=False)

    assert findings(database) == []


# --- What runs of a model keep together ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "is_gap"),
    [
        ({"repeat": 2}, False),
        ({"repeat": 3}, True),
        ({"repeat": 2, "gpu": "B200"}, True),
        ({"repeat": 2, "num_gpus": 2}, True),
        ({"repeat": 2, "max_num_seqs": 16}, True),
        ({"repeat": 2, "precision": "FP8"}, False),
        ({"repeat": 2, "num_gpus": 1, "joules_per_output_token": 2.0}, False),
    ],
    ids=str,
)
def test_repeats_of_one_gpu_num_gpus_and_max_num_seqs_have_no_gap(database, other, is_gap):
    """A repeat of another setting doesn't fill the gap: then a run of this one was lost."""
    add_release(database, format="leaderboard")
    add_run(database)
    add_run(database, **{"joules_per_output_token": 1.01} | other)

    before = other["repeat"] - 1
    expected = f"a run of the same gpu, num_gpus and max_num_seqs with repeat {before}"
    assert findings(database) == ([("repeat", expected, str(other["repeat"]), None)] if is_gap else [])


def test_repeats_without_a_limit_have_no_gap_either(database):
    """No limit is a setting as any other; the repeat of another model isn't this one's."""
    add_release(database, format="leaderboard")
    add_run(database, max_num_seqs=None, row_id="small/H100/1/none")
    add_run(database, max_num_seqs=None, row_id="small/H100/1/none", repeat=2, joules_per_output_token=1.01)
    assert findings(database) == []

    other = add_model(database, 2, release_key=1, slug="other")
    add_run(database, model_key=other, max_num_seqs=None, row_id="other/H100/1/none", repeat=2)
    assert [row[0] for row in findings(database)] == ["repeat"]


@pytest.mark.parametrize("field", ["p95_itl_ms", "avg_running_batch"])
def test_a_late_field_is_in_all_runs_of_a_model_or_in_none(database, field):
    """An early document lacks it everywhere; where just some runs lack it, it was lost, on whichever GPU."""
    add_release(database, format="leaderboard")
    add_run(database, **{field: None})
    other = add_model(database, 2, release_key=1, slug="other")
    add_run(database, model_key=other, row_id="other/H100/1/8")
    assert findings(database) == []

    add_run(database, gpu="B200")
    assert findings(database) == [(field, "a value, as other runs of this document have one", "NULL", None)]


# --- What a document calls best ------------------------------------------------------------------------


def call_best(database, key, gpu="H100"):
    insert(database, "published_pick", model_key=1, gpu=gpu, configuration_key=key)


def best(expected, found):
    return ("published_pick", expected, found, None)


def test_a_published_pick_that_is_the_least_is_no_finding(database):
    """Of each GPU by itself, in time; of two that need the same either may be called best."""
    add_run(database, max_num_seqs=8)
    key = add_run(database, max_num_seqs=16)
    add_run(database, max_num_seqs=32, joules_per_output_token=1.1)
    add_run(database, max_num_seqs=64, joules_per_output_token=0.5, median_itl_ms=501.0, precision="FP8")
    call_best(database, key)
    call_best(database, add_run(database, gpu="B200", joules_per_output_token=0.75), "B200")

    assert findings(database) == []


def test_a_published_pick_that_is_not_the_least_is_found(database):
    """What the document calls best is evidence against the computed pick."""
    add_run(database, max_num_seqs=8, joules_per_output_token=1.0)
    call_best(database, add_run(database, max_num_seqs=16, joules_per_output_token=2.0))

    assert findings(database) == [best("joules_per_output_token 1.0", "joules_per_output_token 2.0")]


def test_a_published_pick_over_the_deadline_is_found(database):
    """Nothing is within the deadline, so nothing can be called best."""
    call_best(database, add_run(database, median_itl_ms=501.0))

    assert findings(database) == [best("no pick within the deadline", "joules_per_output_token 1.0")]


def test_a_late_published_pick_is_found_though_it_needs_the_least(database):
    """One in time needs as little: that is the pick."""
    add_run(database, max_num_seqs=8)
    call_best(database, add_run(database, max_num_seqs=16, median_itl_ms=501.0))

    assert findings(database) == [best("joules_per_output_token 1.0", "joules_per_output_token 1.0")]


def test_a_missing_published_pick_is_found(database):
    """A document that forgets a GPU's best says less than it should; where none is in time there is none."""
    add_run(database)
    add_run(database, gpu="B200", median_itl_ms=501.0)

    assert findings(database) == [best("joules_per_output_token 1.0", "no pick")]


def test_only_documents_publish_picks(database):
    """A folder of the leaderboard calls nothing best."""
    add_release(database, format="leaderboard")
    add_run(database)

    assert findings(database) == []


# --- Image and video runs ------------------------------------------------------------------------------


def of_rate(rate):
    return {"rate": rate, "gpu_power_watts_total": 600.0 * rate}


def degrees(num_gpus, ulysses, ring):
    return {"num_gpus": num_gpus, "ulysses_degree": ulysses, "ring_degree": ring}


# 600 J at 0.5 a second are 300 W: a millionth of it is 0.0003 W.
BATCHES = [
    ({"gpu_power_watts_total": 300.000299}, None),
    ({"gpu_power_watts_total": 300.000301}, watts("300.0", "300.000301", 1e-6 * 300)),
    ({"gpu_power_watts_total": 299.999701}, None),
    ({"gpu_power_watts_total": 299.999699}, watts("300.0", "299.999699", 1e-6 * 300)),
    # One in 2 s is 0.5 a second.
    (of_rate(0.50000049), None),
    (of_rate(0.50000051), ("rate", "0.5", "0.50000051", 1e-6 * 0.5)),
    (of_rate(0.49999951), None),
    (of_rate(0.49999949), ("rate", "0.5", "0.49999949", 1e-6 * 0.5)),
    ({"batch_size": 4, "batch_latency_s": 8.0}, None),
    (degrees(4, 2, 2), None),
    (degrees(4, 4, 1), None),
    (degrees(4, 1, 4), None),
    (degrees(4, 4, 2), ("num_gpus", "ulysses_degree x ring_degree: 4 x 2", "4", None)),
    (degrees(4, 2, 1), ("num_gpus", "ulysses_degree x ring_degree: 2 x 1", "4", None)),
]


BATCH_KINDS = {"image": add_image_run, "video": add_video_run}


def of_kind(kind, changes):
    return {f"{kind}s_per_second" if field == "rate" else field: value for field, value in changes.items()}


@pytest.mark.parametrize("kind", BATCH_KINDS)
@pytest.mark.parametrize(("changes", "finding"), BATCHES, ids=str)
def test_a_rule_of_a_batch_is_broken_just_outside_its_bound(found, kind, changes, finding):
    """To a millionth, as they are published unrounded; each rate by its own name."""
    if finding and finding[0] == "rate":
        finding = (f"{kind}s_per_second", *finding[1:])
    assert found[str((kind, changes))] == ([finding] if finding else [])


# --- Power against the rating --------------------------------------------------------------------------


@pytest.mark.parametrize("num_gpus", [1, 2])
@pytest.mark.parametrize(("each", "is_found"), [(70.0, False), (69.9, True), (770.0, False), (770.1, True)])
def test_power_beyond_the_rating_is_found(database, num_gpus, each, is_found):
    """An H100 is rated at 700 W: under a tenth it idles, over 110 % it is another's power."""
    insert(database, "gpu", name="H100", rated_watts=700.0)
    add_release(database, format="leaderboard")
    total = each * num_gpus
    add_run(database, num_gpus=num_gpus, joules_per_output_token=total / 400, gpu_power_watts_total=total)

    expected = f"0.1 to 1.1 of rated_watts x num_gpus: {700.0 * num_gpus}"
    assert findings(database) == ([watts(expected, str(total), None)] if is_found else [])


@pytest.mark.parametrize("add", [add_image_run, add_video_run])
def test_power_of_a_batch_beyond_the_rating_is_found(database, add):
    """300 W on a GPU that is rated at 200."""
    insert(database, "gpu", name="H100", rated_watts=200.0)
    add(database)

    assert findings(database) == [watts("0.1 to 1.1 of rated_watts x num_gpus: 200.0", "300.0", None)]


# --- Models and releases -------------------------------------------------------------------------------


def sized(params, active=None, architecture="Dense Transformer", name="Small"):
    active = params if active is None else active
    return {"params_b": params, "active_params_b": active, "architecture": architecture, "name": name}


ALL_ACTIVE = "a model with all parameters active, or another architecture than Dense Transformer"
SOME_ACTIVE = "a model with some parameters active, or another architecture than MoE"

MODELS = [
    (sized(8.0, 8.0, "Hybrid"), None),
    (sized(8.0, 8.1, "Hybrid"), ("active_params_b", "at most params_b: 8.0", "8.1")),
    (sized(8.0, 7.9, "Hybrid"), None),
    (sized(8.0, 7.9), ("architecture", ALL_ACTIVE, "7.9 of 8.0 billion active in a Dense Transformer")),
    (sized(8.0, 7.9, "MoE"), None),
    (sized(8.0, 8.0, "MoE"), ("architecture", SOME_ACTIVE, "8.0 of 8.0 billion active in an MoE")),
    (sized(8.0, 8.0, None), None),
    (sized(0.01), None),
    (sized(0.0099), ("params_b", "0.01 to 10000 billions", "0.0099")),
    (sized(10000.0), None),
    (sized(10000.1), ("params_b", "0.01 to 10000 billions", "10000.1")),
    # Where the name tells a size it is the total or the active one, rounded.
    (sized(8.0, name="Small 16B"), None),
    (
        sized(8.0, name="Small 16.1B"),
        ("params_b", "a size near that of the name: 16.1 billion", "8.0 and 8.0 active"),
    ),
    (sized(8.0, name="4B Small"), None),
    (sized(8.0, name="3.9B Small"), ("params_b", "a size near that of the name: 3.9 billion", "8.0 and 8.0 active")),
    (sized(100.0, 8.0, "MoE", "Mix 200B"), None),
    (sized(100.0, 8.0, "MoE", "Mix-16B-E"), None),
    (
        sized(100.0, 8.0, "MoE", "Mix-17B-E"),
        ("params_b", "a size near that of the name: 17 billion", "100.0 and 8.0 active"),
    ),
    (sized(100.0, 8.0, "MoE", "Mix 4B"), None),
    (
        sized(100.0, 8.0, "MoE", "Mix 3B"),
        ("params_b", "a size near that of the name: 3 billion", "100.0 and 8.0 active"),
    ),
    (sized(8.0, name="Small B200 edition"), None),
    (sized(8.0, name="Small70B 70Bit"), None),
]


@pytest.mark.parametrize(("values", "finding"), MODELS, ids=str)
def test_a_model_that_cannot_be_as_described_is_found(found, values, finding):
    """More active than total parameters, another architecture, a slip of 10⁹, another size than its name's."""
    assert found[str(values)] == ([(*finding, None)] if finding else [])


@pytest.mark.parametrize(
    ("dates", "found"),
    [
        ({"released": "2026-01-01"}, None),
        ({"released": "2026-01-02"}, "2026-01-02, 2026-01-01, 2026-01-01"),
        ({"retrieved": "2026-01-01"}, None),
        ({"retrieved": "2025-12-31"}, "2026-01-01, 2025-12-31, 2026-01-01"),
        ({"retrieved": "2026-01-03", "updated": "2026-01-03"}, None),
        ({"retrieved": "2026-01-03", "updated": "2026-01-02"}, "2026-01-01, 2026-01-03, 2026-01-02, 2026-01-01"),
        ({"data_version": "2026-01-02"}, None),
        ({"data_version": "2025-12-31"}, "2026-01-01, 2025-12-31"),
    ],
    ids=str,
)
def test_dates_out_of_order_are_found(database, dates, found):
    """What is compiled on 1 January can't be released after it, nor retrieved before."""
    add_model(database, release_key=add_release(database, **dates))

    expected = "released <= compiled <= retrieved <= updated, compiled <= data_version"
    assert findings(database) == ([("dates", expected, found, None)] if found else [])


@pytest.mark.parametrize(
    ("dates", "found"),
    [
        ({"compiled": "2027-12-02", "data_version": "2027-12-02"}, None),
        ({"data_version": "2027-12-03"}, "2026-01-01, 2027-12-03"),
        ({"compiled": "2027-12-03", "data_version": "2027-12-03"}, "2027-12-03, 2027-12-03"),
        ({"retrieved": "2028-01-01"}, None),
    ],
    ids=str,
)
def test_dates_a_year_after_energydb_itself_are_found(database, dates, found):
    """The tests' one is of 2026-12-03: a file holds no other clock. When it was retrieved makes nothing newest."""
    add_model(database, release_key=add_release(database, **dates))

    expected = "compiled and data_version before 2027-12-03"
    assert findings(database) == ([("dates", expected, found, None)] if found else [])


@pytest.mark.parametrize(
    ("dates", "found"),
    [
        ({"compiled": "2010-01-01", "data_version": "2010-01-01"}, None),
        ({"compiled": "2009-12-31"}, "2009-12-31, 2026-01-01"),
        ({"compiled": "0001-01-01", "data_version": "0001-01-01"}, "0001-01-01, 0001-01-01"),
    ],
    ids=str,
)
def test_dates_of_another_age_are_found(database, dates, found):
    """Such as where none was given."""
    add_model(database, release_key=add_release(database, **dates))

    expected = "compiled and data_version since 2010-01-01"
    assert findings(database) == ([("dates", expected, found, None)] if found else [])


# --- Identity ------------------------------------------------------------------------------------------


def test_one_identity_twice_in_a_release_is_found_on_each(database):
    """Each names the other's slug, id and file; of three, each the next. The slugs may be one or two."""
    add_release(database)
    spelt = {"one": "org/Small", "One": "org/small", "one\u200b": "org/Small "}
    for key, (slug, model_id) in enumerate(spelt.items(), 1):
        add_model(database, key, slug=slug, model_id=model_id, identity="org/small", release_key=1)

    found = {row["model_key"]: row["found"] for row in answer(database, "from data_quality where touches_energy")}
    assert found == {
        1: "also One (org/small) in 2.json",
        2: "also one\u200b (org/Small ) in 3.json",
        3: "also one (org/Small) in 1.json",
    }
    assert {row[:2] for row in findings(database)} == {("identity", "one model of this id in a release")}


def test_one_identity_in_two_releases_or_two_of_one_name_is_no_finding(database):
    """A model is in each release; two makers may call theirs alike."""
    for key in (1, 2):
        add_model(database, key, release_key=add_release(database, key))
    add_model(database, 3, model_id="other/Small", release_key=1)

    assert findings(database) == []


# --- Names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model_id", "slug", "precision", "said"),
    [
        ("org/Small-FP8", "small", "FP8", None),
        ("org/Small-FP8", "small", "fp8-e4m3", None),
        ("org/Small-FP8", "small", "MXFP8", None),
        ("org/Small-FP8", "small", "BF16", "fp8"),
        ("org/small_fp8", "small", "FP16", "fp8"),
        ("org/Small", "small-fp8", "BF16", "fp8"),
        ("org/Small-FP8-KV", "small", "BF16", "fp8"),
        ("org/Small-BF16", "small", "BFloat16", None),
        ("org/Small-BF16", "small", "FP8", "bf16"),
        ("org/Small-NVFP4", "small", "NVFP4", None),
        ("org/Small-NVFP4", "small", "FP8", "nvfp4"),
        ("org/Small-MXFP4", "small", "MXFP6", "mxfp4"),
        ("org/Small-INT4", "small", "W4A16", None),
        ("org/Small-INT4", "small", "INT8", "int4"),
        ("org/Small-INT8", "small", "BF16", "int8"),
        ("org/Small-AWQ", "small", "INT4", None),
        ("org/Small-AWQ", "small", "BF16", "awq"),
        ("org/Small-GPTQ-Int4", "small", "GPTQ", None),
        ("org/Small-GPTQ-Int4", "small", "BF16", "gptq or int4"),
        # Only whole words are formats.
        ("org/Smallfp8er", "small", "BF16", None),
        ("org/Small-fp80", "small", "BF16", None),
        ("fp8labs/Small", "small", "BF16", None),
    ],
)
def test_a_precision_unlike_what_the_id_says_is_found(database, model_id, slug, precision, said):
    """Energy of another format of the weights is another model's."""
    add_release(database, format="leaderboard")
    add_run(
        database,
        model_key=add_model(database, model_id=model_id, slug=slug, release_key=1),
        precision=precision,
        row_id=f"{slug}/H100/1/8",
    )

    assert findings(database) == ([("precision", f"{said}, as its id says", precision, None)] if said else [])


NO_CARDS = ("cuda", "CUDA:0", "gpu", "GPU 0", "gpus", "rocm", "nvidia", "AMD", "NVIDIA GPU", "cpu", "xpu", "mps")
NO_CARDS += ("unknown", "N/A", "na", "none", "-", "0", "device", "Intel XPU", "accelerator", "[other]")
CARDS = ("H100", "L4", "T4", "A10", "A100 80GB", "MI300X", "RTX 4090", "TPU v5e", "Gaudi 2", "NVIDIA 7", "M2 Max")
CARDS += ("AMD Radeon VII", "GPU X", "NVIDIA GH200", "cudax", "navi 31")


@pytest.mark.slow
def test_a_gpu_that_is_named_as_no_card_is_found(database):
    """Of each model that was run on it, once, however many runs; a bare digit with a maker is none either."""
    add_release(database, format="leaderboard")
    for gpu in NO_CARDS + CARDS:
        add_run(database, gpu=gpu)
        add_run(database, gpu=gpu, max_num_seqs=16)
    rows = answer(database, "from data_quality where check_name = 'gpu'")

    assert sorted(row["gpu"] for row in rows) == sorted((*NO_CARDS, "NVIDIA 7"))
    assert {(row["expected"], row["run_key"], row["touches_energy"]) for row in rows} == {
        ("the name of a card", None, True)
    }


def test_two_spellings_of_a_gpu_are_found_on_both(database):
    """They are told apart by case, blanks, dashes and points alone: every comparison would be of two GPUs."""
    add_release(database, format="leaderboard")
    for gpu in ("MI 300X", "mi-300x", "MI300X", "MI300A", "MI.300_A"):
        add_run(database, gpu=gpu)

    assert {row["gpu"]: row["expected"] for row in answer(database, "from data_quality")} == {
        "MI 300X": "one spelling in a file, not also MI300X",
        "MI300X": "one spelling in a file, not also mi-300x",
        "mi-300x": "one spelling in a file, not also MI 300X",
        "MI.300_A": "one spelling in a file, not also MI300A",
        "MI300A": "one spelling in a file, not also MI.300_A",
    }


# --- Energy by itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize("num_gpus", [1, 2])
@pytest.mark.parametrize(("each", "is_found"), [(5.0, False), (4.9, True), (2000.0, False), (2000.1, True)])
def test_power_beyond_that_of_any_gpu_is_found(database, num_gpus, each, is_found):
    """Where no rating is known: no board is rated near 2,000 W, and the smallest for inference draw 7."""
    add_release(database, format="leaderboard")
    total = each * num_gpus
    add_run(database, num_gpus=num_gpus, joules_per_output_token=total / 400, gpu_power_watts_total=total)

    expected = f"5 to 2000 x num_gpus: {5 * num_gpus} to {2000 * num_gpus}"
    assert findings(database) == ([watts(expected, str(total), None)] if is_found else [])


@pytest.mark.parametrize(
    ("joules", "speed", "in_flight", "is_found"),
    [(0.0008, 10000.0, 200, False), (0.00079, 10000.0, 200, True), (20.0, 20.0, 8, False), (20.01, 20.0, 8, True)],
)
def test_energy_far_from_that_of_models_of_a_size_is_found(database, joules, speed, in_flight, is_found):
    """Of 16 billion parameters, 1 of them active, a size of 4: seen are 0.0016 to 0.27 J for each."""
    add_release(database, format="leaderboard")
    model = add_model(database, params_b=16.0, active_params_b=1.0, architecture="MoE", release_key=1)
    flight = {"avg_requests_in_flight": in_flight, "avg_running_batch": in_flight, "max_num_seqs": in_flight}
    power = {"gpu_power_watts_total": joules * speed, "tokens_per_second": speed}
    add_run(database, model_key=model, joules_per_output_token=joules, **flight, **power)

    expected = "0.0002 to 5 x sqrt(params_b x active_params_b): 4.0"
    found = [("joules_per_output_token", expected, str(joules), None)]
    assert findings(database) == (found if is_found else [])


@pytest.mark.parametrize(
    ("kind", "size", "least", "most"),
    [("image", 8 * 1.048576 * 20, 16.78, 838860.0), ("video", 8 * 0.39936 * 81 * 20, 517.6, 25878528.0)],
)
def test_energy_far_from_that_of_images_of_a_size_is_found(database, kind, size, least, most):
    """8 billion parameters, 20 steps, 1,024 x 1,024 pixels; and 81 frames of 480 x 832."""
    release = add_release(database, task=f"to-{kind}", kind=kind)
    model = add_model(database, release_key=release)
    add = BATCH_KINDS[kind]
    for place, joules in enumerate((least, least * 0.999, most, most * 1.001)):
        seconds = joules / 300
        rate = {f"joules_per_{kind}": joules, f"{kind}s_per_second": 1 / seconds, "batch_latency_s": seconds}
        add(database, model_key=model, inference_steps=20, **rate, gpu=f"GPU X{place}")
    rows = answer(database, "from data_quality")

    assert [(row["check_name"], row["gpu"]) for row in rows] == [
        (f"joules_per_{kind}", "GPU X1"),
        (f"joules_per_{kind}", "GPU X3"),
    ]
    assert all(float(row["expected"].rpartition(" ")[2]) == pytest.approx(size) for row in rows)
    assert all(row["touches_energy"] for row in rows)


def test_without_frames_the_size_of_a_video_is_not_known(database):
    """What a publisher doesn't say breaks no rule."""
    add_video_run(database, num_frames=None, joules_per_video=20.0, gpu_power_watts_total=10.0)

    assert findings(database) == []


# --- Energies that were rounded ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("joules", "power", "tolerance", "is_found"),
    [
        # 0.062 J x 8,000 tokens/s = 496 W; 0.0005 J are 4 W.
        (0.062, 499.9, 4.0, False),
        (0.062, 500.1, 4.0, True),
        (0.062, 492.1, 4.0, False),
        (0.062, 491.9, 4.0, True),
        # Four decimals explain 0.4 W: the power itself may lie 1 W off.
        (0.0625, 500.9, 1.0, False),
        (0.0625, 501.1, 1.0, True),
        # Three decimals at the least.
        (0.06, 483.9, 4.0, False),
        (0.06, 484.1, 4.0, True),
    ],
)
def test_a_power_that_rounded_energy_explains_is_no_finding(database, joules, power, tolerance, is_found):
    """A publisher may round energy per token: its last decimal may be half of one off."""
    add_release(database, format="leaderboard")
    flight = {"avg_requests_in_flight": 200.0, "avg_running_batch": 200.0, "max_num_seqs": 200}
    figures = {"tokens_per_second": 8000.0, "gpu_power_watts_total": power}
    add_run(database, joules_per_output_token=joules, **figures, **flight)

    found = [(name, text, tolerance) for name, _, text, tolerance in findings(database)]
    assert found == ([("gpu_power_watts_total", str(power), pytest.approx(tolerance))] if is_found else [])


LONG = {"joules_per_output_token": 1.234567891234, "avg_output_tokens": 300.123456789}
PRODUCT = 1.234567891234 * 300.123456789


@pytest.mark.parametrize(
    ("run", "per_request", "tolerance", "is_found"),
    [
        # Unrounded: a billionth.
        (LONG, PRODUCT * (1 + 0.9e-9), 1e-9 * PRODUCT, False),
        (LONG, PRODUCT * (1 + 1.1e-9), 1e-9 * PRODUCT, True),
        # 370.5227…, with three decimals and with none.
        (LONG, 370.523, 0.0005, False),
        (LONG, 370.522, 0.0005, True),
        (LONG, 371.0, 0.5, False),
        (LONG, 370.0, 0.5, True),
        # 0.372 J x 1,000.5 tokens = 372.186: 0.0005 J are 0.50025, 0.05 tokens 0.0186, and 0.0005 of its own.
        ({"joules_per_output_token": 0.372, "avg_output_tokens": 1000.5}, 372.705, 0.51935, False),
        ({"joules_per_output_token": 0.372, "avg_output_tokens": 1000.5}, 372.706, 0.51935, True),
        ({"joules_per_output_token": 0.372, "avg_output_tokens": 1000.5}, 371.667, 0.51935, False),
        ({"joules_per_output_token": 0.372, "avg_output_tokens": 1000.5}, 371.666, 0.51935, True),
        (LONG, None, None, False),
    ],
)
def test_energy_per_request_is_held_against_energy_per_token(database, run, per_request, tolerance, is_found):
    """Within what the digits of all three explain; it may be published with few."""
    add_release(database, format="leaderboard")
    add_run(database, energy_per_request_joules=per_request, **run)

    found = [(name, text, tolerance) for name, _, text, tolerance in findings(database)]
    name = "energy_per_request_joules"
    assert found == ([(name, str(per_request), pytest.approx(tolerance, rel=1e-3))] if is_found else [])


# --- Runs against each other ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "is_found"),
    [
        ({}, True),
        ({"gpu_power_watts_total": 400.0 * (1 + 0.9e-9)}, True),
        ({"gpu_power_watts_total": 400.0 * (1 + 1.1e-9)}, False),
        ({"joules_per_output_token": 1 + 1.1e-9}, False),
        ({"tokens_per_second": 400.0 * (1 + 1.1e-9), "gpu_power_watts_total": 400.0}, False),
        ({"max_num_seqs": 16, "repeat": 1}, False),
        ({"gpu": "B200", "repeat": 1}, False),
        ({"num_gpus": 2, "repeat": 1}, False),
    ],
    ids=str,
)
def test_a_run_that_comes_twice_is_no_repeat(database, change, is_found):
    """Two measurements differ; what agrees to a billionth was measured once."""
    add_release(database, format="leaderboard")
    add_run(database)
    add_run(database, **{"repeat": 2} | change)

    expected = [("repeat", "another measurement than repeat 1", "the same figures", None)]
    assert findings(database) == (expected if is_found else [])


@pytest.mark.parametrize("kind", BATCH_KINDS)
def test_a_batch_that_comes_twice_is_no_repeat(database, kind):
    """Of images and videos alike; another size or number of steps is another setting."""
    model = add_model(database, release_key=add_release(database, task=f"to-{kind}", kind=kind))
    add = BATCH_KINDS[kind]
    add(database, model_key=model)
    add(database, model_key=model, inference_steps=10)
    add(database, model_key=model, repeat=2)
    rows = answer(database, "from data_quality")

    assert [(row["check_name"], row["run_key"], row["touches_energy"]) for row in rows] == [("repeat", 3, False)]


TWIN = {
    "joules_per_output_token": (1.00000005, 1.00000006),
    "wh_per_million_output_tokens": (277.785, 277.786),
    "gpu_power_watts_total": (400.5, 400.6),
    "tokens_per_second": (400.05, 400.06),
    "avg_output_tokens": (300.5, 300.6),
    "avg_requests_in_flight": (8.05, 8.06),
    "median_itl_ms": (20.05, 20.06),
    "p90_itl_ms": (21.05, 21.06),
    "p95_itl_ms": (22.05, 22.06),
    "p99_itl_ms": (23.05, 23.06),
}


def add_twins(database, **release):
    """Add one run in a document, and in the leaderboard."""
    for key, values in ((1, {}), (2, {"format": "leaderboard"} | release)):
        model = add_model(database, key, release_key=add_release(database, key, **values))
        add_run(
            database, model_key=model, max_num_seqs=9, wh_per_million_output_tokens=277.78, avg_output_tokens=300.0
        )


def about_twins(database):
    return [row for row in answer(database, "from data_quality") if " in " in row["expected"]]


@pytest.mark.parametrize("name", TWIN)
def test_a_run_in_two_formats_has_the_same_figures_but_for_rounding(database, name):
    """Documents round by half of a last decimal; what lies further off is found on both, each naming the other's."""
    inside, outside = TWIN[name]
    add_twins(database)
    database.execute(f"update configuration set {name} = {inside} where configuration_key = 2")
    assert about_twins(database) == []

    database.execute(f"update configuration set {name} = {outside} where configuration_key = 2")
    rows = about_twins(database)
    ((document,),) = database.execute(f"select {name} from configuration where configuration_key = 1").fetchall()
    assert [(row["check_name"], row["run_key"], row["expected"], row["found"]) for row in rows] == [
        (name, 1, f"{outside} as small/H100/1/9 in 2.json", str(document)),
        (name, 2, f"{document} as small/H100/1/9 in 1.json", str(outside)),
    ]


@pytest.mark.parametrize(
    "release",
    [
        {"compiled": "2026-01-02", "data_version": "2026-01-02"},
        {"task": "code"},
        {"boundary": "wall"},
        {"origin": "own"},
        {"format": "model_document"},
    ],
    ids=str,
)
def test_what_another_release_measured_may_differ(database, release):
    """Another day, task, boundary, or someone else's: another measurement; and one format has one of each."""
    add_twins(database, **release)
    database.execute("update configuration set joules_per_output_token = 2 where configuration_key = 2")

    assert about_twins(database) == []


@pytest.mark.parametrize(("joules", "is_found"), [(5.0, False), (5.01, True), (0.2, False), (0.199, True)], ids=str)
def test_a_setting_that_needs_five_times_as_much_as_before_is_found(database, joules, is_found):
    """Each release may be sound in itself: the newer is the one to be looked at."""
    for key, (day, needs) in enumerate((("2026-01-01", 1.0), ("2026-02-01", joules)), 1):
        release = add_release(database, key, format="leaderboard", compiled=day, data_version=day)
        model = add_model(database, key, release_key=release)
        add_run(database, model_key=model, joules_per_output_token=needs, tokens_per_second=200.0)

    expected = "0.2 to 5 x what the release of 2026-01-01 has: 1.0"
    assert findings(database) == ([("joules_per_output_token", expected, str(joules), None)] if is_found else [])


# --- Curves: the rule itself is tested with curve_point --------------------------------------------------


def add_curve(database, odd, sizes):
    for size in sizes:
        joules = 0.5 if size in odd else 1.0
        add_run(database, max_num_seqs=size, joules_per_output_token=joules, tokens_per_second=400.0)


def test_a_run_off_its_curve_is_found(database):
    """With how far off it is, and the curve's name: half the energy and half the power."""
    add_release(database, format="leaderboard")
    add_curve(database, odd=(32,), sizes=(8, 16, 32, 64))
    (row,) = answer(database, "from data_quality")

    assert (row["check_name"], row["row_id"], row["touches_energy"]) == ("curve", "small/H100/1/32", True)
    assert (
        row["expected"] == "joules, watts and rate near the line through its neighbours on 1 x H100, 1 x 1 x 1, BF16"
    )
    assert row["found"] == "0.5, 0.5 and 1.0 of it"


def test_an_uneven_curve_with_no_one_to_blame_is_found_once(database):
    """It names no run, but its model and GPU."""
    add_release(database, format="leaderboard")
    add_curve(database, odd=(12, 48), sizes=(8, 12, 16, 24, 32, 48, 64))
    (row,) = answer(database, "from data_quality")

    assert (row["check_name"], row["gpu"], row["run_key"], row["row_id"]) == ("curve", "H100", None, None)
    assert row["expected"] == "an even curve of 1 x H100, 1 x 1 x 1, BF16"
    assert row["touches_energy"]


def test_a_finding_says_what_it_is_about(database):
    """A run by its key and, where it has one, its published name; a model without either."""
    add_release(database, format="leaderboard")
    add_model(database, name="Small 70B")
    add_run(database, repeat=2)
    add_image_run(
        database,
        model_key=add_model(
            database, 2, slug="paint", release_key=add_release(database, 2, task="text-to-image", kind="image")
        ),
        num_gpus=2,
    )

    rows = answer(database, "from data_quality")
    for row in rows:
        del row["expected"], row["found"], row["tolerance"]
    same = {"data_version": datetime.date(2026, 1, 1)}
    text = {"task": "chat", "model": "small", "document": "1.json", "kind": "text", "model_key": 1, **same}
    image = {"task": "text-to-image", "model": "paint", "document": "2.json", "kind": "image", "model_key": 2, **same}
    run, no_run = {"gpu": "H100", "run_key": 1}, dict.fromkeys(("gpu", "run_key", "row_id", "repeat"))
    assert rows == [
        {**text, **run, "check_name": "repeat", "touches_energy": False, "row_id": "small/H100/1/8", "repeat": 2},
        {**text, **no_run, "check_name": "params_b", "touches_energy": False},
        {**image, **run, "check_name": "num_gpus", "touches_energy": True, "row_id": None, "repeat": 1},
    ]


def test_a_finding_names_the_run_at_fault(database):
    """By its own key: the run that lacks a field, that comes after a gap, or that is called best."""
    add_run(database)
    add_run(database, max_num_seqs=16, p95_itl_ms=None)
    add_run(database, max_num_seqs=32, repeat=2)
    call_best(database, add_run(database, max_num_seqs=64, joules_per_output_token=1.2))

    rows = answer(database, "from data_quality")
    assert [(row["check_name"], row["run_key"], row["row_id"], row["repeat"]) for row in rows] == [
        ("p95_itl_ms", 2, "small/H100/1/16", 1),
        ("repeat", 3, "small/H100/1/32", 2),
        ("published_pick", 4, "small/H100/1/64", 1),
    ]
