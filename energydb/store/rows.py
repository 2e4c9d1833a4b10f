"""Turns batches of documents into the rows of each table, with keys that depend on content alone."""

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import sqlalchemy
from sqlalchemy import Connection

from energydb.errors import DataError
from energydb.names import model_identity
from energydb.sources.parts import UnknownField
from energydb.sources.records import Document, Fault, Head, Model
from energydb.sources.scenario import Scenario
from energydb.store import tables
from energydb.store.columns import BINS, Batch, Extent, packed, rows_of, schema, unpacked
from energydb.store.facts import BOUNDARIES, VENDOR_FACTS


class TableRows(NamedTuple):
    """The rows of one table: how many there are, and a stream of them."""

    table: type[tables.Base]
    expected: int
    stream: pa.RecordBatchReader


_Held = tuple[Document, Batch, list[Extent]]


class _Placed(NamedTuple):
    """A model, the key of its file, and where its runs stand."""

    file_key: int
    release_key: int
    batch: Batch
    model: Model
    extent: Extent


def table_rows(
    batches: Sequence[Batch], scenarios: Sequence[Scenario], build: Sequence[Any], faults: Sequence[Fault] = ()
) -> Iterator[TableRows]:
    """Yield the rows of each table, a table after those that it references; `build` is the row of that table.

    `faults` are those of what no document came of.

    Integer keys follow a stable order (releases by source, task, data version and format; models by release
    and slug; runs in document order), whatever the order and the place of the files.
    """
    held = [
        (document, batch, extents)
        for batch in batches
        for document, extents in zip(batch.documents, batch.extents, strict=True)
    ]
    heads = sorted({document.head for document, _, _ in held}, key=_release_order)
    release_keys = {head: key for key, head in enumerate(heads, 1)}
    sources = sorted({(head.name, head.publisher, head.url) for head in heads})
    source_keys = {source: key for key, source in enumerate(sources, 1)}
    held.sort(key=lambda part: (release_keys[part[0].head], _names(part[0]), part[0].files[0].sha256))

    files: list[tuple[int, int, str, str]] = []
    models: list[_Placed] = []
    for document, batch, extents in held:
        release_key, file_key = release_keys[document.head], len(files) + 1
        files += [(key, release_key, file.name, file.sha256) for key, file in enumerate(document.files, file_key)]
        placed = [
            _Placed(file_key, release_key, batch, model, extent)
            for model, extent in zip(document.models, extents, strict=True)
        ]
        models += sorted(placed, key=lambda part: (part.model.slug, part.model.model_id))
    gpus = sorted({gpu for placed in models for gpu in placed.extent.gpus})
    boundaries = sorted({head.boundary for head in heads})
    numbered = list(enumerate(models, 1))

    of_no_file = [
        _rows(tables.Build, [tuple(build)]),
        _rows(tables.Scenario, [msgspec.structs.astuple(scenario) for scenario in scenarios]),
        _rows(tables.Source, [(key, *source) for source, key in source_keys.items()]),
        _rows(tables.Task, sorted({(head.task, head.kind) for head in heads})),
        _rows(tables.Boundary, [(name, *_known(tables.Boundary, BOUNDARIES, name)) for name in boundaries]),
        _rows(
            tables.Release,
            [
                _values(head, tables.Release, key, source_keys[head.name, head.publisher, head.url])
                for head, key in release_keys.items()
            ],
        ),
        _rows(
            tables.LicenceEvidence,
            [
                (key, position, evidence)
                for head, key in release_keys.items()
                for position, evidence in enumerate(head.licence_evidence, 1)
            ],
        ),
        _rows(tables.File, files),
        _rows(tables.Gpu, [(gpu, *_known(tables.Gpu, VENDOR_FACTS, gpu)) for gpu in gpus]),
    ]
    yield from of_no_file
    yield _rows(
        tables.Model,
        [_values(placed.model, tables.Model, key, placed.release_key, placed.file_key) for key, placed in numbered],
    )
    for table in tables.RUN_TABLES.values():
        of_kind = [(key, placed) for key, placed in numbered if placed.extent.table == table.__tablename__]
        count = sum(placed.extent.runs for _, placed in of_kind)
        yield TableRows(table, count, pa.RecordBatchReader.from_batches(schema(table), _runs(table, of_kind)))
        if table is tables.Configuration:
            yield _picks(of_kind)
            count = sum(placed.extent.bins for _, placed in of_kind)
            stream = pa.RecordBatchReader.from_batches(schema(tables.OutputLengthBin), _bins(of_kind))
            yield TableRows(tables.OutputLengthBin, count, stream)
    missing = [
        _rows(tables.LeftOut, list(_left_out(held, release_keys, numbered, faults))),
        _rows(tables.UnknownField, list(_unknown(held, release_keys))),
    ]
    yield from missing
    loaded = [(rows.table.__tablename__, None, rows.expected) for rows in (*of_no_file, *missing)]
    yield _rows(tables.Loaded, [*loaded, *_counts(models)])


def _names(document: Document) -> list[tuple[str, str]]:
    """Return what a document is put in order by: its models."""
    return sorted((model.slug, model.model_id) for model in document.models)


def _left_out(
    held: Sequence[_Held],
    release_keys: Mapping[Head, int],
    models: Sequence[tuple[int, _Placed]],
    faults: Sequence[Fault],
) -> Iterator[tuple[Any, ...]]:
    """Yield what isn't there, and why: of each release, then of none, by the places of the faults."""
    keys = {(placed.release_key, placed.model.model_id): key for key, placed in models}
    of_releases = [(release_keys[document.head], fault) for document, _, _ in held for fault in document.faults]
    of_none = [(None, fault) for fault in faults]
    told = [*sorted(of_releases, key=_in_order), *sorted(of_none, key=_in_order)]
    for number, (release_key, fault) in enumerate(told, 1):
        identity = fault.model_id and model_identity(fault.model_id)
        yield (number, *_lost(fault), release_key, keys.get((release_key or 0, fault.model_id or "")), identity)


def _in_order(told: tuple[int | None, Fault]) -> tuple[Any, ...]:
    """Return what a fault is put in order by: its release, its file, its place, counted as numbers, and the rest."""
    release_key, fault = told
    *_, place, file_name, _ = _lost(fault)
    counted = _NUMBER.sub(lambda number: number[0].zfill(10), place)
    return (release_key or 0, file_name, counted, [str(value) for value in _lost(fault)])


_NUMBER = re.compile(r"\d+")


def _lost(fault: Fault) -> tuple[Any, ...]:
    """Return what is told of a fault, wherever its file lies."""
    error = fault.error
    return (fault.task, fault.runs, error.problem, error.place, Path(error.path).name, fault.model_id)


def _unknown(held: Sequence[_Held], release_keys: Mapping[Head, int]) -> Iterator[tuple[Any, ...]]:
    """Yield the fields of each release that aren't known, each place once."""
    told: dict[tuple[int, str], list[UnknownField]] = {}
    for document, _, _ in held:
        for unknown in document.unknown:
            told.setdefault((release_keys[document.head], unknown.place), []).append(unknown)
    for (release_key, place), (first, *more) in sorted(told.items(), key=lambda one: one[0]):
        types = dict.fromkeys(kind for one in (first, *more) for kind in one.type.split(", "))
        objects = first.objects + sum(one.objects for one in more)
        yield (release_key, place, first.field, ", ".join(types), objects, first.example)


def _counts(models: Sequence[_Placed]) -> list[tuple[str, int, int]]:
    """Count what each file gave to each table: (table, file, rows)."""
    counted: Counter[tuple[int, str]] = Counter()
    for placed in models:
        key, extent = placed.file_key, placed.extent
        counted[key, tables.Model.__tablename__] += 1
        counted[key, extent.table] += extent.runs
        counted[key, tables.PublishedPick.__tablename__] += len(placed.model.picks)
        counted[key, BINS] += extent.bins
    return [(table, file_key, rows) for (file_key, table), rows in counted.items()]


def _known(table: type[tables.Base], facts: Mapping[str, tuple[Any, ...]], name: str) -> tuple[Any, ...]:
    """Return what is known of a name in the order of its table's columns; NULLs where nothing is."""
    return facts.get(name, (None,) * (len(schema(table)) - 1))


def _runs(table: type[tables.Base], models: Sequence[tuple[int, _Placed]]) -> Iterator[pa.RecordBatch]:
    """Yield the runs of models with their keys, which count from 1; as many at a time as stand together."""
    rows_in = _mapped()
    first_key = 1
    for together in _adjacent(models):
        extent = together[0][1].extent
        count = sum(placed.extent.runs for _, placed in together)
        rows = rows_in(together[0][1].batch, extent.table).slice(extent.first, count)
        model_keys = b"".join(packed([key]) * placed.extent.runs for key, placed in together)
        _, _, *measured = schema(table)
        columns = [
            unpacked(packed(range(first_key, first_key + count)), pa.int32()),
            unpacked(model_keys, pa.int32()),
            *(rows.column(field.name) for field in measured),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema(table))
        first_key += count


def _adjacent(models: Sequence[tuple[int, _Placed]]) -> Iterator[list[tuple[int, _Placed]]]:
    """Put models together whose runs stand one after the other in one batch."""
    together: list[tuple[int, _Placed]] = []
    for key, placed in models:
        if together:
            _, last = together[-1]
            if placed.batch is not last.batch or placed.extent.first != last.extent.first + last.extent.runs:
                yield together
                together = []
        together.append((key, placed))
    if together:
        yield together


def _mapped() -> Callable[[Batch, str], pa.RecordBatch]:
    """Return a way to the columns of a batch that keeps the last few at hand: files stay mapped no longer."""
    recent: dict[tuple[int, str], pa.RecordBatch] = {}

    def rows(batch: Batch, table: str) -> pa.RecordBatch:
        key = (id(batch), table)
        if key not in recent:
            while len(recent) >= _MAPPED_AT_ONCE:
                recent.pop(next(iter(recent)))
            recent[key] = batch.rows(table)
        return recent[key]

    return rows


_MAPPED_AT_ONCE = 8


def _picks(models: Sequence[tuple[int, _Placed]]) -> TableRows:
    """Return what documents call best, by the keys of their runs."""
    picks: list[tuple[int, str, int]] = []
    first_key = 1
    for model_key, placed in models:
        picks += [(model_key, gpu, first_key + place) for gpu, place in sorted(placed.model.picks.items())]
        first_key += placed.extent.runs
    return _rows(tables.PublishedPick, picks)


def _bins(models: Sequence[tuple[int, _Placed]]) -> Iterator[pa.RecordBatch]:
    """Yield the output lengths of models, by the keys of their runs."""
    rows_in = _mapped()
    first_key = 1
    for _, placed in models:
        extent = placed.extent
        if extent.bins:
            rows = rows_in(placed.batch, BINS).slice(extent.first_bin, extent.bins)
            keys = [place - extent.first + first_key for place in rows.column(0).to_pylist()]
            columns = [unpacked(packed(keys), pa.int32()), *rows.columns[1:]]
            yield pa.RecordBatch.from_arrays(columns, schema=rows.schema)
        first_key += extent.runs


def _release_order(head: Head) -> tuple[Any, ...]:
    return (head.name, head.task, head.data_version, head.format, head.compiled, head.publisher, head.url)


def _values(record: msgspec.Struct, table: type[tables.Base], *keys: int) -> tuple[Any, ...]:
    """Pick a table's columns out of a record, in the table's order; `keys` are its first, which the record lacks."""
    return keys + _columns_after(table, len(keys))(record)


@functools.cache
def _columns_after(table: type[tables.Base], keys: int) -> "attrgetter[tuple[Any, ...]]":
    return attrgetter(*schema(table).names[keys:])


def _rows(table: type[tables.Base], rows: Sequence[tuple[Any, ...]]) -> TableRows:
    batch = rows_of(table, rows)
    return TableRows(table, len(rows), pa.RecordBatchReader.from_batches(batch.schema, [batch]))


def insert(connection: Connection, rows: TableRows) -> None:
    """Hand whole columns to DuckDB, and make sure that every row arrived.

    Raises:
        DataError: some didn't.
    """
    if not rows.expected:
        return
    driver: Any = connection.connection.driver_connection
    driver.register("arrow_rows", rows.stream)
    columns: list[Any] = [sqlalchemy.column(name) for name in rows.stream.schema.names]
    source = sqlalchemy.select(*columns).select_from(sqlalchemy.table("arrow_rows"))
    connection.execute(sqlalchemy.insert(rows.table).from_select(rows.stream.schema.names, source))
    driver.unregister("arrow_rows")
    counting = sqlalchemy.select(sqlalchemy.func.count()).select_from(rows.table)
    count = connection.execute(counting).scalar_one()
    if count != rows.expected:
        raise DataError(f"{rows.table.__tablename__}: expected {rows.expected} rows, got {count}")
