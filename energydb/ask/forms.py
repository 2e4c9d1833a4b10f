"""The forms that an answer can be handed on in."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from energydb.errors import QueryError, UsageError


class Form(StrEnum):
    """What an answer can be written as."""

    table = "table"
    csv = "csv"
    json = "json"
    markdown = "markdown"
    parquet = "parquet"
    bibtex = "bibtex"


_SUFFIXES = {
    "": Form.table,
    ".txt": Form.table,
    ".csv": Form.csv,
    ".json": Form.json,
    ".md": Form.markdown,
    ".parquet": Form.parquet,
    ".bib": Form.bibtex,
}


def form_of(output: Path | None) -> Form:
    """Choose the form by how a file's name ends; a table where there is no file.

    Raises:
        UsageError: no form is known by that ending.
    """
    suffix = output.suffix if output else ""
    if suffix not in _SUFFIXES:
        known = ", ".join(filter(None, _SUFFIXES))
        raise UsageError(f"{output}: expected a name that ends in {known}, or --format, got {suffix}")
    return _SUFFIXES[suffix]


def refuse_names_that_repeat(columns: Sequence[str], form: Form) -> None:
    """Refuse columns of one name where each must have its own.

    Raises:
        QueryError: two columns have one name.
    """
    if len(set(columns)) < len(columns):
        raise QueryError(f"query: {form} needs a name of its own for each column: say `as`")
