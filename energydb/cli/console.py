"""What a person sees of a command: rows on stdout, words and a progress bar on stderr."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from energydb.paths import DEFAULT_DATABASE, as_option

if TYPE_CHECKING:
    from energydb.report import Report
    from energydb.sources.fetch import Changes

T = TypeVar("T")

_SUMMARY = ("task", "source", "compiled", "data_version", "models", "runs")


def fault(line: str) -> None:
    """Say what is wrong, on one line whatever is in it."""
    from energydb.ask.render import printable

    sys.stdout.flush()
    typer.echo(printable(f"energydb: {line}"), err=True)


def put(lines: Iterable[str]) -> None:
    """Write rows to stdout; a reader that has seen enough, as `head` does, ends the command in peace."""
    try:
        for line in lines:
            sys.stdout.write(line)
        sys.stdout.flush()
    except BrokenPipeError:
        leave_stdout()
        raise typer.Exit from None


def leave_stdout() -> None:
    """Send what is still to come nowhere, so that the interpreter's own last flush finds no fault."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def say(*words: str) -> None:
    """Say words that go with rows, line by line."""
    from energydb.ask.render import printable

    sys.stdout.flush()
    for line in "\n".join(words).splitlines():
        typer.echo(printable(line), err=True)


def track(items: Sequence[T], /, what: str) -> Iterable[T]:
    """Show a progress bar on a terminal, where there is something to wait for."""
    if not sys.stderr.isatty() or len(items) < 3:
        return items
    from rich import progress
    from rich.console import Console

    return progress.track(items, description=what, console=Console(stderr=True), transient=True)


def command_line(words: str, database: Path = DEFAULT_DATABASE) -> str:
    """Return a command as it is to be typed here, of a database where that isn't the default one."""
    # Under `uv run`, energydb lies in a virtual environment that the next command line doesn't know.
    launcher = "uv run energydb" if "UV" in os.environ else "energydb"
    return f"{launcher} {words}{as_option(database)}"


def show_report(report: "Report", database: Path | None = None) -> None:
    """Show what was loaded, what of it isn't as it was, and the first findings; and by which command all show."""
    from energydb.ask.render import draw_table
    from energydb.report import counted_or_no, finding_faults

    for note in report.notes:
        fault(note)
    places = [report.contents.columns.index(name) for name in _SUMMARY]
    rows = [[row[place] for place in places] for row in report.contents.rows]
    width = terminal_width(sys.stdout)
    put(draw_table(_SUMMARY, rows, width, may_leave_out=False).parts())
    _say_what_is_new(report, database)
    _say_what_is_lost(report, database)
    faults = finding_faults(report)
    for finding in faults:
        fault(str(finding))
    if (more := report.finding_count - len(faults)) > 0:
        say(f"and {more:,} more{_see('data_quality', database)}")
    say(f"data_quality: {counted_or_no(report.finding_count, 'finding')}")


def _say_what_is_new(report: "Report", database: Path | None) -> None:
    """Say what energydb doesn't know yet, a line each, and which runs the newest release no longer has."""
    from energydb.report import notices, withdrawals

    for notice in notices(report):
        say(f"notice: {notice}")
    if withdrawn := withdrawals(report):
        say(f"withdrawn: {withdrawn}{_see('withdrawn_run', database)}")


def _say_what_is_lost(report: "Report", database: Path | None) -> None:
    """Say what is wrong with what was left out, then of which task and model how many runs that was."""
    from energydb.errors import counted, of_kinds
    from energydb.report import losses

    for line in of_kinds([left_out.error for left_out in report.left_out]):
        fault(line)
    for words in losses(report):
        say(f"left out: {words}")
    if report.left_out:
        say(f"left out: {counted(len(report.left_out), 'fault')} in all{_see('left_out', database)}")


def show_changes(changes: "Changes", wanted: Path) -> None:
    """Show what a fetch brought, what of it energydb doesn't know or can't load, and how to load it."""
    from energydb.ask.render import printable
    from energydb.errors import DocumentErrors

    kinds = ("new", "changed", "gone")
    listed = ((what, place) for what in kinds for place in getattr(changes, what))
    put(printable(f"{what:7}  {place}") + "\n" for what, place in listed)
    say(*(f"notice: {one.field}: a field that energydb doesn't know: {one.type}" for one in changes.unknown))
    brought = f"{changes.folder}: " + ", ".join(f"{len(getattr(changes, what))} {what}" for what in (*kinds, "same"))
    load_it = f"energydb load {shlex.quote(str(changes.folder))}"
    if not changes.faults:
        say(f"{brought}. Load it: {load_it}")
        return
    refused = DocumentErrors(changes.faults)
    for line in refused.lines:
        fault(line)
    say(f"{brought}; {refused.counted}. What is sound of it: {load_it} --keep-going")
    if changes.folder != wanted:
        say(f"{wanted}: as it was, as all of that can be loaded")


def _see(question: str, database: Path | None) -> str:
    return f": {command_line(f'query {question}', database)}" if database else ""


def terminal_width(stream: Any) -> int | None:
    """Return the terminal's width; no limit where the stream goes to a file or a pipe."""
    return shutil.get_terminal_size().columns if stream.isatty() else None
