"""Rebuilds the database: reads and checks every document, builds a new file, and publishes it whole."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import sqlalchemy
from sqlalchemy import Connection

import energydb
from energydb import tables
from energydb.database import migrate, replacing, writing
from energydb.document import read_document
from energydb.errors import DataError, DocumentError, DocumentErrors, FindingsError, UsageError
from energydb.leaderboard import is_leaderboard, read_leaderboard
from energydb.normalise import disagreements, scenario_rows, table_rows
from energydb.paths import DATA, SCENARIOS
from energydb.progress import Track, silently
from energydb.records import Document
from energydb.scenario import Scenario, read_scenarios


class Rows(NamedTuple):
    """The answer of a view: column names, and the rows in the view's order."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class Report(NamedTuple):
    """What was loaded: `contents`, `data_quality`, and in words what was passed over."""

    contents: Rows
    findings: Rows
    notes: tuple[str, ...]


def load(
    paths: Sequence[Path],
    target: Path,
    *,
    strict: bool,
    force: bool = False,
    scenarios: Path = SCENARIOS,
    track: Track = silently,
) -> Report:
    """Build `target` anew from the documents in `paths` (files and folders; none: energydb's own).

    With `force`, a target that isn't energydb's is replaced all the same. `scenarios` is the CSV file of the
    places and prices that footprints are worked out for.

    Raises:
        DataError: a document is at fault, or with `strict` a row of `data_quality`; `target` is untouched.
        UsageError: a path doesn't exist.
        MachineError: `target` can't be written, or is held open for writing.
    """
    documents, notes = read_documents(paths, track)
    places = read_scenarios(scenarios)
    with replacing(target, force=force) as built:
        report = _build(documents, places, notes, built)
        if strict and report.findings.rows:
            raise FindingsError(finding_faults(report), target)
    return report


def check(paths: Sequence[Path], *, track: Track = silently) -> Report:
    """Do all that `load` does but for publishing a file.

    Raises:
        DataError: a document is at fault.
        UsageError: a path doesn't exist.
    """
    documents, notes = read_documents(paths, track)
    with tempfile.TemporaryDirectory(prefix="energydb-") as folder:
        return _build(documents, read_scenarios(SCENARIOS), notes, Path(folder) / "check.duckdb")


def finding_faults(report: Report) -> list[DocumentError]:
    """Put each row of `data_quality` in words, as a fault of its document."""
    faults = []
    for row in report.findings.rows:
        finding = dict(zip(report.findings.columns, row, strict=True))
        run = finding["run_key"] and f"{finding['model']}: {finding['kind']} run {finding['run_key']}"
        place = finding["row_id"] or run or finding["gpu"] or finding["model"]
        if finding["repeat"] is not None and finding["repeat"] > 1:
            place += f" (repeat {finding['repeat']})"
        tolerance = "" if finding["tolerance"] is None else f" (within {finding['tolerance']:g})"
        problem = f"{finding['check_name']}: expected {finding['expected']}{tolerance}, got {finding['found']}"
        faults.append(DocumentError(finding["document"], place, problem))
    return faults


def read_documents(paths: Sequence[Path], track: Track = silently) -> tuple[list[Document], tuple[str, ...]]:
    """Read every document once, and say which came twice.

    Raises:
        DocumentErrors: every faulty document, each with its first fault of form or all its faults of rule.
        UsageError: a path doesn't exist.
    """
    found = _find(paths or [DATA])
    faults: list[DocumentError] = []
    documents: dict[object, Document] = {}
    notes = []
    for path in track(found, what="Reading"):
        try:
            read = read_leaderboard(path) if path.is_dir() else [read_document(path)]
        except DocumentErrors as error:
            faults += error.errors
            continue
        for document in read:
            first = documents.setdefault(tuple(file.sha256 for file in document.files), document)
            if first is not document:
                notes.append(f"{document.path}: the same bytes as {first.path}, loaded once")
    if not faults:
        faults += disagreements(list(documents.values()))
    if faults:
        raise DocumentErrors(faults)
    return list(documents.values()), tuple(notes)


def _find(paths: Sequence[Path]) -> list[Path]:
    """Find documents and folders of the leaderboard's data: each once, in the order of their paths."""
    found: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            within = list(_search(path))
            if not within:
                raise DataError(f"{path}: expected a folder with documents (*.json), got none")
        elif path.exists():
            within = [path]
        else:
            raise UsageError(f"{path}: no such file or folder")
        for file in within:
            found.setdefault(Path(os.path.realpath(file)), file)
    return sorted(found.values())


def _search(folder: Path) -> Iterator[Path]:
    """Search a folder for `*.json`, through all its folders but hidden ones; the leaderboard's is one piece."""
    within = sorted(folder.iterdir())
    if is_leaderboard(folder):
        yield folder
        return
    for path in within:
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _search(path)
        elif path.suffix == ".json":
            yield path


def _build(
    documents: Sequence[Document], scenarios: Sequence[Scenario], notes: tuple[str, ...], path: Path
) -> Report:
    with writing(path) as connection:
        migrate(connection)
        made = {
            "energydb_version": energydb.__version__,
            "documents": sum(len(document.files) for document in documents),
        }
        connection.execute(sqlalchemy.insert(tables.Build), made)
        for table, rows in (scenario_rows(scenarios), *table_rows(documents)):
            _insert(connection, table, rows)
        return Report(_fetch(connection, "contents"), _fetch(connection, "data_quality"), notes)


def _insert(connection: Connection, table: type[tables.Base], rows: pa.Table) -> None:
    """Hand whole columns to DuckDB, and make sure that every row arrived."""
    driver: Any = connection.connection.driver_connection
    driver.register("arrow_rows", rows)
    columns: list[Any] = [sqlalchemy.column(name) for name in rows.column_names]
    source = sqlalchemy.select(*columns).select_from(sqlalchemy.table("arrow_rows"))
    connection.execute(sqlalchemy.insert(table).from_select(rows.column_names, source))
    driver.unregister("arrow_rows")
    counting = sqlalchemy.select(sqlalchemy.func.count()).select_from(table)
    count = connection.execute(counting).scalar_one()
    if count != rows.num_rows:
        raise DataError(f"{table.__tablename__}: expected {rows.num_rows} rows, got {count}")


def _fetch(connection: Connection, view: str) -> Rows:
    result = connection.exec_driver_sql(f"from {view}")
    return Rows(tuple(result.keys()), [tuple(row) for row in result])
