"""Brings files of an older schema to the newest, by Alembic; new files are laid out without it."""

import shutil
from pathlib import Path
from typing import NoReturn

import alembic.command
import alembic.config
import duckdb
from alembic.ddl.impl import DefaultImpl
from alembic.migration import MigrationContext
from alembic.util import CommandError
from sqlalchemy import Connection

from energydb.errors import DataError, UsageError
from energydb.files import real_file
from energydb.paths import ALEMBIC_INI, known_revisions, newest_revision
from energydb.store import schema
from energydb.store.database import log_of, replacing, writing
from energydb.store.sandbox import is_duckdb, on_one_line, open_to_read, revision_of, unknown_revision


class DuckDBImpl(DefaultImpl):
    """Makes Alembic know duckdb-engine's dialect; DuckDB rolls DDL back."""

    __dialect__ = "duckdb"
    transactional_ddl = True


def migrate(connection: Connection) -> None:
    """Bring the database behind `connection` to the newest schema, with its views, by Alembic."""
    config = alembic.config.Config(str(ALEMBIC_INI))
    config.attributes["connection"] = connection
    alembic.command.upgrade(config, "head")


def create_views_at_head(connection: Connection) -> None:
    """Comment the tables and create views and macros if the schema is the newest: they fit no other."""
    if MigrationContext.configure(connection).get_current_revision() == newest_revision():
        schema.comment_and_create_views(connection)
        schema.create_macros(connection)


def refuse_downgrade() -> NoReturn:
    """Say that there is no way back, in place of a migration's `downgrade`.

    Raises:
        CommandError: always: DuckDB changes no table that another one references, so a column stays.
    """
    raise CommandError(
        "energydb has no downgrade: build the file anew with the energydb that you want, energydb load"
    )


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
    try:
        with open_to_read(real, target) as connection:
            before = revision_of(connection, target)
    except duckdb.Error as error:
        raise DataError(f"{target}: can't be read: {on_one_line(error)}") from error
    if before not in known_revisions():
        raise DataError(unknown_revision(target, before))
    if before != newest_revision():
        with replacing(target, force=True) as built:
            shutil.copyfile(real, built)
            if log_of(real).exists():  # rows that were written and not yet checkpointed
                shutil.copyfile(log_of(real), log_of(built))
            with writing(built) as copy:
                migrate(copy)
    return before, newest_revision()
