"""The database file as a whole: opened for writing, migrated, and published in one step or not at all."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import alembic.command
import alembic.config
import duckdb
from alembic.ddl.impl import DefaultImpl
from alembic.migration import MigrationContext
from duckdb_engine import ConnectionWrapper
from sqlalchemy import URL, Connection, Engine, NullPool, Table, create_engine
from sqlalchemy.exc import DBAPIError

from energydb import views
from energydb.errors import DataError, MachineError, UsageError
from energydb.files import is_duckdb, only_one, open_to_read, put_in_place, real_file, working_folder
from energydb.paths import ALEMBIC_INI, known_revisions, newest_revision
from energydb.tables import Base

# DuckDB 2.0's own format opens in no 1.x client; v1.4.0 does, and refuses another file's stale WAL.
_STORAGE_VERSION = "v1.4.0"
# The least that DuckDB takes keeps a small file small, and its own default keeps a large one small. Measured: of
# 42 runs 0.9 MB and 8 MB, of 100,000 runs 14 MB and 16 MB, of a million runs 133 MB and 65 MB.
_SMALL_BLOCKS = 16 * 2**10
_LARGE_BLOCKS = 256 * 2**10
_LARGE = 100 * 2**20


# What DuckDB raises where the disk is full or the memory: on writing, committing or checkpointing.
_FAULTS_OF_THE_MACHINE = (
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.TransactionException,
    duckdb.FatalException,
)


class DuckDBImpl(DefaultImpl):
    """Makes Alembic know duckdb-engine's dialect; DuckDB rolls DDL back."""

    __dialect__ = "duckdb"
    transactional_ddl = True

    def create_table(self, table: Table, **kw: Any) -> None:
        """Create a table, and its columns' comments by one statement instead of one a column."""
        comments = {column.name: column.comment for column in table.columns if column.comment}
        for column in table.columns:
            column.comment = None
        super().create_table(table, **kw)
        if self.connection is not None:
            self.connection.exec_driver_sql(
                ";\n".join(
                    f"comment on column {table.name}.{name} is {views.literal(comment)}"
                    for name, comment in comments.items()
                )
            )


def block_size(size: int) -> int:
    """Choose the size of a file's blocks, in bytes, by that of the documents in it."""
    return _LARGE_BLOCKS if size >= _LARGE else _SMALL_BLOCKS


def open_engine(path: Path, block_bytes: int = _SMALL_BLOCKS) -> Engine:
    """Open `path` for writing; a new file has blocks of `block_bytes` bytes.

    No pool: it would keep the file's lock after the last connection. The dialect's own way to connect would first
    open another database, to sort settings that aren't given here.
    """
    config: dict[str, Any] = {
        "storage_compatibility_version": _STORAGE_VERSION,
        "default_block_size": str(block_bytes),
        "checkpoint_threshold": "0b",  # no log first: the file is nobody's until it is whole
    }

    def connect() -> ConnectionWrapper:
        return ConnectionWrapper(duckdb.connect(str(path), config=config))

    return create_engine(URL.create("duckdb", database=str(path)), poolclass=NullPool, creator=connect)


@contextlib.contextmanager
def writing(path: Path, block_bytes: int = _SMALL_BLOCKS) -> Iterator[Connection]:
    """Yield a connection that writes to `path`; when the block ends well, commit and checkpoint.

    A new file has blocks of `block_bytes` bytes.

    Raises:
        MachineError: the disk is full, or the file can't be written.
    """
    engine = open_engine(path, block_bytes)
    with _faults_in_words(path):
        connection = engine.connect()
        try:
            yield connection
            connection.commit()
            connection.exec_driver_sql("checkpoint")
        except (DBAPIError, duckdb.Error):
            connection.invalidate()  # after a fault of the disk, even a roll-back fails
            raise
        finally:
            connection.close()
            engine.dispose()


@contextlib.contextmanager
def _faults_in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except (DBAPIError, duckdb.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if not isinstance(cause, _FAULTS_OF_THE_MACHINE):
            raise
        reason = str(cause).splitlines()[-1].rpartition(": ")[2].rstrip('"')
        raise MachineError(f"{path.name}: can't be written: {reason}") from error


def migrate(connection: Connection) -> None:
    """Bring the database behind `connection` to the newest schema, with its views, by Alembic."""
    config = alembic.config.Config(str(ALEMBIC_INI))
    config.attributes["connection"] = connection
    # A thousand small statements: to wake other threads for each would take longer than it helps.
    connection.exec_driver_sql("set threads = 1")
    alembic.command.upgrade(config, "head")
    connection.exec_driver_sql("reset threads")


def create_views_at_head(connection: Connection) -> None:
    """Create the views if the schema is the newest: they read no other."""
    if MigrationContext.configure(connection).get_current_revision() == newest_revision():
        connection.exec_driver_sql("pragma disable_optimizer")  # no statement of these has anything to gain
        views.create_views(connection.exec_driver_sql, _table_comments())
        connection.exec_driver_sql("pragma enable_optimizer")


def drop_views(connection: Connection) -> None:
    """Drop the views: left in place, they would break silently when a column that they read goes."""
    views.drop_views(connection.exec_driver_sql)


def _table_comments() -> dict[str, dict[str, str]]:
    """Return what the tables say of their columns: by table, then column."""
    return {
        table.name: {column.name: column.comment or "" for column in table.columns}
        for table in Base.metadata.sorted_tables
    }


@contextlib.contextmanager
def replacing(target: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield the path of a file to build; when the block ends well, put it in `target`'s place whole.

    The new file is built in a folder beside the target and under its name, which DuckDB writes into the
    file. A link stays, and what it points to is replaced. Whatever goes wrong, `target` stays as it was.

    Raises:
        DataError: `target` is something else than an energydb file; with `force`, only if it's no file at all.
        MachineError: `target` is held open for writing, or it or its folder may not be written.
    """
    real = real_file(target)
    _refuse_unless_replaceable(real, target, force)
    with only_one(real), working_folder(real) as folder:
        built = folder / real.name
        yield built
        _refuse_unless_replaceable(real_file(target), target, force)
        # A stale write-ahead log beside the target belongs to the old file.
        _log_of(real).unlink(missing_ok=True)
        put_in_place(built, real)


def upgrade(target: Path) -> tuple[str, str]:
    """Bring an energydb file to the newest schema, whole or not at all; return the revisions before and after.

    Rows are kept, and tables that someone added. The file is copied, migrated and put in place; one that is of the
    newest schema stays as it is.

    Raises:
        UsageError: there is no such file.
        DataError: it isn't an energydb file, or a newer one.
        MachineError: it is held open for writing, or can't be written.
    """
    real = real_file(target)
    if not is_duckdb(real):
        raise UsageError(f"{target}: expected an energydb file, got {'another file' if real.exists() else 'none'}")
    with contextlib.suppress(duckdb.Error), open_to_read(real, target) as connection:
        if connection.execute("select version_num from alembic_version").fetchall() == [(newest_revision(),)]:
            return newest_revision(), newest_revision()
    with replacing(target, force=True) as built:
        shutil.copyfile(real, built)
        if _log_of(real).exists():  # rows that were written and not yet checkpointed
            shutil.copyfile(_log_of(real), _log_of(built))
        with writing(built) as connection:
            before = MigrationContext.configure(connection).get_current_revision()
            if before not in known_revisions():
                raise DataError(f"{target}: expected an energydb file of schema {newest_revision()} or older")
            migrate(connection)
        return before, newest_revision()


def _refuse_unless_replaceable(real: Path, target: Path, force: bool) -> None:
    """Raise unless `real` is absent, empty, or an energydb file that nobody holds open for writing."""
    if not real.exists():
        return
    if not os.access(real, os.W_OK):
        raise MachineError(f"{target}: may not be written, so it isn't replaced")
    if real.stat().st_size == 0:
        return
    remedy = "so it isn't replaced; --force replaces it all the same"
    if not is_duckdb(real):
        if force:
            return
        raise DataError(f"{target}: not a DuckDB file, {remedy}")
    try:
        with open_to_read(real, target) as connection:
            found = connection.execute(
                "select table_name from duckdb_tables() union all"
                " select view_name from duckdb_views() where not internal"
            ).fetchall()
            ours = ("alembic_version",) in found
            revisions = connection.execute("select version_num from alembic_version").fetchall() if ours else []
    except duckdb.Error as error:
        if force:
            return
        raise DataError(f"{target}: can't be opened by DuckDB, {remedy}") from error
    names = {name for (name,) in found}
    own = {"alembic_version", *Base.metadata.tables, *(view.name for view in views.read_views())}
    if force:
        return
    if not {"alembic_version", "build", "configuration"} <= names:
        raise DataError(f"{target}: a DuckDB file, but not energydb's, {remedy}")
    if revisions and revisions[0][0] not in known_revisions():
        raise DataError(f"{target}: made by a newer energydb (schema {revisions[0][0]}), {remedy}")
    if names - own:
        others = ", ".join(sorted(names - own))
        raise DataError(f"{target}: holds tables or views that energydb didn't make ({others}), {remedy}")


def _log_of(path: Path) -> Path:
    """Return the path of a write-ahead log: DuckDB puts `.wal` at the end, or before a question mark."""
    name, mark, rest = path.name.partition("?")
    return path.with_name(f"{name}.wal{mark}{rest}")
