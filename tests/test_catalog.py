"""Asking: one plain question, of this file and of nothing else."""

from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from energydb.ask.catalog import ask, closest_name, describe, names
from energydb.errors import DataError, QueryError, UsageError
from energydb.store.sandbox import reading


@pytest.fixture
def asked(seed_database):
    with reading(seed_database) as connection:
        yield connection


@pytest.mark.parametrize(
    "question",
    [
        "select 1",
        "from best_pick;",
        "-- a comment\nselect 1 -- another",
        "with a as (select 1) from a",
        "values (1)",
        "describe best_pick",
        "summarize gpu",
        "show tables",
        "explain select 1",
        "explain from best_pick;",
        "explain(select 1)",
        "-- a comment\nEXPLAIN /* another */ Analyze select 1",
        "explain (analyze) select 1",
        "explain (format json) select 1",
        "select model, max(tokens_per_second) from configuration_detail group by all",
    ],
)
def test_a_plain_question_is_answered(asked, question):
    assert list(ask(asked, question).rows())


ATTEMPTS = [
    "select * from read_csv('/etc/passwd')",
    "select * from read_text('/etc/passwd')",
    "select * from read_blob('/etc/passwd')",
    "select * from read_json('/etc/passwd')",
    "select * from read_parquet('/etc/passwd')",
    "select * from '/etc/passwd'",
    "select * from '../*.csv'",
    "select * from glob('/*')",
    "select * from read_csv('https://example.com/x.csv')",
    "select * from sniff_csv('/etc/passwd')",
    "select * from parquet_metadata('/etc/passwd')",
    "select getenv('HOME')",
    "select * from duckdb_secrets()",
    "copy (select 1) to '/tmp/energydb-attempt'",
    "copy gpu from '/etc/passwd'",
    "export database '/tmp/energydb-attempt'",
    "import database '/tmp/energydb-attempt'",
    "attach '/tmp/energydb-attempt.duckdb'",
    "attach ':memory:' as other",
    "detach energy",
    "use energy",
    "install httpfs",
    "load json",
    "load '/tmp/energydb-attempt.so'",
    "set enable_external_access = true",
    "set temp_directory = '/tmp'",
    "reset enable_external_access",
    "pragma enable_profiling",
    "pragma database_list",
    "call force_checkpoint()",
    "from force_checkpoint()",
    "checkpoint",
    "vacuum",
    "insert into gpu values ('X', 1, 1, 'x')",
    "update gpu set name = 'X'",
    "delete from gpu",
    "with gone as (delete from published_pick returning 1) from gone",
    "drop view best_pick",
    "create table mine as select 1",
    "create temp table mine as select 1",
    "create or replace view best_pick as select 1",
    "alter table gpu rename to mine",
    "begin",
    "prepare p as select 1",
    "execute p",
    "explain analyze delete from published_pick",
    "explain analyze copy (select 1) to '/tmp/energydb-attempt'",
    "select 1; select 2",
    "select 1; drop view best_pick",
    "",
    ";",
    "-- nothing",
    "select",
    "select * from query('drop view best_pick')",
    "select * from os",
    "from sys",
]


def test_anything_else_is_refused(asked, proved):
    """It can't write, nor read any other file, attach, install, load, set or call out: on one line."""
    refused = []
    for attempt in ATTEMPTS:
        try:
            list(ask(asked, attempt).rows())
        except QueryError as error:
            refused.append((attempt, len(str(error).splitlines())))

    assert refused == [(attempt, 1) for attempt in ATTEMPTS]
    proved("SQL given to `query`", f"{len(ATTEMPTS)} attempts", f"{len(refused)} refused")


WRITING = [
    "copy (select 1) to '{spill}/x'",
    "copy (select 1) to (current_setting('temp_directory') || '/x')",
    "create table mine as select 1",
    "insert into gpu values ('X', 1, 1, 'x')",
    "explain analyze copy (select 1) to '{spill}/x'",
    "execute p",
    "select 1; copy (select 1) to '{spill}/x'",
]
WRAPPINGS = [
    "explain {}",
    "explain analyze {}",
    "EXPLAIN ANALYZE {}",
    "explain (analyze) {}",
    "explain (format json) {}",
    "explain analyze (format json) {}",
    "/* explain */ explain -- select\n analyze /* select */ {}",
    "explain/**/analyze/**/{}",
    "explain\tanalyze\n{}",
]


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_what_explain_wraps_is_a_select(asked, wrapping):
    """EXPLAIN ANALYZE runs what it wraps, and where a question may spill it could write."""
    (spill,) = asked.execute("select current_setting('temp_directory')").fetchone()
    for statement in WRITING:
        with pytest.raises(QueryError):
            list(ask(asked, wrapping.format(statement.format(spill=spill))).rows())
    assert list(Path(spill).iterdir()) == []
    assert list(ask(asked, wrapping.format("select 1")).rows())


def test_a_fault_while_rows_are_fetched_is_a_query_error(asked):
    """Not all faults show before the first row."""
    with pytest.raises(QueryError, match="Could not convert"):
        list(ask(asked, "select cast(slug as integer) from model").rows())


def test_a_near_name_is_named(asked):
    with pytest.raises(QueryError, match=r'got "best_pik"; did you mean best_pick or '):
        closest_name(asked, "best_pik")
    with pytest.raises(QueryError, match="`energydb views` lists them"):
        closest_name(asked, "zzz")


def test_names_lists_views_and_macros_before_tables(asked):
    found = names(asked)

    assert found[:2] == ["architecture_comparison", "best_image_pick"]
    assert "pick" in found
    assert found.index("provenance") < found.index("alembic_version")
    assert closest_name(asked, "GPU") == "gpu"


def test_columns_carry_their_comments(asked):
    described = {column.name: column for column in describe(asked, "best_pick")}

    assert described["median_itl_ms"] == ("median_itl_ms", "DOUBLE", "Median inter-token latency, ms.")


def test_what_is_no_energydb_file_is_said(tmp_path):
    """By kind: no file, no database, another database."""
    none, text, other = tmp_path / "none", tmp_path / "text", tmp_path / "other.duckdb"
    text.write_text("text " * 1000)
    duckdb.connect(str(other)).close()

    with pytest.raises(UsageError, match="no such file; `energydb load` builds one"), reading(none):
        pass
    with pytest.raises(DataError, match="got something else than a DuckDB file"), reading(text):
        pass
    with pytest.raises(DataError, match="expected an energydb file, got another"), reading(other):
        pass


def test_a_large_sort_does_not_write_beside_the_file(seed_database, monkeypatch):
    """What memory doesn't hold spills to a folder of its own, which is gone afterwards."""
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "64M")  # DuckDB takes it for the memory that there is
    with reading(seed_database) as connection:
        ((folder,),) = ask(connection, "select current_setting('temp_directory')").rows()
        rows = ask(connection, "select range, cast(hash(range) as varchar) from range(1000000) order by 2").rows()
        next(rows)
        spilled = sum(path.stat().st_size for path in Path(folder).iterdir())
        beside = [path.name for path in seed_database.parent.iterdir()]

    assert spilled > 2**20
    assert beside == [seed_database.name]
    assert not Path(folder).exists()


def test_exact_rows_hold_what_python_has_no_value_for(asked):
    """Nanoseconds, intervals of months and days, bytes and infinity: in DuckDB's own words."""
    sql = (
        "select 1.5 as a, interval '-1 month 3 days' as b, blob '\\xAA' as c,"
        " timestamp_ns '2020-01-01 00:00:00.123456789' as d, timestamp 'infinity' as e, null as f"
    )

    assert list(ask(asked, sql).exact_rows()) == [
        (Decimal("1.5"), "-1 month 3 days", "\\xAA", "2020-01-01 00:00:00.123456789", "infinity", None)
    ]
    assert list(ask(asked, "select 1 as a, 0.1::double as b, true as c").exact_rows()) == [(1, 0.1, True)]


def test_decimals_and_whole_numbers_of_any_length_are_numbers(asked):
    """With all their digits; an order that was asked for stays."""
    sql = "select -1.50::decimal(9,2) as a, -12345678901234567890123::bignum as b, date '2020-01-01' as c"

    for end in ("", ";", "; -- so;", " /* ; */ ;;", " -- 模型;"):
        rows = ask(asked, f"{sql}{end}").exact_rows()
        assert list(rows) == [(Decimal("-1.50"), -12345678901234567890123, "2020-01-01")]
    assert list(ask(asked, "select '模;', $$;$$, date '2020-01-01' as \"a;\";").exact_rows()) == [
        ("模;", ";", "2020-01-01")
    ]
    ordered = ask(asked, "select range, date '2020-01-01' as day from range(3000) order by range desc").exact_rows()
    assert [row[0] for row in ordered] == list(range(2999, -1, -1))


@pytest.mark.slow
def test_exact_rows_come_as_they_are_read(asked):
    """The first of many before the last is known to be at fault."""
    sql = "select date '2020-01-01' as day, if(range = 4000000, error('the last'), range) from range(4000001)"
    rows = ask(asked, sql).exact_rows()

    assert next(rows) == ("2020-01-01", 0)
    with pytest.raises(QueryError, match="the last"):
        list(rows)
