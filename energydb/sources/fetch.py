"""Gets the leaderboard's public data over HTTP, into a folder that `load` takes: whole or not at all."""

import os
import re
import time
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

import msgspec
import requests

from energydb import __version__
from energydb.errors import DataError, DocumentError, DocumentErrors, MachineError, UsageError
from energydb.files import make_folder, read_bytes, working_folder
from energydb.paths import DATA
from energydb.progress import Track, silently
from energydb.sources.document import read_document
from energydb.sources.leaderboard import read_leaderboard
from energydb.sources.leaderboard_files import INDEX, MODELS, TASKS
from energydb.sources.leaderboard_task import model_file_name
from energydb.sources.parts import UnknownField
from energydb.sources.strict_json import decode_form

S = TypeVar("S")

_ATTEMPTS = 4
FIRST_PAUSE_S = 0.5  # doubled from attempt to attempt
TIMEOUT_S = (10, 30)  # to connect, and between two pieces of an answer
LONGEST_S = 300  # for one file, however steadily its pieces drip
LARGEST_BYTES = 64 * 2**20  # the largest published file has about 1 MB
_PASSING_FAULTS = {408, 425, 429, 500, 502, 503, 504}
_PLAIN_NAME = re.compile(r"[^./\\\x00-\x1f][^/\\\x00-\x1f]*")


class Changes(NamedTuple):
    """What a fetch brought into which folder, against what was there before: places in the folder, in order.

    `unknown` are the fields that this energydb doesn't know, and `faults` what of it can't be loaded.
    """

    folder: Path
    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    same: tuple[str, ...]
    unknown: tuple[UnknownField, ...] = ()
    faults: tuple[DocumentError, ...] = ()


def default_url() -> str:
    """Return the address that the shipped documents name as their data's, up to `tasks/`."""
    (document,) = read_document(min(DATA.glob("*.json"))).documents
    return str(document.head.data_url).rpartition(f"{TASKS}/")[0]


def fetch(folder: Path, url: str, *, track: Track = silently) -> Changes:
    """Get index, tasks and models from below `url`, read them as `load` would, and put them in `folder`.

    Where some of it can't be loaded, and `folder` holds what can, that stays, and the new lies beside it in a folder
    with its date at the end.

    Raises:
        UsageError: `url` isn't http or https, or a folder holds something else.
        DataError: the server lacks a file, or what it sent doesn't say which files there are.
        MachineError: the server can't be reached, or the folder can't be written.
    """
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise UsageError(f"{url}: expected an address that begins with https:// or http://")
    real = Path(os.path.realpath(folder))
    _refuse_unless_ours(real, folder)
    make_folder(real.parent)
    base = url.rstrip("/") + "/"
    with working_folder(real) as work:
        fetched = work / "new"
        published = _download(fetched, base, track)
        unknown, errors = _read(fetched)
        faults = tuple(_from(base, fetched, fault) for fault in errors)
        new, changed, gone, same = _compare(real, fetched)
        changes = Changes(folder, new, changed, gone, same, unknown, faults)
        if faults and real.exists() and not _read(real)[1]:
            changes = changes._replace(folder=_beside(folder, real, published))
            real = real.with_name(f"{real.name}-{published}")
        _refuse_unless_ours(real, changes.folder)
        _exchange(real, fetched, work / "old")
    return changes


def _beside(folder: Path, real: Path, published: str) -> Path:
    """Return where a folder with a date at its end lies beside `real`, named as `folder` is if that is no link."""
    named = folder if Path(os.path.realpath(folder.parent)) / folder.name == real and folder.name else real
    return named.with_name(f"{named.name}-{published}")


def _read(folder: Path) -> tuple[tuple[UnknownField, ...], tuple[DocumentError, ...]]:
    """Read a folder as `load` would: the fields that aren't known, each once, and all faults."""
    try:
        reading = read_leaderboard(folder)
    except DocumentErrors as error:
        return (), error.errors
    of_documents = [fault.error for document in reading.documents for fault in document.faults]
    unknown = {one.field: one for document in reading.documents for one in document.unknown}
    return tuple(unknown.values()), (*of_documents, *(fault.error for fault in reading.faults))


def _from(base: str, fetched: Path, fault: DocumentError) -> DocumentError:
    """Name the address of a faulty file, which nobody finds where it was put for now."""
    return DocumentError(base + Path(fault.path).relative_to(fetched).as_posix(), fault.place, fault.problem)


def _refuse_unless_ours(real: Path, folder: Path) -> None:
    if not real.exists():
        return
    if not real.is_dir():
        raise UsageError(f"{folder}: expected a folder, got a file")
    others = sorted({path.name for path in real.iterdir()} - {INDEX, TASKS, MODELS})
    if others:
        raise UsageError(f"{folder}: expected a folder for this data alone, got one with {', '.join(others)}")


def _download(folder: Path, url: str, track: Track) -> str:
    """Get every file that the index and the tasks name, whatever else is in them; return the date of the index."""
    (folder / TASKS).mkdir(parents=True)
    (folder / MODELS).mkdir()

    with requests.Session() as session:
        session.headers["User-Agent"] = f"energydb/{__version__}"
        _get(session, url, INDEX, folder)
        index = _said(url, folder, INDEX, _Index)
        for task in track(index.tasks, what="Fetching tasks"):
            _get(session, url, f"{TASKS}/{_plain(task)}.json", folder)
        names = [
            model_file_name(_plain_id(model_id), task)
            for task in index.tasks
            for model_id in dict.fromkeys(
                row.model_id
                for row in _said(url, folder, f"{TASKS}/{task}.json", _Task).configurations
                if isinstance(row.model_id, str)
            )
        ]
        for name in track(names, what="Fetching models"):
            _get(session, url, f"{MODELS}/{name}", folder)
    return _plain(index.last_updated) if isinstance(index.last_updated, str) else _UNDATED


_UNDATED = "undated"


class _Index(msgspec.Struct):
    """What an index says of where else to look, whatever else it says."""

    tasks: list[str]
    last_updated: object = None


class _Row(msgspec.Struct):
    model_id: object = None


class _Task(msgspec.Struct):
    """What a task's file says of where else to look, whatever else it says."""

    configurations: list[_Row]


def _said(url: str, folder: Path, place: str, kind: type[S]) -> S:
    """Read what a file says of where else to look.

    Raises:
        DocumentErrors: that isn't in it.
    """
    try:
        return decode_form(folder / place, read_bytes(folder / place), msgspec.json.Decoder(kind))
    except DocumentErrors as error:
        raise DocumentErrors([_from(url, folder, fault) for fault in error.errors]) from error


def _plain(name: str) -> str:
    """Return a name that came from outside, if it can only name a file.

    Raises:
        DataError: it could lead elsewhere.
    """
    if not _PLAIN_NAME.fullmatch(name):
        raise DataError(f"{INDEX}: expected a name that can only name a file, got {name!r}")
    return name


def _plain_id(model_id: str) -> str:
    for part in model_id.split("/"):
        _plain(part)
    return model_id


def _get(session: requests.Session, base: str, place: str, folder: Path) -> None:
    """Get one file; a passing fault is tried again, and a file that was cut off never taken."""
    url = base + quote(place)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with session.get(url, stream=True, timeout=TIMEOUT_S) as response:
                if response.status_code in _PASSING_FAULTS:
                    problem = f"the server answered {response.status_code} {response.reason}"
                elif response.status_code != 200:
                    raise DataError(f"{url}: expected a file, got {response.status_code} {response.reason}")
                else:
                    (folder / place).write_bytes(_body(response, url))
                    return
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
            problem = f"the connection failed: {_reason(error)}"
        except requests.RequestException as error:
            raise DataError(f"{url}: can't be fetched: {_reason(error)}") from error
        if attempt < _ATTEMPTS:
            time.sleep(FIRST_PAUSE_S * 2 ** (attempt - 1))
    raise MachineError(f"{url}: {problem}, {_ATTEMPTS} times in a row; try again later")


def _body(response: requests.Response, url: str) -> bytes:
    started = time.monotonic()
    body = bytearray()
    for piece in response.iter_content(2**16):
        body += piece
        if len(body) > LARGEST_BYTES:
            raise DataError(f"{url}: expected a file of at most {LARGEST_BYTES // 2**20} MiB, got a larger one")
        if time.monotonic() - started > LONGEST_S:
            raise MachineError(f"{url}: not there after {LONGEST_S} s; try again later")
    return bytes(body)


def _reason(error: requests.RequestException) -> str:
    """Say why on one line: the innermost reason, without the objects around it."""
    reason: BaseException = error
    while reason.args and isinstance(reason.args[-1], BaseException):
        reason = reason.args[-1]
    inner = getattr(reason, "reason", None)
    return " ".join(str(inner or reason).split())


def _compare(old: Path, new: Path) -> tuple[tuple[str, ...], ...]:
    before, after = _files(old), _files(new)
    both = before.keys() & after.keys()
    return (
        tuple(sorted(after.keys() - before.keys())),
        tuple(sorted(place for place in both if before[place] != after[place])),
        tuple(sorted(before.keys() - after.keys())),
        tuple(sorted(place for place in both if before[place] == after[place])),
    )


def _files(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _exchange(target: Path, new: Path, aside: Path) -> None:
    """Put `new` in the place of `target`; what was there is back if that fails."""
    if target.exists():
        target.rename(aside)
    try:
        new.rename(target)
    except OSError:
        if aside.exists():
            aside.rename(target)
        raise
