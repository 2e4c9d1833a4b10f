"""What a recomputation is: a function from a world to rows, with the columns and the order that the view declares."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

Row = dict[str, Any]


class World:
    """The rows of every base table, and what was recomputed of them so far."""

    def __init__(self, tables: Mapping[str, list[Row]]) -> None:
        self.tables = dict(tables)
        self.views: dict[str, list[Row]] = {}

    def __getitem__(self, table: str) -> list[Row]:
        return self.tables[table]


class Declared(NamedTuple):
    """One recomputation: its columns in order, what its rows are ordered by, and the function that gives them.

    `and_more` says that the view passes on whatever else a run's table holds.
    """

    columns: tuple[str, ...]
    order: tuple[str, ...]
    nulls_first: bool
    and_more: bool
    recompute: Callable[..., Iterable[Row]]


DECLARED: dict[str, Declared] = {}


def declare(
    columns: str, order: str = "", *, nulls_first: bool = False, and_more: bool = False
) -> Callable[[Any], Any]:
    """Register a function under its own name; its rows may hold more than the columns."""

    def register(recompute: Callable[..., Iterable[Row]]) -> Callable[..., Iterable[Row]]:
        named = Declared(tuple(columns.split()), tuple(order.split()), nulls_first, and_more, recompute)
        DECLARED[recompute.__name__] = named
        return recompute

    return register


def rows_of(world: World, name: str, **arguments: Any) -> list[Row]:
    """Recompute a view or macro: its rows, of its columns, in its order."""
    if name in world.views:
        return world.views[name]
    declared = DECLARED[name]
    rows = list(declared.recompute(world, **arguments))
    if not declared.and_more:
        rows = [{column: row[column] for column in declared.columns} for row in rows]
    rows.sort(key=lambda row: order_of(declared, row))
    if not arguments and name not in ("pick", "energy_at", "deployment_plan"):
        world.views[name] = rows
    return rows


def order_of(declared: Declared, row: Row) -> tuple[Any, ...]:
    """Return what a row is sorted by."""
    return sortable(*(row[name] for name in declared.order), nulls_first=declared.nulls_first)


def sortable(*values: Any, nulls_first: bool = False) -> tuple[Any, ...]:
    """Make values comparable where some are None, which comes last unless it is to come first."""
    return tuple(((value is None) != nulls_first, 0 if value is None else value) for value in values)


def by(rows: Iterable[Row], *names: str) -> Iterator[list[Row]]:
    """Yield the rows that agree in all of the names, a group at a time."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    yield from groups.values()


def keyed(rows: Iterable[Row], name: str) -> dict[Any, Row]:
    """Return rows by their key."""
    return {row[name]: row for row in rows}


def times(*factors: float | None) -> float | None:
    """Multiply; what isn't known makes the product unknown."""
    product = 1.0
    for factor in factors:
        if factor is None:
            return None
        product *= factor
    return product


def over(one: float | None, other: float | None) -> float | None:
    """Divide; what isn't known makes the ratio unknown."""
    return None if one is None or other is None else one / other


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean."""
    held = list(values)
    return sum(held) / len(held)


def text(value: Any) -> str | None:
    """Write a value as the database casts it: numbers as short as they come back, truth in small letters."""
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)
