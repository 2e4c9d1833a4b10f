"""Run migrations: within `energydb upgrade`, or by hand with `alembic upgrade head` on an existing file."""

import os
from pathlib import Path

from alembic import context
from sqlalchemy import Connection

from energydb.paths import DEFAULT_DATABASE
from energydb.store.database import writing
from energydb.store.schema import drop_views
from energydb.store.tables import Base
from energydb.store.upgrade import create_views_at_head


def run(connection: Connection) -> None:
    """Migrate with the views out of the way: they would break when a column that they read goes."""
    context.configure(connection=connection, target_metadata=Base.metadata)
    with context.begin_transaction():
        drop_views(connection)
        context.run_migrations()
        create_views_at_head(connection)


if context.is_offline_mode():
    raise SystemExit("energydb: migrations need the database file: --sql isn't supported")

given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    import logging.config  # only here: a load starts sooner without it

    logging.config.fileConfig(context.config.config_file_name)
    named = context.get_x_argument(as_dictionary=True).get("database")
    with writing(Path(named or os.environ.get("ENERGYDB_DATABASE") or DEFAULT_DATABASE)) as connection:
        run(connection)
