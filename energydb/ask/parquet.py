"""Writes an answer as Parquet; a room of its own, since Arrow's writer takes long to import."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet

from energydb.ask.catalog import Answer
from energydb.ask.forms import Form, refuse_names_that_repeat
from energydb.errors import QueryError


def write_parquet(answer: Answer, path: Path) -> None:
    """Write the rows of an answer to a Parquet file, batch by batch.

    Raises:
        QueryError: a row can't be answered, Parquet has no such type, or two columns have one name.
    """
    refuse_names_that_repeat(answer.columns, Form.parquet)
    try:
        reader = answer.batches()
        with pyarrow.parquet.ParquetWriter(path, reader.schema, compression="zstd") as writer:
            for batch in _answered(reader):
                writer.write_batch(batch)
    except (duckdb.Error, pyarrow.ArrowException) as error:
        raise QueryError(f"query: {' '.join(str(error).split())}") from error


def _answered(reader: Any) -> Iterator[Any]:
    """Yield batches; Arrow makes an OSError of a row that DuckDB can't answer, as if the disk were at fault."""
    try:
        yield from reader
    except OSError as error:
        raise QueryError(f"query: {' '.join(str(error).split())}") from error
