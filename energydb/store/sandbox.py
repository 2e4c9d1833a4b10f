"""Opens a DuckDB file to be read and nothing else, and shuts off from all else whoever asks it."""

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb

from energydb.errors import DataError, LockedError, UsageError
from energydb.files import real_file
from energydb.paths import as_option, is_before_releases, known_revisions, newest_revision

# DuckDB's settings for opening a file that may be anything: nothing is downloaded to make sense of it.
OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
}

_OPENINGS = 3
# What SQL from outside may not do: read or write any file, attach, install, load, set, or reach into Python.
_CONFIG = {**OFFLINE, "python_enable_replacements": False}
# Set once the file is open: before, DuckDB couldn't look for its log where its name has a question mark.
_SANDBOX = "set enable_external_access = false; set lock_configuration = true"


def is_duckdb(path: Path) -> bool:
    """Tell a DuckDB file from any other by its first bytes, whatever its name."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"


def open_to_read(real: Path, path: Path, config: Mapping[str, Any] = OFFLINE) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB file, read-only; `path` is what it was called by.

    DuckDB reads its header by one opening and the rest by another. Where a rebuild puts a new file in place
    between the two they don't fit, and opening once more does.

    Raises:
        LockedError: a process holds it open for writing.
        duckdb.Error: DuckDB can't open it.
    """
    for attempt in range(1, _OPENINGS + 1):
        try:
            return duckdb.connect(str(real), read_only=True, config=dict(config))
        except duckdb.Error as error:
            if "Could not set lock" in str(error):
                raise LockedError(path, str(error)) from error
            if attempt == _OPENINGS:
                raise
    raise AssertionError("the last opening returns or raises")


@contextlib.contextmanager
def reading(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an energydb file, read-only and sandboxed; readers don't disturb each other or a rebuild.

    Raises:
        UsageError: there is no such file.
        LockedError: a process holds it open for writing.
        DataError: it isn't an energydb file.
    """
    real = real_file(path)
    if not real.exists():
        raise UsageError(f"{path}: no such file; `energydb load` builds one")
    if real.stat().st_size and not is_duckdb(real):
        raise DataError(f"{path}: expected an energydb file, got something else than a DuckDB file")
    with tempfile.TemporaryDirectory(prefix="energydb-") as spill:
        try:
            connection = open_to_read(real, path, {**_CONFIG, "temp_directory": spill})
        except duckdb.Error as error:
            raise DataError(f"{path}: expected an energydb file, got: {on_one_line(error)}") from error
        with connection:
            try:
                connection.execute(_SANDBOX)
                _refuse_unless_newest(connection, path)
            except duckdb.Error as error:
                raise DataError(f"{path}: can't be read: {on_one_line(error)}") from error
            yield connection


def _refuse_unless_newest(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    revision = revision_of(connection, path)
    if revision not in known_revisions():
        raise DataError(unknown_revision(path, revision))
    if revision != newest_revision():
        raise DataError(f"{path}: made by an older energydb (schema {revision}): energydb upgrade {path}")


def revision_of(connection: duckdb.DuckDBPyConnection, path: Path) -> str | None:
    """Return the revision of an energydb file's schema; None where it states none.

    Raises:
        DataError: it is another database, or states more than one.
    """
    ours = "from duckdb_tables() where schema_name = 'main' and table_name in ('alembic_version', 'build')"
    if len(connection.execute(ours).fetchall()) != 2:
        raise DataError(f"{path}: expected an energydb file, got another DuckDB database")
    found = connection.execute("select cast(version_num as varchar) from alembic_version").fetchall()
    if len(found) > 1:
        raise DataError(f"{path}: expected one revision of the schema, got {', '.join(str(one) for (one,) in found)}")
    return found[0][0] if found else None


def unknown_revision(path: Path, revision: str | None) -> str:
    """Say of a file whose revision no migration leads to what it is, and the remedy."""
    load = f"energydb load{as_option(path)}"
    if is_before_releases(revision):
        came = f"schema {revision or 'none'}, from before the first release"
        return f"{path}: made by another energydb ({came}): rebuild it with `{load}`, naming its documents"
    came = f"schema {revision}, this one knows {newest_revision()}"
    return f"{path}: made by a newer energydb ({came}): use that one, or rebuild it with `{load} --force`"


def on_one_line(error: duckdb.Error) -> str:
    """Put what DuckDB says on one line, without its picture of the place."""
    lines = [line for line in str(error).splitlines() if line.strip(" ^")]
    return " ".join(line.strip() for line in lines)
