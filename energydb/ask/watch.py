"""Counts, as an answer's rows pass, what is to be said below them: what isn't finite, what rests on doubtful runs."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from energydb.errors import counted

# What a true or a number above 0 says in a column of that name: of one row, of more, and where to look further.
_TOLD = {
    "has_finding": ("rests on runs with a finding", "rest on runs with a finding", "data_quality"),
    "runs_left_out": ("lacks runs that could not be loaded", "lack runs that could not be loaded", "left_out"),
}


class Watch:
    """What has been seen of an answer's rows so far."""

    def __init__(self, columns: Sequence[str], types: Sequence[str]) -> None:
        """Look at the columns of these names and DuckDB types."""
        self.floats = [place for place, kind in enumerate(types) if kind in ("DOUBLE", "FLOAT")]
        self.told = [columns.index(name) for name in _TOLD if name in columns]
        self.seen: Counter[int] = Counter()
        self.not_finite: Counter[int] = Counter()
        self._columns = columns

    def rows(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows as they come, and count."""
        floats, told = self.floats, self.told
        for row in rows:
            for place in floats:
                if (value := row[place]) is not None and not math.isfinite(value):
                    self.not_finite[place] += 1
            for place in told:
                if is_told(row[place]):
                    self.seen[place] += 1
            yield row

    def words(self, how: str) -> Iterator[str]:
        """Yield what is to be said of all that has passed, a line each; `how` a form writes what isn't finite."""
        if self.not_finite:
            counts = ", ".join(
                f"{self._columns[place]} {counted(count, 'value')}"
                for place, count in sorted(self.not_finite.items())
            )
            yield f"infinity or NaN: {counts}; {how}"
        for place in self.told:
            if count := self.seen[place]:
                name = self._columns[place]
                one, more, where = _TOLD[name]
                yield f"{name}: {count:,} of these rows {one if count == 1 else more}: energydb query {where}"


def is_told(value: object) -> bool:
    """Tell a value that is to be said: true, or a number above 0."""
    return isinstance(value, bool | int | float | Decimal) and value > 0
