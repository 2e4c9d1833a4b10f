"""What can go wrong: every fault that energydb reports, by who has to act on it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

_LONGEST_PLACE = 200


class EnergydbError(Exception):
    """A fault with words for a person; `lines` holds one line a fault, `exit_code` what a command ends with."""

    exit_code: ClassVar[int]

    @property
    def lines(self) -> tuple[str, ...]:
        """One line a fault, each complete by itself."""
        return (str(self),)


class DataError(EnergydbError):
    """The documents, the database or the query is at fault."""

    exit_code = 1


class DocumentError(DataError):
    """One fault of one document: the file, the JSON path, what was expected and what came."""

    def __init__(self, path: Path | str, place: str, problem: str) -> None:
        place = place if len(place) <= _LONGEST_PLACE else f"{place[: _LONGEST_PLACE - 3]}..."
        super().__init__(": ".join(part for part in (str(path), place, problem) if part))
        self.path = path
        self.place = place
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        """Go from one process to another with all parts."""
        return DocumentError, (self.path, self.place, self.problem)


class DocumentErrors(DataError):
    """Every fault found in one run, in the order of the files."""

    def __init__(self, errors: Sequence[DocumentError]) -> None:
        super().__init__("\n".join(str(error) for error in errors))
        self.errors = tuple(errors)

    @property
    def lines(self) -> tuple[str, ...]:
        """One line a fault, in the order of the files."""
        return tuple(str(error) for error in self.errors)


class FindingsError(DocumentErrors):
    """The data is well formed but can't be right, and that was to be refused; `errors` are the first of `count`."""

    def __init__(self, errors: Sequence[DocumentError], count: int, target: Path) -> None:
        super().__init__(errors)
        self.count = count
        self.target = target

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for each of the first findings, how many more there are, then what became of the file."""
        more = (f"and {self.count - len(self.errors):,} more",) if self.count > len(self.errors) else ()
        refused = f"{self.target}: not built, as strict refuses findings; what was there is unchanged"
        return (*super().lines, *more, refused)


class QueryError(DataError):
    """A question that the database can't answer: unknown name, faulty SQL, not a plain query."""


class UsageError(EnergydbError):
    """The command line is at fault."""

    exit_code = 2


class MachineError(EnergydbError):
    """The machine is at fault: locked, full, not writable."""

    exit_code = 3


class LockedError(MachineError):
    """Another process holds the file open for writing; DuckDB's own message names it."""

    def __init__(self, path: Path, message: str) -> None:
        holder = re.search(r"lock is held in (.*?\(PID \d+\))", message)
        by = holder[1] if holder else "another process"
        super().__init__(f"{path}: held open for writing by {by}; close it there and try again")
