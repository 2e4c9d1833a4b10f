"""Puts together what was read batch by batch: each document and model once, under heads that agree."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from energydb.errors import DocumentError, DocumentErrors, counted
from energydb.sources.agreement import disagreements
from energydb.sources.records import Document, Fault, Model
from energydb.store.columns import Batch, Extent


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


def together(parts: Sequence[Part], keep_going: bool) -> Documents:
    """Put what was read together.

    Raises:
        DocumentErrors: every fault; with `keep_going` only where nothing is sound.
    """
    held = [
        _Held(document, extents, part.batch)
        for part in parts
        for document, extents in zip(part.batch.documents, part.batch.extents, strict=True)
    ]
    notes = [note for part in parts for note in part.notes]
    copies = _copies(one.document for one in held)
    notes += [f"{path}: the same bytes as {before}, loaded once" for path, before in copies.items()]
    held = [one for one in held if one.document.path not in copies]
    spoilt: dict[str, list[DocumentError]] = {}
    for error in disagreements([one.document for one in held]):
        spoilt.setdefault(str(error.path), []).append(error)
    releases: dict[object, _Release] = {one.document.head.release: _Release([], [], []) for one in held}
    for one in held:
        if errors := spoilt.get(one.document.path):
            releases[one.document.head.release].faults.extend(_of_document(one, errors))
    sound = list(_each_model_once([one for one in held if one.document.path not in spoilt], notes))
    for document, _, _ in sound:
        releases[document.head.release].are_complete.append(document.head.is_complete)
        releases[document.head.release].have_all_tasks.append(document.head.has_all_tasks)
    of_batches: dict[int, list[_Held]] = {}
    for one in sound:
        of_batches.setdefault(id(one.batch), []).append(one)
    told: set[object] = set()
    batches = []
    for part in parts:
        of_part = of_batches.get(id(part.batch), [])
        documents = [_of_release(one.document, releases[one.document.head.release], told) for one in of_part]
        batches.append(part.batch._replace(documents=documents, extents=[one.extents for one in of_part]))
    faults = tuple(fault for part in parts for fault in part.faults)
    read = Documents(batches, faults, tuple(notes))
    is_anything_sound = any(one.models for batch in batches for one in batch.documents)
    if read.left_out and not (keep_going and is_anything_sound):
        raise DocumentErrors([fault.error for fault in read.left_out], is_anything_sound=is_anything_sound)
    return read


class _Held(NamedTuple):
    """A document, and where the runs of its models stand in its batch."""

    document: Document
    extents: list[Extent]
    batch: Batch


def _copies(documents: Iterable[Document]) -> dict[str, str]:
    """Return which documents are copies, byte for byte, each with the one that it's a copy of: the first by name."""
    first: dict[object, str] = {}
    copies: dict[str, str] = {}
    for document in sorted(documents, key=_by_name):
        before = first.setdefault(tuple(file.sha256 for file in document.files), document.path)
        if before != document.path:
            copies[document.path] = before
    return copies


def _by_name(document: Document) -> tuple[str, str, str]:
    return (Path(document.path).name, document.files[0].sha256, document.path)


def _each_model_once(held: Sequence[_Held], notes: list[str]) -> Iterator[_Held]:
    """Yield documents without the models that another of their release has with the same runs; note those.

    So a release that is given twice counts once, in whatever form its files are written the second time.
    """
    first: dict[object, list[tuple[_Held, Extent, Model]]] = {}
    again: dict[str, set[int]] = {}
    for one in sorted(held, key=lambda one: _by_name(one.document)):
        before: dict[str, int] = {}
        for place, (model, extent) in enumerate(zip(one.document.models, one.extents, strict=True)):
            known = first.setdefault((one.document.head.release, model.model_id, extent.runs), [])
            same = next((other for other in known if _is_same(model, extent, one, other)), None)
            if same is None:
                known.append((one, extent, model))
            elif same[0] is not one:
                again.setdefault(one.document.path, set()).add(place)
                before[same[0].document.path] = before.get(same[0].document.path, 0) + 1
        for path, count in before.items():
            of_models = counted(count, "model")
            notes.append(f"{one.document.path}: {of_models} with the same runs as in {path}, loaded once")
    for one in held:
        gone = again.get(one.document.path, set())
        models = tuple(model for place, model in enumerate(one.document.models) if place not in gone)
        if models or one.document.faults or not gone:
            extents = [extent for place, extent in enumerate(one.extents) if place not in gone]
            yield one._replace(document=msgspec.structs.replace(one.document, models=models), extents=extents)


def _is_same(model: Model, extent: Extent, held: _Held, other: tuple[_Held, Extent, Model]) -> bool:
    """Tell whether two models are described and measured alike; those in a document hold no runs any more."""
    other_held, other_extent, other_model = other
    return model == other_model and all(
        one.equals(another)
        for one, another in zip(held.batch.measured(extent), other_held.batch.measured(other_extent), strict=True)
    )


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


def _of_document(held: _Held, errors: Sequence[DocumentError]) -> Iterator[Fault]:
    """Yield the faults that spoil a document as a whole; the first of them has its runs."""
    ids = {model.model_id for model in held.document.models}
    runs = sum(extent.runs for extent in held.extents)
    for number, error in enumerate(errors):
        of_one = next(iter(ids)) if len(ids) == 1 else None
        yield Fault(error=error, task=held.document.head.task, model_id=of_one, runs=0 if number else runs)
