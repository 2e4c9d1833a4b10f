"""Every view and macro against a recomputation in plain Python: row by row, column by column, in order."""

import json
import math
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import energydb
from energydb.load import load
from energydb.paths import SCENARIOS, newest_revision
from energydb.sources import leaderboard
from energydb.store import facts
from energydb.store.views import literal, read_views
from tests.conftest import answer
from tests.crowd import crowd, fill
from tests.recomputed import DECLARED, rows_of
from tests.recomputed.declared import World, order_of, sortable
from tests.recomputed.worlds import world_of_leaderboard, world_of_tables

FOLDER = os.environ.get("ENERGYDB_LEADERBOARD")
VIEWS = [view.name for view in read_views() if not view.is_macro]
PLACES = ("crowd", "everything")

# Of each limit a value that some runs keep, and one that none does.
ITLS = {"median": 20.0, "p90": 25.0, "p95": 30.0, "p99": 40.0}
LIMITS = [
    *((f"max_{percentile}_itl_ms", value, 1.0) for percentile, value in ITLS.items()),
    ("min_tokens_per_second", 400.0, 1e6),
    ("max_gpu_power_watts_total", 30.0, 0.5),
    ("max_num_gpus", 1, None),
    ("only_precision", "fp8", None),
]
PICKS: list[dict[str, Any]] = [
    {},
    *({limit: value} for limit, *values in LIMITS for value in values if value),
    {"max_num_gpus": 2},
    {"without_findings": True},
    {"without_findings": False, "max_num_gpus": 2},
    {"without_findings": True, "max_p99_itl_ms": 25.0, "min_tokens_per_second": 600.0},
    # None keeps them, and some runs miss both by the same: the one named first is named.
    {"max_median_itl_ms": 5.0, "max_p90_itl_ms": 5.0},
    {"max_p95_itl_ms": 5.0, "max_p99_itl_ms": 5.0},
    {"only_precision": "BF16"},
    {"max_median_itl_ms": 25.0, "max_p90_itl_ms": 25.0, "max_p95_itl_ms": 26.0, "max_p99_itl_ms": 29.0},
    {"max_p95_itl_ms": 30.0, "max_num_gpus": 1, "min_tokens_per_second": 600.0},
    {
        "max_median_itl_ms": 300.0,
        "max_p90_itl_ms": 290.0,
        "max_p95_itl_ms": 280.0,
        "max_p99_itl_ms": 300.0,
        "min_tokens_per_second": 50.0,
        "max_gpu_power_watts_total": 900.0,
        "max_num_gpus": 3,
        "only_precision": "bf16",
    },
]
PLANS: list[dict[str, Any]] = [
    {},
    {"under_scenario": "sea"},
    {"under_scenario": "hill"},
    {"under_scenario": "bog", "max_median_itl_ms": 50.0, "max_p99_itl_ms": 90.0},
    *({f"max_{percentile}_itl_ms": value} for percentile in ("median", "p99") for value in (50.0, 1.0)),
]
# Measured, between measured, and beyond.
CONCURRENCIES = (8, 16, 12.5, 24, 40, 4, 1000)
MACROS = [
    *(("pick", limits) for limits in PICKS),
    *(("deployment_plan", {"demand_tokens_per_second": 5000.0, **limits}) for limits in PLANS),
    ("deployment_plan", {"demand_tokens_per_second": 0.5}),
    *(("energy_at", {"at_concurrency": at}) for at in CONCURRENCIES),
]


def asked(name: str, arguments: dict[str, Any]) -> str:
    """Write the call of a macro."""
    said = (
        f"{parameter} := {literal(value) if isinstance(value, str) else value}"
        for parameter, value in arguments.items()
    )
    return f"{name}({', '.join(said)})"


def is_same(got: Any, expected: Any) -> bool:
    """Hold a value against the recomputed one: the order of additions may change the last digits."""
    if isinstance(got, float) or isinstance(expected, float):
        return None not in (got, expected) and math.isclose(got, expected, rel_tol=1e-12, abs_tol=1e-15)
    return got == expected and type(got) is type(expected)


def unlike(
    connection: duckdb.DuckDBPyConnection, world: World, name: str, arguments: dict[str, Any] | None = None
) -> list[Any]:
    """Return what the database says otherwise than the recomputation: columns, order, number of rows, values."""
    declared = DECLARED[name]
    cursor = connection.execute(f"from {asked(name, arguments) if arguments is not None else name}")
    columns = tuple(column[0] for column in cursor.description)
    if tuple(name for name in columns if name in declared.columns or not declared.and_more) != declared.columns:
        return ["columns", columns, declared.columns]
    got = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    expected = rows_of(world, name, **(arguments or {}))
    orders = [[order_of(declared, row) for row in rows] for rows in (got, expected)]
    if orders[0] != orders[1]:
        places = (place for place, (one, other) in enumerate(zip(*orders, strict=False)) if one != other)
        place = next(places, min(map(len, orders)))
        return ["order", len(got), len(expected), [order[place : place + 1] for order in orders]]
    # Rows that the order leaves side by side may come either way.
    for rows in (got, expected) if len(set(orders[0])) < len(got) else ():
        rows.sort(key=lambda row: (order_of(declared, row), sortable(*(roughly(row[name]) for name in columns))))
    return [
        (column, row[column], recomputed[column], row)
        for row, recomputed in zip(got, expected, strict=True)
        for column in columns
        if not is_same(row[column], recomputed[column])
    ][:3]


def roughly(value: Any) -> str | None:
    """Write a value so that rounding doesn't change its place."""
    return f"{value:.9g}" if isinstance(value, float) else None if value is None else str(value)


def opened_alone(path: Path) -> duckdb.DuckDBPyConnection:
    """Open a small file: more threads would only wait for each other."""
    return duckdb.connect(str(path), read_only=True, config={"threads": 1})


@pytest.fixture(scope="module")
def make_crowd(empty_database, tmp_path_factory):
    """Return a way to fill an empty database with rows."""

    def make(tables: dict[str, list[dict[str, Any]]]) -> Path:
        path = tmp_path_factory.mktemp("crowd") / "energy.duckdb"
        shutil.copyfile(empty_database, path)
        with duckdb.connect(str(path)) as connection:
            fill(connection, tables)
        return path

    return make


@pytest.fixture(scope="module")
def places(make_crowd, everything_database) -> Iterator[dict[str, tuple[duckdb.DuckDBPyConnection, World]]]:
    """The crowd, and something of all that can be loaded; each with its tables."""
    paths = {"crowd": make_crowd(crowd()), "everything": everything_database}
    opened = {place: opened_alone(path) for place, path in paths.items()}
    yield {place: (connection, world_of_tables(connection)) for place, connection in opened.items()}
    for connection in opened.values():
        connection.close()


def test_every_view_has_a_recomputation():
    """A new view without one isn't tested."""
    assert sorted(DECLARED) == sorted(view.name for view in read_views())


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_says_what_its_header_means(places, place, name):
    """Its columns, its order, its rows, and every value of them."""
    connection, world = places[place]

    assert unlike(connection, world, name) == []


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("name", "arguments"), MACROS, ids=str)
def test_a_macro_says_what_its_header_means(places, place, name, arguments):
    """With each limit alone, at a value that some runs keep and at one that few or none do, and with several."""
    connection, world = places[place]
    if place != "crowd" and "under_scenario" in arguments:
        arguments = {**arguments, "under_scenario": "us-average"}

    assert unlike(connection, world, name, arguments) == []


MARKS = {"has_finding", "is_withdrawn"}


@pytest.mark.parametrize("name", VIEWS)
def test_the_crowd_is_seen_in_every_view(places, name):
    """A view without rows would say what it means whatever it says, and so would a column that never changes."""
    _, world = places["crowd"]
    rows = rows_of(world, name)
    values = {column: {row[column] for row in rows} for column in DECLARED[name].columns}

    assert len(rows) >= 3
    same = {column for column, different in values.items() if len(different) == 1}
    assert same <= {"energydb_version", "schema_revision", "batch_latency_deadline_s", "precision", *MARKS}
    assert [column for column in same if values[column] == {None}] == []


@pytest.mark.parametrize(("limit", "some_keep", "none_keeps"), LIMITS)
def test_each_limit_limits_something(places, limit, some_keep, none_keeps):
    """A limit that no pick minds would go unnoticed if it were dropped."""
    _, world = places["crowd"]
    free, within = (rows_of(world, "pick", **given) for given in ({}, {limit: some_keep}))

    assert {row["qualifies"] for row in within} == {True, False}
    assert any(row["qualifies"] and row != unlimited for row, unlimited in zip(within, free, strict=True))
    if none_keeps:
        assert {row["qualifies"] for row in rows_of(world, "pick", **{limit: none_keeps})} == {False}


# --- What none but the views about history may mind ----------------------------------------------------

ABOUT_ALL_RELEASES = {
    *("measured_run", "provenance", "contents", "model_detail", "model_history", "release_change", "data_quality"),
    *("configuration_detail", "image_configuration_detail", "video_configuration_detail", "curve_point"),
    *("release_detail", "withdrawn_run", "run_mark", "notice"),
}
OF_NOW = [name for name in VIEWS if name not in ABOUT_ALL_RELEASES]


def without_models(tables: dict[str, list[dict[str, Any]]], keys: set[int]) -> dict[str, list[dict[str, Any]]]:
    """Leave out models, and all that hangs on them."""
    kept = {name: [row for row in rows if row.get("model_key") not in keys] for name, rows in tables.items()}
    runs = {run["configuration_key"] for run in kept["configuration"]}
    kept["output_length_bin"] = [row for row in kept["output_length_bin"] if row["configuration_key"] in runs]
    return kept


@pytest.fixture(scope="module")
def reduced(places, make_crowd) -> Iterator[dict[str, duckdb.DuckDBPyConnection]]:
    """The crowd without what older releases hold, and without what was measured at the wall."""
    _, world = places["crowd"]
    details = rows_of(world, "model_detail")
    less = {
        "older": {row["model_key"] for row in details if not row["is_current"]},
        "wall": {row["model_key"] for row in details if row["boundary"] == "wall"},
    }
    paths = {left_out: make_crowd(without_models(crowd(), keys)) for left_out, keys in less.items()}
    opened = {left_out: opened_alone(path) for left_out, path in paths.items()}
    yield opened
    for connection in opened.values():
        connection.close()


@pytest.mark.parametrize("name", OF_NOW)
def test_an_older_release_changes_no_row(places, reduced, name):
    """What a newer release replaced is history: it is in the views about history alone."""
    connection, _ = places["crowd"]

    assert answer(connection, f"from {name}") == answer(reduced["older"], f"from {name}")


@pytest.mark.parametrize("name", OF_NOW)
def test_what_is_measured_at_the_wall_changes_no_row_of_gpu_only(places, reduced, name):
    """Two boundaries are two quantities: neither is held against the other."""
    connection, _ = places["crowd"]
    sql = f"from {name} where boundary = 'gpu_only'"

    assert answer(connection, sql) == answer(reduced["wall"], sql)


# --- The publisher's whole data ------------------------------------------------------------------------

whole_leaderboard = pytest.mark.skipif(
    not FOLDER, reason="ENERGYDB_LEADERBOARD doesn't name the leaderboard's folder"
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Iterator[tuple[duckdb.DuckDBPyConnection, World]]:
    """The leaderboard as it was loaded, and as its JSON gives it by itself."""
    path = tmp_path_factory.mktemp("whole") / "energy.duckdb"
    load([Path(FOLDER)], path, strict=True)
    says = leaderboard.SOURCE
    world = world_of_leaderboard(
        Path(FOLDER), says, facts.VENDOR_FACTS, SCENARIOS, energydb.__version__, newest_revision()
    )
    with duckdb.connect(str(path), read_only=True) as connection:
        yield connection, world


def in_order(row: dict[str, Any]) -> list[tuple[str, str]]:
    """Make rows comparable: a number as Python writes it comes back to the last digit."""
    return sorted((name, repr(float(value) if type(value) is int else value)) for name, value in row.items())


@whole_leaderboard
@pytest.mark.sweep
def test_the_tables_are_those_of_the_json(whole):
    """Every row of every table, and every key."""
    connection, world = whole
    loaded = world_of_tables(connection)
    for build in loaded["build"]:
        assert len(build.pop("digest")) == 64  # of all of this: what is the same in it says the same

    assert loaded.tables.keys() == world.tables.keys()
    for name, rows in world.tables.items():
        expected, got = (sorted(map(in_order, some)) for some in (rows, loaded[name]))
        assert got == expected, name


@whole_leaderboard
@pytest.mark.sweep
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_the_whole_leaderboard_is_that_of_the_json(whole, name):
    """From the JSON to the last digit, without energydb."""
    connection, world = whole

    assert unlike(connection, world, name) == []


@whole_leaderboard
@pytest.mark.sweep
@pytest.mark.parametrize(("name", "arguments"), MACROS, ids=str)
def test_a_macro_of_the_whole_leaderboard_is_that_of_the_json(whole, name, arguments):
    """With limits that its runs keep and that they don't."""
    connection, world = whole
    if "under_scenario" in arguments:
        arguments = {**arguments, "under_scenario": "us-average"}

    assert unlike(connection, world, name, arguments) == []


@pytest.fixture(scope="module")
def followed(tmp_path_factory) -> Iterator[tuple[duckdb.DuckDBPyConnection, World]]:
    """The leaderboard after an older release of itself, in which everything needed a quarter more."""
    folder = tmp_path_factory.mktemp("followed")
    shutil.copytree(FOLDER, folder / "older")
    for path in (folder / "older").rglob("*.json"):
        path.chmod(0o644)
        path.write_text(json.dumps(raised(json.loads(path.read_text()))))
    load([Path(FOLDER), folder / "older"], folder / "energy.duckdb", strict=False)
    with duckdb.connect(str(folder / "energy.duckdb"), read_only=True) as connection:
        yield connection, world_of_tables(connection)


def raised(content: Any) -> Any:
    """Raise energy and power in a file of the leaderboard, and date it back."""
    if isinstance(content, list):
        return [raised(part) for part in content]
    if not isinstance(content, dict):
        return content
    return {
        name: "2025-12-01"
        if name == "last_updated"
        else value * 1.25
        if name.startswith("energy_per") or name == "avg_power_watts"
        else raised(value)
        for name, value in content.items()
    }


@whole_leaderboard
@pytest.mark.sweep
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_two_whole_releases_is_what_its_header_means(followed, name):
    """History, and what may not mind it, at its full size."""
    connection, world = followed

    assert unlike(connection, world, name) == []
