"""Reads scenarios: where and at what price the energy is used, a CSV file that users are meant to edit."""

import csv
import math
from collections.abc import Iterator
from pathlib import Path

import msgspec

from energydb.errors import DocumentError, DocumentErrors
from energydb.files import read_bytes


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the file, in the file's order; None where a figure isn't known, and then its source too."""

    name: str
    pue: float
    pue_source: str
    price_per_kwh: float | None
    currency: str | None
    price_source: str | None
    gco2e_per_kwh: float | None
    gco2e_source: str | None
    litres_per_kwh: float | None
    litres_source: str | None


COLUMNS = Scenario.__struct_fields__
# A figure, and what must be given where it is.
_WITH = {
    "pue": ("pue_source",),
    "price_per_kwh": ("currency", "price_source"),
    "gco2e_per_kwh": ("gco2e_source",),
    "litres_per_kwh": ("litres_source",),
}


def read_scenarios(path: Path) -> list[Scenario]:
    """Read a file of scenarios, by name.

    Raises:
        DocumentErrors: every faulty line, with its line number and column.
        MachineError: the file can't be read.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentErrors(
            [DocumentError(path, "", f"expected UTF-8, got a byte that isn't at {error.start}")]
        ) from error
    reader = csv.reader(text.splitlines(), strict=True)
    faults: list[DocumentError] = []
    scenarios: dict[str, Scenario] = {}
    try:
        header = tuple(next(reader, ()))
        if header != COLUMNS:
            raise DocumentErrors(
                [DocumentError(path, "line 1", f"expected the columns {','.join(COLUMNS)}, got {','.join(header)}")]
            )
        for row in reader:
            line = reader.line_num
            if len(row) != len(COLUMNS):
                problem = f"expected {len(COLUMNS)} columns, got {len(row)}"
                faults.append(DocumentError(path, f"line {line}", problem))
                continue
            values = {column: text.strip() or None for column, text in zip(COLUMNS, row, strict=True)}
            found = list(_faults(path, line, values))
            name = values["name"] or ""
            if not found and name in scenarios:
                found = [DocumentError(path, f"line {line}: name", f"expected each name once, got {name} again")]
            faults += found
            if not found:
                figures = {figure: _number(values[figure]) for figure in _WITH}
                scenarios[name] = msgspec.convert({**values, **figures}, Scenario)
    except csv.Error as error:
        faults.append(DocumentError(path, f"line {reader.line_num}", f"expected CSV, got {error}"))
    if not faults and not scenarios:
        faults.append(DocumentError(path, "", "expected at least one scenario, got none"))
    if faults:
        raise DocumentErrors(faults)
    return [scenarios[name] for name in sorted(scenarios)]


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


def _faults(path: Path, line: int, values: dict[str, str | None]) -> Iterator[DocumentError]:
    def fault(column: str, expected: str) -> DocumentError:
        got = values[column]
        return DocumentError(
            path, f"line {line}: {column}", f"expected {expected}, got {'nothing' if got is None else got}"
        )

    if values["name"] is None:
        yield fault("name", "a name")
    for figure, others in _WITH.items():
        least = 1 if figure == "pue" else 0
        if values[figure] is None:
            if figure == "pue":
                yield fault(figure, "a number >= 1")
                continue
            for other in others:
                if values[other] is not None:
                    yield fault(other, f"nothing where {figure} is nothing")
            continue
        try:
            number = float(values[figure] or "")
        except ValueError:
            number = math.nan
        if not (math.isfinite(number) and number >= least):
            yield fault(figure, f"a number >= {least}")
        for other in others:
            if values[other] is None:
                yield fault(other, f"text, as {figure} is given")
