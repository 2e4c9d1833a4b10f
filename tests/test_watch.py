"""What is said below an answer of the rows that went by, in whatever form."""

import json

import duckdb
import pytest

ODD = "select 'inf'::double as x, 'nan'::float as y, 1.5 as z union all by name select '-inf'::double as x, 2.5 as z"
WRITTEN = "infinity or NaN: x 2 values, y 1 value; written as inf, -inf and nan\n"


@pytest.fixture
def ask(energydb, seed_database):
    return lambda sql, *options: energydb("query", sql, "--database", seed_database, *options)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("table", WRITTEN),
        ("csv", WRITTEN),
        ("markdown", WRITTEN),
        ("json", "infinity or NaN: x 2 values, y 1 value; null here, since JSON has no such number\n"),
        ("parquet", "infinity or NaN: x 2 values, y 1 value; kept as they are\n"),
    ],
)
def test_what_is_not_finite_is_told(ask, form, said, tmp_path):
    """On stderr whatever the form, and wherever the answer goes."""
    written = ask(ODD, "--format", form, "--output", "out")
    assert (written.returncode, written.stdout, written.stderr) == (0, "", said)
    if form != "parquet":
        put = ask(ODD, "--format", form)
        assert (put.stdout, put.stderr) == ((tmp_path / "out").read_text(), said)
    finite = ask("select 1.5 as x, 0.1::double as y, null::double as z", "--format", form, "--output", "finite")
    assert (finite.returncode, finite.stderr) == (0, "")


def test_what_is_not_finite_in_each_form(ask, tmp_path):
    assert json.loads(ask(ODD, "--format", "json").stdout) == [
        {"x": None, "y": None, "z": 1.5},
        {"x": None, "y": None, "z": 2.5},
    ]
    assert ask(ODD, "--format", "csv").stdout == "x,y,z\ninf,nan,1.5\n-inf,,2.5\n"
    ask(ODD, "--output", "odd.parquet")
    kept = duckdb.sql(f"select x, isnan(y), z from '{tmp_path}/odd.parquet'").fetchall()
    assert [(x, y, float(z)) for x, y, z in kept] == [(float("inf"), True, 1.5), (float("-inf"), None, 2.5)]


def test_decimals_are_numbers_in_every_form(ask):
    """With their digits, and no apostrophe before those below zero."""
    sql = "select -47.59::decimal(9,2) as d, 1.0 as one, 1e-9::decimal(20,10) as small, true as flag"

    assert ask(sql, "--format", "csv").stdout == "d,one,small,flag\n-47.59,1.0,0.0000000010,true\n"
    assert (
        ask(sql, "--format", "json").stdout
        == '[\n  {"d": -47.59, "one": 1.0, "small": 0.0000000010, "flag": true}\n]\n'
    )
    assert ask(sql, "--format", "markdown").stdout.splitlines()[-1] == "| -47.59 | 1.0 | 0.0000000010 | true |"
    assert ask(sql).stdout.splitlines()[-1] == "-47.59  1.0  0.0000000010  true"


def test_a_table_shows_other_types_as_the_database_writes_them(ask):
    """Not as Python does: Decimal('1.5'), 3 days, 0:00:00."""
    sql = "select [1.5, 2.5] as l, interval 3 days as i, timestamp '2020-01-01 10:00:00.5' as t, '\\xAA'::blob as b"

    assert ask(sql).stdout.splitlines()[-1] == "[1.5, 2.5]  3 days  2020-01-01 10:00:00.5  \\xAA"


@pytest.mark.parametrize("form", ["table", "csv", "markdown", "json", "parquet"])
def test_what_rests_on_doubtful_runs_is_said(ask, form):
    """One line each, of the rows that are shown; none where there are none."""
    sql = (
        "select range, range % 2 = 0 as has_finding, cast(if(range = 3, 7, 0) as {}) as runs_left_out from range({})"
        " union all select null, null, null"
    )
    for kind in ("bigint", "hugeint", "decimal(9, 1)"):
        done = ask(sql.format(kind, 5), "--format", form, "--output", "out")
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == (
            "has_finding: 3 of these rows rest on runs with a finding: energydb query data_quality\n"
            "runs_left_out: 1 of these rows lacks runs that could not be loaded: energydb query left_out\n"
        )
    assert ask(sql.format("bigint", 0), "--format", form, "--output", "out").stderr == ""
    one = ask(sql.format("bigint", 1), "--format", form, "--output", "out").stderr
    assert one == "has_finding: 1 of these rows rests on runs with a finding: energydb query data_quality\n"
