"""Reads documents batch by batch: in this process, or where there is much to read, in several."""

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from energydb.errors import DocumentErrors, MachineError
from energydb.progress import Track, silently
from energydb.sources import read
from energydb.sources.records import Document, Fault
from energydb.sources.search import Input
from energydb.store.columns import batch_of
from energydb.together import Documents, Part, together

# Where processes and files begin to pay. Measured: below, starting them costs more than they save.
MUCH = 16 * 2**20
BYTES_PER_BATCH = 8 * 2**20


@contextlib.contextmanager
def reading(
    found: Input, folder: Path, *, keep_going: bool = False, track: Track = silently
) -> Iterator[Callable[[], Documents]]:
    """Begin to read, and yield what waits for the end: in between, other work may be done.

    Where it's little, all is read at once, and stays in memory; else in processes, by way of files in `folder`.
    What is at fault is refused with all else, or with `keep_going` left out.

    Raises (at once, or when it's waited for):
        DocumentErrors: every fault: of each run, model or document the first of form, or all of rule.
        MachineError: a file can't be read, or a process ends before its time.
    """
    numbered = list(enumerate(_parts(found)))
    workers = min(processors(), len(numbered))
    if found.size < MUCH:
        documents = together([read_batch(*part) for part in track(numbered, what="Reading")], keep_going)
        yield lambda: documents
    elif workers == 1:
        yield lambda: together([read_batch(*part, folder) for part in track(numbered, what="Reading")], keep_going)
    else:
        with _processes(workers) as pool:
            with _signals_kept():
                futures = [pool.submit(read_batch, *part, folder) for part in numbered]
            yield lambda: together([future.result() for future in track(futures, what="Reading")], keep_going)


@contextlib.contextmanager
def _processes(number: int) -> Iterator[ProcessPoolExecutor]:
    """Yield processes that read, to be gone afterwards whatever happens."""
    context = multiprocessing.get_context("fork" if os.uname().sysname == "Linux" else "spawn")
    pool = ProcessPoolExecutor(number, context, initializer=_live_no_longer_than_parent)
    try:
        yield pool
    except BrokenProcessPool as error:
        raise MachineError("a process that read documents was ended, or ran out of memory; try again") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """Keep signals until the block has run: an exception while processes are started would lose itself or a lock."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _parts(found: Input) -> Iterator[tuple[Path, ...]]:
    """Part what is to be read into batches of some size."""
    part: list[Path] = []
    size = 0
    for path, of_path in found.sizes.items():
        if size >= BYTES_PER_BATCH:
            yield tuple(part)
            part, size = [], 0
        part.append(path)
        size += of_path
    if part:
        yield tuple(part)


def read_batch(number: int, paths: Sequence[Path], folder: Path | None = None) -> Part:
    """Read some documents, and put their runs into columns: in memory, or in files in `folder` named by `number`.

    Raises:
        MachineError: a file can't be read or written.
    """
    faults: list[Fault] = []
    notes: list[str] = []

    def documents() -> Iterator[Document]:
        for path in paths:
            try:
                reading = read(path)
            except DocumentErrors as error:
                faults.extend(Fault(error=one) for one in error.errors)
                continue
            faults.extend(reading.faults)
            notes.extend(reading.notes)
            yield from reading.documents

    batch = batch_of(documents())
    if folder is None:
        return Part(batch, faults, notes)
    try:
        return Part(batch.moved_to_files(folder, str(number)), faults, notes)
    except OSError as error:
        raise MachineError(f"{folder.parent}: can't be written: {error.strerror}") from error


def processors() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _live_no_longer_than_parent() -> None:
    """Prepare a process that reads: to end when its parent does, however that ends, and to leave signals to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)
