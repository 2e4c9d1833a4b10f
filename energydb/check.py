"""Holds a database file against what it promises: schema, keys, views, and the data's own rules."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb

from energydb.catalog import describe, reading
from energydb.tables import Base
from energydb.views import read_views


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
        yield from _tables(connection)
        yield from _foreign_keys(connection)
        yield from _views(connection)


def _tables(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    for table in Base.metadata.sorted_tables:
        expected = [column.name for column in table.columns]
        got = [column.name for column in describe(connection, table.name)]
        if expected != got:
            yield Result(f"table {table.name}", f"expected the columns {expected}, got {got}", False)
        else:
            yield Result(
                f"table {table.name}",
                f"{_value(connection, f'select count(*) from {table.name}')} rows",
                True,
            )


def _foreign_keys(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    broken = 0
    keys = [key for table in Base.metadata.sorted_tables for key in table.foreign_keys]
    for key in keys:
        child, parent = key.parent, key.column
        lost = _value(
            connection,
            f"select count(*) from {child.table.name} as child anti join {parent.table.name} as parent"
            f" on child.{child.name} = parent.{parent.name} where child.{child.name} is not null",
        )
        if lost:
            broken += 1
            yield Result(f"foreign key {child} to {parent}", f"{lost} rows point nowhere", False)
    if not broken:
        yield Result("foreign keys", f"{len(keys)} hold", True)


def _views(connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    for view in read_views():
        if view.is_macro:
            found = _value(connection, f"select count(*) from duckdb_functions() where function_name = '{view.name}'")
            yield Result(f"macro {view.name}", "there" if found else "isn't there", bool(found))
            continue
        try:
            rows = _value(connection, f"select count(*) from {view.name}")
            key = ", ".join(view.key)
            repeated = _value(
                connection,
                f"select count(*) from (select 1 from {view.name} group by {key} having count(*) > 1)",
            )
        except duckdb.Error as error:
            yield Result(f"view {view.name}", f"can't be read: {str(error).splitlines()[0]}", False)
            continue
        bare = [column.name for column in describe(connection, view.name) if not column.comment]
        if bare:
            yield Result(f"view {view.name}", f"no comment on {', '.join(bare)}", False)
        elif repeated:
            yield Result(f"view {view.name}", f"{repeated} keys ({key}) come more than once", False)
        elif view.name == "data_quality" and rows:
            yield Result("view data_quality", f"{rows} findings", False)
        else:
            yield Result(f"view {view.name}", f"{rows} rows", True)


def _value(connection: duckdb.DuckDBPyConnection, sql: str) -> object:
    row = connection.execute(sql).fetchone()
    return row and row[0]
