"""Files as the machine knows them: read whole, and put in place whole, worked on by one at a time."""

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from energydb.errors import DataError, DocumentError, DocumentErrors, MachineError, UsageError

_PREFIX = ".energydb-"
_SUFFIX = ".building"


# Locks that this process holds. A forked process would hold them too, and outlive what they protect.
_held: set[int] = set()


def _let_go() -> None:
    for lock in _held:
        os.close(lock)
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


def real_file(path: Path) -> Path:
    """Follow links to the file that `path` stands for, which may be still to come.

    Raises:
        UsageError: the name can't be told to other programs.
        DataError: it is something else than a file: a folder, a device, a pipe.
        MachineError: it can't be reached.
    """
    try:
        os.fspath(path).encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"{path}: expected a name in UTF-8") from error
    if path.name == ":memory:":
        raise UsageError(f"{path}: expected a file's name, got DuckDB's word for no file at all")
    real = Path(os.path.realpath(path))
    try:
        mode = real.stat().st_mode
    except FileNotFoundError:
        return real
    except OSError as error:
        raise MachineError(f"{path}: can't be reached: {error.strerror}") from error
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a device or pipe"
        raise DataError(f"{path}: expected a file, got {what}")
    return real


@contextlib.contextmanager
def working_folder(beside: Path) -> Iterator[Path]:
    """Make a folder beside a target, to be gone afterwards; those that dead runs left there go first.

    A live run holds a lock on its folder, which ends with its process however it ends.

    Raises:
        MachineError: the folder can't be made, or the disk is full.
    """
    try:
        _remove_those_of_dead_runs(beside.parent)
        folder, lock = _make_locked_folder(beside.parent)
    except OSError as error:
        raise MachineError(f"{beside}: can't write into its folder: {error.strerror}") from error
    try:
        with _holding(lock):
            yield folder
    except OSError as error:
        raise MachineError(f"{beside}: can't be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextlib.contextmanager
def only_one(target: Path) -> Iterator[None]:
    """Hold a target for oneself while it is rebuilt; who comes second is refused at once.

    The lock is a file beside the target, gone afterwards; one that a killed run left is free and is taken.

    Raises:
        MachineError: another process rebuilds the target, or the lock can't be made.
    """
    mark = hashlib.sha256(target.name.encode()).hexdigest()[:12]
    path = target.with_name(f"{_PREFIX}{mark}.lock")
    try:
        lock = _take(path)
    except BlockingIOError as error:
        holder = path.read_text() if path.exists() else ""
        by = f"process {holder}" if holder else "another process"
        raise MachineError(f"{target.name}: being rebuilt by {by}; try again when it's done") from error
    except OSError as error:
        raise MachineError(f"{target}: can't write into its folder: {error.strerror}") from error
    try:
        with _holding(lock):
            yield
    finally:
        path.unlink(missing_ok=True)
        os.close(lock)


@contextlib.contextmanager
def _holding(lock: int) -> Iterator[None]:
    """Keep a lock to this process alone while the block runs."""
    _held.add(lock)
    try:
        yield
    finally:
        _held.discard(lock)


def _take(path: Path) -> int:
    while True:
        lock = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise
        if not (path.exists() and os.path.samestat(os.fstat(lock), path.stat())):
            os.close(lock)  # the holder before removed it between opening and locking
            continue
        try:
            os.truncate(lock, 0)
            os.write(lock, str(os.getpid()).encode())
        except OSError:
            path.unlink()
            os.close(lock)
            raise
        return lock


def _make_locked_folder(parent: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, suffix=_SUFFIX, dir=parent))
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        os.close(lock)  # another run took it for a dead one's before it was locked


def _remove_those_of_dead_runs(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*{_SUFFIX}"):
        with contextlib.suppress(OSError):
            lock = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def make_folder(folder: Path) -> None:
    """Make a folder, and those that it lies in, unless it is there.

    Raises:
        MachineError: it can't be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MachineError(f"{folder}: can't be made: {error.strerror}") from error


def put_in_place(built: Path, target: Path) -> None:
    """Put a whole file in `target`'s place in one step, with the old file's mode, and make sure that it stays."""
    if target.exists():
        built.chmod(target.stat().st_mode & 0o7777)
    built.replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Yield a path to write to; put what was written in `target`'s place when all went well.

    Raises:
        MachineError: `target` or its folder may not be written.
    """
    real = real_file(target)
    if real.exists() and not os.access(real, os.W_OK):
        raise MachineError(f"{target}: can't be written: Permission denied")
    with working_folder(real) as folder:
        path = folder / real.name
        yield path
        put_in_place(path, real)


def read_bytes(path: Path) -> bytes:
    """Read a regular file whole.

    Raises:
        DocumentErrors: it is something else, a folder or a pipe, or can't be read.
        MachineError: it was written to meanwhile.
    """
    try:
        path.name.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DocumentErrors([DocumentError(path, "", "expected a file name in UTF-8")]) from error
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DocumentErrors([DocumentError(path, "", "expected a file, got something else")])
        with path.open("rb", buffering=0) as file:
            before = os.fstat(file.fileno())
            data = file.read()
            after = os.fstat(file.fileno())
    except OSError as error:
        if error.errno in _NO_SUCH:
            raise DocumentErrors([DocumentError(path, "", "expected a file, got none")]) from error
        raise unreadable(path, error) from error
    if (before.st_size, before.st_mtime_ns, len(data)) != (after.st_size, after.st_mtime_ns, after.st_size):
        raise MachineError(f"{path}: was written to while it was read; try again when it's whole")
    return data


def unreadable(path: Path, error: OSError) -> DocumentErrors:
    """Make the fault of a file or folder that is there and can't be read."""
    return DocumentErrors([DocumentError(path, "", f"expected what can be read, got: {error.strerror}")])


def is_there(path: Path) -> bool:
    """Tell whether there is such a file or folder.

    Raises:
        DocumentErrors: that can't be told, as what it lies in can't be read.
    """
    try:
        path.stat()
    except OSError as error:
        if error.errno in _NO_SUCH:
            return False
        raise unreadable(path, error) from error
    return True


# A link that leads nowhere or in a circle, and a name longer than any file's.
_NO_SUCH = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)


def is_folder(path: Path) -> bool:
    """Tell whether a path leads to a folder that can be reached."""
    return stat.S_ISDIR(_mode_and_size(path)[0])


def is_file(path: Path) -> bool:
    """Tell whether a path leads to a regular file that can be reached."""
    return stat.S_ISREG(_mode_and_size(path)[0])


def size_of(path: Path) -> int:
    """Return how many bytes a file has; 0 where it leads to none that can be reached."""
    return _mode_and_size(path)[1]


def _mode_and_size(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mode, found.st_size


def listed(folder: Path) -> list[Path]:
    """Return what is in a folder, by name.

    Raises:
        DocumentErrors: it can't be read.
    """
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise unreadable(folder, error) from error
