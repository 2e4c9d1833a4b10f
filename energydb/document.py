"""Reads model documents: JSON, one model a file, read strictly: nothing is guessed and nothing lost."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import msgspec

from energydb.document_form import SAME_NAME_IN_SOURCE, ModelDocument, Source
from energydb.errors import DocumentError, DocumentErrors
from energydb.records import Document, File, Head, Model, Run
from energydb.strict_json import decode, read_bytes, shown, unlike

FORMAT = "model_document"

# The one document version, unit and boundary that energydb knows how to store and compare.
KNOWN = {
    "$.version": "1",
    "$.unit": "Wh per million output tokens",
    "$.boundary": "gpu_only",
}

_DECODER = msgspec.json.Decoder(ModelDocument)
# Where a field of the head stands in a document, to name it when two documents disagree.
HEAD_PLACES: Mapping[str, str] = {
    **{field: f"$.{field}" for field in ("updated", "unit", "itl_deadline_ms", "caveat", "boundary")},
    **{field: f"$.source.{field}" for field in (*SAME_NAME_IN_SOURCE, "licence_evidence")},
    "document_version": "$.version",
    "configurations_note": "$.source.configurations",
}


def read_document(path: Path) -> Document:
    """Read one model document; its runs in document order.

    Raises:
        DocumentErrors: the first fault of form, or every fault of rule.
        MachineError: the file can't be read.
    """
    data = read_bytes(path)
    document = decode(path, data, _DECODER)
    runs = tuple(_with_late_fields(document))
    faults = [*_head_faults(path, document), *_run_faults(path, document, runs)]
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
                runs=runs,
                picks={gpu: document.configurations.index(run) for gpu, run in document.best.items()},
            ),
        ),
    )


# --- Faults of rule: each field is well formed, and together they can't be stored -----------------------


def _head_faults(path: Path, document: ModelDocument) -> Iterator[DocumentError]:
    for place, known in KNOWN.items():
        got = getattr(document, place.removeprefix("$."))
        if got != known:
            yield unlike(path, place, shown(known), got)
    for place, text in _texts(document):
        if not text.strip():
            yield unlike(path, place, "text that isn't blank", text)
    workload = document.source.workload
    task = _task(document.source)
    stem = Path(document.source.data_url).name.removesuffix(".json")
    if task is None:
        yield unlike(path, "$.source.workload", "a task's id in brackets at its end", workload)
    elif task != stem:
        yield unlike(
            path,
            "$.source.workload",
            f"the task that data_url names, ({stem}), at its end",
            workload,
        )


def _run_faults(path: Path, document: ModelDocument, runs: tuple[Run, ...]) -> Iterator[DocumentError]:
    measured = sorted({run.gpu for run in runs})
    if sorted(document.gpus) != measured:
        yield unlike(
            path,
            "$.gpus",
            f"the GPUs of the configurations, {shown(measured)}",
            document.gpus,
        )

    first_place: dict[tuple[object, ...], int] = {}
    for place, run in enumerate(runs):
        first = first_place.setdefault((run.gpu, run.num_gpus, run.max_num_seqs, run.repeat), place)
        if first != place:
            yield DocumentError(
                path,
                f"$.configurations[{place}]",
                f"expected another gpu, num_gpus, max_num_seqs or repeat than $.configurations[{first}],"
                f" got {run.gpu}, {run.num_gpus}, {run.max_num_seqs}, {run.repeat} again",
            )

    for gpu, pick in document.best.items():
        if gpu not in measured:
            yield unlike(
                path,
                f"$.best.{gpu}",
                f"one of the measured GPUs, {shown(measured)}",
                gpu,
            )
        elif pick.gpu != gpu:
            yield unlike(path, f"$.best.{gpu}.gpu", shown(gpu), pick.gpu)
        elif pick not in document.configurations:
            yield unlike(
                path,
                f"$.best.{gpu}",
                "one of the configurations, field by field",
                pick.row_id,
            )


def _texts(document: ModelDocument) -> Iterator[tuple[str, str]]:
    for field in ModelDocument.__struct_fields__:
        if isinstance(text := getattr(document, field), str):
            yield f"$.{field}", text
    for field in Source.__struct_fields__:
        if isinstance(text := getattr(document.source, field), str):
            yield f"$.source.{field}", text
    for place, text in enumerate(document.source.licence_evidence):
        yield f"$.source.licence_evidence[{place}]", text
    for place, run in enumerate(document.configurations):
        for field in ("gpu", "precision", "row_id"):
            if (text := getattr(run, field)) is not None:
                yield f"$.configurations[{place}].{field}", text


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
        licence_evidence=source.licence_evidence,
        **{field: getattr(source, field) for field in SAME_NAME_IN_SOURCE},
    )


def _with_late_fields(document: ModelDocument) -> Iterator[Run]:
    """Give each run that lacks them its row_id and its repeat, by their rule, in document order."""
    seen: dict[tuple[str, int, int], int] = {}
    for run in document.configurations:
        setting = (run.gpu, run.num_gpus, run.max_num_seqs)
        seen[setting] = seen.get(setting, 0) + 1
        if run.row_id is None or run.repeat is None:
            run = msgspec.structs.replace(
                run,
                row_id=run.row_id or "/".join(map(str, (document.slug, *setting))),
                repeat=run.repeat or seen[setting],
            )
        yield run
