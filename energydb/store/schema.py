"""The schema of a new file, laid out in one go: declared tables, their comments, the revision, the views."""

import functools
from collections.abc import Iterator

from duckdb_engine import Dialect
from sqlalchemy import Connection, Table
from sqlalchemy.schema import CreateTable

from energydb.paths import newest_revision
from energydb.sql import literal
from energydb.store import views
from energydb.store.tables import Base

# As Alembic makes it, so that it finds a file that it can go on with.
_REVISION = """
create table alembic_version (
    version_num varchar(32) not null,
    constraint alembic_version_pkc primary key (version_num)
);
comment on table alembic_version is 'Revision of the schema of this file.';
comment on column alembic_version.version_num is 'Alembic revision of the schema of this file.';
insert into alembic_version values ('{revision}')
"""


def lay_out(connection: Connection) -> None:
    """Make all that a new file holds but its rows and macros: what the migrations lead to, without Alembic."""
    execute = connection.exec_driver_sql
    # Hundreds of small statements: to optimize each, or to wake other threads for it, costs more than it brings.
    execute("set threads = 1")
    execute("pragma disable_optimizer")
    execute(_tables())
    execute(_REVISION.format(revision=newest_revision()))
    create_views(connection)
    execute("pragma enable_optimizer")
    execute("reset threads")


def create_views(connection: Connection) -> None:
    """Create the views, each of their columns commented: by themselves, or by the tables that they read."""
    views.create_views(connection.exec_driver_sql, _table_comments())


def create_macros(connection: Connection) -> None:
    """Create the macros, bound to the build that is loaded: in another database they refuse to answer."""
    digests = connection.exec_driver_sql("select digest from build").scalars().all()
    views.create_macros(connection.exec_driver_sql, digests[0] if digests else None)


def drop_views(connection: Connection) -> None:
    """Drop views and macros: left in place, they would break silently when a column that they read goes."""
    views.drop_views(connection.exec_driver_sql)


@functools.cache
def _tables() -> str:
    return ";\n".join(statement for table in Base.metadata.sorted_tables for statement in _definition(table))


def _definition(table: Table) -> Iterator[str]:
    yield str(CreateTable(table).compile(dialect=Dialect()))
    yield f"comment on table {table.name} is {literal(table.comment or '')}"
    for column in table.columns:
        yield f"comment on column {table.name}.{column.name} is {literal(column.comment or '')}"


def _table_comments() -> dict[str, dict[str, str]]:
    """Return what the tables say of their columns: by table, then column."""
    return {
        table.name: {column.name: column.comment or "" for column in table.columns}
        for table in Base.metadata.sorted_tables
    }
