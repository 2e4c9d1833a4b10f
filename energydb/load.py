"""Rebuilds the database: reads and checks every document, builds a new file, and publishes it whole."""

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection

import energydb
from energydb.errors import DocumentError, FindingsError
from energydb.paths import DATA, SCENARIOS, newest_revision
from energydb.progress import Track, silently
from energydb.reading import Documents, reading
from energydb.sources.scenario import Scenario, read_scenarios
from energydb.sources.search import Input, find
from energydb.store.database import block_size, replacing, writing
from energydb.store.rows import insert, table_rows
from energydb.store.schema import create_macros, lay_out

FINDINGS_SHOWN = 20
# Text, image and video models in the publisher's data compiled on 2026-02-16. Source: `models` in the index of the
# leaderboard's data (https://ml.energy/leaderboard/), which `fetch` gets.
PUBLISHED_MODELS = 46


class Rows(NamedTuple):
    """The answer of a view: column names, and the rows in the view's order."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class Report(NamedTuple):
    """What was loaded: `contents`, the first rows of `data_quality`, how many it has, and what was passed over."""

    contents: Rows
    findings: Rows
    finding_count: int
    notes: tuple[str, ...]

    @property
    def models(self) -> int:
        """How many models were loaded, counted in each release."""
        return sum(row[self.contents.columns.index("models")] for row in self.contents.rows)


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
    found = find(paths or [DATA])
    places = read_scenarios(scenarios)
    with replacing(target, force=force) as built:
        report = _build(found, places, built, track)
        if strict and report.finding_count:
            raise FindingsError(finding_faults(report), report.finding_count, target)
    return report


def check(paths: Sequence[Path], *, track: Track = silently) -> Report:
    """Do all that `load` does but for publishing a file.

    Raises:
        DataError: a document is at fault.
        UsageError: a path doesn't exist.
    """
    found = find(paths or [DATA])
    with tempfile.TemporaryDirectory(prefix="energydb-") as folder:
        return _build(found, read_scenarios(SCENARIOS), Path(folder) / "check.duckdb", track)


def finding_faults(report: Report) -> list[DocumentError]:
    """Put the first findings in words, each as a fault of its document."""
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


def _build(found: Input, scenarios: Sequence[Scenario], path: Path, track: Track) -> Report:
    with reading(found, path.parent, track) as documents_read, writing(path, block_size(found.size)) as connection:
        lay_out(connection)
        documents = documents_read()
        build = (energydb.__version__, energydb.RELEASED, _digest(documents, scenarios))
        for rows in table_rows(documents.batches, scenarios, build):
            insert(connection, rows)
        create_macros(connection)
        notes = found.notes + documents.notes
        contents, _ = _fetch(connection, "contents")
        findings, more = _fetch(connection, "data_quality", first=FINDINGS_SHOWN)
        return Report(contents, findings, len(findings.rows) + more, notes)


def _digest(documents: Documents, scenarios: Sequence[Scenario]) -> str:
    """Return the SHA-256 of what decides about every row: files with their names, scenarios, and energydb itself."""
    files = sorted(
        (file.name, file.sha256) for batch in documents.batches for one in batch.documents for file in one.files
    )
    decisive = (energydb.__version__, newest_revision(), files, [msgspec.structs.astuple(one) for one in scenarios])
    return hashlib.sha256(repr(decisive).encode()).hexdigest()


def _fetch(connection: Connection, view: str, first: int | None = None) -> tuple[Rows, int]:
    """Return a view's rows, or the first of them, and how many more there are."""
    result = connection.exec_driver_sql(f"from {view}")
    rows = [tuple(row) for row in (result.fetchall() if first is None else result.fetchmany(first))]
    return Rows(tuple(result.keys()), rows), sum(1 for _ in result) if first is not None else 0
