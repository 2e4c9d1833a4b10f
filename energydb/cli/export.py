"""The commands that write what the database holds back out, and how a command is told which database."""

from pathlib import Path
from typing import Annotated

import typer

from energydb.cli.console import say
from energydb.paths import DEFAULT_DATABASE

Database = Annotated[
    Path,
    typer.Option("--database", envvar="ENERGYDB_DATABASE", metavar="FILE", help="The database file.", readable=False),
]
export_app = typer.Typer(help="Write what the database holds back out, as files.", rich_markup_mode=None)


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
    from energydb.ask.export import model_documents
    from energydb.files import make_folder, written_whole

    written = list(model_documents(database, task, like=like, data_version=release, say=say))
    make_folder(folder)
    for name, document in written:
        with written_whole(folder / name) as path:
            path.write_bytes(document)
    say(f"{folder}: {len(written)} document{'' if len(written) == 1 else 's'} of {task}")
