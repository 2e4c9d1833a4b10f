"""The commands: the only module that prints, exits or knows Typer. stdout is rows; words go to stderr."""

import contextlib
import gc
import os
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from energydb.errors import DataError, EnergydbError, MachineError, QueryError, UsageError
from energydb.paths import DEFAULT_DATABASE, SCENARIOS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from energydb.catalog import Answer
    from energydb.load import Report

T = TypeVar("T")

_EXIT_CODES = {DataError: 1, UsageError: 2, MachineError: 3}
_SUMMARY = ("task", "source", "compiled", "data_version", "models", "runs")

app = typer.Typer(
    name="energydb",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    help="""Published measurements of AI-inference energy as one SQL database file.

    \b
    Start here:
      energydb load               build energy.duckdb from the documents shipped
      energydb query best_pick    the lowest-energy run per task, model and GPU
      energydb views              what else can be asked
      energydb fetch              the leaderboard's whole data, for energydb load

    In the DuckDB shell: duckdb -readonly energy.duckdb "from best_pick"

    Every figure is GPU energy at steady state: a floor, without host, network, cooling and idle time.

    Exit codes: 0 done, 1 the data or the query is at fault, 2 the command line is, 3 the machine is.
    """,
)

Database = Annotated[
    Path,
    typer.Option("--database", envvar="ENERGYDB_DATABASE", metavar="FILE", help="The database file.", readable=False),
]


class Format(StrEnum):
    """How `query` shows an answer."""

    table = "table"
    csv = "csv"
    json = "json"
    markdown = "markdown"
    parquet = "parquet"
    bibtex = "bibtex"


_SUFFIXES = {
    "": Format.table,
    ".txt": Format.table,
    ".csv": Format.csv,
    ".json": Format.json,
    ".md": Format.markdown,
    ".parquet": Format.parquet,
    ".bib": Format.bibtex,
}


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from energydb import __version__

        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def load(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            readable=False,
            help="Documents, folders searched for *.json, or folders of the leaderboard's public data; "
            "without any, the documents that come with energydb.",
        ),
    ] = None,
    database: Database = DEFAULT_DATABASE,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse documents with data_quality findings.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace even a file that energydb didn't make.")] = False,
    scenarios: Annotated[
        Path | None,
        typer.Option(
            "--scenarios", metavar="FILE", readable=False, help="Places and prices for footprints, as CSV; see data/."
        ),
    ] = None,
) -> None:
    """Build the database anew from documents, whole or not at all.

    Whatever goes wrong, the old file stays as it was; programs that read it go on undisturbed.

    \b
    Examples:
      energydb load
      energydb load my-documents/ --database lab.duckdb --strict
      energydb load data leaderboard       (the leaderboard: energydb fetch)
    """
    from energydb.load import load as load_documents

    report = load_documents(
        paths or [], database, strict=strict, force=force, scenarios=scenarios or SCENARIOS, track=_track
    )
    # Under `uv run`, energydb lies in a virtual environment that the next command line doesn't know.
    launcher = "uv run energydb" if "UV" in os.environ else "energydb"
    named = "" if database == DEFAULT_DATABASE else f" --database {shlex.quote(str(database))}"
    _show_report(report, f"{launcher} query data_quality{named}")
    _say(f"{database} is built. Ask it:")
    _say(f"  {launcher} query best_pick{named}")
    _say(f"  {launcher} views")
    _say(f'  duckdb -readonly {shlex.quote(str(database))} "from best_pick"   (pip install duckdb-cli)')


@app.command()
def fetch(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Folder to put it in, for this data alone.")] = Path(
        "leaderboard"
    ),
    url: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="URL", help="Where the data lies; by default the shipped documents' data_url."
        ),
    ] = None,
) -> None:
    """Get the leaderboard's whole public data, into a folder that load takes.

    The folder is replaced whole or stays as it was; what changed in it is listed.

    \b
    Examples:
      energydb fetch
      energydb load data leaderboard
    """
    from energydb.fetch import default_url
    from energydb.fetch import fetch as fetch_data
    from energydb.render import printable

    changes = fetch_data(folder, url or default_url(), track=_track)
    for what in ("new", "changed", "gone"):
        for place in getattr(changes, what):
            _put([printable(f"{what:7}  {place}") + "\n"])
    counts = ", ".join(f"{len(places)} {what}" for what, places in changes._asdict().items())
    _say(f"{folder}: {counts}. Load it: energydb load {shlex.quote(str(folder))}")


@app.command()
def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", readable=False, help="Documents, folders with documents, or a database."),
    ] = None,
) -> None:
    """Check documents as load would, or check a database file.

    Exits with 1 if there is a fault or a data_quality finding.

    \b
    Examples:
      energydb check my-document.json
      energydb check energy.duckdb
    """
    from energydb.check import check_database
    from energydb.files import is_duckdb
    from energydb.load import check as check_documents
    from energydb.render import printable

    databases = [path for path in paths or [] if is_duckdb(path)]
    documents = [path for path in paths or [] if path not in databases]
    sound = True
    for database in databases:
        faults = 0
        for result in check_database(database):
            _put([printable(f"{'ok' if result.sound else 'FAULT':5}  {result.what}: {result.found}") + "\n"])
            faults += not result.sound
        if faults:
            _say(f"{database}: {faults} fault{'' if faults == 1 else 's'}, the lines that begin with FAULT")
        sound = sound and not faults
    if documents or not databases:
        report = check_documents(documents, track=_track)
        _show_report(report)
        sound = sound and not report.finding_count
    if not sound:
        raise typer.Exit(_EXIT_CODES[DataError])


@app.command()
def upgrade(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", readable=False, help="The database file.")
    ] = DEFAULT_DATABASE,
) -> None:
    """Bring a database file of an older energydb to the newest schema.

    Its rows are kept, and it is replaced whole or stays as it was. (`energydb load` builds it anew instead.)

    \b
    Example:
      energydb upgrade energy.duckdb
    """
    from energydb.upgrade import upgrade as upgrade_file

    before, after = upgrade_file(path)
    _say(f"{path}: schema {after}" + (", the newest: nothing to do" if before == after else f", from {before}"))


@app.command()
def views(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A view or table: show its page.")] = None,
    database: Database = DEFAULT_DATABASE,
) -> None:
    """List what can be asked, a line each; or show one view's or table's page.

    \b
    Examples:
      energydb views
      energydb views best_pick
      energydb views configuration
    """
    from energydb.pages import filled, list_of_questions, page
    from energydb.views import read_views

    if name is None:
        _put(list_of_questions(read_views()))
        _say("A page each: energydb views NAME. An answer: energydb query NAME. Tables have both too.")
        return
    from energydb.catalog import closest_name, comment, describe, reading
    from energydb.question import view_of
    from energydb.render import printable

    width = _terminal_width(sys.stdout)
    with reading(database) as connection:
        name = closest_name(connection, name)
        if view := view_of(name):
            _put(page(connection, view, width))
            return
        lines = [f"table {name}: {comment(connection, name)}", ""]
        lines += [f"{column.name} ({column.type}): {column.comment}" for column in describe(connection, name)]
        _put(f"{filled(printable(line), width, hanging=True)}\n" for line in lines)


@app.command(
    add_help_option=False,  # its own one knows a macro's parameters
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def query(
    context: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(metavar="NAME|SQL", help="A view, macro or table by name, or one SELECT statement."),
    ] = None,
    database: Database = DEFAULT_DATABASE,
    task: Annotated[str | None, typer.Option("--task", help="Only this task; part of a name will do.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="Only this model; part of a name will do.")] = None,
    gpu: Annotated[str | None, typer.Option("--gpu", help="Only this GPU.")] = None,
    scenario: Annotated[str | None, typer.Option("--scenario", help="Only this scenario.")] = None,
    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Tables round to 7 digits, all others are exact and whole. "
            "By default as the output's name ends, else a table.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write to a file; parquet needs one.")
    ] = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print the SQL, to paste elsewhere, and don't ask.")] = False,
    help_wanted: Annotated[
        bool, typer.Option("--help", "-h", help="Show this message, with a macro's parameters after its name.")
    ] = False,
) -> None:
    """Ask the database, read-only: by name or in SQL.

    A macro's parameters are options too: `energydb query NAME --help`. SQL can read this database and nothing
    else: no other file, no extension, no setting.

    \b
    Examples:
      energydb query best_pick --model llama-3-1-70b
      energydb query pick --max-p99-itl-ms 100 --gpu H100
      energydb query "select gpu, max(p99_itl_ms) from best_pick group by gpu"
      energydb query concurrency_curve --output curves.csv
      energydb query provenance --model scout --format bibtex
    """
    if help_wanted:
        from energydb.views import help_with_parameters

        _put([f"{context.get_help()}\n", *help_with_parameters(question)])
        return
    if question is None:
        raise UsageError("query: expected a name or SQL, got nothing; energydb views lists the names")
    from energydb.catalog import ask, is_name, reading
    from energydb.question import limited_columns, sql_of, words_on_filters

    if format is None:
        suffix = output.suffix if output else ""
        if suffix not in _SUFFIXES:
            known = ", ".join(filter(None, _SUFFIXES))
            raise UsageError(f"{output}: expected a name that ends in {known}, or --format, got {suffix}")
        format = _SUFFIXES[suffix]
    if format is Format.parquet and output is None:
        raise UsageError("query: --format parquet needs --output FILE")
    if output and os.path.realpath(output) in (os.path.realpath(database), f"{os.path.realpath(database)}.wal"):
        raise UsageError(f"{output}: --output is the database itself")
    filters = {"task": task, "model": model, "gpu": gpu, "scenario": scenario}
    with reading(database) as connection, _interruptible(connection):
        name = None
        if is_name(question):
            name, question = sql_of(connection, question.strip(), context.args, filters)
        elif context.args or any(filters.values()):
            given = [*context.args, *(f"--{column}" for column, part in filters.items() if part)]
            raise UsageError(f"query: options are for a question by name, and SQL says it itself: {' '.join(given)}")
        if sql:
            _put([f"{question};\n"])
            return
        answer = ask(connection, question, name)
        for words in words_on_filters(name, filters) if name else ():
            _say(words)
        limited = limited_columns(context.args)
        if format in (Format.json, Format.parquet) and len(set(answer.columns)) < len(answer.columns):
            raise QueryError(f"query: {format} needs a name of its own for each column: say `as`")
        if output is None:
            _put(_lines(answer, format, _terminal_width(sys.stdout), limited))
            return
        with _whole_file(output) as path:
            if format is Format.parquet:
                from energydb.export import write_parquet

                write_parquet(answer, path)
            else:
                with path.open("w", encoding="utf-8", newline="") as file:
                    file.writelines(_lines(answer, format, None))


export_app = typer.Typer(help="Write what the database holds back out, as files.", rich_markup_mode=None)
app.add_typer(export_app, name="export")


@export_app.command("documents")
def export_documents(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write to; made if it isn't there.")],
    task: Annotated[str, typer.Option("--task", metavar="TASK", help="The task whose models are written.")],
    like: Annotated[
        Path | None,
        typer.Option(
            "--like", metavar="DOCUMENT", help="A document of the task, whose head a loaded leaderboard lacks."
        ),
    ] = None,
    release: Annotated[
        str | None, typer.Option("--release", metavar="DATE", help="A data_version; by default the newest.")
    ] = None,
    database: Database = DEFAULT_DATABASE,
) -> None:
    """Write a task's models as model documents, one file a model, in canonical form.

    Loaded documents come back as they were. From a loaded leaderboard they are derived: rounded as its
    published documents are, under the head of --like.

    \b
    Examples:
      energydb export documents out --task lm-arena-chat
      energydb export documents out --task lm-arena-chat --like document.json
    """
    from energydb.export import model_documents

    written = list(model_documents(database, task, like=like, data_version=release))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MachineError(f"{folder}: can't be written: {error.strerror}") from error
    for name, document in written:
        with _whole_file(folder / name) as path:
            path.write_bytes(document)
    _say(f"{folder}: {len(written)} document{'' if len(written) == 1 else 's'} of {task}")


def main() -> NoReturn:
    """Run the command line, and turn every fault into its lines on stderr and its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup, or in the background of a script
            signal.signal(number, _stop)
    nowhere = None
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by who called
            nowhere = nowhere or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, nowhere)
        else:
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except EnergydbError as error:
        for line in error.lines:
            _fault(line)
        sys.exit(next(code for kind, code in _EXIT_CODES.items() if isinstance(error, kind)))
    except RuntimeError:
        if not _stopped_by:
            raise
        sys.exit(128 + _stopped_by[0])  # DuckDB was stopped in the middle, and made an error of it
    except OSError as error:
        if error.filename is None:
            _leave_stdout()
        _fault(f"{error.filename or 'stdout'}: {error.strerror or error}")
        sys.exit(_EXIT_CODES[MachineError])
    finally:
        gc.freeze()  # the process ends: to search its memory for garbage first would take a tenth of a second
    raise AssertionError("typer exits by itself")


def _fault(line: str) -> None:
    """Say what is wrong, on one line whatever is in it."""
    from energydb.render import printable

    sys.stdout.flush()
    typer.echo(printable(f"energydb: {line}"), err=True)


_stopped_by: list[int] = []


def _stop(signal_number: int, frame: object) -> NoReturn:
    """End by way of every `finally`, so that a stopped load leaves nothing behind."""
    _stopped_by.append(signal_number)
    sys.exit(128 + signal_number)


@contextlib.contextmanager
def _interruptible(connection: "DuckDBPyConnection") -> Iterator[None]:
    """Let a signal stop a long query at once: DuckDB itself would see it only when the query is over."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer)

    def watch() -> None:
        if os.read(reader, 1):
            connection.interrupt()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writer)
        watcher.join()
        os.close(reader)


def _put(lines: Iterable[str]) -> None:
    """Write rows to stdout; a reader that has seen enough, as `head` does, ends the command in peace."""
    try:
        for line in lines:
            sys.stdout.write(line)
        sys.stdout.flush()
    except BrokenPipeError:
        _leave_stdout()
        raise typer.Exit from None


def _leave_stdout() -> None:
    """Send what is still to come nowhere, so that the interpreter's own last flush finds no fault."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _say(words: str) -> None:
    from energydb.render import printable

    sys.stdout.flush()
    for line in words.splitlines():
        typer.echo(printable(line), err=True)


def _track(items: Sequence[T], /, what: str) -> Iterable[T]:
    """Show a progress bar on a terminal, where there is something to wait for."""
    if not sys.stderr.isatty() or len(items) < 3:
        return items
    from rich.console import Console
    from rich.progress import track

    return track(items, description=what, console=Console(stderr=True), transient=True)


def _show_report(report: "Report", all_findings: str = "") -> None:
    """Show what was loaded, and the first findings; `all_findings` is the command that shows all."""
    from energydb.load import finding_faults
    from energydb.render import draw_table

    for note in report.notes:
        _fault(note)
    places = [report.contents.columns.index(name) for name in _SUMMARY]
    rows = [[row[place] for place in places] for row in report.contents.rows]
    width = _terminal_width(sys.stdout)
    _put(draw_table(_SUMMARY, rows, width, may_leave_out=False).parts())
    faults = finding_faults(report)
    for fault in faults:
        _fault(str(fault))
    if (more := report.finding_count - len(faults)) > 0:
        _say(f"and {more:,} more" + (f": {all_findings}" if all_findings else ""))
    count = f"{report.finding_count:,}" if report.finding_count else "no"
    _say(f"data_quality: {count} finding{'' if report.finding_count == 1 else 's'}")


def _terminal_width(stream: Any) -> int | None:
    """Return the terminal's width; no limit where the stream goes to a file or a pipe."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def _lines(answer: "Answer", format: Format, width: int | None, limited: Sequence[str] = ()) -> Iterator[str]:
    from energydb.render import bibtex_entries, csv_lines, json_lines, markdown_lines

    if format is Format.table:
        from energydb.pages import shown_answer

        shown = shown_answer(answer, width, limited)
        yield from shown.table
        for words in shown.words:
            _say(words)
        return
    if format is Format.bibtex:
        missing = [column for column in _CITED if column not in answer.columns]
        if missing:
            raise QueryError(f"query: --format bibtex is for provenance: expected the columns {', '.join(missing)}")
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows()]
        yield from bibtex_entries(dict.fromkeys(tuple(row[column] for column in _CITED) for row in rows))
        return
    form = {Format.csv: csv_lines, Format.json: json_lines, Format.markdown: markdown_lines}[format]
    yield from form(answer.columns, answer.exact_rows())


_CITED = ("source", "publisher", "source_url", "cite", "cite_url", "compiled", "data_version", "licence")


@contextlib.contextmanager
def _whole_file(target: Path) -> Iterator[Path]:
    """Yield a path to write to; put what was written in `target`'s place when all went well."""
    from energydb.files import put_in_place, real_file, working_folder

    real = real_file(target)
    if real.exists() and not os.access(real, os.W_OK):
        raise MachineError(f"{target}: can't be written: Permission denied")
    with working_folder(real) as folder:
        path = folder / real.name
        yield path
        put_in_place(path, real)
