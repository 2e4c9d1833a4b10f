"""Hands on what the database holds: a task's models as model documents."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb

from energydb.ask.document_writer import model_document, rounded
from energydb.errors import DataError, UsageError
from energydb.sources.document import FORMAT as MODEL_DOCUMENT
from energydb.sources.document import read_document
from energydb.sources.records import Head, Model, Run, Runs
from energydb.store.sandbox import reading


def model_documents(
    database: Path, task: str, *, like: Path | None = None, data_version: str | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield a task's models as model documents: file name and bytes, by slug.

    Loaded documents come back as they were, in canonical form. A loaded leaderboard is rounded as its published
    documents are, under the head of the document `like`. The newest release is taken, or `data_version`'s.

    Raises:
        UsageError: the task or release isn't there, or `like` is missing or of another task.
        DataError: a model can't be written as a model document.
    """
    with reading(database) as connection:
        release = _release(connection, task, like is not None, data_version)
        head = _head(connection, release)
        if like is not None:
            head = read_document(like).head
            if head.task != task:
                raise UsageError(f"{like}: expected a document of the task {task}, got one of {head.task}")
        for model in _models(connection, release["release_key"]):
            if not re.fullmatch(r"[A-Za-z0-9._-]+", model.slug) or model.slug.startswith("."):
                raise DataError(f"{model.slug!r}: expected a slug that can name a file")
            if None in model.runs.columns["max_num_seqs"]:
                raise DataError(f"{model.slug}: a run without max_num_seqs has no place in a model document")
            if release["format"] != MODEL_DOCUMENT:
                model = rounded(model, head.itl_deadline_ms or 0)
            yield f"{model.slug}.json", model_document(head, model)


def _release(
    connection: duckdb.DuckDBPyConnection, task: str, derive: bool, data_version: str | None
) -> dict[str, Any]:
    """Choose the release: of model documents, or of the leaderboard where documents are to be derived."""
    found = _rows(
        connection,
        "select release.*, source.name, source.publisher, source.url, task.kind from release"
        " join source on source.source_key = release.source_key join task on task.id = release.task"
        " where release.task = ? order by release.data_version desc, release.compiled desc, release.release_key desc",
        task,
    )
    if not found:
        tasks = [row["id"] for row in _rows(connection, "select id from task order by id")]
        raise UsageError(f"expected one of the tasks {', '.join(tasks)}, got {task}")
    if found[0]["kind"] != "text":
        raise UsageError(f"{task}: model documents hold text runs, and this task makes {found[0]['kind']}s")
    of_format = [row for row in found if (row["format"] != MODEL_DOCUMENT) == derive]
    if not of_format:
        if derive:
            raise UsageError(f"{task}: --like is for a loaded leaderboard, and only documents are loaded")
        raise UsageError(f"{task}: loaded from the leaderboard, which lacks a document's head: name one with --like")
    for row in of_format:
        if data_version is None or str(row["data_version"]) == data_version:
            return row
    versions = ", ".join(str(row["data_version"]) for row in of_format)
    raise UsageError(f"{task}: expected one of the releases {versions}, got {data_version}")


def _head(connection: duckdb.DuckDBPyConnection, release: dict[str, Any]) -> Head:
    evidence = _rows(
        connection,
        "select evidence from licence_evidence where release_key = ? order by position",
        release["release_key"],
    )
    fields = {field: release[field] for field in Head.__struct_fields__ if field != "licence_evidence"}
    return Head(**fields, licence_evidence=tuple(row["evidence"] for row in evidence))


def _models(connection: duckdb.DuckDBPyConnection, release_key: int) -> Iterator[Model]:
    """Yield the models of a release by slug, with their runs and picks."""
    models = _rows(connection, "select * from model where release_key = ? order by slug", release_key)
    runs = _rows(
        connection,
        "select configuration.* from configuration join model on model.model_key = configuration.model_key"
        " where model.release_key = ? order by model.slug, configuration.configuration_key",
        release_key,
    )
    picks = _rows(
        connection,
        "select published_pick.* from published_pick join model on model.model_key = published_pick.model_key"
        " where model.release_key = ? order by published_pick.gpu",
        release_key,
    )
    runs_of = {key: list(group) for key, group in groupby(runs, key=lambda row: row["model_key"])}
    for model in models:
        key = model["model_key"]
        own = runs_of[key]
        places = {row["configuration_key"]: place for place, row in enumerate(own)}
        yield Model(
            **{field: model[field] for field in ("slug", "name", "model_id", "params_b", "active_params_b")},
            architecture=model["architecture"],
            runs=Runs(Run, {field: [row[field] for row in own] for field in Run.__struct_fields__}),
            picks={row["gpu"]: places[row["configuration_key"]] for row in picks if row["model_key"] == key},
        )


def _rows(connection: duckdb.DuckDBPyConnection, sql: str, *values: object) -> list[dict[str, Any]]:
    cursor = connection.execute(sql, list(values))
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
