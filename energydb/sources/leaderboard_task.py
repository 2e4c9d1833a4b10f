"""Holds the files of one task of the leaderboard's data against each other, and keeps what is sound."""

import difflib
import glob
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import msgspec

from energydb.errors import DocumentError, DocumentErrors
from energydb.sources.leaderboard_files import (
    INDEX,
    MODELS,
    RUNS,
    SHAPES,
    TASKS,
    Index,
    IndexModel,
    ModelFile,
    Read,
    TaskFile,
    read_file,
)
from energydb.sources.parts import PartFault, UnknownField
from energydb.sources.records import Fault
from energydb.sources.strict_json import shown, unlike


class Task:
    """One task of a folder: its file and those of its models, held against each other, and what is wrong with them.

    `read` is the task's file, None where that can't be taken; `models` has what is sound, each run as the task's file
    has it and as the model's. `named` are the places of the files that belong to it.
    """

    def __init__(self, folder: Path, index: Read[Index], task: str) -> None:
        self.folder, self.index, self.task = folder, index, task
        self.named = {f"{TASKS}/{task}.json"}
        self.faults: list[Fault] = []
        self.read: Read[TaskFile[Any]] | None = None
        self.models: list[tuple[Read[ModelFile[Any]], list[tuple[Any, Any]]]] = []
        self.lost: set[int] = set()  # places of runs in the task's file that a fault spoils
        try:
            read = self._task_file()
        except DocumentErrors as error:
            self.faults += [Fault(error=one, task=task, runs=_one_run(one)) for one in error.errors]
        else:
            self._hold(read)
        if self.read is None:
            of_models = (folder / MODELS).glob(f"*__{glob.escape(task)}.json")
            self.named |= {f"{MODELS}/{file.name}" for file in of_models}

    def _hold(self, read: Read[TaskFile[Any]]) -> None:
        """Hold a task's file against the index, then its runs against the files of their models."""
        if faults := list(self._task_faults(read)):
            all_places = range(len(read.content.configurations) + len(read.lost))
            for fault in (*faults, *(part.error for part in read.lost.values())):
                self._spoil(fault, all_places)
            return
        self.read = read
        self._rows(read)
        for model_id, places in self._by_model(read).items():
            self._model(read, model_id, places)

    @property
    def unknown(self) -> tuple[UnknownField, ...]:
        """The fields that aren't known, each once: what a run says in both files, by the task's."""
        told: dict[str, UnknownField] = {}
        named = {unknown.field for unknown in self.read.unknown} if self.read else set()
        of_models = [unknown for model, _ in self.models for unknown in model.unknown if unknown.field not in named]
        for file, unknown in (
            *((f"{TASKS}/*.json", unknown) for unknown in (self.read.unknown if self.read else ())),
            *((f"{MODELS}/*.json", unknown) for unknown in of_models),
            *((INDEX, unknown) for unknown in self.index.unknown),
        ):
            place = f"{file}: {unknown.place}"
            before = told.get(place)
            objects = unknown.objects + (before.objects if before else 0)
            told[place] = msgspec.structs.replace(before or unknown, place=place, objects=objects)
        return tuple(told.values())

    # --- Faults: what is missing, or disagrees ---

    def _spoil(self, error: DocumentError, places: Sequence[int], model_id: str | None = None) -> None:
        """Note a fault, and the runs that it spoils."""
        before = len(self.lost)
        self.lost.update(places)
        self.faults.append(Fault(error=error, task=self.task, model_id=model_id, runs=len(self.lost) - before))

    def _task_file(self) -> Read[TaskFile[Any]]:
        path = self.folder / TASKS / f"{self.task}.json"
        if not path.exists():
            near = difflib.get_close_matches(
                self.task, [file.stem for file in (self.folder / TASKS).glob("*.json")], 1
            )
            remedy = f"; did you mean {near[0]}?" if near else ""
            raise DocumentErrors([DocumentError(path, "", f"expected as {INDEX} lists it, got none{remedy}")])
        return read_file(path, TASKS)

    def _task_faults(self, read: Read[TaskFile[Any]]) -> Iterator[DocumentError]:
        """Hold what a task's file says of itself against the index."""
        content = read.content
        lists = [name for name, tasks in self.index.content.architectures.items() if self.task in tasks]
        if len(lists) != 1:
            yield unlike(self.index.path, "$.architectures", "each task in one architecture's list", self.task)
        if not content.task_display_name.strip():
            yield unlike(read.path, "$.task_display_name", "text that isn't blank", content.task_display_name)
        if content.task != self.task:
            yield unlike(read.path, "$.task", f"{shown(self.task)}, as the file is named", content.task)
        if (read.kind == "text") != (lists != ["diffusion"]):
            yield unlike(read.path, f"$.{RUNS}", "runs of the kind that the index says", read.kind)
        if read.kind == "text" and content.architecture is not None:
            yield unlike(read.path, "$.architecture", "no such field in a text task", content.architecture)
        if read.kind != "text" and [content.architecture] != lists:
            yield unlike(
                read.path,
                "$.architecture",
                f"{shown(lists[0] if lists else None)} as in {INDEX}",
                content.architecture,
            )

    def _rows(self, read: Read[TaskFile[Any]]) -> None:
        """Note the runs of the task's file that are spoilt by themselves: at fault in form, or there already."""
        for place, part in read.lost.items():
            self._spoil(part.error, [cast(int, place)], self._model_id_of(part))
        seen: dict[Any, int] = {}
        for place, row in zip(read.places, read.content.configurations, strict=True):
            first = seen.setdefault(row, place)
            if first != place:
                problem = f"expected another run, got $.{RUNS}[{first}] again"
                self._spoil(DocumentError(read.path, f"$.{RUNS}[{place}]", problem), [place], row.model_id)

    def _model_id_of(self, part: PartFault) -> str | None:
        """Return which model a run is of that is at fault, by its id or else by its nickname; None if by neither."""
        said = part.came if isinstance(part.came, dict) else {}
        model_id, nickname = said.get("model_id"), said.get("nickname")
        if isinstance(model_id, str) and model_id:
            return model_id
        called = [known for known, model in self.index.content.models.items() if model.nickname == nickname]
        return called[0] if len(called) == 1 else None

    def _by_model(self, read: Read[TaskFile[Any]]) -> dict[str, list[int]]:
        """Return the places of each model's runs in the task's file, sound or not."""
        model_ids = {place: self._model_id_of(part) for place, part in read.lost.items()}
        model_ids |= {
            place: row.model_id for place, row in zip(read.places, read.content.configurations, strict=True)
        }
        by_model: dict[str, list[int]] = {}
        for place in sorted(cast(dict[int, str | None], model_ids)):
            if (model_id := model_ids[place]) is not None:
                by_model.setdefault(model_id, []).append(place)
        return by_model

    def _model(self, read: Read[TaskFile[Any]], model_id: str, places: list[int]) -> None:
        """Read a model's file, hold it against the task's and both against the index; keep what is sound."""
        name = model_file_name(model_id, self.task)
        self.named.add(f"{MODELS}/{name}")
        path = self.folder / MODELS / name
        try:
            if not path.exists():
                problem = f"expected as {TASKS}/{self.task}.json has its runs, got none"
                raise DocumentErrors([DocumentError(path, "", problem)])
            model = read_file(path, MODELS)
            faults = list(self._model_faults(read, model, model_id, places))
        except DocumentErrors as error:
            faults = list(error.errors)
        rows = {
            place: row
            for place, row in zip(read.places, read.content.configurations, strict=True)
            if row.model_id == model_id
        }
        for place, fault in self._row_faults(read, model_id, rows):
            self._spoil(fault, [place], model_id)
        for fault in faults:
            self._spoil(fault, places, model_id)
        if faults:
            return
        runs = dict(zip(model.places, model.content.configurations, strict=True))
        sound = []
        for number, place in enumerate(places):
            if of_run := self._run_fault(read, model, number, place, rows, runs):
                self._spoil(of_run, [place], model_id)
            elif place not in self.lost:
                sound.append((rows[place], runs[number]))
        if sound:
            self.models.append((model, sound))

    def _row_faults(
        self, read: Read[TaskFile[Any]], model_id: str, rows: Mapping[int, Any]
    ) -> Iterator[tuple[int, DocumentError]]:
        """Hold what the runs in a task's file say of their model against the index."""
        if indexed := self.index.content.models.get(model_id):
            for place, row in rows.items():
                yield from (
                    (place, fault) for fault in _unlike_index(read.path, f"$.{RUNS}[{place}]", row, indexed, ())
                )

    def _model_faults(
        self, read: Read[TaskFile[Any]], model: Read[ModelFile[Any]], model_id: str, places: list[int]
    ) -> Iterator[DocumentError]:
        content = model.content
        indexed = self.index.content.models.get(model_id)
        if indexed is None:
            unread = self.index.lost.get(model_id)
            yield (
                unread.error
                if unread
                else unlike(self.index.path, "$.models", f"the models of tasks/{read.path.name}", model_id)
            )
            return
        if content.task != self.task:
            yield unlike(model.path, "$.task", f"{shown(self.task)}, as the file is named", content.task)
        if content.model_id != model_id:
            yield unlike(model.path, "$.model_id", f"{shown(model_id)}, as the file is named", content.model_id)
        # Files of text models carry no nickname.
        unsaid = ("nickname",) if read.kind == "text" and content.nickname is None else ()
        yield from _unlike_index(model.path, "$", content, indexed, unsaid)
        got_runs = len(content.configurations) + len(model.lost)
        if got_runs != len(places):
            yield unlike(model.path, f"$.{RUNS}", f"{len(places)} runs as in tasks/{read.path.name}", got_runs)
        if read.kind == "text":
            yield from _length_faults(model)

    def _run_fault(
        self,
        read: Read[Any],
        model: Read[Any],
        number: int,
        place: int,
        rows: Mapping[int, Any],
        runs: Mapping[int, Any],
    ) -> DocumentError | None:
        """Hold a run in the model's file against that in the task's; None where nothing is wrong with the former."""
        if number in model.lost:
            return model.lost[number].error
        if place not in rows:
            return None
        row, run = rows[place], runs[number]
        shape = SHAPES[read.kind]
        pairs = [(field, run, field) for field in shape.measured]
        pairs += [(f"parallelization.{field}", run.parallelization, field) for field in shape.parallel]
        for said_as, of, field in pairs:
            if (got := getattr(of, field)) != (expected := getattr(row, field)):
                as_in = f"{shown(expected)} as in tasks/{read.path.name}: $.{RUNS}[{place}]"
                return unlike(model.path, f"$.{RUNS}[{number}].{said_as}", as_in, got)
        return _run_length_fault(model, number, run) if read.kind == "text" else None


def _unlike_index(
    path: Path, at: str, said: Any, indexed: IndexModel, unsaid: Sequence[str]
) -> Iterator[DocumentError]:
    """Hold what is said of a model against the index."""
    for field in indexed.__struct_fields__:
        expected, got = getattr(indexed, field), getattr(said, field, None)
        if field not in unsaid and got != expected:
            yield unlike(path, f"{at}.{field}", f"{shown(expected)} as in {INDEX}", got)


def _one_run(error: DocumentError) -> int | None:
    """Return how many runs a fault spoils, where that can be told by its place."""
    return 1 if error.place.startswith(f"$.{RUNS}[") else None


def _length_faults(model: Read[ModelFile[Any]]) -> Iterator[DocumentError]:
    """Hold the output lengths of a model against themselves, and against those of its runs: their sums."""
    whole = model.content.output_length_distribution
    place = "$.output_length_distribution"
    if whole is None:
        yield DocumentError(model.path, place, "expected a value, got no such field")
        return
    if len(whole.bins) != len(whole.counts) + 1 or any(low >= high for low, high in pairwise(whole.bins)):
        yield unlike(model.path, f"{place}.bins", f"{len(whole.counts) + 1} ascending edges", len(whole.bins))
    counts = [run.output_length_distribution.counts for run in model.content.configurations]
    if model.lost or any(len(of_run) != len(whole.counts) for of_run in counts):
        return  # there is no sum of them all
    sums = [sum(of_bin) for of_bin in zip(*counts, strict=True)]
    if list(whole.counts) != sums:
        yield unlike(model.path, f"{place}.counts", f"the sums over the runs, {shown(sums)}", whole.counts)


def _run_length_fault(model: Read[ModelFile[Any]], number: int, run: Any) -> DocumentError | None:
    """Hold the output lengths of a run against those of its model: the same bins."""
    whole, own = model.content.output_length_distribution, run.output_length_distribution
    place = "$.output_length_distribution"
    at = f"$.{RUNS}[{number}].output_length_distribution"
    if own.bins != whole.bins:
        return unlike(model.path, f"{at}.bins", f"the same as in {place}", own.bins)
    if len(own.counts) != len(whole.counts):
        return unlike(model.path, f"{at}.counts", f"{len(whole.counts)} counts as in {place}", len(own.counts))
    return None


def model_file_name(model_id: str, task: str) -> str:
    """Return the name of the file that holds a model's runs on a task."""
    return f"{model_id.replace('/', '__')}__{task}.json"
