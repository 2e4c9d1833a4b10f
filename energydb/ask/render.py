"""Puts rows in a form to read: a table that fits its terminal, or CSV, JSON and Markdown, exact and whole."""

import csv
import functools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from io import StringIO
from itertools import chain
from typing import Any, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

_GAP = 2  # blanks between two columns
_FEWEST_COLUMNS = 4  # identity and one figure: with less, rows are better shown upright
_ROWS_OF_A_PART = 200
_SIGNIFICANT_DIGITS = 7
_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet begins to compute at
_SHORT = 40  # what says the same in every row is named beside the table, unless it is prose


class Drawing(NamedTuple):
    """How to draw a table, part by part, so that the first rows of many show at once.

    And the columns that say the same in every row, with what they say; and those left out.
    """

    parts: Callable[[], Iterator[str]]
    in_every_row: dict[str, str]
    left_out: tuple[str, ...]

    @property
    def text(self) -> str:
        """Draw the whole."""
        return "".join(self.parts())


def draw_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int | None, *, may_leave_out: bool
) -> Drawing:
    """Draw rows in at most `width` characters (None: any width); nothing in a cell is ever cut.

    Where the columns don't fit, a single row is turned upright, a line a column. Of more rows, where some columns
    may be left out, first those go that say the same in every row, then the last ones; else all turn upright.
    Numbers are rounded to 7 significant digits.
    """

    # Only of columns that may be shown: of many rows, to measure all would take longest.
    @functools.cache
    def cells_of(place: int) -> list[str]:
        return [_cell(row[place]) for row in rows]

    @functools.cache
    def width_of(place: int) -> int:
        return max(_header_width(columns[place]), *map(cell_len, cells_of(place)), 1)

    shown = list(range(len(columns)))
    in_every_row: dict[str, str] = {}
    fitting = _fitting(shown, width_of, width)
    if len(rows) == 1 and len(fitting) < len(columns):
        return Drawing(functools.partial(_upright, columns, rows), {}, ())
    if may_leave_out and len(fitting) < len(columns) and rows:
        same = [place for place in shown if _is_same([row[place] for row in rows])]
        in_every_row = {columns[place]: _cell(rows[0][place]) for place in same if width_of(place) <= _SHORT}
        shown = [place for place in shown if columns[place] not in in_every_row]
        fitting = _fitting(shown, width_of, width)
    if len(fitting) < len(shown) and (not may_leave_out or len(fitting) < _FEWEST_COLUMNS):
        return Drawing(functools.partial(_upright, columns, rows), {}, ())
    parts = functools.partial(
        _aligned,
        [_wrapped(columns[place], width_of(place)) for place in fitting],
        list(zip(*map(cells_of, fitting), strict=True)),
        [width_of(place) for place in fitting],
        [_is_numeric(row[place] for row in rows) for place in fitting],
    )
    return Drawing(parts, in_every_row, tuple(columns[place] for place in shown[len(fitting) :]))


def _aligned(
    headers: Sequence[str], cells: Sequence[Sequence[str]], widths: Sequence[int], right: Sequence[bool]
) -> Iterator[str]:
    """Yield the header and the first rows, then some rows at a time, all in columns of the same widths."""
    for first in range(0, max(len(cells), 1), _ROWS_OF_A_PART):
        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), show_header=first == 0)
        for header, width, is_right in zip(headers, widths, right, strict=True):
            table.add_column(
                Text(header), justify="right" if is_right else "left", vertical="bottom", no_wrap=True, width=width
            )
        for row in cells[first : first + _ROWS_OF_A_PART]:
            table.add_row(*map(Text, row))
        buffer = StringIO()
        Console(file=buffer, width=sum(widths) + 2 * _GAP * len(widths), color_system=None).print(table)
        yield "".join(f"{line.rstrip()}\n" for line in buffer.getvalue().splitlines())


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield CSV with a header line; NULL is an empty field.

    Text that a spreadsheet would take for a formula is led by an apostrophe, which it shows as text.
    """
    buffer = StringIO()
    # Before Python 3.13 the writer quotes a carriage return only where one is part of its line's end.
    writer = csv.writer(buffer, lineterminator="\r\n")
    for row in chain([columns], rows):
        writer.writerow(map(_csv, row))
        yield buffer.getvalue().removesuffix("\r\n") + "\n"
        buffer.seek(0)
        buffer.truncate()


def json_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield a JSON array of objects, one a line; what JSON has no number for (NaN, infinity) is null."""
    opening = "["
    for row in rows:
        record = dict(zip(columns, row, strict=True))
        try:
            line = _ENCODE(record)
        except (TypeError, ValueError):  # a type that it doesn't know, or a number that JSON doesn't
            line = _json(record)
        yield f"{opening}\n  {line}"
        opening = ","
    yield "[]\n" if opening == "[" else "\n]\n"


def markdown_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield a Markdown table; NULL is an empty cell."""
    yield f"| {' | '.join(map(_markdown, columns))} |\n"
    yield f"|{' --- |' * len(columns)}\n"
    for row in rows:
        yield f"| {' | '.join(map(_markdown, row))} |\n"


def bibtex_entries(cited: Iterable[tuple[Any, ...]]) -> Iterator[str]:
    """Yield a BibTeX entry for each release that is cited.

    Each is (source, publisher, source_url, cite, cite_url, compiled, data_version, licence).
    """
    for source, publisher, url, cite, cite_url, compiled, data_version, licence in cited:
        key = re.sub(r"[^a-z0-9]+", "-", f"{source}-{data_version}".lower())
        note = (
            f"Compiled {compiled}; data version {data_version}; licence: {licence}. Please cite: {cite}, {cite_url}"
        )
        fields = {"title": source, "author": publisher, "year": compiled.year, "url": url, "note": note}
        lines = "".join(f"  {field} = {{{{{_bibtex(value)}}}}},\n" for field, value in fields.items())
        yield f"@misc{{{key},\n{lines}}}\n"


def _bibtex(value: object) -> str:
    return "".join(f"\\{char}" if char in "&%$#_{}" else char for char in printable(str(value)))


def printable(text: str) -> str:
    """Show control and direction characters as escapes, so that no text can move the cursor or lie."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def _cell(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _rounded(value)
    return printable(f"{value:f}" if isinstance(value, Decimal) else str(value))


def _rounded(value: float) -> str:
    """Round to 7 significant digits, what published joules hold, and never to less than whole numbers."""
    if not math.isfinite(value) or value == int(value):
        return str(value)
    decimals = max(0, _SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(abs(value))))
    return min(repr(value), f"{value:.{decimals}f}", key=len)


def _is_numeric(values: Iterable[object]) -> bool:
    return all(
        value is None or (isinstance(value, int | float | Decimal) and not isinstance(value, bool))
        for value in values
    )


def _header_width(name: str) -> int:
    """Return the least width in which a header can be wrapped at its underscores."""
    return max(map(cell_len, _header_parts(name)))


def _header_parts(name: str) -> list[str]:
    return printable(name).replace("_", "_\n").split("\n")


def _wrapped(name: str, width: int) -> str:
    lines = [""]
    for part in _header_parts(name):
        if lines[-1] and cell_len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _fitting(places: Sequence[int], width_of: Callable[[int], int], width: int | None) -> Sequence[int]:
    """Return the first of the columns, as many as fit side by side."""
    used = -_GAP
    for count, place in enumerate(places):
        used += width_of(place) + _GAP
        if width is not None and used > width:
            return places[:count]
    return places


def _is_same(values: Sequence[object]) -> bool:
    """Tell whether several rows show the same value."""
    first = values[0]
    return len(values) > 1 and all(value == first or _cell(value) == _cell(first) for value in values)


def _upright(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield each row as lines, a line a column, with an empty line between two rows."""
    names = [printable(name) for name in columns]
    if not rows:
        yield "".join(f"{name}\n" for name in names)
    label_width = max(map(cell_len, names))
    for place, row in enumerate(rows):
        lines = "".join(f"{name:<{label_width}}  {_cell(value)}\n" for name, value in zip(names, row, strict=True))
        yield f"\n{lines}" if place else lines


def _json(value: Any) -> str:
    """Write a value that DuckDB returns as JSON; a decimal with all its digits, which no double might hold."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "null"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_json(str(key))}: {_json(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_json, value))}]"
    return _ENCODE(value if isinstance(value, bool | int | float | str) else str(value))


def _csv(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, str) and value.startswith(_FORMULAS):
        return f"'{value}"
    return value


def _markdown(value: object) -> str:
    if value is None:
        return ""
    text = printable(str(_csv(value) if isinstance(value, bool | Decimal) else value).replace("\n", " "))
    return "".join(f"\\{char}" if char in "\\|`*[]<>" else char for char in text)
