"""What a person sees of a command: rows on stdout, words and a progress bar on stderr."""

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from energydb.paths import DEFAULT_DATABASE, as_option

if TYPE_CHECKING:
    from energydb.load import Report

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
    """Show what was loaded, and the first findings; where there is a database, by which command all show."""
    from energydb.ask.render import draw_table
    from energydb.load import finding_faults

    for note in report.notes:
        fault(note)
    places = [report.contents.columns.index(name) for name in _SUMMARY]
    rows = [[row[place] for place in places] for row in report.contents.rows]
    width = terminal_width(sys.stdout)
    put(draw_table(_SUMMARY, rows, width, may_leave_out=False).parts())
    faults = finding_faults(report)
    for finding in faults:
        fault(str(finding))
    if (more := report.finding_count - len(faults)) > 0:
        say(f"and {more:,} more" + (f": {command_line('query data_quality', database)}" if database else ""))
    count = f"{report.finding_count:,}" if report.finding_count else "no"
    say(f"data_quality: {count} finding{'' if report.finding_count == 1 else 's'}")


def terminal_width(stream: Any) -> int | None:
    """Return the terminal's width; no limit where the stream goes to a file or a pipe."""
    return shutil.get_terminal_size().columns if stream.isatty() else None
