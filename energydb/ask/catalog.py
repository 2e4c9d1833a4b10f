"""Answers SQL, and knows what tables, views and columns a database holds."""

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import duckdb

from energydb.errors import QueryError
from energydb.names import alike
from energydb.store.sandbox import on_one_line

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_INTEGERS = "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT"
_EXACT_IN_PYTHON = re.compile(rf"{_INTEGERS.replace(' ', '|')}|BOOLEAN|FLOAT|DOUBLE|VARCHAR|DECIMAL\(\d+,\d+\)")
_ROWS_PER_BATCH = 122_880  # DuckDB's own row group
_BLANK = r"(?:\s|--[^\n]*\n|/\*.*?\*/)"
_EXPLAIN = re.compile(
    rf"{_BLANK}*explain(?P<how>(?:{_BLANK}+analyze\b)?(?:{_BLANK}*\({_BLANK}*(?:analyze|format)\b[^()]*\))?)(?!\w)",
    re.IGNORECASE | re.DOTALL,
)


class Column(NamedTuple):
    """One column of a table or view: name, DuckDB type and comment."""

    name: str
    type: str
    comment: str


class Answer(NamedTuple):
    """The answer to a question: its columns, and what the rows are still to be fetched from.

    `name` is the view or table that was asked for, None where the question was SQL.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    connection: duckdb.DuckDBPyConnection
    statement: duckdb.Statement
    name: str | None

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows, in the order of the answer."""
        try:
            cursor = self.connection.execute(self.statement)
            while batch := cursor.fetchmany(2048):
                yield from batch
        except duckdb.Error as error:
            raise QueryError(f"query: {on_one_line(error)}") from error

    def exact_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows with DuckDB's own text for all that Python has no exact value for."""
        if all(map(_EXACT_IN_PYTHON.fullmatch, self.types)):  # so EXPLAIN, which a relation would run once more
            yield from self.rows()
            return
        places = [
            f"#{place}" if _EXACT_IN_PYTHON.fullmatch(kind) else f"cast(#{place} as varchar)"
            for place, kind in enumerate(self.types, 1)
        ]
        whole = [place for place, kind in enumerate(self.types) if kind == "BIGNUM"]
        try:
            # Asked as SQL, since a relation would hold all rows before it gives the first.
            cursor = self.connection.execute(
                f"select {', '.join(places)} from ({_without_end(self.statement.query)}\n)"
            )
            while batch := cursor.fetchmany(2048):
                yield from (_with_whole(row, whole) for row in batch) if whole else batch
        except duckdb.Error as error:
            raise QueryError(f"query: {on_one_line(error)}") from error

    def batches(self) -> Any:
        """Return the rows as an Arrow reader."""
        return self.connection.sql(self.statement).to_arrow_reader(_ROWS_PER_BATCH)


def _without_end(sql: str) -> str:
    """Return a statement without the semicolon that ends it, and what comes after."""
    text = sql.encode()
    ends = [offset for offset, _ in duckdb.tokenize(sql) if text[offset : offset + 1] == b";"]
    return text[: min(ends, default=None)].decode()


def _with_whole(row: tuple[Any, ...], places: Sequence[int]) -> tuple[Any, ...]:
    """Return a row with numbers in place of the text of whole numbers of any length."""
    return tuple(int(value) if place in places and value else value for place, value in enumerate(row))


def names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Name everything that can be asked: views and macros first, then tables."""
    found = connection.execute(
        "select view_name, 0 as place from duckdb_views() where not internal"
        " union all select distinct function_name, 0 from duckdb_functions()"
        " where function_type = 'table_macro' and not internal"
        " union all select table_name, 1 from duckdb_tables() where not internal order by place, view_name"
    ).fetchall()
    return [name for name, _ in found]


def comment(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    """Return what the database says of a view or table."""
    found = connection.execute(
        "select comment from duckdb_views() where view_name = $name"
        " union all select comment from duckdb_tables() where table_name = $name",
        {"name": name},
    ).fetchall()
    return found[0][0] or "" if found else ""


def describe(connection: duckdb.DuckDBPyConnection, name: str) -> list[Column]:
    """Describe the columns of a view or table, in its order."""
    found = connection.execute(
        "select column_name, data_type, coalesce(comment, '') from duckdb_columns()"
        " where table_name = ? order by column_index",
        [name],
    ).fetchall()
    return [Column(*row) for row in found]


def is_name(question: str) -> bool:
    """Tell a name from SQL."""
    return _NAME.fullmatch(question.strip()) is not None


def ask(connection: duckdb.DuckDBPyConnection, sql: str, name: str | None = None) -> Answer:
    """Answer a question in SQL: one SELECT, or EXPLAIN of one; `name` is what it asks, where it has one.

    Raises:
        QueryError: faulty SQL, or anything but one plain question.
    """
    try:
        sql.encode("utf-8")
    except UnicodeEncodeError as error:
        raise QueryError("query: expected text in UTF-8") from error
    try:
        explain = _EXPLAIN.match(sql)
        asked = _only_select(connection, sql[explain.end() :] if explain else sql)
        if explain:  # of what was found to be a SELECT, and nothing else: EXPLAIN ANALYZE runs what it wraps
            (asked,) = connection.extract_statements(f"explain{explain['how']} {asked.query}")
            return Answer(("explain_key", "explain_value"), ("VARCHAR", "VARCHAR"), connection, asked, name)
        relation = connection.sql(asked)
        return Answer(tuple(relation.columns), tuple(map(str, relation.types)), connection, asked, name)
    except duckdb.Error as error:
        raise QueryError(f"query: {on_one_line(error)}") from error


def _only_select(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    statements = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        kinds = ", ".join(statement.type.name for statement in statements) or "nothing"
        raise QueryError(f"query: expected one SELECT statement, or EXPLAIN of one, got {kinds}")
    return statements[0]


def known_name(connection: duckdb.DuckDBPyConnection, name: str) -> str | None:
    """Return the name as the database writes it; None where it holds nothing of that name."""
    known = names(connection)
    wanted = alike(name)
    fitting = [each for each in known if each == name] or [each for each in known if alike(each) == wanted]
    return fitting[0] if fitting else None


def closest_name(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    """Return `name` as the database writes it.

    Raises:
        QueryError: the database holds no such view or table; near ones are named.
    """
    if known := known_name(connection, name):
        return known
    spelt = {alike(each): each for each in names(connection)}
    near = [spelt[each] for each in difflib.get_close_matches(alike(name), spelt)]
    remedy = f"did you mean {' or '.join(near)}?" if near else "`energydb views` lists them"
    raise QueryError(f'expected the name of a view, macro or table, got "{name}"; {remedy}')
