"""Turns a question by name, with options as on a command line, into SQL that can be pasted elsewhere."""

import difflib
import math
import re
from collections.abc import Mapping, Sequence

import duckdb

from energydb.ask.catalog import Column, closest_name, describe, is_name, known_name
from energydb.errors import QueryError, UsageError
from energydb.names import alike, gpu_name, precision_name
from energydb.sql import literal
from energydb.store.views import Parameter, View, read_views

FILTERS = ("task", "gpu", "scenario", "model")  # in the order in which one narrows the next


def view_of(name: str) -> View | None:
    """Return the view or macro of that name; None for a table."""
    return {view.name: view for view in read_views()}.get(name)


def sql_of(
    connection: duckdb.DuckDBPyConnection, name: str, options: Sequence[str], filters: Mapping[str, str | None]
) -> tuple[str, str]:
    """Return the name as the database writes it, and the SQL that asks it.

    `options` are a macro's parameters, `--max-median-itl-ms 100`; `filters` hold on the columns task, model and
    gpu, by the whole value or a part of it that fits just one.

    Raises:
        QueryError: the database holds no such view, macro or table.
        UsageError: an option or filter is unknown, ill-typed, missing or ambiguous.
    """
    name = closest_name(connection, name)
    view = view_of(name) if options or any(filters.values()) or not _is_plain(connection, name) else None
    arguments = _arguments(name, view.parameters if view else (), options)
    source = f"{name}({', '.join(arguments)})" if view and view.is_macro else name
    conditions: list[str] = []
    for column in FILTERS:
        if (part := filters.get(column)) is not None:
            match = _only_match(connection, source, conditions, name, column, part)
            conditions.append(f"{column} = {literal(match)}")
    return name, f"from {source}" + (f" where {' and '.join(conditions)}" if conditions else "")


def asked(
    connection: duckdb.DuckDBPyConnection, question: str, options: Sequence[str], filters: Mapping[str, str | None]
) -> tuple[str | None, str]:
    """Return the name that a question asks, None where it is SQL, and the SQL.

    Raises:
        QueryError: the database holds no such view, macro or table.
        UsageError: an option or filter is unknown, ill-typed, missing or ambiguous, or goes with SQL.
    """
    if is_name(question) or known_name(connection, question):
        return sql_of(connection, question, options, filters)
    given = [*options, *(f"--{column}" for column, part in filters.items() if part)]
    if given:
        raise UsageError(f"query: options are for a question by name, and SQL says it itself: {' '.join(given)}")
    return None, question


def words_on_filters(name: str, filters: Mapping[str, str | None]) -> tuple[str, ...]:
    """Say what a reader must know of the rows that filters leave."""
    view = view_of(name)
    return tuple(said for column, said in view.filters.items() if filters.get(column)) if view else ()


def example_of(connection: duckdb.DuckDBPyConnection, view: View) -> str:
    """Return the SQL of a view's example; without its filters where they fit nothing in this file."""
    name, *options = view.example
    filters: dict[str, str | None] = {}
    for column in FILTERS:
        if f"--{column}" in options:
            place = options.index(f"--{column}")
            filters[column] = options[place + 1]
            del options[place : place + 2]
    try:
        return sql_of(connection, name, options, filters)[1]
    except UsageError:
        return sql_of(connection, name, options, {})[1]


def limited_columns(options: Sequence[str]) -> tuple[str, ...]:
    """Name the columns that a macro's options limit: `--max-p99-itl-ms` limits p99_itl_ms."""
    names = [option.partition("=")[0] for option in options if option.startswith("--")]
    return tuple(name.removeprefix("--").partition("-")[2].replace("-", "_") for name in names)


def columns_of(connection: duckdb.DuckDBPyConnection, view: View, sql: str) -> list[Column]:
    """Describe the columns of a view, or of a macro's answer to `sql`."""
    if not view.is_macro:
        return describe(connection, view.name)
    said: dict[str, str] = {}
    for read in reversed(view.reads):
        nested = view_of(read)
        if nested and nested.is_macro:
            known = columns_of(connection, nested, f"from {read}()")
        else:
            known = describe(connection, read)
        said |= {column.name: column.comment for column in known}
    said |= view.columns
    answer = connection.sql(sql)
    return [
        Column(name, str(kind), said.get(name, "")) for name, kind in zip(answer.columns, answer.types, strict=True)
    ]


def _is_plain(connection: duckdb.DuckDBPyConnection, name: str) -> bool:
    """Tell a view or table from a macro, without reading any file."""
    found = connection.execute("select 1 from duckdb_columns() where table_name = ? limit 1", [name]).fetchall()
    return bool(found)


def _arguments(name: str, parameters: Sequence[Parameter], options: Sequence[str]) -> list[str]:
    known = {parameter.option: parameter for parameter in parameters}
    spelt = {alike(option): option for option in known}
    given: dict[str, str] = {}
    left = list(options)
    while left:
        option, equals, value = left.pop(0).partition("=")
        if option.startswith("--"):
            option = spelt.get(alike(option), option)
        if option not in known:
            near = difflib.get_close_matches(option, [*known, *(f"--{column}" for column in FILTERS)], n=1)
            takes = f"it takes {', '.join(known)}" if known else "it takes no parameters"
            raise UsageError(f"{name}: no such option: {option}; {f'did you mean {near[0]}?' if near else takes}")
        if not equals:
            if not left:
                raise UsageError(f"{name}: {option}: expected a value, got none")
            value = left.pop(0)
        if option in given:
            raise UsageError(f"{name}: {option}: expected it once, got it twice")
        given[option] = value
    missing = [option for option, parameter in known.items() if parameter.is_required and option not in given]
    if missing:
        described = known[missing[0]].description
        raise UsageError(f"{name}: expected {', '.join(missing)} ({described}), got no such option")
    # Parameters without a default come first, by place; DuckDB takes no names for them.
    return [
        _value(name, parameter, given[option])
        if parameter.is_required
        else f"{parameter.name} := {_value(name, parameter, given[option])}"
        for option, parameter in known.items()
        if option in given
    ]


def _value(name: str, parameter: Parameter, text: str) -> str:
    """Return an argument as an SQL literal of the parameter's type; a precision by its one name."""
    if parameter.type == "VARCHAR":
        usual = precision_name(text) if parameter.name.endswith("precision") else text
        return literal(text if alike(usual) == alike(text) else usual)
    if parameter.type == "BOOLEAN":
        if text.lower() not in ("true", "false"):
            raise UsageError(f"{name}: {parameter.option}: expected true or false, got {text}")
        return text.lower()
    whole = parameter.type == "INTEGER"
    try:
        number = int(text) if whole else float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        expected = "a whole number" if whole else "a number"
        raise UsageError(f"{name}: {parameter.option}: expected {expected}, got {text}")
    return str(number) if whole else repr(number)


def _only_match(
    connection: duckdb.DuckDBPyConnection, source: str, conditions: Sequence[str], name: str, column: str, part: str
) -> str:
    """Return the one value of a column, among the rows that fit so far, that `part` names.

    The whole of it wins over a part that fits just one. A model may also be named as people write it, or by its
    Hugging Face id; a GPU by any of its usual names. Where there are no rows at all, `part` stands for itself.
    """
    where = " and ".join([*conditions, f"{column} is not null"])
    try:
        if column not in connection.sql(f"from {source}").columns:
            raise UsageError(f"{name}: --{column}: expected a view with a column {column}, got one without")
        found = connection.execute(f"select distinct {column} from {source} where {where} order by all")
        values = [str(value) for (value,) in found.fetchall()]
    except duckdb.Error as error:
        raise QueryError(f"query: {str(error).splitlines()[0]}") from error
    if not values:
        return part
    wanted = alike(part)
    fitting = [value for value in values if value == part] or _named(values, wanted)
    if column == "gpu" and wanted not in map(alike, fitting):
        fitting = [value for value in values if value == gpu_name(part)] or fitting
    if column == "model" and wanted not in map(alike, fitting):
        fitting = _by_model_id(connection, values, wanted) or fitting
        fitting = fitting or _named(values, re.sub(r"[^a-z0-9]+", "-", wanted.rpartition("/")[2]))
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        fits = ", ".join(fitting)
        raise UsageError(f"{name}: --{column}: expected a name that fits just one, got {part}, which fits {fits}")
    near = values if len(values) <= _FEW else difflib.get_close_matches(wanted, values, n=5, cutoff=0.4)
    expected = f"one of {', '.join(near)}" if near else f"the name of a {column}"
    raise UsageError(f"{name}: --{column}: expected {expected}, got {part}")


_FEW = 20


def _named(values: Sequence[str], wanted: str) -> list[str]:
    """Return the values that a name fits: as a whole, then without their maker, then in part."""
    return (
        [value for value in values if alike(value) == wanted]
        or [value for value in values if alike(value).rpartition("/")[2] == wanted]
        or [value for value in values if wanted in alike(value)]
    )


def _by_model_id(connection: duckdb.DuckDBPyConnection, values: Sequence[str], wanted: str) -> list[str]:
    """Return the values that stand for the model of that Hugging Face id: its slug, with or without its maker."""
    if "/" not in wanted:
        return []
    models = connection.execute("select distinct slug, model_id from model order by all").fetchall()
    named = [
        (alike(slug), alike(model_id).partition("/")[0]) for slug, model_id in models if alike(model_id) == wanted
    ]
    makers = {f"{maker}/{slug}" for slug, maker in named}
    slugs = {slug for slug, _ in named}
    return [value for value in values if alike(value) in makers] or [
        value for value in values if alike(value) in slugs
    ]
