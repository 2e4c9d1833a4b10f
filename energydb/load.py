"""Rebuilds the database: reads and checks every document, builds a new file, and publishes it whole."""

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
from sqlalchemy import Connection

import energydb
from energydb.errors import DocumentErrors, FindingsError, RefusedError
from energydb.paths import DATA, SCENARIOS, newest_revision
from energydb.progress import Track, silently
from energydb.reading import reading
from energydb.report import Report, Rows, finding_faults, unknown_fields
from energydb.sources.scenario import Scenario, read_scenarios
from energydb.sources.search import Input, find
from energydb.store.database import block_size, replacing, writing
from energydb.store.rows import insert, table_rows
from energydb.store.schema import create_macros, lay_out
from energydb.together import Documents

FINDINGS_SHOWN = 20
_MARK = "kind, run_key, has_finding, is_withdrawn"
# Text, image and video models in the publisher's data compiled on 2026-02-16. Source: `models` in the index of the
# leaderboard's data (https://ml.energy/leaderboard/), which `fetch` gets.
PUBLISHED_MODELS = 46


def load(
    paths: Sequence[Path],
    target: Path,
    *,
    strict: bool,
    keep_going: bool = False,
    force: bool = False,
    scenarios: Path = SCENARIOS,
    track: Track = silently,
) -> Report:
    """Build `target` anew from the documents in `paths` (files and folders; none: energydb's own).

    With `keep_going`, what is at fault is left out, and all that is sound is loaded. With `force`, a target that
    isn't energydb's is replaced all the same. `scenarios` is the CSV file of the places and prices that footprints
    are worked out for.

    Raises:
        DataError: a document is at fault, or with `strict` there are findings or unknown fields: `target` stays.
        UsageError: a path doesn't exist.
        MachineError: `target` can't be written, or is held open for writing.
    """
    found = find(paths or [DATA])
    places = read_scenarios(scenarios)
    with replacing(target, force=force) as built:
        try:
            report = _build(found, places, built, track, keep_going=keep_going)
        except DocumentErrors as error:
            remedy = f"{_MEND}; or {_LEAVE_OUT}" if error.is_anything_sound else _MEND
            raise RefusedError(error.errors, target, remedy) from error
        if strict:
            fields = unknown_fields(report)
            if count := len(fields) + report.finding_count:
                raise FindingsError([*fields, *finding_faults(report)], count, target)
    return report


_MEND = "mend that and load again"
_LEAVE_OUT = "leave out what isn't sound: the same command with --keep-going"


def check(paths: Sequence[Path], *, track: Track = silently) -> Report:
    """Do all that `load` does but for publishing a file.

    Raises:
        DataError: a document is at fault.
        UsageError: a path doesn't exist.
    """
    found = find(paths or [DATA])
    with tempfile.TemporaryDirectory(prefix="energydb-") as folder:
        return _build(found, read_scenarios(SCENARIOS), Path(folder) / "check.duckdb", track)


def _build(
    found: Input, scenarios: Sequence[Scenario], path: Path, track: Track, *, keep_going: bool = False
) -> Report:
    with (
        reading(found, path.parent, keep_going=keep_going, track=track) as documents_read,
        writing(path, block_size(found.size)) as connection,
    ):
        lay_out(connection)
        documents = documents_read()
        build = (energydb.__version__, energydb.RELEASED, _digest(documents, scenarios))
        for rows in table_rows(documents.batches, scenarios, build, documents.faults):
            insert(connection, rows)
        # Worked out once: a pick is not to wait for every rule of data_quality.
        connection.exec_driver_sql(f"insert into marked_run by name select {_MARK} from run_mark")
        create_macros(connection)
        notes = found.notes + documents.notes
        contents, _ = _fetch(connection, "contents")
        findings, more = _fetch(connection, "data_quality", first=FINDINGS_SHOWN)
        notices, _ = _fetch(connection, "notice")
        withdrawn, _ = _fetch(connection, "(" + _WITHDRAWN + ")")
        count = len(findings.rows) + more
        return Report(contents, findings, count, notes, notices, withdrawn, tuple(documents.left_out))


_WITHDRAWN = "select task, count(*) as runs from withdrawn_run group by task order by task"


def _digest(documents: Documents, scenarios: Sequence[Scenario]) -> str:
    """Return the SHA-256 of what decides about every row: files by name, faults, scenarios, and energydb itself."""
    files = sorted(
        (file.name, file.sha256) for batch in documents.batches for one in batch.documents for file in one.files
    )
    lost = sorted((Path(one.error.path).name, one.error.place, one.error.problem) for one in documents.left_out)
    of_places = [msgspec.structs.astuple(one) for one in scenarios]
    decisive = (energydb.__version__, newest_revision(), files, of_places, *lost)
    return hashlib.sha256(repr(decisive).encode()).hexdigest()


def _fetch(connection: Connection, view: str, first: int | None = None) -> tuple[Rows, int]:
    """Return a view's rows, or the first of them, and how many more there are."""
    result = connection.exec_driver_sql(f"from {view}")
    rows = [tuple(row) for row in (result.fetchall() if first is None else result.fetchmany(first))]
    return Rows(tuple(result.keys()), rows), sum(1 for _ in result) if first is not None else 0
