"""The database file as a whole: opened for writing, migrated, and published in one step or not at all."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import alembic.command
import alembic.config
import duckdb
from alembic.ddl.impl import DefaultImpl
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from energydb import views
from energydb.errors import DataError, LockedError, MachineError
from energydb.paths import ALEMBIC_INI
from energydb.tables import Base

# DuckDB 2.0's own format opens in no 1.x client; v1.4.0 does, and refuses another file's stale WAL.
# Small blocks keep a small file small: 16 KiB is the least that DuckDB takes.
_FILE_FORMAT = {
    "storage_compatibility_version": "v1.4.0",
    "default_block_size": "16384",
}


class DuckDBImpl(DefaultImpl):
    """Makes Alembic know duckdb-engine's dialect; DuckDB rolls DDL back."""

    __dialect__ = "duckdb"
    transactional_ddl = True


def open_engine(path: Path) -> Engine:
    """Open `path` for writing. No pool: it would keep the file's lock after the last connection."""
    url = URL.create("duckdb", database=str(path))
    return create_engine(url, poolclass=NullPool, connect_args={"config": dict(_FILE_FORMAT)})


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Connection]:
    """Yield a connection that writes to `path`; when the block ends well, commit and checkpoint.

    Raises:
        MachineError: the disk is full, or the file can't be written.
    """
    engine = open_engine(path)
    try:
        with engine.connect() as connection:
            yield connection
            connection.commit()
            connection.exec_driver_sql("checkpoint")
    except DBAPIError as error:
        if isinstance(error.orig, duckdb.IOException | duckdb.OutOfMemoryException):
            raise MachineError(f"{path.name}: can't be written: {str(error.orig).splitlines()[0]}") from error
        raise
    finally:
        engine.dispose()


def migrate(connection: Connection) -> None:
    """Bring the database behind `connection` to the newest schema, with its views, by Alembic."""
    config = alembic.config.Config(str(ALEMBIC_INI))
    config.attributes["connection"] = connection
    alembic.command.upgrade(config, "head")


def newest_revision() -> str:
    """Return the revision that migrations lead to: the one that this energydb reads and writes."""
    script = ScriptDirectory.from_config(alembic.config.Config(str(ALEMBIC_INI)))
    return str(script.get_current_head())


def create_views_at_head(connection: Connection) -> None:
    """Create the views if the schema is the newest: they read no other."""
    if MigrationContext.configure(connection).get_current_revision() == newest_revision():
        views.create_views(connection.exec_driver_sql, _table_comments())


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
def replacing(target: Path) -> Iterator[Path]:
    """Yield the path of a file to build; when the block ends well, put it in `target`'s place whole.

    The new file is built in a folder beside the target and under its name, which DuckDB writes into the
    file. A link stays, and what it points to is replaced. Whatever goes wrong, `target` stays as it was.

    Raises:
        DataError: `target` is something else than an energydb file.
        MachineError: `target` is held open for writing, or its folder can't be written.
    """
    real = Path(os.path.realpath(target))
    refuse_unless_replaceable(real, target)
    try:
        folder = Path(tempfile.mkdtemp(prefix=".energydb-", suffix=".building", dir=real.parent))
    except OSError as error:
        raise MachineError(f"{target}: can't write into its folder: {error.strerror}") from error
    try:
        built = folder / real.name
        yield built
        refuse_unless_replaceable(real, target)
        _publish(built, real)
    except OSError as error:
        raise MachineError(f"{target}: can't be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def refuse_unless_replaceable(real: Path, target: Path) -> None:
    """Raise unless `real` is absent, empty, or an energydb file that nobody holds open for writing."""
    if real.is_dir():
        raise DataError(f"{target}: expected a file, got a folder")
    if not real.exists() or real.stat().st_size == 0:
        return
    try:
        with duckdb.connect(str(real), read_only=True) as connection:
            tables = connection.execute("select table_name from duckdb_tables()").fetchall()
    except duckdb.IOException as error:
        if "Could not set lock" in str(error):
            raise LockedError(target, str(error)) from error
        raise DataError(f"{target}: not an energydb file, so it isn't replaced: {error}") from error
    if ("configuration",) not in tables or ("alembic_version",) not in tables:
        raise DataError(f"{target}: a DuckDB file, but not energydb's, so it isn't replaced")


def _publish(built: Path, target: Path) -> None:
    if target.exists():
        built.chmod(target.stat().st_mode & 0o7777)
    # A stale write-ahead log beside the target belongs to the old file.
    _log_of(target).unlink(missing_ok=True)
    built.replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _log_of(path: Path) -> Path:
    """Return the path of a write-ahead log: DuckDB puts `.wal` at the end, or before a question mark."""
    name, mark, rest = path.name.partition("?")
    return path.with_name(f"{name}.wal{mark}{rest}")
