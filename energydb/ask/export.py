"""Hands on what the database holds: a task's models as model documents."""

import re
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb

from energydb.ask.document_writer import model_document, rounded
from energydb.errors import DataError, UsageError, counted
from energydb.names import alike
from energydb.sources.document import FORMAT as MODEL_DOCUMENT
from energydb.sources.document import read_document
from energydb.sources.records import Head, Model, Run, Runs
from energydb.store.sandbox import reading


def model_documents(
    database: Path,
    task: str,
    *,
    like: Path | None = None,
    data_version: str | None = None,
    say: Callable[[str], object] | None = None,
) -> Iterator[tuple[str, bytes]]:
    """Yield a task's models as model documents: file name and bytes, by slug.

    Loaded documents come back as they were, in canonical form. A loaded leaderboard is rounded as its published
    documents are, under the head of the document `like`. The newest release is taken, or `data_version`'s. What
    can't be given back, since it was never kept, is told to `say` in one line after the last.

    Raises:
        UsageError: the task or release isn't there, or `like` is missing or of another task.
        DataError: a model can't be written as a model document.
    """
    with reading(database) as connection:
        release = _release(connection, task, like is not None, data_version)
        head = _head(connection, release)
        if like is not None:
            head = read_document(like).documents[0].head
            if head.task != release["task"]:
                raise UsageError(f"{like}: expected a document of the task {release['task']}, got one of {head.task}")
        for model in _models(connection, release["release_key"]):
            if not re.fullmatch(r"[A-Za-z0-9._-]+", model.slug) or model.slug.startswith("."):
                raise DataError(f"{model.slug!r}: expected a slug that can name a file")
            if release["format"] != MODEL_DOCUMENT:
                model = rounded(model, head.itl_deadline_ms or 0)
            yield f"{model.slug}.json", model_document(head, model)
        if say and (lost := ", and ".join(_never_kept(connection, release))):
            say(f"{release['task']}: what was never kept is in no document: {lost}")


def _never_kept(connection: duckdb.DuckDBPyConnection, release: dict[str, Any]) -> Iterator[str]:
    """Say what of a release was not kept: fields that energydb doesn't know, and what was left out at load."""
    fields = _rows(
        connection,
        "select distinct field from unknown_field where release_key = ? order by field",
        release["release_key"],
    )
    if fields:
        named = ", ".join(row["field"] for row in fields)
        yield f"the field{'s' if len(fields) > 1 else ''} {named} (energydb query notice)"
    (left_out,) = _rows(
        connection,
        "select count(*) as faults, coalesce(sum(runs), 0) as runs, count(*) > count(runs) as and_more from left_out"
        " where release_key = ? or (release_key is null and task = ?)",
        release["release_key"],
        release["task"],
    )
    if left_out["faults"]:
        more = " and more" if left_out["and_more"] else ""
        yield f"{counted(left_out['runs'], 'run')}{more} left out at load (energydb query left_out)"


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
        tasks = _rows(
            connection,
            "select task.id, bool_or((release.format <> ?) = ?) as fits from task"
            " join release on release.task = task.id where task.kind = 'text' group by task.id order by task.id",
            MODEL_DOCUMENT,
            derive,
        )
        named = [row["id"] for row in tasks if row["fits"]] or [row["id"] for row in tasks]
        if same := [each for each in named if alike(each) == alike(task)]:
            return _release(connection, same[0], derive, data_version)
        raise UsageError(f"expected one of the tasks {', '.join(named)}, got {task}")
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
        own = runs_of.get(key)
        if own is None:  # all of them were left out
            continue
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
