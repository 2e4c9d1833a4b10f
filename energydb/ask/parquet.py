"""Writes an answer as Parquet; a room of its own, since Arrow's writer takes long to import."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.compute
import pyarrow.parquet

from energydb.ask.catalog import Answer
from energydb.ask.forms import Form, refuse_names_that_repeat
from energydb.ask.watch import Watch, is_told
from energydb.errors import QueryError


def write_parquet(answer: Answer, path: Path) -> tuple[str, ...]:
    """Write the rows of an answer to a Parquet file, batch by batch, and return what is to be said of it.

    Raises:
        QueryError: a row can't be answered, Parquet has no such type, or two columns have one name.
    """
    refuse_names_that_repeat(answer.columns, Form.parquet)
    watch = Watch(answer.columns, answer.types)
    try:
        reader = answer.batches()
        with pyarrow.parquet.ParquetWriter(path, reader.schema, compression="zstd") as writer:
            for batch in _answered(reader):
                writer.write_batch(batch)
                _look_at(batch, watch)
    except (duckdb.Error, pyarrow.ArrowException) as error:
        raise QueryError(f"query: {' '.join(str(error).split())}") from error
    return tuple(watch.words("kept as they are"))


def _look_at(batch: Any, watch: Watch) -> None:
    """Count what `watch` looks at, column by column."""
    for place in watch.floats:
        if count := pyarrow.compute.sum(
            pyarrow.compute.invert(pyarrow.compute.is_finite(batch.column(place)))
        ).as_py():
            watch.not_finite[place] += count
    for place in watch.told:
        watch.seen[place] += sum(map(is_told, batch.column(place).to_pylist()))


def _answered(reader: Any) -> Iterator[Any]:
    """Yield batches; Arrow makes an OSError of a row that DuckDB can't answer, as if the disk were at fault."""
    try:
        yield from reader
    except OSError as error:
        raise QueryError(f"query: {' '.join(str(error).split())}") from error
