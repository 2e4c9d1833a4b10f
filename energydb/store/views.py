"""Reads `queries/*.sql`: one view or macro a file, with a header that says what it is and what it reads."""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple

from energydb.paths import QUERIES
from energydb.sql import literal

_FIELD = re.compile(r"^-- (View|Macro|Grain|Key|Reads|Topic|Parameter|Column|Filter|Example): (.+)$")
_PARAMETER = re.compile(r"(\w+) \((\w+)(, required)?\): (.+)")
_ANY_BUILD = "'any build'"
TOPICS = ("Picks", "Curves", "Trade-offs", "Footprint", "Runs", "Releases", "Trust")


class Parameter(NamedTuple):
    """One parameter of a macro: its DuckDB type, and what it limits or asks for."""

    name: str
    type: str
    is_required: bool
    description: str

    @property
    def option(self) -> str:
        """The parameter as an option of the command line."""
        return "--" + self.name.replace("_", "-")


class View(NamedTuple):
    """One file of `queries/`, a view or a macro with parameters: its header, field by field, and its SQL.

    `columns` says what those columns of a macro mean that it invents; a view's file comments its own. `filters` says
    of a column what a reader of the rows that a filter on it leaves must know.
    """

    name: str
    is_macro: bool
    grain: str
    key: tuple[str, ...]
    reads: tuple[str, ...]
    topic: str
    parameters: tuple[Parameter, ...]
    columns: dict[str, str]
    filters: dict[str, str]
    example: tuple[str, ...]
    description: str
    sql: str

    @property
    def title(self) -> str:
        """The question that the view answers: the first sentence of its description."""
        return self.description.partition("?")[0] + "?"


def read_view(path: Path) -> View:
    """Read one file: header lines, then prose that begins with a question.

    Raises:
        ValueError: the header lacks a field or the question, or its name is not the file's.
    """
    sql = path.read_text(encoding="utf-8")
    fields: dict[str, list[str]] = {}
    prose: list[str] = []
    for line in sql.splitlines():
        if match := _FIELD.match(line):
            fields.setdefault(match[1], []).append(match[2].strip())
        elif line.startswith("--"):
            prose.append(line.removeprefix("--").strip())
        else:
            break
    missing = {"Grain", "Key", "Reads", "Topic", "Example"} - fields.keys()
    name = fields.get("View", fields.get("Macro", [""]))[0]
    parameters = [_PARAMETER.fullmatch(text) for text in fields.get("Parameter", [])]
    whole = name == path.stem and any("?" in line for line in prose) and all(parameters)
    if missing or not whole or fields["Topic"][0] not in TOPICS:
        lacking = sorted(missing) or "the name of its file, its topic or question"
        raise ValueError(f"{path.name}: header lacks {lacking}")
    return View(
        name=name,
        is_macro="Macro" in fields,
        grain=fields["Grain"][0],
        key=_names(fields["Key"][0]),
        reads=_names(fields["Reads"][0]),
        topic=fields["Topic"][0],
        parameters=tuple(Parameter(found[1], found[2], bool(found[3]), found[4]) for found in parameters if found),
        columns=_said(fields.get("Column", [])),
        filters=_said(fields.get("Filter", [])),
        example=tuple(fields["Example"][0].split()),
        description=" ".join(line for line in prose if line),
        sql=sql,
    )


def _said(texts: Sequence[str]) -> dict[str, str]:
    return {name: said for name, _, said in (text.partition(": ") for text in texts)}


@functools.cache
def read_views(folder: Path = QUERIES) -> tuple[View, ...]:
    """Read every view and macro, each after all that it reads; else by name."""
    found = {path.stem: read_view(path) for path in sorted(folder.glob("*.sql"))}
    graph = {name: [read for read in view.reads if read in found] for name, view in found.items()}
    return tuple(found[name] for name in TopologicalSorter(graph).static_order())


def create_views(execute: Callable[[str], Any], table_comments: Mapping[str, Mapping[str, str]]) -> None:
    """Create every view through `execute` (but no macro), and comment each of its columns.

    A column that a view's own file doesn't comment is one that it passes on: it takes the comment which that
    name has in the tables (`table_comments`: by table, then column) and views that the view reads. Where they
    say different things, none is taken: the view must say what it means.
    """
    views = [view for view in read_views() if not view.is_macro]
    for view in views:
        execute(view.sql)
    known: dict[str, dict[str, str]] = {name: dict(columns) for name, columns in table_comments.items()}
    bare: dict[str, list[str]] = {}
    for view_name, column, comment in execute(
        "select table_name, column_name, comment from duckdb_columns()"
        f" where table_name in ({', '.join(literal(view.name) for view in views)})"
    ).fetchall():
        if comment is None:
            bare.setdefault(view_name, []).append(column)
        else:
            known.setdefault(view_name, {})[column] = comment

    statements = []
    for view in views:
        for column in bare.get(view.name, []):
            said = {known[read][column] for read in view.reads if column in known.get(read, {})}
            if len(said) == 1:
                comment = said.pop()
                known.setdefault(view.name, {})[column] = comment
                statements.append(f"comment on column {view.name}.{column} is {literal(comment)}")
    execute(";\n".join(statements))


def create_macros(execute: Callable[[str], Any], digest: str | None) -> None:
    """Create every macro through `execute`; with a digest, to answer only where that build is.

    Called by the name of another database (`other.pick()`), a macro reads the default database's tables, and
    can tell only by what stands in itself: so the file's own digest takes the place of the first 'any build'.
    """
    for view in read_views():
        if view.is_macro:
            execute(view.sql if digest is None else view.sql.replace(_ANY_BUILD, literal(digest), 1))


def drop_views(execute: Callable[[str], Any]) -> None:
    """Drop energydb's own views, and no one else's, each before what it reads."""
    execute(
        ";\n".join(
            f"drop {'macro table' if view.is_macro else 'view'} if exists {view.name}"
            for view in reversed(read_views())
        )
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))
