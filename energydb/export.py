"""Hands an answer on to other programs: Parquet, with DuckDB's own types."""

from pathlib import Path
from typing import Any

import pyarrow.parquet

from energydb.catalog import Answer

_ROWS_PER_BATCH = 122_880  # DuckDB's own row group


def write_parquet(answer: Answer, path: Path) -> None:
    """Write the rows of an answer to a Parquet file, batch by batch."""
    reader: Any = answer.cursor.to_arrow_reader(_ROWS_PER_BATCH)
    with pyarrow.parquet.ParquetWriter(path, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)
