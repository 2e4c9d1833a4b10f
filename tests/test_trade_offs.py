"""The trade-offs, the curves between their points, and what they mean in money and emissions: by hand."""

import math

import duckdb
import pytest

from tests.conftest import add_model, add_release, add_run, answer, insert


def values(database, sql, *names):
    return [tuple(row[name] for name in names) for row in answer(database, sql)]


# --- energy_latency_frontier ---------------------------------------------------------------------------


def test_the_frontier_holds_what_nothing_beats(database):
    """Each loses to none in both; 4 loses to 2 in both, 5 equals 2 in latency and needs more, 6 equals 3."""
    for size, joules, median in ((1, 3.0, 10.0), (2, 2.0, 20.0), (3, 1.0, 30.0), (4, 2.5, 25.0), (5, 2.1, 20.0)):
        add_run(database, max_num_seqs=size, joules_per_output_token=joules, median_itl_ms=median)
    add_run(database, max_num_seqs=6, joules_per_output_token=1.0, median_itl_ms=30.0, gpu="B200")
    add_run(database, max_num_seqs=7, joules_per_output_token=1.0, median_itl_ms=31.0)

    rows = values(database, "from energy_latency_frontier where percentile = 'median'", "max_num_seqs", "itl_ms")
    assert rows == [(1, 10.0), (2, 20.0), (3, 30.0), (6, 30.0)]


def test_the_frontier_of_the_tail_is_its_own(database):
    """The quicker median may have the slower tail."""
    add_run(database, max_num_seqs=1, joules_per_output_token=1.0, median_itl_ms=10.0, p99_itl_ms=90.0)
    add_run(database, max_num_seqs=2, joules_per_output_token=1.0, median_itl_ms=20.0, p99_itl_ms=30.0)

    rows = values(database, "from energy_latency_frontier", "percentile", "max_num_seqs", "itl_ms")
    assert rows == [("median", 1, 10.0), ("p99", 2, 30.0)]


def test_no_run_is_beaten_by_the_frontiers_definition(everything):
    """Held against the definition itself, pair by pair."""
    runs = answer(everything, "select * from configuration_detail where is_current")
    for percentile, column in (("median", "median_itl_ms"), ("p99", "p99_itl_ms")):
        expected = {
            run["configuration_key"]
            for run in runs
            if not any(
                (other["task"], other["model"]) == (run["task"], run["model"])
                and other["joules_per_output_token"] <= run["joules_per_output_token"]
                and other[column] <= run[column]
                and (other["joules_per_output_token"], other[column]) != (run["joules_per_output_token"], run[column])
                for other in runs
            )
        }
        sql = f"from energy_latency_frontier where percentile = '{percentile}'"
        assert {key for (key,) in values(everything, sql, "configuration_key")} == expected


# --- comparisons ---------------------------------------------------------------------------------------


def test_two_gpus_within_the_same_budget(database):
    """Half the energy on B200 within 25 ms; none on H100 is within p99 25 ms, so no row."""
    add_run(database, gpu="H100", joules_per_output_token=1.0, p99_itl_ms=26.0, tokens_per_second=400.0)
    add_run(database, gpu="B200", joules_per_output_token=0.5, tokens_per_second=600.0, gpu_power_watts_total=300)

    rows = answer(database, "from gpu_comparison where budget_ms = 25")

    assert [row["percentile"] for row in rows] == ["median", "p90", "p95"]
    assert {(row["gpu"], row["other_gpu"], row["energy_ratio"]) for row in rows} == {("B200", "H100", 0.5)}
    assert {(row["throughput_ratio"], row["power_ratio"]) for row in rows} == {(1.5, 0.75)}


def test_more_gpus_at_the_same_concurrency(database):
    """Twice the GPUs, 1.6 times the tokens: 0.8 efficient. Repeats are averaged; other concurrencies don't mix."""
    add_run(database, num_gpus=2, joules_per_output_token=1.0, tokens_per_second=300.0, repeat=1)
    add_run(database, num_gpus=2, joules_per_output_token=3.0, tokens_per_second=500.0, repeat=2)
    add_run(database, num_gpus=4, joules_per_output_token=2.5, tokens_per_second=640.0)
    add_run(database, num_gpus=8, max_num_seqs=16, tokens_per_second=9.0)

    rows = values(
        database,
        "from gpu_scaling",
        *("fewer_num_gpus", "num_gpus", "energy_ratio", "throughput_ratio", "scaling_efficiency"),
    )
    assert rows == [(2, 4, 1.25, 1.6, 0.8)]


def test_precisions_of_one_model(database):
    """The same slug without its -fp8, and the same size; another size is another model."""
    add_run(database, model_key=add_model(database, 1, slug="big"), joules_per_output_token=1.0)
    fp8 = add_model(database, 2, slug="big-fp8")
    add_run(database, model_key=fp8, precision="FP8", joules_per_output_token=1.2, num_gpus=4)
    add_run(database, model_key=add_model(database, 3, slug="other"), joules_per_output_token=1.0)
    odd = add_model(database, 4, slug="other-fp8", params_b=9.0)
    add_run(database, model_key=odd, precision="FP8")

    rows = values(
        database,
        "from precision_comparison",
        "model",
        "other_model",
        "energy_ratio",
        "other_precision",
        "other_num_gpus",
    )
    assert rows == [("big", "big-fp8", 1.2, "FP8", 4)]


def test_a_precision_that_nobody_heard_of_takes_part(database):
    """The slug says it in its own spelling, or as it was published; whose model it is doesn't matter."""
    formats = (
        ("big", "org/Big", "BF16", None),
        ("big-nv-fp4", "two/Big-NV-FP4", "NV_FP4", None),
        ("big-fp8-e4m3", "org/Big-FP8-E4M3", "FP8", "fp8-e4m3"),
        ("big-int4", "org/Big-INT4", "FP8", None),
    )
    for key, (slug, model_id, precision, published) in enumerate(formats, 1):
        add_model(database, key, slug=slug, model_id=model_id)
        add_run(database, model_key=key, precision=precision, precision_as_published=published)

    rows = values(database, "from precision_comparison", "model", "other_model", "other_precision")
    assert rows == [("big", "big-fp8-e4m3", "FP8"), ("big", "big-nv-fp4", "NV_FP4")]


def test_precisions_at_equal_concurrency(database):
    """The best of BF16 is at 64, where FP8 wasn't measured; at 8, which both share, FP8 needs three quarters."""
    model = add_model(database, 1, slug="big")
    add_run(database, model_key=model, max_num_seqs=64, joules_per_output_token=1.0)
    add_run(database, model_key=model, max_num_seqs=8, joules_per_output_token=4.0)
    fp8 = add_model(database, 2, slug="big-fp8")
    add_run(database, model_key=fp8, precision="FP8", max_num_seqs=8, joules_per_output_token=3.0)

    (row,) = answer(database, "from precision_comparison")
    assert (row["energy_ratio"], row["max_num_seqs"], row["other_max_num_seqs"]) == (3.0, 64, 8)
    assert (row["energy_ratio_at_shared_max_num_seqs"], row["shared_max_num_seqs"]) == (0.75, 8)


def test_energy_per_active_parameter(database):
    """277.78 Wh over 2 billion active of 8."""
    model = add_model(database, 1, params_b=8.0, active_params_b=2.0, architecture="MoE")
    add_run(database, model_key=model)

    (row,) = answer(database, "from architecture_comparison")
    assert (row["architecture"], row["active_share"]) == ("MoE", 0.25)
    assert row["wh_per_million_output_tokens_per_active_b"] == 277.78 / 2


def test_low_load_is_held_against_the_best_of_the_curve(database):
    """4 J at 8 sequences and 1 J at 16: 4 times, of 1,111.11 Wh three quarters too many; the step saves 75 %."""
    add_run(database, max_num_seqs=8, joules_per_output_token=4.0)
    add_run(database, max_num_seqs=16, joules_per_output_token=1.0)

    rows = values(
        database,
        "from low_load_penalty",
        *("energy_ratio_to_best", "extra_wh_per_million_output_tokens", "saving_over_next_smaller"),
    )
    assert rows == [(4.0, 1111.11 * 0.75, None), (1.0, 0.0, 0.75)]


# --- energy_at -----------------------------------------------------------------------------------------


@pytest.fixture
def curve(database):
    """4 J at 10 sequences, 1 J at 1000 (of two repeats), and another setup at 10 alone."""
    add_run(database, max_num_seqs=10, joules_per_output_token=4.0)
    add_run(database, max_num_seqs=1000, joules_per_output_token=0.5, repeat=1)
    add_run(database, max_num_seqs=1000, joules_per_output_token=1.5, repeat=2)
    add_run(database, max_num_seqs=10, joules_per_output_token=8.0, num_gpus=2)
    return database


def energy_at(database, concurrency):
    return values(database, f"from energy_at({concurrency})", "joules_per_output_token", "how")


def test_a_measured_point_is_that_point(curve):
    assert energy_at(curve, 10) == [(4.0, "measured"), (8.0, "measured")]
    assert energy_at(curve, 1000)[0] == (1.0, "measured")


def test_between_points_the_logarithms_are_linear(curve):
    """Half-way in the logarithm, at 100, lies the geometric mean: 2 J, which are 555.55… Wh per million."""
    (row, _) = answer(curve, "from energy_at(100)")

    assert row["joules_per_output_token"] == pytest.approx(2.0, rel=1e-12)
    assert row["wh_per_million_output_tokens"] == pytest.approx(2.0 / 3600 * 1e6, rel=1e-12)
    assert (row["how"], row["lower_max_num_seqs"], row["upper_max_num_seqs"]) == ("interpolated", 10, 1000)
    assert (row["lower_joules_per_output_token"], row["upper_joules_per_output_token"]) == (4.0, 1.0)
    for concurrency in (10.000001, 11, 37.5, 999, 999.999999):
        expected = 4.0 * (1.0 / 4.0) ** (math.log(concurrency / 10) / math.log(100))
        (joules, how), _ = energy_at(curve, concurrency)
        assert joules == pytest.approx(expected, rel=1e-9)
        assert 1.0 <= joules <= 4.0
        assert how == "interpolated"


@pytest.mark.parametrize("concurrency", [9, 9.999, 1001])
def test_outside_the_measured_range_there_is_no_number(curve, concurrency):
    assert energy_at(curve, concurrency)[0] == (None, "not measured beyond 10 to 1000")


def test_energy_at_every_measured_point_is_the_measurement(everything):
    """On all data: the mean of the runs there."""
    for (size,) in everything.execute("select distinct max_num_seqs from configuration").fetchall():
        computed = everything.execute(
            f"select task, model, gpu, num_gpus, expert_parallel, joules_per_output_token from energy_at({size})"
            " where how = 'measured'"
        ).fetchall()
        expected = everything.execute(
            "select task, model, gpu, num_gpus, expert_parallel, avg(joules_per_output_token)"
            " from configuration_detail where is_current and max_num_seqs = ? group by all",
            [size],
        ).fetchall()
        assert sorted(computed) == sorted(expected)


# --- footprint, request_energy, deployment_plan --------------------------------------------------------


@pytest.fixture
def places(database):
    """One run of 1 J a token (0.2777… Wh for a thousand), 400 tokens/s, 400 W, 350 tokens; three scenarios."""
    add_run(database)
    unknown = {"currency": None, "price_source": None, "gco2e_source": None, "litres_source": None}
    whole = {"currency": "EUR", "price_source": "x", "gco2e_source": "x", "litres_source": "x", "pue_source": "x"}
    insert(
        database, "scenario", name="here", pue=1.5, price_per_kwh=0.2, gco2e_per_kwh=100, litres_per_kwh=2, **whole
    )
    insert(
        database, "scenario", name="ideal", pue=1.0, price_per_kwh=0.1, gco2e_per_kwh=10, litres_per_kwh=0, **whole
    )
    insert(database, "scenario", name="unknown", pue=2.0, pue_source="x", **unknown)
    database.commit()  # an error would end the transaction, and with it the rows
    return database


def test_a_footprint_by_hand(places):
    """277.78 Wh x 1.5 = 416.67 Wh; x 0.2 EUR = 0.083334; x 100 g = 41.667 g; 0.27778 kWh x 2 l = 0.55556 l."""
    rows = values(
        places,
        "from footprint",
        "scenario",
        "floor_wh_per_million_output_tokens",
        "floor_cost_per_million_output_tokens",
        "floor_gco2e_per_million_output_tokens",
        "floor_litres_per_million_output_tokens",
    )
    assert [row[0] for row in rows] == ["here", "ideal", "unknown"]
    assert rows[0][1:] == pytest.approx((416.67, 0.083334, 41.667, 0.55556), rel=1e-12)
    assert rows[1][1:] == pytest.approx((277.78, 0.027778, 2.7778, 0.0), rel=1e-12)
    assert rows[2][1:] == (555.56, None, None, None)


def test_a_requests_energy_by_hand(places):
    """350 tokens of 1 J: 350 J are 97.222 mWh, with a PUE of 1.5 0.14583 Wh."""
    (row, ideal, unknown) = answer(places, "from request_energy")

    assert row["floor_wh_per_request"] == pytest.approx(350 / 3600 * 1.5, rel=1e-12)
    assert row["floor_cost_per_request"] == pytest.approx(350 / 3600 * 1.5 / 1000 * 0.2, rel=1e-12)
    assert row["floor_gco2e_per_request"] == pytest.approx(350 / 3600 * 1.5 / 1000 * 100, rel=1e-12)
    assert row["floor_litres_per_request"] == pytest.approx(350 / 3600 / 1000 * 2, rel=1e-12)
    assert (row["avg_output_tokens"], row["joules_per_request"], row["currency"]) == (350, 350.0, "EUR")
    assert ideal["floor_wh_per_request"] == pytest.approx(350 / 3600, rel=1e-12)
    assert unknown["floor_cost_per_request"] is None


@pytest.mark.parametrize(
    ("demand", "replicas", "last"), [(400, 1, 1.0), (401, 2, 1 / 400), (800, 2, 1.0), (1, 1, 1 / 400), (1000, 3, 0.5)]
)
def test_replicas_are_whole(places, demand, replicas, last):
    """One replica's throughput exactly, and one token more."""
    (row,) = answer(places, f"from deployment_plan({demand})")

    assert (row["replicas"], row["gpus"], row["gpu_watts"]) == (replicas, replicas, replicas * 400.0)
    assert row["last_replica_utilisation"] == pytest.approx(last, rel=1e-9)
    assert (row["scenario"], row["cost_per_month"], row["kgco2e_per_month"]) == (None, None, None)
    assert row["kwh_per_day"] == pytest.approx(replicas * 400 * 24 / 1000, rel=1e-12)


def test_a_plan_by_hand(places):
    """3 x 400 W x 1.5 = 1.8 kW: 43.2 kWh a day, 1,314 kWh a month of 365 / 12 days, at 0.2 EUR and 0.1 kg."""
    (row,) = answer(places, "from deployment_plan(1000, under_scenario := 'here')")

    assert row["kwh_per_day"] == pytest.approx(43.2, rel=1e-12)
    assert row["cost_per_month"] == pytest.approx(262.8, rel=1e-12)
    assert row["kgco2e_per_month"] == pytest.approx(131.4, rel=1e-12)
    assert (row["scenario"], row["pue"], row["currency"]) == ("here", 1.5, "EUR")


def test_a_plan_keeps_its_limits(places):
    """Just missed, by the median or the tail: no replicas, and the nearest is named. Just kept: the plan."""
    (row,) = answer(places, "from deployment_plan(1000, max_median_itl_ms := 10)")
    assert (row["qualifies"], row["replicas"], row["gpu_watts"]) == (False, None, None)
    assert (row["nearest_row_id"], row["nearest_limit"]) == ("small/H100/1/8", "max_median_itl_ms")
    (row,) = answer(places, "from deployment_plan(1000, max_p99_itl_ms := 22.9)")
    assert (row["qualifies"], row["replicas"], row["nearest_limit"]) == (False, None, "max_p99_itl_ms")
    for within in ("max_p99_itl_ms := 23", "max_median_itl_ms := 20"):
        (row,) = answer(places, f"from deployment_plan(1000, {within})")
        assert (row["qualifies"], row["replicas"], row["nearest_limit"]) == (True, 3, None)


def test_an_unknown_scenario_is_an_error(places):
    """Its figures would look like those of no scenario."""
    for columns in ("*", "count(*)", "model"):
        with pytest.raises(duckdb.InvalidInputException, match="expected the name of a scenario, got nowhere"):
            places.execute(f"select {columns} from deployment_plan(1000, under_scenario := 'nowhere')").fetchall()


@pytest.mark.parametrize("nothing", ["0", "-10", "null"])
def test_a_demand_or_concurrency_that_is_none_is_an_error(places, nothing):
    """Its plan would look like one."""
    for macro in ("deployment_plan", "energy_at"):
        with pytest.raises(duckdb.InvalidInputException, match="expected a number above 0"):
            places.execute(f"select count(*) from {macro}({nothing})").fetchall()


def test_only_current_runs_count(database):
    """In every one of them: an older release's cheaper run is history."""
    add_run(database, joules_per_output_token=0.1)
    newer = add_release(database, 2, compiled="2026-02-01", data_version="2026-02-01")
    add_run(database, model_key=add_model(database, 2, release_key=newer))
    insert(database, "scenario", name="here", pue=1.0, pue_source="x")

    for sql in (
        "from pick()",
        "from energy_at(8)",
        "from energy_latency_frontier",
        "from low_load_penalty",
        "from footprint",
        "from deployment_plan(1)",
        "from architecture_comparison",
        "from pick_by_budget where budget_ms = 25",
    ):
        assert {str(row["data_version"]) for row in answer(database, sql)} == {"2026-02-01"}, sql
