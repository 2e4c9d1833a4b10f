"""Holds a database file against what it promises: schema, rows, keys, views, and the data's own rules."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
from sqlalchemy import Table

from energydb.paths import newest_revision
from energydb.store import tables
from energydb.store.definitions import as_made_now, defined
from energydb.store.sandbox import reading
from energydb.store.views import read_views

MISSING = "isn't there"
# Tables whose rows aren't of files, and can't be counted before the others are there.
_NOT_COUNTED = {table.__tablename__ for table in (tables.Loaded, tables.AlembicVersion, tables.MarkedRun)}


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
        yield Result(f"{path}: schema", newest_revision(), True)  # a file of another isn't opened at all
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
    expected, got = as_made_now(), defined(connection)
    unlike = [(name, kind) for name, kind in expected if got.get((name, kind)) != expected[name, kind]]
    for name, kind in unlike:
        parent = name.partition(".")[0]
        if kind == "column" and any(parent == other for other, _ in unlike):
            continue  # its table or view is named already
        found = "not as energydb makes it" if (name, kind) in got else MISSING
        yield Result(f"{kind} {name}", found, False)
    if not unlike:
        yield Result("definitions", f"{len(expected)} as energydb makes them", True)


def _tables(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    for table in tables.Base.metadata.sorted_tables:
        try:
            # Every value is read: a count alone would pass over a damaged block.
            rows = _count(connection, f"from {table.name} where hash({table.name}) is not null")
            yield Result(f"table {table.name}", f"{rows} rows", True)
        except duckdb.Error as error:
            yield Result(f"table {table.name}", _unreadable(error), False)


def _rows(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    """Hold the rows of each table, of each file, against those that were counted as they were loaded."""
    loaded: dict[str, dict[int | None, int]] = {}
    repeated = 0
    for name, file_key, count in connection.execute("select table_name, file_key, rows from loaded").fetchall():
        repeated += file_key in loaded.setdefault(name, {})
        loaded[name][file_key] = count
    names: dict[int | None, str] = dict(connection.execute("select file_key, file_name from file").fetchall())
    short = 0
    for table in tables.Base.metadata.sorted_tables:
        name = table.name
        if name in _NOT_COUNTED:
            continue
        path = _joins_to_model(table)
        of_file = "null" if path is None else "model.file_key"
        got = dict(connection.execute(f"select {of_file}, count(*) from {name} {path or ''} group by 1").fetchall())
        expected = loaded.pop(name, {})
        for file_key in expected.keys() | got.keys():
            if expected.get(file_key, 0) != got.get(file_key, 0):
                short += 1
                where = f"table {name}" if path is None else f"file {names.get(file_key, file_key)}: {name}"
                found = f"expected {expected.get(file_key, 0)} rows, as were loaded, got {got.get(file_key, 0)}"
                yield Result(where, found, False)
    if loaded or repeated:
        short += 1
        found = f"{sum(map(len, loaded.values())) + repeated} rows that no load makes"
        yield Result("table loaded", found, False)
    if not short:
        yield Result("rows of files", f"all there, of {len(names)} files", True)


def _joins_to_model(table: Table) -> str | None:
    """Return the joins that lead from each of a table's rows to its model, and so its file; None where none do."""
    if table.name == "model":
        return ""
    keys = [key for key in table.foreign_keys if not key.parent.nullable]
    for key in sorted(keys, key=lambda key: key.column.table.name != "model"):
        parent = key.column.table
        further = _joins_to_model(parent)
        if further is not None:
            return f"join {parent.name} on {parent.name}.{key.column.name} = {table.name}.{key.parent.name} {further}"
    return None


def _foreign_keys(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    broken = 0
    keys = [key for table in tables.Base.metadata.sorted_tables for key in table.foreign_keys]
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


def _unique_runs(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    """Hold that no run comes twice, and none of its bins: the load checks it, and no index keeps it."""
    told_by = {
        table.__tablename__: ("model_key", *kind.SETTING, "repeat") for kind, table in tables.RUN_TABLES.items()
    }
    told_by[tables.OutputLengthBin.__tablename__] = ("configuration_key", "bin")
    for name, columns in told_by.items():
        twice = _count(connection, f"from (select 1 from {name} group by {', '.join(columns)} having count(*) > 1)")
        found = f"{twice} come more than once" if twice else "each once"
        yield Result(f"runs in {name}", found, not twice)


def _marks(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    """Hold the marks of runs, which load works out once, against what they are worked out from."""
    stored, worked_out = (
        f"select kind, run_key, has_finding, is_withdrawn from {name}" for name in ("marked_run", "run_mark")
    )
    unlike = _count(connection, f"from (({stored} except {worked_out}) union ({worked_out} except {stored}))")
    marked = _count(connection, "from marked_run")
    found = f"{unlike} unlike those of run_mark" if unlike else f"{marked} as run_mark has them"
    yield Result("marks of runs", found, not unlike)


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
    "rows of files": _rows,
    "foreign keys": _foreign_keys,
    "runs": _unique_runs,
    "marks of runs": _marks,
    "published picks": _published_picks,
    "views": _views,
}


def _unreadable(error: duckdb.Error) -> str:
    return f"can't be read: {str(error).splitlines()[0]}"


def _count(connection: duckdb.DuckDBPyConnection, of: str) -> int:
    ((count,),) = connection.execute(f"select count(*) {of}").fetchall()
    return int(count)
