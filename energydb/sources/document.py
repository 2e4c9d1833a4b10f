"""Reads model documents: JSON, one model a file, read strictly: nothing is guessed and nothing lost."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import msgspec

from energydb.errors import DocumentError, DocumentErrors
from energydb.files import is_folder, read_bytes
from energydb.names import gpu_name, is_blank, precision_name
from energydb.sources.document_form import SAME_NAME_IN_SOURCE, Configuration, ModelDocument, Source
from energydb.sources.leaderboard_files import what_file
from energydb.sources.parts import Parts, sound_parts
from energydb.sources.records import Document, Fault, File, Head, Model, Reading, Run, Runs, columns_of
from energydb.sources.strict_json import (
    colons,
    colons_of_columns,
    decode_form,
    parse,
    refuse_hidden,
    required_texts,
    shown,
    unlike,
)

FORMAT = "model_document"

# The one document version, unit and boundary that energydb knows how to store and compare.
KNOWN = {"$.version": "1", "$.unit": "Wh per million output tokens", "$.boundary": "gpu_only"}

RUNS = "configurations"
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
    return not is_folder(path)


def read_document(path: Path) -> Reading:
    """Read one model document; its runs in document order. A fault spoils a run, a pick, or all of it.

    Raises:
        DocumentErrors: a fault of form that spoils all of it; it is no model document.
        MachineError: the file can't be read.
    """
    data = read_bytes(path)
    try:
        document = decode_form(path, data, _DECODER)
        columns = columns_of(document.configurations)
        of_head = msgspec.structs.replace(document, configurations=())
        refuse_hidden(path, data, colons(of_head) + colons_of_columns(Configuration, columns))
        parts = Parts(document)
    except DocumentErrors as error:
        _refuse_another_kind(path, data)
        parts = sound_parts(path, data, _DECODER, error)
        document, columns = parts.value, columns_of(parts.value.configurations)
    places = parts.places.get(RUNS, range(len(document.configurations)))
    _name(document.slug, columns)
    of_all = [*_head_faults(path, document)]
    of_runs = [(part.part[1], part.error) for part in parts.faults if part.part[0] == RUNS]
    runs_before = len(places) + len(of_runs)
    if not of_runs:
        of_all += _gpu_faults(path, document, columns)
    of_runs += [(places[number], error) for number, error in _run_faults(path, columns, places)]
    picks, of_picks = _picks(path, document, columns, are_all_there=not of_runs)
    of_picks += [part.error for part in parts.faults if part.part[0] != RUNS]
    task = _task(document.source)
    spoilt = {place for place, _ in of_runs}
    sound = [number for number, place in enumerate(places) if place not in spoilt]
    if of_all or not sound:
        errors = [*of_all, *(error for _, error in of_runs), *of_picks]
        runs = [runs_before, *[0] * len(errors)]
        return Reading((), tuple(_fault(*one, document, task) for one in zip(errors, runs, strict=False)))
    counted: set[int | str] = set()
    faults = []
    for place, fault in of_runs:
        faults.append(_fault(fault, place not in counted, document, task))
        counted.add(place)
    faults += [_fault(fault, 0, document, task) for fault in of_picks]
    if len(sound) < len(places):
        columns = {field: [values[number] for number in sound] for field, values in columns.items()}
    model = Model(
        slug=document.slug,
        name=document.name,
        model_id=document.model_id,
        params_b=document.params_b,
        active_params_b=document.active_params_b,
        architecture=document.architecture,
        runs=Runs(Run, columns),
        picks={gpu: sound.index(number) for gpu, number in picks.items() if number in sound},
    )
    read = Document(
        path=str(path),
        files=(File(path.name, hashlib.sha256(data).hexdigest()),),
        head=_head(document),
        head_places=HEAD_PLACES,
        models=(model,),
        faults=tuple(faults),
        unknown=parts.unknown,
    )
    return Reading((read,))


def _fault(error: DocumentError, runs: int, document: ModelDocument, task: str | None) -> Fault:
    return Fault(error=error, task=task, model_id=document.model_id, runs=int(runs))


def _refuse_another_kind(path: Path, data: bytes) -> None:
    """Refuse JSON that is no model document at all by what it is, not by the first field that it lacks.

    Raises:
        DocumentErrors: it has few of a document's fields.
    """
    try:
        content = parse(data.removeprefix(b"\xef\xbb\xbf"))
    except (RecursionError, ValueError):
        return  # told with its place by who decodes it
    known = set(ModelDocument.__struct_fields__)
    if isinstance(content, dict) and len(known & content.keys()) >= len(known) / 2:
        return
    if not isinstance(content, dict):
        problem = f"expected a model document, got {shown(content)}"
    elif of_leaderboard := what_file(content):
        problem = (
            f"expected a model document, got {of_leaderboard} of the leaderboard: load the folder that holds its"
        )
        problem += " index.json"
    else:
        kind = "a result of vllm bench serve" if content.keys() >= _VLLM else "another kind of JSON"
        keys = ", ".join(shown(key)[1:-1] for key in list(content)[:4])
        problem = f"expected a model document, got {kind}" + (
            f", which begins with {keys}" if keys else ", an empty object"
        )
    raise DocumentErrors([DocumentError(path, "$", problem)])


_VLLM = {"backend", "output_throughput"}


# --- Faults of rule: each field is well formed, and together they can't be stored -----------------------


def _head_faults(path: Path, document: ModelDocument) -> Iterator[DocumentError]:
    for place, known in KNOWN.items():
        got = getattr(document, place.removeprefix("$."))
        if got != known:
            yield unlike(path, place, shown(known), got)
    texts = _HEAD_TEXTS(document) + document.source.licence_evidence
    evidence = (f"source.licence_evidence[{place}]" for place in range(len(document.source.licence_evidence)))
    if any(map(is_blank, texts)):
        yield from (
            unlike(path, f"$.{place}", NOT_BLANK, text)
            for place, text in zip((*_HEAD_TEXT_PLACES, *evidence), texts, strict=True)
            if is_blank(text)
        )
    workload = document.source.workload
    task = _task(document.source)
    stem = Path(document.source.data_url).name.removesuffix(".json")
    if task is None:
        yield unlike(path, "$.source.workload", "a task's id in brackets at its end", workload)
    elif task != stem:
        yield unlike(path, "$.source.workload", f"the task that data_url names, ({stem}), at its end", workload)


_HEAD_TEXT_PLACES = (*required_texts(ModelDocument), *(f"source.{name}" for name in required_texts(Source)))
_HEAD_TEXTS = attrgetter(*_HEAD_TEXT_PLACES)


def _gpu_faults(path: Path, document: ModelDocument, columns: Columns) -> Iterator[DocumentError]:
    measured = sorted(set(_as_published(columns)))
    if sorted(document.gpus) != measured:
        yield unlike(path, "$.gpus", f"the GPUs of the configurations, {shown(measured)}", document.gpus)


def _as_published(columns: Columns, field: str = "gpu") -> Sequence[str]:
    """Return the GPUs, or the weight formats, of the runs in the document's own words."""
    return [said or name for said, name in zip(columns[f"{field}_as_published"], columns[field], strict=True)]


def _run_faults(path: Path, columns: Columns, places: Sequence[int]) -> Iterator[tuple[int, DocumentError]]:
    """Find the runs that are spoilt, each by its number among those that are left, which stood at `places`."""
    for field in ("gpu", "precision", "row_id"):
        if not all(map(str.strip, columns[field])):
            yield from (
                (number, unlike(path, f"$.{RUNS}[{places[number]}].{field}", NOT_BLANK, text))
                for number, text in enumerate(columns[field] if field == "row_id" else _as_published(columns, field))
                if not text.strip()
            )
    settings = list(zip(*(columns[field] for field in (*Run.SETTING, "repeat")), strict=True))
    if len(set(settings)) < len(settings):
        seen: dict[tuple[object, ...], int] = {}
        for number, setting in enumerate(settings):
            first = seen.setdefault(setting, number)
            if first != number:
                expected = f"expected another gpu, num_gpus, max_num_seqs or repeat than $.{RUNS}[{places[first]}],"
                problem = f"{expected} got {', '.join(map(str, setting))} again"
                yield number, DocumentError(path, f"$.{RUNS}[{places[number]}]", problem)


def _picks(
    path: Path, document: ModelDocument, columns: Columns, *, are_all_there: bool
) -> tuple[dict[str, int], list[DocumentError]]:
    """Return which run a document calls best for each GPU, and what is wrong with that.

    Where runs are at fault, a pick that isn't there may be one of them, and is no fault of its own.
    """
    picks: dict[str, int] = {}
    faults = []
    measured = sorted(set(_as_published(columns)))
    joules = columns["joules_per_output_token"]
    for gpu, pick in document.best.items():
        place = _place(pick, document, joules)
        if gpu not in measured:
            if are_all_there:
                faults.append(unlike(path, f"$.best.{gpu}", f"one of the measured GPUs, {shown(measured)}", gpu))
        elif pick.gpu != gpu:
            faults.append(unlike(path, f"$.best.{gpu}.gpu", shown(gpu), pick.gpu))
        elif place is None:
            if are_all_there:
                faults.append(unlike(path, f"$.best.{gpu}", "one of the configurations, field by field", pick.row_id))
        else:
            best = picks.setdefault(columns["gpu"][place], place)  # the same GPU under two names has the better one
            picks[columns["gpu"][place]] = min(best, place, key=joules.__getitem__)
    return picks, faults


def _place(pick: Configuration, document: ModelDocument, joules: Sequence[float]) -> int | None:
    """Return the place of the run that a pick repeats, field by field."""
    for place, of_run in enumerate(joules):
        if of_run == pick.joules_per_output_token and document.configurations[place] == pick:
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


def _name(slug: str, columns: Columns) -> None:
    """Name GPUs and weight formats as energydb does; give each run that lacks them its row_id and its repeat.

    They follow from their rules: a row_id has the GPU in the document's own words, repeats are counted over one GPU.
    """
    published = {field: columns[field] for field in ("gpu", "precision")}
    for field, name in (("gpu", gpu_name), ("precision", precision_name)):
        names = {said: name(said) for said in set(published[field])}
        columns[field] = [names[said] for said in published[field]]
        columns[f"{field}_as_published"] = [None if names[said] == said else said for said in published[field]]
    if None in columns["pipeline_parallel"]:
        columns["pipeline_parallel"] = [degree or 1 for degree in columns["pipeline_parallel"]]
    if None not in columns["row_id"] and None not in columns["repeat"]:
        return
    row_ids, repeats = list(columns["row_id"]), list(columns["repeat"])
    seen: dict[tuple[Any, ...], int] = {}
    for place, setting in enumerate(zip(*(columns[field] for field in Run.SETTING), strict=True)):
        seen[setting] = seen.get(setting, 0) + 1
        named = (slug, published["gpu"][place], *("none" if part is None else part for part in setting[1:]))
        row_ids[place] = row_ids[place] or "/".join(map(str, named))
        repeats[place] = repeats[place] or seen[setting]
    columns.update(row_id=row_ids, repeat=repeats)
