"""The commands: their words and options, and which rooms do the work."""

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from energydb.ask.forms import Form, form_of
from energydb.cli.console import command_line, put, say, show_changes, show_report, terminal_width, track
from energydb.cli.export import Database, export_app
from energydb.cli.signals import interruptible
from energydb.errors import DataError, UsageError
from energydb.paths import DEFAULT_DATABASE, FETCHED, SCENARIOS

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

app.add_typer(export_app, name="export")


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
            metavar="[PATH]...",
            readable=False,
            help="Documents, folders searched for *.json, or folders of the leaderboard's public data; "
            "without any, the documents that come with energydb.",
        ),
    ] = None,
    database: Database = DEFAULT_DATABASE,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse data_quality findings, and fields that energydb doesn't know.")
    ] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Leave out what is at fault, load the rest, and exit with 1.")
    ] = False,
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
      energydb load leaderboard            (what energydb fetch brings)
    """
    from energydb.load import PUBLISHED_MODELS
    from energydb.load import load as load_documents

    report = load_documents(
        paths or [],
        database,
        strict=strict,
        keep_going=keep_going,
        force=force,
        scenarios=scenarios or SCENARIOS,
        track=track,
    )
    show_report(report, database)
    say(f"{database} is built. Ask it:")
    say(f"  {command_line('query best_pick', database)}")
    say(f"  {command_line('views')}")
    say(f'  duckdb -readonly {shlex.quote(str(database))} "from best_pick"   (pip install duckdb-cli)')
    if not paths:
        part = f"{report.models} of the publisher's {PUBLISHED_MODELS} models"
        say(f"These are {part}: {command_line('fetch')} brings them all")
    if report.left_out:
        raise typer.Exit(DataError.exit_code)


@app.command()
def fetch(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Folder to put it in, for this data alone.")
    ] = FETCHED,
    url: Annotated[
        str | None, typer.Option("--from", metavar="URL", help="Where it lies; by default at the shipped data_url.")
    ] = None,
) -> None:
    """Get the leaderboard's whole public data, into a folder that load takes.

    The folder is replaced whole or stays as it was; what changed in it is listed. Where some of the data can't be
    loaded, and what the folder holds can, that stays, and the new lies beside it.

    \b
    Examples:
      energydb fetch
      energydb load leaderboard
    """
    from energydb.sources.fetch import default_url
    from energydb.sources.fetch import fetch as fetch_data

    changes = fetch_data(folder, url or default_url(), track=track)
    show_changes(changes, folder)
    if changes.faults:
        raise typer.Exit(DataError.exit_code)


@app.command()
def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", readable=False, help="Documents, folders with documents, or a database."),
    ] = None,
) -> None:
    """Check documents as load would, or check a database file.

    Exits with 1 if there is a fault or a data_quality finding.

    \b
    Examples:
      energydb check my-document.json
      energydb check energy.duckdb
    """
    from energydb.ask.render import printable
    from energydb.load import check as check_documents
    from energydb.store.check import check_database
    from energydb.store.sandbox import is_duckdb

    databases, documents = ([path for path in paths or () if is_duckdb(path) == of_one] for of_one in (True, False))
    sound = True
    for database in databases:
        faults = 0
        for result in check_database(database):
            put([printable(f"{'ok' if result.sound else 'FAULT':5}  {result.what}: {result.found}") + "\n"])
            faults += not result.sound
        if faults:
            say(f"{database}: {faults} fault{'' if faults == 1 else 's'}, the lines that begin with FAULT")
        sound = sound and not faults
    if documents or not databases:
        report = check_documents(documents, track=track)
        show_report(report)
        sound = sound and not report.finding_count
    if not sound:
        raise typer.Exit(DataError.exit_code)


@app.command()
def upgrade(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", envvar="ENERGYDB_DATABASE", readable=False, help="The database file.")
    ] = DEFAULT_DATABASE,
) -> None:
    """Bring a database file of an older energydb to the newest schema.

    Its rows are kept, and it is replaced whole or stays as it was. (`energydb load` builds it anew instead.)

    \b
    Example:
      energydb upgrade energy.duckdb
    """
    from energydb.store.upgrade import upgrade as upgrade_file

    before, after = upgrade_file(path)
    say(f"{path}: schema {after}" + (", the newest: nothing to do" if before == after else f", from {before}"))


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
    from energydb.ask.pages import list_of_questions, page, page_of_table
    from energydb.store.views import read_views

    if name is None:
        put(list_of_questions(read_views()))
        say("A page each: energydb views NAME. An answer: energydb query NAME. Tables have both too.")
        return
    from energydb.ask.catalog import closest_name
    from energydb.ask.question import view_of
    from energydb.store.sandbox import reading

    width = terminal_width(sys.stdout)
    with reading(database) as connection:
        name = closest_name(connection, name)
        if view := view_of(name):
            put(page(connection, view, width))
            return
        put(page_of_table(connection, name, width))


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
        Form | None,
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
        from energydb.ask.pages import help_with_parameters

        put([f"{context.get_help()}\n", *help_with_parameters(question)])
        return
    if question is None:
        raise UsageError("query: expected a name or SQL, got nothing; energydb views lists the names")
    from energydb.ask.catalog import ask
    from energydb.ask.question import asked, limited_columns, words_on_filters
    from energydb.ask.written import shown, write
    from energydb.files import written_whole
    from energydb.store.sandbox import reading

    form = format or form_of(output)
    if form is Form.parquet and output is None:
        raise UsageError("query: --format parquet needs --output FILE")
    if output and os.path.realpath(output) in (os.path.realpath(database), f"{os.path.realpath(database)}.wal"):
        raise UsageError(f"{output}: --output is the database itself")
    filters = {"task": task, "model": model, "gpu": gpu, "scenario": scenario}
    with reading(database) as connection, interruptible(connection):
        name, question = asked(connection, question, context.args, filters)
        if sql:
            put([f"{question};\n"])
            return
        answer = ask(connection, question, name)
        say(*words_on_filters(name, filters) if name else ())
        if output is None:
            answered = shown(answer, form, terminal_width(sys.stdout), limited_columns(context.args))
            put(answered.table)
            say(*answered.words)
            return
        with written_whole(output) as path:
            if form is Form.parquet:
                from energydb.ask.parquet import write_parquet

                say(*write_parquet(answer, path))
            else:
                say(*write(answer, form, path))
