"""What can go wrong: every fault that energydb reports, by who has to act on it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

LONGEST_PLACE = 200


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
        place, problem = plain(place), plain(problem)
        place = place if len(place) <= LONGEST_PLACE else f"{place[: LONGEST_PLACE - 3]}..."
        super().__init__(": ".join(part for part in (str(path), place, problem) if part))
        self.path = path
        self.place = place
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        """Go from one process to another with all parts."""
        return DocumentError, (self.path, self.place, self.problem)


def plain(text: str) -> str:
    """Return a text as it is, but for what neither a database nor a terminal holds: NUL, half a character."""
    return text.replace("\0", "\\u0000").encode("utf-8", "backslashreplace").decode("utf-8")


class DocumentErrors(DataError):
    """Every fault found in one run, in the order of the files, and whether anything beside them is sound."""

    def __init__(self, errors: Sequence[DocumentError], *, is_anything_sound: bool = False) -> None:
        super().__init__("\n".join(str(error) for error in errors))
        self.errors = tuple(errors)
        self.is_anything_sound = is_anything_sound

    @property
    def lines(self) -> tuple[str, ...]:
        """The first fault of each kind, in the order of the files, and how many more there are like it."""
        return tuple(of_kinds(self.errors))

    @property
    def counted(self) -> str:
        """How many faults there are, and in how many files."""
        files = {str(error.path) for error in self.errors}
        faults = {str(error) for error in self.errors}
        return f"{counted(len(faults), 'fault')} in {counted(len(files), 'file')}"


def of_kinds(errors: Sequence[DocumentError]) -> Iterator[str]:
    """Yield the first fault of each kind, and after it how many more there are like it, and in which files.

    Of one kind are faults with one place, whichever run or model it's in, and one rule, whatever the values. A fault
    that spoils several things is told once.
    """
    kinds: dict[tuple[str, str], list[DocumentError]] = {}
    for error in {str(error): error for error in errors}.values():
        kinds.setdefault((_VARYING.sub("", error.place), _VARYING.sub("", error.problem)), []).append(error)
    for first, *more in kinds.values():
        yield str(first)
        if more:
            names = list(dict.fromkeys(Path(error.path).name for error in more))
            others = f" and {counted(len(names) - _NAMED, 'more file')}" if len(names) > _NAMED else ""
            yield f"and {len(more):,} more like it, in {', '.join(names[:_NAMED])}{others}"


# Within a fault, what differs where the fault is of the same kind: numbers, quoted values, and what came.
_VARYING = re.compile(r", got .*|\[\d+\]|\d[\d.e+-]*|\"[^\"]*\"|(?<=^\$\.models)\..*(?=\.)", re.DOTALL)
_NAMED = 3


def some_of(names: Sequence[str], most: int = 5) -> str:
    """Put names in a row, of many the first and how many more there are.

    >>> some_of(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(count: int, of: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "run"), counted(2000, "run")
    ('1 run', '2,000 runs')
    """
    return f"{count:,} {of}{'' if count == 1 else 's'}"


class RefusedError(DocumentErrors):
    """Nothing was loaded, for the faults of some of it."""

    def __init__(self, errors: Sequence[DocumentError], target: Path, remedy: str) -> None:
        super().__init__(errors)
        self.target = target
        self.remedy = remedy

    @property
    def lines(self) -> tuple[str, ...]:
        """The faults by kind, then what became of the file, and what can be done."""
        kept = "what was there is as it was" if self.target.exists() else "there is none"
        return (*super().lines, f"{self.target}: not built, and {kept}: {self.counted}", self.remedy)


class FindingsError(DocumentErrors):
    """The data is well formed but can't be right, and that was to be refused; `errors` are the first of `count`."""

    def __init__(self, errors: Sequence[DocumentError], count: int, target: Path) -> None:
        super().__init__(errors)
        self.count = count
        self.target = target

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for each of the first findings, how many more there are, then what became of the file."""
        of_each = (str(error) for error in self.errors)
        more = (f"and {self.count - len(self.errors):,} more",) if self.count > len(self.errors) else ()
        refused = f"{self.target}: not built, as strict refuses findings; what was there is unchanged"
        return (*of_each, *more, refused)


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
