"""What a person reads in a terminal: the list of questions, the page of a view, an answer and what it rests on."""

import shlex
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import duckdb

from energydb.ask.catalog import Answer, ask, comment, describe
from energydb.ask.question import columns_of, example_of
from energydb.ask.render import draw_table, printable
from energydb.ask.watch import Watch
from energydb.names import alike
from energydb.store.views import TOPICS, View, read_views

_WIDTH_OF_A_PIPE = 100
AS_WORDS = "written as inf, -inf and nan"


class Shown(NamedTuple):
    """An answer as a table, part by part, and the words that go with it, a line or more each: known after it."""

    table: Iterator[str]
    words: Iterable[str]


def filled(text: str, width: int | None, *, hanging: bool = False) -> str:
    """Break a text at its blanks, so that it fits the width."""
    indent = "    " if hanging else ""
    return textwrap.fill(text, width or _WIDTH_OF_A_PIPE, subsequent_indent=indent, break_long_words=False)


def list_of_questions(views: Sequence[View]) -> Iterator[str]:
    """Yield the questions that can be asked, by topic, a line each."""
    width = max(len(view.name) for view in views)
    for topic in TOPICS:
        yield f"{topic}\n"
        for view in sorted((view for view in views if view.topic == topic), key=lambda view: view.name):
            yield f"  {view.name:<{width}}  {view.title}\n"


def help_with_parameters(name: str | None) -> Iterator[str]:
    """Yield the parameters of the macro of that name, as a command's options are shown; nothing for another name."""
    wanted = alike(name or "")
    parameters = [parameter for view in read_views() if alike(view.name) == wanted for parameter in view.parameters]
    if not parameters:
        return
    width = max(len(parameter.option) for parameter in parameters)
    yield f"\nOptions of {name}:\n"
    for parameter in parameters:
        needed = "; required" if parameter.is_required else ""
        text = f"{parameter.description} ({parameter.type}{needed})"
        yield from (
            f"  {option:<{width}}  {line}\n"
            for option, line in zip_longest([parameter.option], textwrap.wrap(text, 76 - width), fillvalue="")
        )


def page(connection: duckdb.DuckDBPyConnection, view: View, width: int | None) -> Iterator[str]:
    """Yield the page of a view or macro: question, key, parameters, columns, and an example with its answer."""

    def line(text: str) -> str:
        return f"{filled(printable(text), width, hanging=True)}\n"

    yield f"{filled(f'{view.name}: {view.description}', width)}\n\n"
    yield line(f"one row: {view.grain.removeprefix('one row per ')}")
    yield line(f"key: {', '.join(view.key)}")
    yield line(f"reads: {', '.join(view.reads)}")
    if view.parameters:
        yield "\nparameters:\n"
        for parameter in view.parameters:
            needed = "required" if parameter.is_required else "no limit by default"
            yield line(f"{parameter.option} ({parameter.type}, {needed}): {parameter.description}")
    for filtered, said in view.filters.items():
        yield line(f"--{filtered}: {said}")
    yield "\ncolumns:\n"
    sql = example_of(connection, view)
    for column in columns_of(connection, view, sql):
        yield line(f"{column.name} ({column.type}): {column.comment}")
    yield f"\nexample: energydb query {shlex.join(view.example)}\n"
    answer = ask(connection, f"{sql} limit 5", view.name)
    yield draw_table(answer.columns, list(answer.exact_rows()), width or _WIDTH_OF_A_PIPE, may_leave_out=True).text


def page_of_table(connection: duckdb.DuckDBPyConnection, name: str, width: int | None) -> Iterator[str]:
    """Yield the page of a table: what it holds, and its columns."""
    lines = [f"table {name}: {comment(connection, name)}", ""]
    lines += [f"{column.name} ({column.type}): {column.comment}" for column in describe(connection, name)]
    yield from (f"{filled(printable(line), width, hanging=True)}\n" for line in lines)


def shown_answer(answer: Answer, width: int | None, limited: Sequence[str]) -> Shown:
    """Draw an answer, and say what isn't in the table; in a terminal (with a width) also what figures rest on.

    In a terminal the columns in `limited` come early, and where a run doesn't qualify what it missed.
    """
    watch = Watch(answer.columns, answer.types)
    columns, rows = list(answer.columns), list(watch.rows(answer.exact_rows()))
    words = []
    if width is not None and limited:
        columns, rows = _with_limited_early(columns, rows, limited)
    drawing = draw_table(columns, rows, width, may_leave_out=answer.name is not None)
    if not rows:
        words.append("no rows")
    if drawing.in_every_row:
        same = "; ".join(f"{name} {said}" for name, said in drawing.in_every_row.items())
        words.append(filled(f"in every row: {same}", width, hanging=True))
    if drawing.left_out:
        words.append(filled(f"left out for width: {', '.join(drawing.left_out)}", width, hanging=True))
        remedy = f"All: a wider terminal, or --format csv. What they are: energydb views {answer.name}"
        words.append(filled(remedy, width))
    words += watch.words(AS_WORDS)
    if width is not None:
        words.append(filled(_basis(answer.connection, columns, rows), width, hanging=True))
    return Shown(drawing.parts(), tuple(words))


def _with_limited_early(
    columns: list[str], rows: list[tuple[Any, ...]], limited: Sequence[str]
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Put identity first, then the energy, then what was asked about, then the rest as it stands."""
    order = ["task", "model", "gpu", "wh_per_million_output_tokens", "qualifies", *limited]
    if "qualifies" in columns and not all(row[columns.index("qualifies")] for row in rows):
        order += ["nearest_limit", "nearest_ratio"]
    rank = {column: place for place, column in enumerate(order)}
    places = sorted(range(len(columns)), key=lambda place: rank.get(columns[place], len(order)))
    return [columns[place] for place in places], [tuple(row[place] for place in places) for row in rows]


def _basis(connection: duckdb.DuckDBPyConnection, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Say what figures rest on: boundary, source and dates of the releases of the rows, or of the whole file."""
    identity = ("boundary", "source", "data_version")
    releases = connection.execute(f"select distinct {', '.join(identity)}, compiled from release_detail").fetchall()
    if rows and all(part in columns for part in identity):
        places = [columns.index(part) for part in identity]
        shown = {tuple(str(row[place]) for place in places) for row in rows}
        releases = [release for release in releases if tuple(map(str, release[:3])) in shown] or releases
    boundaries, sources, versions, compiled = (sorted({str(row[place]) for row in releases}) for place in range(4))
    floor = " (GPUs alone: a floor)" if boundaries == ["gpu_only"] else ""
    dates = f"compiled {', '.join(compiled)}, data version {', '.join(versions)}"
    return f"boundary {', '.join(boundaries)}{floor} | {', '.join(sources)} | {dates}"
