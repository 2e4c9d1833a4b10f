"""Hands an answer on to other programs: Parquet, with DuckDB's own types."""

from pathlib import Path

import pyarrow.parquet

from energydb.catalog import Answer


def write_parquet(answer: Answer, path: Path) -> None:
    """Write the rows of an answer to a Parquet file, batch by batch."""
    reader = answer.batches()
    with pyarrow.parquet.ParquetWriter(path, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)
