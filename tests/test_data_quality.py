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
    ({"row_id": "small/H100/1/8"}, None),
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
    ({"precision": "FP8"}, None),
    ({"precision": "MXFP4"}, None),
    ({"precision": "bf16"}, ("precision", "BF16, FP8 or MXFP4", "bf16", None)),
    ({"precision": "FP16"}, ("precision", "BF16, FP8 or MXFP4", "FP16", None)),
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
    add_run(database, **other)

    before = other["repeat"] - 1
    expected = f"a run of the same gpu, num_gpus and max_num_seqs with repeat {before}"
    assert findings(database) == ([("repeat", expected, str(other["repeat"]), None)] if is_gap else [])


def test_repeats_without_a_limit_have_no_gap_either(database):
    """No limit is a setting as any other; the repeat of another model isn't this one's."""
    add_release(database, format="leaderboard")
    add_run(database, max_num_seqs=None, row_id="small/H100/1/none")
    add_run(database, max_num_seqs=None, row_id="small/H100/1/none", repeat=2)
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
    add_run(database, max_num_seqs=32, joules_per_output_token=2.0)
    add_run(database, max_num_seqs=64, joules_per_output_token=0.5, median_itl_ms=501.0)
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
    run = {"gpu": "H100", "run_key": 1}
    assert rows == [
        {**text, **run, "check_name": "repeat", "row_id": "small/H100/1/8", "repeat": 2},
        {**text, "gpu": None, "run_key": None, "check_name": "params_b", "row_id": None, "repeat": None},
        {**image, **run, "check_name": "num_gpus", "row_id": None, "repeat": 1},
    ]


def test_a_finding_names_the_run_at_fault(database):
    """By its own key: the run that lacks a field, that comes after a gap, or that is called best."""
    add_run(database)
    add_run(database, max_num_seqs=16, p95_itl_ms=None)
    add_run(database, max_num_seqs=32, repeat=2)
    call_best(database, add_run(database, max_num_seqs=64, joules_per_output_token=2.0))

    rows = answer(database, "from data_quality")
    assert [(row["check_name"], row["run_key"], row["row_id"], row["repeat"]) for row in rows] == [
        ("p95_itl_ms", 2, "small/H100/1/16", 1),
        ("repeat", 3, "small/H100/1/32", 2),
        ("published_pick", 4, "small/H100/1/64", 1),
    ]
