"""What a fault is, and how some are drawn from all that can be put in."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple


class Fault(NamedTuple):
    """One change to one file: where, of which kind, what stood there and what stands there now."""

    path: str
    line: int
    place: int
    kind: str
    before: str
    after: str
    faulty: Callable[[], str]

    @property
    def identity(self) -> tuple[str, int, str, str, str]:
        """What tells it from all others: `place` counts nodes, or bytes."""
        return (self.path, self.place, self.kind, self.before, self.after)


def draw(pool: Iterator[Fault], number: int, chance: random.Random, is_sound: Callable[[Fault], bool]) -> list[Fault]:
    """Draw `number` different faults, of those that leave something that can be run at all."""
    faults = sorted(pool, key=lambda fault: fault.identity)
    chance.shuffle(faults)
    drawn: list[Fault] = []
    for fault in faults:
        if len(drawn) == number:
            break
        if is_sound(fault):
            drawn.append(fault)
    return drawn


def copied(root: Path, path: str) -> str:
    """Read a file of the project."""
    return (root / path).read_text(encoding="utf-8")
