"""What a load did, and what is to be said of it: notices, findings, withdrawn runs, and what was left out."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from energydb.errors import DocumentError, counted
from energydb.sources.parts import OTHER_KIND
from energydb.sources.records import Fault


class Rows(NamedTuple):
    """The answer of a view: column names, and the rows in the view's order."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def named(self) -> Iterator[dict[str, Any]]:
        """Yield each row by its columns' names."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)


class Report(NamedTuple):
    """What was loaded: `contents`, the first rows of `data_quality` and how many it has, and what isn't as it was.

    Those are what was passed over, all rows of `notice`, how many runs were withdrawn (by task), and what
    was left out.
    """

    contents: Rows
    findings: Rows
    finding_count: int
    notes: tuple[str, ...]
    notices: Rows
    withdrawn: Rows
    left_out: tuple[Fault, ...]

    @property
    def models(self) -> int:
        """How many models were loaded, counted in each release."""
        return sum(row["models"] for row in self.contents.named())


def unknown_fields(report: Report) -> list[DocumentError]:
    """Put each field that isn't known in words, as a fault."""
    fields = Rows(report.notices.columns, [row for row in report.notices.rows if _KIND(row) in ("field", OTHER_KIND)])
    return [DocumentError(words, "", "expected no field that energydb doesn't know") for words in _noticed(fields)]


def notices(report: Report) -> list[str]:
    """Put what energydb doesn't know in words, each thing once, however many tasks and releases have it."""
    return list(_noticed(report.notices))


_KIND = itemgetter(0)
_WORDS = {
    "gpu": "a GPU that energydb doesn't know yet",
    "precision": "a precision that energydb doesn't know yet",
    "architecture": "an architecture that energydb doesn't know yet",
    "parallelism": "a kind of parallelism that energydb doesn't know yet",
    "task": "a task that energydb doesn't know yet",
    "no value": "published without a value",
}


def _noticed(notices: Rows) -> Iterator[str]:
    """Yield a line for each thing that is noticed."""
    for (kind, name), rows in groupby(notices.named(), itemgetter("kind", "name")):
        told = list(rows)
        first = told[0]
        what = _WORDS.get(kind, "")
        if kind == "field":
            example = "" if first["type"] == "null" else f", such as {first['example']}"
            what = f"a field that energydb doesn't know and doesn't keep: {first['type']}{example}"
        if kind == OTHER_KIND:
            measured_by = f"a kind of task that energydb can't hold, as it's measured by {first['example']}"
            yield f"{name}: {measured_by}: {counted(first['runs'], 'run')} not loaded"
            continue
        runs: Counter[str] = Counter()
        for row in told:
            if row["place"] == "" or _OF_RUNS in row["place"]:
                runs[row["task"]] += row["runs"]
        elsewhere = sorted({row["place"] for row in told if row["place"] != "" and _OF_RUNS not in row["place"]})
        where = [f"{counted(count, 'run')} of {task}" for task, count in runs.items()] + elsewhere
        yield f"{name}: {what}, in {', '.join(where)}"


_OF_RUNS = "[*]"  # in the place of a field: within the list of a document's runs


def finding_faults(report: Report) -> list[DocumentError]:
    """Put the first findings in words, each as a fault of its document."""
    faults = []
    for finding in report.findings.named():
        run = finding["run_key"] and f"{finding['model']}: {finding['kind']} run {finding['run_key']}"
        place = finding["row_id"] or run or finding["gpu"] or finding["model"]
        if finding["repeat"] is not None and finding["repeat"] > 1:
            place += f" (repeat {finding['repeat']})"
        tolerance = "" if finding["tolerance"] is None else f" (within {finding['tolerance']:g})"
        problem = f"{finding['check_name']}: expected {finding['expected']}{tolerance}, got {finding['found']}"
        faults.append(DocumentError(finding["document"], place, problem))
    return faults


def withdrawals(report: Report) -> str | None:
    """Say how many runs were withdrawn, and of which tasks; None where none was."""
    runs = {row["task"]: row["runs"] for row in report.withdrawn.named()}
    of_tasks = ", ".join(f"{task} {count:,}" for task, count in runs.items())
    words = "that a newer release of their source no longer has; kept, and out of picks and rankings"
    return f"{counted(sum(runs.values()), 'run')} {words} ({of_tasks})" if runs else None


def losses(report: Report) -> Iterator[str]:
    """Put what was left out in words, a line for each task and model."""
    lost: dict[tuple[str, str], list[int | None]] = {}
    for fault in report.left_out:
        lost.setdefault((fault.task or "unknown task", fault.model_id or "all models"), []).append(fault.runs)
    for (task, model), runs in lost.items():
        known = sum(count or 0 for count in runs)
        yield f"{task}: {model}: {'all runs' if None in runs and not known else counted_or_no(known, 'run')}"


def counted_or_no(count: int, of: str) -> str:
    """Return a number of things in words, and of none that there are no such things."""
    return counted(count, of) if count else f"no {of}s"
