"""Holds a database file against what it promises: schema, rows, keys, views, and the data's own rules."""

import functools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from sqlalchemy import ForeignKey

from energydb.sources.records import MEASURED_OF_A_BATCH
from energydb.store import tables
from energydb.store.database import writing
from energydb.store.sandbox import reading
from energydb.store.schema import create_macros, lay_out
from energydb.store.views import read_views

# What DuckDB knows each thing by: its SQL, and its own and its columns' comments. Tables by their columns and
# constraints, which a migrated file has in another order than a new one.
_DEFINITIONS = """
    select
        duckdb_tables.table_name,
        'table',
        concat(any_value(named.columns), string_agg(kept.definition, ', ' order by kept.definition)),
        any_value(duckdb_tables.comment)
    from duckdb_tables()
    join (
        select table_name, string_agg(column_name, ', ' order by column_index) as columns
        from duckdb_columns()
        group by table_name
    ) as named on named.table_name = duckdb_tables.table_name
    left join (
        select table_name, concat(constraint_text, ' of ', cast(constraint_column_names as varchar)) as definition
        from duckdb_constraints()
    ) as kept on kept.table_name = duckdb_tables.table_name
    group by duckdb_tables.table_name
    union all
    select view_name, 'view', sql, comment from duckdb_views() where not internal
    union all
    -- Each file's macros hold its own digest, wherever that is to be found.
    select
        function_name,
        'macro',
        replace(
            concat(array_to_string(parameters, ', '), ' as ', macro_definition),
            coalesce(
                (select any_value(digest) from build),
                nullif(regexp_extract(macro_definition, '[0-9a-f]{64}'), ''),
                'any build'
            ),
            'any build'
        ),
        comment
    from duckdb_functions()
    where function_type = 'table_macro' and not internal
    union all
    select concat(table_name, '.', column_name), 'column', data_type, comment
    from duckdb_columns()
    where not internal
"""


MISSING = "isn't there"


class Result(NamedTuple):
    """One thing that was checked: what, what was found, and whether it's as it must be."""

    what: str
    found: str
    sound: bool


def check_database(path: Path) -> Iterator[Result]:
    """Yield a result for each promise of the file, in the order in which one rests on the other.

    Raises:
        DataError: it isn't an energydb file.
        LockedError: a process holds it open for writing.
    """
    with reading(path) as connection:
        revision = _value(connection, "select any_value(version_num) from alembic_version")
        yield Result(f"{path}: schema", f"{revision}", True)  # another than the newest isn't opened at all
        try:
            definitions = list(_definitions(connection))
        except duckdb.Error as error:
            definitions = [Result("definitions", _unreadable(error), False)]
        yield from definitions
        if any(result.what.startswith(("table", "column")) and result.found == MISSING for result in definitions):
            return  # all else rests on them
        for name, check in _CHECKS.items():
            try:
                yield from check(connection)
            except duckdb.Error as error:
                yield Result(name, _unreadable(error), False)


def _definitions(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    """Hold every table, view, macro and column against what energydb makes."""
    expected, got = _as_made_now(), _defined(connection)
    unlike = [(name, kind) for name, kind in expected if got.get((name, kind)) != expected[name, kind]]
    for name, kind in unlike:
        parent = name.partition(".")[0]
        if kind == "column" and any(parent == other for other, _ in unlike):
            continue  # its table or view is named already
        found = "not as energydb makes it" if (name, kind) in got else MISSING
        yield Result(f"{kind} {name}", found, False)
    if not unlike:
        yield Result("definitions", f"{len(expected)} as energydb makes them", True)


@functools.cache
def _as_made_now() -> dict[tuple[str, str], tuple[str | None, ...]]:
    """Return the definitions of an empty file, made for this: as DuckDB reads them back, which is not as given."""
    with tempfile.TemporaryDirectory(prefix="energydb-") as folder:
        empty = Path(folder) / "empty.duckdb"
        with writing(empty) as making:
            lay_out(making)
            create_macros(making)
        with reading(empty) as fresh:
            return _defined(fresh)


def _defined(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], tuple[str | None, ...]]:
    return {row[:2]: row for row in connection.execute(_DEFINITIONS).fetchall()}


def _tables(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    for table in tables.Base.metadata.sorted_tables:
        try:
            # Every value is read: a count alone would pass over a damaged block.
            rows = _count(connection, f"from {table.name} where hash({table.name}) is not null")
            yield Result(f"table {table.name}", f"{rows} rows", True)
        except duckdb.Error as error:
            yield Result(f"table {table.name}", _unreadable(error), False)


def _documents(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    """Hold the rows that are there against those that were counted as the documents were read."""
    builds = connection.execute("select documents, scenarios, licence_evidence from build").fetchall()
    if len(builds) != 1:
        yield Result("build", f"expected one row, got {len(builds)}", False)
        return
    ((documents, scenarios, evidence),) = builds
    if documents is None:
        yield Result("rows of documents", "not counted: loaded by an energydb that didn't yet", True)
        return
    there = {}
    for table, loaded in (("document", documents), ("scenario", scenarios), ("licence_evidence", evidence)):
        there[table] = got = _count(connection, f"from {table}")
        if got != loaded:
            yield Result(f"table {table}", f"expected {loaded} rows, as many as were loaded, got {got}", False)
    short = connection.execute(_SHORT_OF_ROWS).fetchall()
    for name, what, expected, got in short:
        yield Result(f"document {name}", f"expected {expected} {what}, as it was read with, got {got}", False)
    if not short and there["document"] == documents:
        yield Result("rows of documents", f"all there, of {documents} documents", True)


_SHORT_OF_ROWS = """
with run as (
    select model_key, count(*) as runs
    from (
        select model_key from configuration
        union all
        select model_key from image_configuration
        union all
        select model_key from video_configuration
    )
    group by model_key
),
pick as (
    select model_key, count(*) as picks from published_pick group by model_key
),
bin as (
    select configuration.model_key, count(*) as bins
    from output_length_bin
    join configuration on configuration.configuration_key = output_length_bin.configuration_key
    group by configuration.model_key
),
held as (
    select
        model.document_key,
        count(*) as models,
        coalesce(sum(run.runs), 0) as runs,
        coalesce(sum(pick.picks), 0) as picks,
        coalesce(sum(bin.bins), 0) as bins,
    from model
    left join run on run.model_key = model.model_key
    left join pick on pick.model_key = model.model_key
    left join bin on bin.model_key = model.model_key
    group by model.document_key
),
pair as (
    select
        document_key,
        unnest([
            {'what': 'models', 'expected': document_rows.models, 'got': held.models},
            {'what': 'runs', 'expected': document_rows.runs, 'got': held.runs},
            {'what': 'published picks', 'expected': document_rows.published_picks, 'got': held.picks},
            {'what': 'bins of output lengths', 'expected': document_rows.output_length_bins, 'got': held.bins},
        ], recursive := true),
    from document_rows
    full join held using (document_key)
)
select document.file_name, pair.what, coalesce(pair.expected, 0), coalesce(pair.got, 0)
from pair
join document on document.document_key = pair.document_key
where pair.expected is distinct from pair.got
order by document.document_key, pair.what
"""


def _references() -> list[ForeignKey]:
    """Return every foreign key of every table."""
    return [key for table in tables.Base.metadata.sorted_tables for key in table.foreign_keys]


def _foreign_keys(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    broken = 0
    keys = _references()
    for key in keys:
        child, parent = key.parent, key.column
        lost = _count(
            connection,
            f"from {child.table.name} as child anti join {parent.table.name} as parent"
            f" on child.{child.name} = parent.{parent.name} where child.{child.name} is not null",
        )
        if lost:
            broken += 1
            yield Result(f"foreign key {child} to {parent}", f"{lost} rows point nowhere", False)
    if not broken:
        yield Result("foreign keys", f"{len(keys)} hold", True)


def _nothing_unused(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    """Hold that each source, task, release and GPU is there for something that was loaded."""
    keys = _references()
    unused = 0
    for table in (tables.Source, tables.Task, tables.Release, tables.Gpu):
        uses = [key for key in keys if key.column.table is table.__table__]
        used = " union all ".join(f"select {key.parent.name} as used from {key.parent.table.name}" for key in uses)
        left = _count(connection, f"from {table.__tablename__} anti join ({used}) on used = {uses[0].column.name}")
        if left:
            unused += left
            yield Result(f"table {table.__tablename__}", f"{left} rows that nothing refers to", False)
    if not unused:
        yield Result("sources, tasks, releases and GPUs", "each is used", True)


def _unique_runs(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    """Hold that no run comes twice: the load checks it, and no index keeps it."""
    for table in tables.RUN_TABLES.values():
        if table is tables.Configuration:
            setting = "model_key, gpu, num_gpus, max_num_seqs, repeat"
        else:
            _key, *rest = [column.name for column in table.__table__.columns]
            setting = ", ".join(name for name in rest if name not in MEASURED_OF_A_BATCH)
        twice = _count(
            connection, f"from (select 1 from {table.__tablename__} group by {setting} having count(*) > 1)"
        )
        found = f"{twice} come more than once" if twice else "each once"
        yield Result(f"runs in {table.__tablename__}", found, not twice)


def _published_picks(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    published = _count(connection, "from published_pick")
    other = _count(connection, "from data_quality where check_name = 'published_pick'")
    found = f"{other} differ from the computed ones" if other else f"{published} equal the computed ones"
    yield Result("published picks", found, not other)


def _views(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    for view in read_views():
        if view.is_macro:
            continue
        try:
            key = ", ".join(view.key)
            ((rows, repeated),) = connection.execute(
                "select cast(coalesce(sum(of_key), 0) as bigint), count(*) filter (where of_key > 1)"
                f" from (select count(*) as of_key from {view.name} group by {key})"
            ).fetchall()
        except duckdb.Error as error:
            yield Result(f"view {view.name}", _unreadable(error), False)
            continue
        if repeated:
            yield Result(f"view {view.name}", f"{repeated} keys ({key}) come more than once", False)
        elif view.name == "data_quality" and rows:
            yield Result("view data_quality", f"{rows} findings", False)
        else:
            yield Result(f"view {view.name}", f"{rows} rows", True)


_CHECKS: dict[str, Callable[[duckdb.DuckDBPyConnection], Iterator[Result]]] = {
    "tables": _tables,
    "rows of documents": _documents,
    "foreign keys": _foreign_keys,
    "unused rows": _nothing_unused,
    "runs": _unique_runs,
    "published picks": _published_picks,
    "views": _views,
}


def _unreadable(error: duckdb.Error) -> str:
    return f"can't be read: {str(error).splitlines()[0]}"


def _count(connection: duckdb.DuckDBPyConnection, of: str) -> int:
    return int(_value(connection, f"select count(*) {of}"))


def _value(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    row = connection.execute(sql).fetchone()
    return row and row[0]
