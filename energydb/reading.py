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

import msgspec

from energydb.errors import DocumentError, DocumentErrors, MachineError
from energydb.progress import Track, silently
from energydb.sources import read
from energydb.sources.agreement import disagreements
from energydb.sources.records import Document, Fault
from energydb.sources.search import Input
from energydb.store.columns import Batch, batch_of

# Where processes and files begin to pay. Measured: below, starting them costs more than they save.
MUCH = 16 * 2**20
BYTES_PER_BATCH = 8 * 2**20


class Part(NamedTuple):
    """Some of what there is to read: what is sound of it, the faults of what no document came of, and notes."""

    batch: Batch
    faults: list[Fault]
    notes: list[str]


class Documents(NamedTuple):
    """What was read, each document once; the faults of what no document came of; in words, what was passed over."""

    batches: list[Batch]
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]

    @property
    def left_out(self) -> list[Fault]:
        """Every fault of what isn't there."""
        documents = (document for batch in self.batches for document in batch.documents)
        return [*(fault for document in documents for fault in document.faults), *self.faults]


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
        documents = _together([read_batch(*part) for part in track(numbered, what="Reading")], keep_going)
        yield lambda: documents
    elif workers == 1:
        yield lambda: _together([read_batch(*part, folder) for part in track(numbered, what="Reading")], keep_going)
    else:
        with _processes(workers) as pool:
            with _signals_kept():
                futures = [pool.submit(read_batch, *part, folder) for part in numbered]
            yield lambda: _together([future.result() for future in track(futures, what="Reading")], keep_going)


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


def _together(parts: Sequence[Part], keep_going: bool) -> Documents:
    """Put what was read together: each document once, under heads that agree."""
    first: dict[object, Document] = {}
    notes = [note for part in parts for note in part.notes]
    twice: set[str] = set()
    for document in (document for part in parts for document in part.batch.documents):
        before = first.setdefault(tuple(file.sha256 for file in document.files), document)
        if before is not document:
            notes.append(f"{document.path}: the same bytes as {before.path}, loaded once")
            twice.add(document.path)
    spoilt: dict[str, list[DocumentError]] = {}
    for error in disagreements(list(first.values())):
        spoilt.setdefault(str(error.path), []).append(error)
    faults = [fault for part in parts for fault in part.faults]
    releases: dict[object, _Release] = {}
    batches = []
    for part in parts:
        kept = []
        for document, extents in zip(part.batch.documents, part.batch.extents, strict=True):
            release = releases.setdefault(document.head.release, _Release([], [], []))
            if document.path in spoilt:
                runs = sum(extent.runs for extent in extents)
                release.faults.extend(_of_document(document, runs, spoilt[document.path]))
            elif document.path not in twice:
                kept.append((document, extents))
                release.are_complete.append(document.head.is_complete)
                release.have_all_tasks.append(document.head.has_all_tasks)
        documents, of_documents = [one for one, _ in kept], [extents for _, extents in kept]
        batches.append(part.batch._replace(documents=documents, extents=of_documents))
    told: set[object] = set()
    for batch in batches:
        batch.documents[:] = [_of_release(one, releases[one.head.release], told) for one in batch.documents]
    read = Documents(batches, tuple(faults), tuple(notes))
    is_anything_sound = any(one.models for batch in batches for one in batch.documents)
    if read.left_out and not (keep_going and is_anything_sound):
        raise DocumentErrors([fault.error for fault in read.left_out], is_anything_sound=is_anything_sound)
    return read


class _Release(NamedTuple):
    """What its documents say of one release, and the faults of those that are left out."""

    are_complete: list[bool]
    have_all_tasks: list[bool]
    faults: list[Fault]


def _of_release(document: Document, release: _Release, told: set[object]) -> Document:
    """Say of a document how complete its release is, and with the first one of a release what of that is left out."""
    is_complete = all(release.are_complete) and not release.faults
    head = msgspec.structs.replace(document.head, is_complete=is_complete, has_all_tasks=all(release.have_all_tasks))
    faults = document.faults if head.release in told else (*document.faults, *release.faults)
    told.add(head.release)
    return msgspec.structs.replace(document, head=head, faults=faults)


def _of_document(document: Document, runs: int, errors: Sequence[DocumentError]) -> Iterator[Fault]:
    """Yield the faults that spoil a document as a whole; the first of them has its runs."""
    ids = {model.model_id for model in document.models}
    for number, error in enumerate(errors):
        of_one = next(iter(ids)) if len(ids) == 1 else None
        yield Fault(error=error, task=document.head.task, model_id=of_one, runs=0 if number else runs)


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
