"""Turns the runs of documents into columns, and keeps of each document what is small: one batch at a time.

Within a batch runs are counted from 0; the keys that they have in a database are given when all batches are known.
"""

import struct
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute
import sqlalchemy

from energydb.sources.records import Document, Head, Model, Run, Runs
from energydb.store import tables

BINS = tables.OutputLengthBin.__tablename__

_ARROW_TYPES: dict[type[sqlalchemy.types.TypeEngine[Any]], pa.DataType] = {
    sqlalchemy.Boolean: pa.bool_(),
    sqlalchemy.Date: pa.date32(),
    sqlalchemy.Double: pa.float64(),
    sqlalchemy.Integer: pa.int32(),
    sqlalchemy.String: pa.string(),
}
# How numbers lie in memory, by the letters of `struct`.
_LETTERS = {pa.float64(): "d", pa.int32(): "i"}


class Extent(NamedTuple):
    """Where the runs of one model stand in its batch: in which table, from which row, how many.

    The same for its bins of output lengths; and on which GPUs it ran.
    """

    table: str
    first: int
    runs: int
    first_bin: int
    bins: int
    gpus: tuple[str, ...]


class Batch(NamedTuple):
    """Some documents without their runs, where those of each model stand, and their columns by table.

    `extents` goes with `documents` and their models one by one. Columns lie in memory, or in a file of Arrow's.
    """

    documents: list[Document]
    extents: list[list[Extent]]
    columns: dict[str, pa.RecordBatch | Path]

    def rows(self, table: str) -> pa.RecordBatch:
        """Return the columns of a table; those in a file are mapped, not read."""
        columns = self.columns[table]
        if isinstance(columns, pa.RecordBatch):
            return columns
        return pa.ipc.open_file(pa.memory_map(str(columns))).get_batch(0)

    def measured(self, extent: Extent) -> list[pa.Array]:
        """Return all that was measured in the runs of a model, column by column, wherever they stand."""
        of_runs: list[pa.Array] = self.rows(extent.table).slice(extent.first, extent.runs).columns
        if not extent.bins:
            return of_runs
        places, *of_bins = self.rows(BINS).slice(extent.first_bin, extent.bins).columns
        return [*of_runs, pa.compute.subtract(places, extent.first), *of_bins]

    def moved_to_files(self, folder: Path, name: str) -> "Batch":
        """Return the same batch with its columns in files in `folder`, whose names begin with `name`."""
        moved: dict[str, pa.RecordBatch | Path] = {}
        for table in self.columns:
            rows = self.rows(table)
            moved[table] = path = folder / f"{name}-{table}.arrow"
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
                writer.write_batch(rows)
        return self._replace(columns=moved)


def batch_of(documents: Iterable[Document]) -> Batch:
    """Put the runs of `documents` into columns."""
    runs = {kind: _Rows(table) for kind, table in tables.RUN_TABLES.items()}
    bins = _Rows(tables.OutputLengthBin)
    heads: dict[Head, Head] = {}
    kept = []
    extents = []
    for document in documents:
        of_document = []
        for model in document.models:
            own = runs[model.runs.kind]
            extent = Extent(
                table=own.table.__tablename__,
                first=len(own),
                runs=len(model.runs),
                first_bin=len(bins),
                bins=sum(len(lengths.counts) for lengths in model.output_lengths),
                gpus=tuple(sorted(set(model.runs.columns["gpu"]))),
            )
            of_document.append(extent)
            own.extend(model.runs.column, extent.runs)
            if extent.bins:
                bins.extend(_bin_columns(model, extent.first).__getitem__, extent.bins)
        extents.append(of_document)
        head = heads.setdefault(document.head, document.head)  # one object, however many documents
        models = tuple(msgspec.structs.replace(model, **_NO_RUNS) for model in document.models)
        kept.append(msgspec.structs.replace(document, head=head, models=models))
    columns = {rows.table.__tablename__: rows.columns() for rows in (*runs.values(), bins) if len(rows)}
    return Batch(kept, extents, columns)


_NO_RUNS: dict[str, Any] = {"runs": Runs(Run, {"gpu": []}), "output_lengths": ()}


class _Rows:
    """Rows of one table in the making, column by column, without the keys that are given later."""

    def __init__(self, table: type[tables.Base]) -> None:
        self.table = table
        keys = () if table is tables.OutputLengthBin else schema(table).names[:2]
        self._fields = [field for field in schema(table) if field.name not in keys]
        self._numbers: list[tuple[str, str, bytearray]] = []
        self._others: list[tuple[str, list[Any]]] = []
        for field in self._fields:
            if field.type in _LETTERS and not field.nullable:
                self._numbers.append((field.name, _LETTERS[field.type], bytearray()))
            else:
                self._others.append((field.name, []))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def extend(self, column: Callable[[str], Sequence[Any]], count: int) -> None:
        """Append `count` rows, of which `column` gives one column."""
        for name, letter, numbers in self._numbers:
            numbers += struct.pack(f"={count}{letter}", *column(name))
        for name, others in self._others:
            others += column(name)
        self._count += count

    def columns(self) -> pa.RecordBatch:
        kinds = {field.name: field.type for field in self._fields}
        made = {name: unpacked(numbers, kinds[name]) for name, _, numbers in self._numbers}
        made |= {name: pa.array(others, kinds[name]) for name, others in self._others}
        return pa.RecordBatch.from_arrays([made[name] for name in kinds], schema=pa.schema(self._fields))


def packed(integers: Sequence[int]) -> bytes:
    """Put integers as they lie in a column: a fraction of the time that Arrow takes for them one by one."""
    return struct.pack(f"={len(integers)}i", *integers)


def unpacked(numbers: bytes | bytearray, kind: pa.DataType) -> pa.Array:
    """Make a column of packed numbers, without a copy."""
    return pa.Array.from_buffers(kind, len(numbers) * 8 // kind.bit_width, [None, pa.py_buffer(numbers)])


def _bin_columns(model: Model, first: int) -> dict[str, Sequence[Any]]:
    """Return the bins of a model's output lengths, with the place of the run in its batch for its key."""
    bins = [
        (place, number, low, high, count)
        for place, lengths in enumerate(model.output_lengths, first)
        for number, ((low, high), count) in enumerate(zip(pairwise(lengths.edges), lengths.counts, strict=True), 1)
    ]
    return dict(zip(schema(tables.OutputLengthBin).names, zip(*bins, strict=True), strict=True))


def rows_of(table: type[tables.Base], rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    """Make the columns of a small table from its rows."""
    columns = zip(*rows, strict=True) if rows else [()] * len(schema(table))
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema(table), strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema(table))


def schema(table: type[tables.Base]) -> pa.Schema:
    """Return a table's columns as Arrow knows them."""
    return pa.schema(
        [
            pa.field(column.name, _ARROW_TYPES[type(column.type)], nullable=bool(column.nullable))
            for column in table.__table__.columns
        ]
    )
