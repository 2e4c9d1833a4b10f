"""The schema of a new file, laid out in one go: declared tables, the revision, comments, views and macros."""

import functools
from typing import Any

import sqlalchemy
from duckdb_engine import Dialect
from sqlalchemy import Column, Connection
from sqlalchemy.schema import CreateTable

from energydb.paths import newest_revision
from energydb.sql import literal
from energydb.store import views
from energydb.store.tables import AlembicVersion, Base


def lay_out(connection: Connection) -> None:
    """Make all that a new file holds but its rows and macros: what the migrations lead to, without Alembic."""
    execute = connection.exec_driver_sql
    # Hundreds of small statements: to optimize each, or to wake other threads for it, costs more than it brings.
    execute("set threads = 1")
    execute("pragma disable_optimizer")
    execute(_tables())
    connection.execute(sqlalchemy.insert(AlembicVersion).values(version_num=newest_revision()))
    comment_and_create_views(connection)
    execute("pragma enable_optimizer")
    execute("reset threads")


def comment_and_create_views(connection: Connection) -> None:
    """Comment each table and column as declared, then create the views, commented by themselves or by the tables."""
    connection.exec_driver_sql(_comments())
    views.create_views(connection.exec_driver_sql, _column_comments())


def create_macros(connection: Connection) -> None:
    """Create the macros, bound to the build that is loaded: in another database they refuse to answer."""
    digests = connection.exec_driver_sql("select digest from build").scalars().all()
    views.create_macros(connection.exec_driver_sql, digests[0] if digests else None)


def drop_views(connection: Connection) -> None:
    """Drop views and macros: left in place, they would break silently when a column that they read goes."""
    views.drop_views(connection.exec_driver_sql)


@functools.cache
def _tables() -> str:
    dialect = Dialect()
    return ";\n".join(str(CreateTable(table).compile(dialect=dialect)) for table in Base.metadata.sorted_tables)


@functools.cache
def _comments() -> str:
    tables = Base.metadata.sorted_tables
    of_tables = [f"comment on table {table.name} is {literal(table.comment or '')}" for table in tables]
    of_columns = [
        f"comment on column {table}.{column} is {literal(said)}"
        for table, columns in _column_comments().items()
        for column, said in columns.items()
    ]
    return ";\n".join(of_tables + of_columns)


def _column_comments() -> dict[str, dict[str, str]]:
    """Return what the tables say of their columns: by table, then column."""
    return {
        table.name: {column.name: _comment(column) for column in table.columns}
        for table in Base.metadata.sorted_tables
    }


def _comment(column: Column[Any]) -> str:
    """Return what is said of a column, or else of the one that it references."""
    return column.comment or "".join(_comment(key.column) for key in column.foreign_keys)
