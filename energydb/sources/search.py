"""Finds what there is to read: files by name, and within folders all that a format takes."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from energydb.errors import DataError, UsageError, some_of
from energydb.files import is_file, is_folder, is_there, size_of
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
    passed_over: list[str] = []
    for path in paths:
        if is_folder(path):
            within = list(_search(path, passed_over))
            if not within:
                found_by = ", ".join(f"*{end}" for end in FOUND_BY)
                raise DataError(f"{path}: expected a folder with documents ({found_by}), got none")
        elif is_there(path):
            within = [(os.path.realpath(path), path, size_of(path))]
        else:
            raise UsageError(f"{path}: no such file or folder")
        for real, file, size in within:
            found.setdefault(real, (file, size))
    notes = tuple(passed_over)
    return Input(dict(sorted(found.values(), key=lambda one: str(one[0]))), notes)


def _search(folder: Path, passed_over: list[str]) -> Iterator[tuple[str, Path, int]]:
    """Search a folder for what any format takes, all but hidden ones; some are one piece.

    Each with its real path and its bytes. What is passed over is put into words: links to folders, which could lead
    in a circle, empty folders, and what editors and file managers left.
    """
    real = os.path.realpath(folder)
    try:
        with os.scandir(folder) as listed:
            within = sorted(listed, key=lambda entry: entry.name)
    except OSError:
        yield real, folder, 0  # a fault of its own, when it's read
        return
    if not within:
        passed_over.append(f"{folder}: an empty folder, passed over")
    if is_one_piece(folder):
        yield real, folder, sum(map(size_of, folder.rglob("*.json")))
        return
    strays = [entry.name for entry in within if _is_stray(entry)]
    if strays:
        passed_over.append(f"{folder}: passed over, as their names are no documents': {some_of(strays)}")
    for entry in within:
        path = folder / entry.name
        if entry.name.startswith(".") or entry.name in strays:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _search(path, passed_over)
        elif is_folder(path):
            passed_over.append(f"{path}: a link to a folder, not searched; name it to load what is in it")
        elif entry.name.endswith(FOUND_BY):
            if entry.is_symlink():
                yield os.path.realpath(path), path, size_of(path)  # one that leads nowhere is a fault of its own
            else:
                yield f"{real}{os.sep}{entry.name}", path, entry.stat().st_size


def _is_stray(entry: os.DirEntry[str]) -> bool:
    """Tell what an editor or a file manager left: a hidden file, or one whose name goes on after a document's."""
    is_hidden, is_document = entry.name.startswith("."), entry.name.endswith(FOUND_BY)
    return is_file(Path(entry)) and (is_hidden or (any(end in entry.name for end in FOUND_BY) and not is_document))
