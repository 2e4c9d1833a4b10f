"""Reads model documents: JSON, one model a file, read strictly: nothing is guessed and nothing lost."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import msgspec

from energydb.errors import DocumentError, DocumentErrors
from energydb.sources.document_form import SAME_NAME_IN_SOURCE, Configuration, ModelDocument, Source
from energydb.sources.records import Document, File, Head, Model, Run, Runs, columns_of
from energydb.sources.strict_json import (
    colons,
    colons_of_columns,
    decode_form,
    read_bytes,
    refuse_hidden,
    required_texts,
    shown,
    unlike,
)

FORMAT = "model_document"

# The one document version, unit and boundary that energydb knows how to store and compare.
KNOWN = {"$.version": "1", "$.unit": "Wh per million output tokens", "$.boundary": "gpu_only"}

NOT_BLANK = "text that isn't blank"
Columns = dict[str, Sequence[Any]]

_DECODER = msgspec.json.Decoder(ModelDocument)
# Where a field of the head stands in a document, to name it when two documents disagree.
HEAD_PLACES: Mapping[str, str] = {
    **{field: f"$.{field}" for field in ("updated", "unit", "itl_deadline_ms", "caveat", "boundary")},
    **{field: f"$.source.{field}" for field in (*SAME_NAME_IN_SOURCE, "licence_evidence")},
    "document_version": "$.version",
    "configurations_note": "$.source.configurations",
}


def is_document(path: Path) -> bool:
    """Tell what is to be read as a document: whatever isn't a folder."""
    return not path.is_dir()


def read_document(path: Path) -> Document:
    """Read one model document; its runs in document order.

    Raises:
        DocumentErrors: the first fault of form, or every fault of rule.
        MachineError: the file can't be read.
    """
    data = read_bytes(path)
    document = decode_form(path, data, _DECODER)
    columns = columns_of(document.configurations)
    of_head = msgspec.structs.replace(document, configurations=())
    refuse_hidden(path, data, colons(of_head) + colons_of_columns(Configuration, columns))
    picks = {gpu: _place(pick, document, columns) for gpu, pick in document.best.items()}
    faults = [*_head_faults(path, document, columns)]
    _fill_late_fields(document.slug, columns)
    faults += _run_faults(path, document, columns, picks)
    if faults:
        raise DocumentErrors(faults)
    return Document(
        path=str(path),
        files=(File(path.name, hashlib.sha256(data).hexdigest()),),
        head=_head(document),
        head_places=HEAD_PLACES,
        models=(
            Model(
                slug=document.slug,
                name=document.name,
                model_id=document.model_id,
                params_b=document.params_b,
                active_params_b=document.active_params_b,
                architecture=document.architecture,
                runs=Runs(Run, columns),
                picks=cast(dict[str, int], picks),
            ),
        ),
    )


# --- Faults of rule: each field is well formed, and together they can't be stored -----------------------


def _head_faults(path: Path, document: ModelDocument, columns: Columns) -> Iterator[DocumentError]:
    for place, known in KNOWN.items():
        got = getattr(document, place.removeprefix("$."))
        if got != known:
            yield unlike(path, place, shown(known), got)
    yield from _blank_texts(path, document, columns)
    workload = document.source.workload
    task = _task(document.source)
    stem = Path(document.source.data_url).name.removesuffix(".json")
    if task is None:
        yield unlike(path, "$.source.workload", "a task's id in brackets at its end", workload)
    elif task != stem:
        yield unlike(path, "$.source.workload", f"the task that data_url names, ({stem}), at its end", workload)


def _run_faults(
    path: Path, document: ModelDocument, columns: Columns, picks: Mapping[str, int | None]
) -> Iterator[DocumentError]:
    measured = sorted(set(columns["gpu"]))
    if sorted(document.gpus) != measured:
        yield unlike(path, "$.gpus", f"the GPUs of the configurations, {shown(measured)}", document.gpus)

    settings = list(zip(*(columns[field] for field in (*Run.SETTING, "repeat")), strict=True))
    if len(set(settings)) < len(settings):
        first_place: dict[tuple[object, ...], int] = {}
        for place, setting in enumerate(settings):
            first = first_place.setdefault(setting, place)
            if first != place:
                yield DocumentError(
                    path,
                    f"$.configurations[{place}]",
                    f"expected another gpu, num_gpus, max_num_seqs or repeat than $.configurations[{first}],"
                    f" got {', '.join(map(str, setting))} again",
                )

    for gpu, pick in document.best.items():
        if gpu not in measured:
            yield unlike(path, f"$.best.{gpu}", f"one of the measured GPUs, {shown(measured)}", gpu)
        elif pick.gpu != gpu:
            yield unlike(path, f"$.best.{gpu}.gpu", shown(gpu), pick.gpu)
        elif picks[gpu] is None:
            yield unlike(path, f"$.best.{gpu}", "one of the configurations, field by field", pick.row_id)


def _blank_texts(path: Path, document: ModelDocument, columns: Columns) -> Iterator[DocumentError]:
    texts = _HEAD_TEXTS(document) + document.source.licence_evidence
    evidence = (f"source.licence_evidence[{place}]" for place in range(len(document.source.licence_evidence)))
    if not all(map(str.strip, texts)):
        yield from (
            unlike(path, f"$.{place}", NOT_BLANK, text)
            for place, text in zip((*_HEAD_TEXT_PLACES, *evidence), texts, strict=True)
            if not text.strip()
        )
    for field in ("gpu", "precision", "row_id"):
        given = [text for text in columns[field] if text is not None] if None in columns[field] else columns[field]
        if not all(map(str.strip, given)):
            yield from (
                unlike(path, f"$.configurations[{place}].{field}", NOT_BLANK, text)
                for place, text in enumerate(columns[field])
                if text is not None and not text.strip()
            )


_HEAD_TEXT_PLACES = (*required_texts(ModelDocument), *(f"source.{name}" for name in required_texts(Source)))
_HEAD_TEXTS = attrgetter(*_HEAD_TEXT_PLACES)


def _place(pick: Configuration, document: ModelDocument, columns: Columns) -> int | None:
    """Return the place of the run that a pick repeats, field by field."""
    for place, joules in enumerate(columns["joules_per_output_token"]):
        if joules == pick.joules_per_output_token and document.configurations[place] == pick:
            return place
    return None


# --- From the document's shape to the records' ----------------------------------------------------------


def _task(source: Source) -> str | None:
    match = re.search(r"\(([^()\s]+)\)$", source.workload)
    return match and match[1]


def _head(document: ModelDocument) -> Head:
    source = document.source
    return Head(
        format=FORMAT,
        task=cast(str, _task(source)),
        kind="text",
        document_version=document.version,
        updated=document.updated,
        data_version=document.data_version,
        unit=document.unit,
        itl_deadline_ms=document.itl_deadline_ms,
        configurations_note=source.configurations,
        caveat=document.caveat,
        boundary=document.boundary,
        origin="published",
        measurement_window="steady_state",
        basis="measured",
        is_complete=False,
        has_all_tasks=False,
        licence_evidence=source.licence_evidence,
        **{field: getattr(source, field) for field in SAME_NAME_IN_SOURCE},
    )


def _fill_late_fields(slug: str, columns: Columns) -> None:
    """Give each run that lacks them its row_id and its repeat, by their rule, in document order."""
    if None not in columns["row_id"] and None not in columns["repeat"]:
        return
    row_ids, repeats = list(columns["row_id"]), list(columns["repeat"])
    seen: dict[tuple[Any, ...], int] = {}
    for place, setting in enumerate(zip(*(columns[field] for field in Run.SETTING), strict=True)):
        seen[setting] = seen.get(setting, 0) + 1
        row_ids[place] = row_ids[place] or "/".join(map(str, (slug, *setting)))
        repeats[place] = repeats[place] or seen[setting]
    columns.update(row_id=row_ids, repeat=repeats)
