"""Finds what there is to read: files by name, and within folders all that a format takes."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from energydb.errors import DataError, UsageError
from energydb.sources import FOUND_BY, is_one_piece


class Input(NamedTuple):
    """What was found to read: documents and folders of the leaderboard's data, each once, with their bytes.

    And in words what was passed over.
    """

    sizes: dict[Path, int]
    notes: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many bytes there are in all."""
        return sum(self.sizes.values())


def find(paths: Sequence[Path]) -> Input:
    """Find documents and folders of the leaderboard's data: each once, in the order of their paths.

    Raises:
        DataError: a folder holds none.
        UsageError: a path doesn't exist.
    """
    found: dict[str, tuple[Path, int]] = {}
    links: list[Path] = []
    for path in paths:
        if path.is_dir():
            within = list(_search(path, links))
            if not within:
                found_by = ", ".join(f"*{end}" for end in FOUND_BY)
                raise DataError(f"{path}: expected a folder with documents ({found_by}), got none")
        elif path.exists():
            within = [(os.path.realpath(path), path, path.stat().st_size)]
        else:
            raise UsageError(f"{path}: no such file or folder")
        for real, file, size in within:
            found.setdefault(real, (file, size))
    notes = tuple(f"{link}: a link to a folder, not searched; name it to load what is in it" for link in links)
    return Input(dict(sorted(found.values(), key=lambda one: str(one[0]))), notes)


def _search(folder: Path, links: list[Path]) -> Iterator[tuple[str, Path, int]]:
    """Search a folder for what any format takes, through all its folders but hidden ones; some are one piece.

    Each with its real path and its bytes. Links to folders, which could lead in a circle, are put into `links`.
    """
    real = os.path.realpath(folder)
    with os.scandir(folder) as listed:
        within = [entry for entry in listed if not entry.name.startswith(".")]
    if is_one_piece(folder):
        yield real, folder, sum(file.stat().st_size for file in folder.rglob("*.json"))
        return
    for entry in within:
        path = folder / entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _search(path, links)
        elif entry.is_dir():
            links.append(path)
        elif entry.name.endswith(FOUND_BY):
            if entry.is_symlink():
                size = path.stat().st_size if path.exists() else 0  # one that leads nowhere is a fault of its own
                yield os.path.realpath(path), path, size
            else:
                yield f"{real}{os.sep}{entry.name}", path, entry.stat().st_size
