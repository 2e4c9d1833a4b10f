"""Turns batches of documents into the rows of each table, with keys that depend on content alone."""

import functools
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from energydb.sources.records import Head, Model
from energydb.sources.scenario import Scenario
from energydb.store import tables
from energydb.store.columns import BINS, Batch, Extent, packed, rows_of, schema, unpacked
from energydb.store.gpus import VENDOR_FACTS


class TableRows(NamedTuple):
    """The rows of one table: how many there are, and a stream of them."""

    table: type[tables.Base]
    expected: int
    stream: pa.RecordBatchReader


class _Placed(NamedTuple):
    """A model, its document's key, and where its runs stand."""

    document_key: int
    release_key: int
    batch: Batch
    model: Model
    extent: Extent


def scenario_rows(scenarios: Sequence[Scenario]) -> TableRows:
    """Return the rows of the table of scenarios, in their order."""
    return _rows(tables.Scenario, [msgspec.structs.astuple(scenario) for scenario in scenarios])


def table_rows(batches: Sequence[Batch]) -> Iterator[TableRows]:
    """Yield the rows of each table, a table after those that it references.

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
    held.sort(key=lambda part: (release_keys[part[0].head], min(model.slug for model in part[0].models)))

    files: list[tuple[int, int, str, str]] = []
    counts: list[tuple[int, int, int, int, int]] = []
    models: list[_Placed] = []
    for document, batch, extents in held:
        release_key, document_key = release_keys[document.head], len(files) + 1
        files += [(key, release_key, file.name, file.sha256) for key, file in enumerate(document.files, document_key)]
        runs, bins = sum(extent.runs for extent in extents), sum(extent.bins for extent in extents)
        picks = sum(len(model.picks) for model in document.models)
        counts.append((document_key, len(document.models), runs, picks, bins))
        placed = [
            _Placed(document_key, release_key, batch, model, extent)
            for model, extent in zip(document.models, extents, strict=True)
        ]
        models += sorted(placed, key=lambda part: part.model.slug)

    yield _rows(tables.Source, [(key, *source) for source, key in source_keys.items()])
    yield _rows(tables.Task, sorted({(head.task, head.kind) for head in heads}))
    yield _rows(
        tables.Release,
        [
            _values(head, tables.Release, key, source_keys[head.name, head.publisher, head.url])
            for head, key in release_keys.items()
        ],
    )
    yield _rows(
        tables.LicenceEvidence,
        [
            (key, position, evidence)
            for head, key in release_keys.items()
            for position, evidence in enumerate(head.licence_evidence, 1)
        ],
    )
    yield _rows(tables.Document, files)
    yield _rows(tables.DocumentRows, counts)
    yield _rows(
        tables.Model,
        [
            _values(placed.model, tables.Model, key, placed.release_key, placed.document_key)
            for key, placed in enumerate(models, 1)
        ],
    )
    gpus = sorted({gpu for placed in models for gpu in placed.extent.gpus})
    yield _rows(tables.Gpu, [(gpu, *VENDOR_FACTS.get(gpu, (None, None, None))) for gpu in gpus])
    for table in tables.RUN_TABLES.values():
        of_kind = [
            (key, placed) for key, placed in enumerate(models, 1) if placed.extent.table == table.__tablename__
        ]
        count = sum(placed.extent.runs for _, placed in of_kind)
        yield TableRows(table, count, pa.RecordBatchReader.from_batches(schema(table), _runs(table, of_kind)))
        if table is tables.Configuration:
            yield _picks(of_kind)
            count = sum(placed.extent.bins for _, placed in of_kind)
            stream = pa.RecordBatchReader.from_batches(schema(tables.OutputLengthBin), _bins(of_kind))
            yield TableRows(tables.OutputLengthBin, count, stream)


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
