"""What comes in: one module an outside format, all of which yield the same records."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from energydb.errors import DocumentError, DocumentErrors
from energydb.files import listed
from energydb.sources import document, leaderboard
from energydb.sources.records import Reading


class Format(NamedTuple):
    """One outside format: how what it is written in is recognised, a file or a folder, and how it is read.

    In a folder that is searched its files are found by how their names end; None where it is one of folders.
    """

    name: str
    found_by: str | None
    recognises: Callable[[Path], bool]
    read: Callable[[Path], Reading]


# In the order in which they are tried: what takes any file comes last.
FORMATS = (
    Format(leaderboard.FORMAT, None, leaderboard.is_leaderboard, leaderboard.read_leaderboard),
    Format(document.FORMAT, ".json", document.is_document, document.read_document),
)
FOUND_BY = tuple(known.found_by for known in FORMATS if known.found_by)


def is_one_piece(folder: Path) -> bool:
    """Tell a folder that a format reads as a whole from one that is to be searched."""
    return any(known.recognises(folder) for known in FORMATS)


def read(path: Path) -> Reading:
    """Read a file, or a folder that is one piece, in the first format that takes it: what is sound of it.

    Raises:
        DocumentErrors: the faults that spoil all of it; no format takes it.
        MachineError: a file changes while it's read.
    """
    for known in FORMATS:
        if known.recognises(path):
            return known.read(path)
    listed(path)
    raise DocumentErrors([DocumentError(path, "", "expected a folder that some format takes, got another")])
