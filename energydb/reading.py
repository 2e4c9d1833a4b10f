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
from typing import NamedTuple

from energydb.errors import DocumentError, DocumentErrors, MachineError
from energydb.progress import Track, silently
from energydb.sources import read
from energydb.sources.agreement import disagreements
from energydb.sources.records import Document
from energydb.sources.search import Input
from energydb.store.columns import Batch, batch_of

# Where processes and files begin to pay. Measured: below, starting them costs more than they save.
MUCH = 16 * 2**20
BYTES_PER_BATCH = 8 * 2**20


class Documents(NamedTuple):
    """What was read, each document once, and in words which came twice."""

    batches: list[Batch]
    notes: tuple[str, ...]


@contextlib.contextmanager
def reading(found: Input, folder: Path, track: Track = silently) -> Iterator[Callable[[], Documents]]:
    """Begin to read, and yield what waits for the end: in between, other work may be done.

    Where it's little, all is read at once, and stays in memory; else in processes, by way of files in `folder`.

    Raises (at once, or when it's waited for):
        DocumentErrors: every faulty document, each with its first fault of form or all its faults of rule.
        MachineError: a file can't be read, or a process ends before its time.
    """
    numbered = list(enumerate(_parts(found)))
    workers = min(processors(), len(numbered))
    if found.size < MUCH:
        documents = _together([read_batch(*part) for part in track(numbered, what="Reading")])
        yield lambda: documents
    elif workers == 1:
        yield lambda: _together([read_batch(*part, folder) for part in track(numbered, what="Reading")])
    else:
        with _processes(workers) as pool:
            with _signals_kept():
                futures = [pool.submit(read_batch, *part, folder) for part in numbered]
            yield lambda: _together([future.result() for future in track(futures, what="Reading")])


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


def read_batch(number: int, paths: Sequence[Path], folder: Path | None = None) -> tuple[Batch, list[DocumentError]]:
    """Read some documents, and put their runs into columns: in memory, or in files in `folder` named by `number`.

    Raises:
        MachineError: a file can't be read or written.
    """
    faults: list[DocumentError] = []

    def documents() -> Iterator[Document]:
        for path in paths:
            try:
                yield from read(path)
            except DocumentErrors as error:
                faults.extend(error.errors)

    batch = batch_of(documents())
    if folder is None:
        return batch, faults
    try:
        return batch.moved_to_files(folder, str(number)), faults
    except OSError as error:
        raise MachineError(f"{folder.parent}: can't be written: {error.strerror}") from error


def _together(read: Sequence[tuple[Batch, list[DocumentError]]]) -> Documents:
    """Put batches together: each document once, under heads that agree."""
    faults = [fault for _, of_batch in read for fault in of_batch]
    first: dict[object, Document] = {}
    batches = []
    notes = []
    for batch, _ in read:
        kept = []
        for document, extents in zip(batch.documents, batch.extents, strict=True):
            before = first.setdefault(tuple(file.sha256 for file in document.files), document)
            if before is document:
                kept.append((document, extents))
            else:
                notes.append(f"{document.path}: the same bytes as {before.path}, loaded once")
        batches.append(batch._replace(documents=[one for one, _ in kept], extents=[extents for _, extents in kept]))
    if not faults:
        faults += disagreements(list(first.values()))
    if faults:
        raise DocumentErrors(faults)
    return Documents(batches, tuple(notes))


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
