"""The database file as a whole: opened for writing, and published in one step or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
from duckdb_engine import ConnectionWrapper
from sqlalchemy import URL, Connection, Engine, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from energydb.errors import DataError, MachineError
from energydb.files import only_one, put_in_place, real_file, working_folder
from energydb.paths import is_before_releases, known_revisions
from energydb.store import views
from energydb.store.sandbox import is_duckdb, open_to_read, revision_of
from energydb.store.tables import Base

# DuckDB 2.0's own format opens in no 1.x client; v1.4.0 does, and refuses another file's stale WAL.
_STORAGE_VERSION = "v1.4.0"
# The least that DuckDB takes keeps a small file small, and its own default keeps a large one small. Measured: of
# 42 runs 0.9 MB and 8 MB, of 100,000 runs 14 MB and 16 MB, of a million runs 133 MB and 65 MB.
_SMALL_BLOCKS = 16 * 2**10
_LARGE_BLOCKS = 256 * 2**10
LARGE = 100 * 2**20

# What energydb called tables before its first release, and doesn't now.
_TABLES_BEFORE_RELEASES = ("document", "document_rows")
# What someone made in a file: by schema, name and kind.
_MADE = """
    select schema_name, table_name, 'table' from duckdb_tables()
    union all
    select schema_name, view_name, 'view' from duckdb_views() where not internal
    union all
    select schema_name, function_name, 'macro' from duckdb_functions() where not internal
    union all
    select schema_name, sequence_name, 'sequence' from duckdb_sequences()
    union all
    select schema_name, type_name, 'type' from duckdb_types() where not internal
"""

# What DuckDB raises where the disk is full or the memory: on writing, committing or checkpointing.
_FAULTS_OF_THE_MACHINE = (
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.TransactionException,
    duckdb.FatalException,
)


def block_size(size: int) -> int:
    """Choose the size of a file's blocks, in bytes, by that of the documents in it."""
    return _LARGE_BLOCKS if size >= LARGE else _SMALL_BLOCKS


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
        log_of(real).unlink(missing_ok=True)
        put_in_place(built, real)


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
            found = set(connection.execute(_MADE).fetchall())
            is_ours = {("main", name, "table") for name in ("alembic_version", "build", "configuration")} <= found
            revision = revision_of(connection, target) if is_ours and not force else None
    except duckdb.Error as error:
        if force:
            return
        raise DataError(f"{target}: can't be opened by DuckDB, {remedy}") from error
    if force:
        return
    if not is_ours:
        raise DataError(f"{target}: a DuckDB file, but not energydb's, {remedy}")
    is_old = is_before_releases(revision)
    if revision not in known_revisions() and not is_old:
        raise DataError(f"{target}: made by a newer energydb (schema {revision}), {remedy}")
    own = {("main", name, "table") for name in (*Base.metadata.tables, *(_TABLES_BEFORE_RELEASES if is_old else ()))}
    own |= {("main", view.name, "macro" if view.is_macro else "view") for view in views.read_views()}
    if found - own:
        others = ", ".join(
            sorted(name if schema == "main" else f"{schema}.{name}" for schema, name, _ in found - own)
        )
        raise DataError(f"{target}: holds tables or views that energydb didn't make ({others}), {remedy}")


def log_of(path: Path) -> Path:
    """Return the path of a write-ahead log: DuckDB puts `.wal` at the end, or before a question mark."""
    name, mark, rest = path.name.partition("?")
    return path.with_name(f"{name}.wal{mark}{rest}")
