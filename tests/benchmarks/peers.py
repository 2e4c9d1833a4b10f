"""Other tools on the same documents: read them and store every run, as each tool's own pages have it.

`python -m tests.benchmarks.peers NAME FOLDER TARGET`, in an environment with the dependency group `benchmarks`.
None of them checks a document, keeps a foreign key, or publishes a file whole.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def runs(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield every run of every document, with its model and a key."""
    key = 0
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_bytes())
        for run in document["configurations"]:
            key += 1
            yield {"configuration_key": key, "model": document["slug"], **run}


def sqlalchemy_orm(folder: Path, target: Path) -> None:
    """SQLAlchemy's `add_all` of mapped objects, into DuckDB."""
    import sqlalchemy
    from sqlalchemy.orm import DeclarativeBase, Session

    kinds = {int: sqlalchemy.Integer, float: sqlalchemy.Double, str: sqlalchemy.String, bool: sqlalchemy.Boolean}

    class Base(DeclarativeBase):
        pass

    all_runs = list(runs(folder))
    columns: dict[str, Any] = {
        name: sqlalchemy.Column(kinds[type(value)], primary_key=name == "configuration_key", autoincrement=False)
        for name, value in all_runs[0].items()
    }
    configuration = type("Configuration", (Base,), {"__tablename__": "configuration", **columns})
    engine = sqlalchemy.create_engine(f"duckdb:///{target}")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all(configuration(**run) for run in all_runs)
        session.commit()


def pandas(folder: Path, target: Path) -> None:
    """A pandas frame's `to_sql`, into DuckDB through duckdb-engine."""
    import pandas as pd
    import sqlalchemy

    engine = sqlalchemy.create_engine(f"duckdb:///{target}")
    pd.DataFrame(runs(folder)).to_sql("configuration", engine, index=False)


def sqlite_utils(folder: Path, target: Path) -> None:
    """sqlite-utils' `insert_all`, into SQLite."""
    from sqlite_utils import Database

    Database(target)["configuration"].insert_all(runs(folder), pk="configuration_key")


def dlt(folder: Path, target: Path) -> None:
    """A dlt pipeline, into DuckDB."""
    import dlt

    pipeline = dlt.pipeline(
        "peer", destination=dlt.destinations.duckdb(str(target)), pipelines_dir=str(target.parent)
    )
    pipeline.run(runs(folder), table_name="configuration", primary_key="configuration_key")


PEERS = {"SQLAlchemy ORM": sqlalchemy_orm, "pandas to_sql": pandas, "sqlite-utils": sqlite_utils, "dlt": dlt}

if __name__ == "__main__":
    PEERS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
