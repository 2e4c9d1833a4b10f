"""Puts an answer into a form: a table to read, CSV, JSON, Markdown, BibTeX; `parquet` writes what isn't text."""

from collections.abc import Sequence
from pathlib import Path

from energydb.ask.catalog import Answer
from energydb.ask.forms import Form, refuse_names_that_repeat
from energydb.ask.pages import AS_WORDS, Shown, shown_answer
from energydb.ask.render import bibtex_entries, csv_lines, json_lines, markdown_lines
from energydb.ask.watch import Watch
from energydb.errors import QueryError

_LINES = {Form.csv: csv_lines, Form.json: json_lines, Form.markdown: markdown_lines}
_CITED = ("source", "publisher", "source_url", "cite", "cite_url", "compiled", "data_version", "licence")


def shown(answer: Answer, form: Form, width: int | None, limited: Sequence[str] = ()) -> Shown:
    """Put an answer into words, whatever the form but Parquet, which isn't text.

    Raises:
        QueryError: the form can't hold such an answer.
    """
    if form is Form.table:
        return shown_answer(answer, width, limited)
    if form is Form.bibtex:
        if missing := [name for name in _CITED if name not in answer.columns]:
            raise QueryError(f"query: --format bibtex is for provenance: expected the columns {', '.join(missing)}")
        cited = (tuple(dict(zip(answer.columns, row, strict=True))[name] for name in _CITED) for row in answer.rows())
        return Shown(bibtex_entries(dict.fromkeys(cited)), ())
    if form is Form.json:
        refuse_names_that_repeat(answer.columns, form)
    watch = Watch(answer.columns, answer.types)
    how = "null here, since JSON has no such number" if form is Form.json else AS_WORDS
    return Shown(_LINES[form](answer.columns, watch.rows(answer.exact_rows())), watch.words(how))


def write(answer: Answer, form: Form, path: Path) -> tuple[str, ...]:
    """Write an answer to a file as text, and return what is to be said of it.

    Raises:
        QueryError: the form can't hold such an answer, or a row can't be answered.
    """
    written = shown(answer, form, None)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(written.table)
    return tuple(written.words)
