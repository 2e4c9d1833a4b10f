"""Turns the records of many documents into the rows of each table, with keys that depend on content alone."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any

import msgspec
import pyarrow as pa
import sqlalchemy

from energydb import tables
from energydb.errors import DocumentError
from energydb.gpus import VENDOR_FACTS
from energydb.records import AnyRun, Document, Head, ImageRun, Model, Run, VideoRun
from energydb.scenario import Scenario

_ARROW_TYPES: dict[type[sqlalchemy.types.TypeEngine[Any]], pa.DataType] = {
    sqlalchemy.Boolean: pa.bool_(),
    sqlalchemy.Date: pa.date32(),
    sqlalchemy.Double: pa.float64(),
    sqlalchemy.Integer: pa.int32(),
    sqlalchemy.String: pa.string(),
}


def disagreements(documents: Sequence[Document]) -> Iterator[DocumentError]:
    """Find what stops documents from lying in one database: unlike heads or a slug twice in one release.

    A head is held against the one that most documents of its release have.
    """
    heads: dict[object, Counter[Head]] = {}
    first: dict[Head, Document] = {}
    for document in documents:
        heads.setdefault(document.head.release, Counter())[document.head] += 1
        first.setdefault(document.head, document)
    holders: dict[tuple[object, str], Document] = {}
    for document in documents:
        usual = heads[document.head.release].most_common(1)[0][0]
        for field in Head.__struct_fields__:
            expected, got = getattr(usual, field), getattr(document.head, field)
            if expected != got:
                yield DocumentError(
                    document.path,
                    document.head_places.get(field, field),
                    f'expected "{expected}" as in {first[usual].path}, of the same release, got "{got}"',
                )
        for model in document.models:
            holder = holders.setdefault((document.head.release, model.slug), document)
            if holder is not document:
                yield DocumentError(
                    document.path,
                    "$.slug",
                    f'expected a slug once in a release, got "{model.slug}" as in {holder.path}',
                )


def scenario_rows(scenarios: Sequence[Scenario]) -> tuple[type[tables.Base], pa.Table]:
    """Return the rows of the table of scenarios, in their order."""
    return _rows(tables.Scenario, [msgspec.structs.astuple(scenario) for scenario in scenarios])


def table_rows(documents: Sequence[Document]) -> Iterator[tuple[type[tables.Base], pa.Table]]:
    """Yield the rows of each table, a table after those that it references.

    Integer keys follow a stable order (releases by source, task, data version and format; models by release
    and slug; runs in document order), whatever the order and the place of the files.
    """
    heads = sorted({document.head for document in documents}, key=_release_order)
    release_keys = {head: key for key, head in enumerate(heads, 1)}
    sources = sorted({(head.name, head.publisher, head.url) for head in heads})
    source_keys = {source: key for key, source in enumerate(sources, 1)}
    documents = sorted(documents, key=lambda document: (release_keys[document.head], _slugs(document)))
    files = [(document, file) for document in documents for file in document.files]
    document_keys = {(document.head, file): key for key, (document, file) in enumerate(files, 1)}
    models = [
        (document, model) for document in documents for model in sorted(document.models, key=attrgetter("slug"))
    ]

    yield _rows(tables.Source, [(key, *source) for source, key in source_keys.items()])
    yield _rows(tables.Task, sorted({(head.task, head.kind) for head in heads}))
    yield _rows(
        tables.Release,
        [
            _values(
                head,
                tables.Release,
                release_key=key,
                source_key=source_keys[head.name, head.publisher, head.url],
            )
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
    yield _rows(
        tables.Document,
        [(key, release_keys[document.head], file.name, file.sha256) for key, (document, file) in enumerate(files, 1)],
    )
    yield _rows(
        tables.DocumentRows,
        [(document_keys[document.head, document.files[0]], *_row_counts(document)) for document in documents],
    )
    yield _rows(
        tables.Model,
        [
            _values(
                model,
                tables.Model,
                model_key=key,
                document_key=document_keys[document.head, document.files[0]],
                release_key=release_keys[document.head],
            )
            for key, (document, model) in enumerate(models, 1)
        ],
    )
    gpus = sorted({run.gpu for _, model in models for run in model.runs})
    yield _rows(tables.Gpu, [(gpu, *VENDOR_FACTS.get(gpu, (None, None, None))) for gpu in gpus])
    for kind, (table, key_name) in _RUN_TABLES.items():
        of_kind = [(key, model) for key, (_, model) in enumerate(models, 1) if model.runs and _kind(model) is kind]
        yield _run_rows(kind, table, key_name, of_kind)
        if kind is Run:
            yield from _pick_and_length_rows(of_kind)


_RUN_TABLES: dict[type[AnyRun], tuple[type[tables.Base], str]] = {
    Run: (tables.Configuration, "configuration_key"),
    ImageRun: (tables.ImageConfiguration, "image_configuration_key"),
    VideoRun: (tables.VideoConfiguration, "video_configuration_key"),
}


def _kind(model: Model) -> type[AnyRun]:
    """Return the kind of a model's runs."""
    return next(kind for kind in _RUN_TABLES if isinstance(model.runs[0], kind))


def _run_rows(
    kind: type[AnyRun], table: type[tables.Base], key_name: str, models: Sequence[tuple[int, Model]]
) -> tuple[type[tables.Base], pa.Table]:
    """Return the runs of one kind; their keys count from 1."""
    runs = [run for _, model in models for run in model.runs]
    fields = kind.__struct_fields__
    values = zip(*map(attrgetter(*fields), runs), strict=True) if runs else [()] * len(fields)
    columns: dict[str, Any] = dict(zip(fields, values, strict=True))
    columns[key_name] = range(1, len(runs) + 1)
    columns["model_key"] = [key for key, model in models for _ in model.runs]
    columns["parallel_notes"] = [
        note for _, model in models for note in model.parallel_notes or (None,) * len(model.runs)
    ]
    schema = _schema(table)
    arrays = [pa.array(columns[field.name], field.type) for field in schema]
    return table, pa.table(arrays, schema=schema)


def _pick_and_length_rows(models: Sequence[tuple[int, Model]]) -> Iterator[tuple[type[tables.Base], pa.Table]]:
    """Yield what goes with the runs of text models: published picks and output lengths."""
    picks: list[tuple[int, str, int]] = []
    bins: list[tuple[int, int, float, float, int]] = []
    first_key = 1
    for model_key, model in models:
        picks += [(model_key, gpu, first_key + place) for gpu, place in sorted(model.picks.items())]
        for key, lengths in enumerate(model.output_lengths, first_key):
            bins += [
                (key, place, low, high, count)
                for place, ((low, high), count) in enumerate(
                    zip(pairwise(lengths.edges), lengths.counts, strict=True), 1
                )
            ]
        first_key += len(model.runs)
    yield _rows(tables.PublishedPick, picks)
    yield _rows(tables.OutputLengthBin, bins)


def _row_counts(document: Document) -> tuple[int, int, int, int]:
    """Count what a document gives: models, runs, published picks, bins of output lengths."""
    return (
        len(document.models),
        sum(len(model.runs) for model in document.models),
        sum(len(model.picks) for model in document.models),
        sum(len(lengths.counts) for model in document.models for lengths in model.output_lengths),
    )


def _release_order(head: Head) -> tuple[Any, ...]:
    return (head.name, head.task, head.data_version, head.format, head.compiled, head.publisher, head.url)


def _slugs(document: Document) -> list[str]:
    return sorted(model.slug for model in document.models)


def _values(record: msgspec.Struct, table: type[tables.Base], **keys: int) -> tuple[Any, ...]:
    """Pick a table's columns out of a record, in the table's order; `keys` are what the record lacks."""
    return tuple(
        keys[column.name] if column.name in keys else getattr(record, column.name)
        for column in table.__table__.columns
    )


def _rows(table: type[tables.Base], rows: Sequence[tuple[Any, ...]]) -> tuple[type[tables.Base], pa.Table]:
    schema = _schema(table)
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return table, pa.table(arrays, schema=schema)


def _schema(table: type[tables.Base]) -> pa.Schema:
    return pa.schema(
        [
            pa.field(column.name, _ARROW_TYPES[type(column.type)], nullable=bool(column.nullable))
            for column in table.__table__.columns
        ]
    )
