"""Holds the files of one task of the leaderboard's data against each other, and keeps what is sound."""

import difflib
import glob
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from energydb.errors import DocumentError, DocumentErrors, plain
from energydb.files import is_there
from energydb.names import NAMED, is_blank
from energydb.sources.leaderboard_files import INDEX, MODELS, TASKS, OtherKind, Read, read_model_file, read_task_file
from energydb.sources.leaderboard_form import GROUPS, RUNS, SHAPES, Index, ModelFile, TaskFile
from energydb.sources.leaderboard_model import fault_of_run, faults_of_model, figures, paired, unlike_index
from energydb.sources.parts import PartFault, UnknownField
from energydb.sources.records import Fault
from energydb.sources.strict_json import shown, unlike


class Task:
    """One task of a folder: its file and those of its models, held against each other, and what is wrong with them.

    `read` is the task's file, None where that can't be taken, or where the task is of a kind that no table holds, as
    `other_kind` then says; `models` has what is sound, each run as the task's file has it and as the model's. `named`
    are the places of the files that belong to it.
    """

    def __init__(self, folder: Path, index: Read[Index], task: str) -> None:
        self.folder, self.index, self.task = folder, index, task
        self.named = {f"{TASKS}/{task}.json"}
        self.faults: list[Fault] = []
        self.read: Read[TaskFile[Any]] | None = None
        self.models: list[tuple[Read[ModelFile[Any]], list[tuple[Any, Any]]]] = []
        self.lost: set[int] = set()  # places of runs in the task's file that a fault spoils
        self.model_ids: set[str] = set()  # of all of its runs that say one
        self.other_kind: OtherKind | None = None
        self.lists = [name for name, tasks in index.content.architectures.items() if task in tasks]
        try:
            read = self._task_file()
            if isinstance(read, OtherKind):
                self.other_kind = read
            else:
                self._hold(read)
        except DocumentErrors as error:
            self.faults += [Fault(error=one, task=task, runs=_one_run(one)) for one in error.errors]
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
        by_model = self._by_model(read)
        self.model_ids.update(by_model)
        for model_id, places in by_model.items():
            self._model(read, model_id, places)

    @property
    def unknown(self) -> tuple[UnknownField, ...]:
        """The fields that aren't known, each once: what a run says in both files, by the task's."""
        told: dict[str, UnknownField] = {}
        named = {unknown.field for unknown in self.read.unknown if _is_of_a_run(unknown)} if self.read else set()
        of_models = [
            unknown
            for model, _ in self.models
            for unknown in model.unknown
            if not (_is_of_a_run(unknown) and unknown.field in named)
        ]
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

    def _task_file(self) -> Read[TaskFile[Any]] | OtherKind:
        path = self.folder / TASKS / f"{self.task}.json"
        if not is_there(path):
            near = difflib.get_close_matches(
                self.task, [file.stem for file in (self.folder / TASKS).glob("*.json")], 1
            )
            remedy = f"; did you mean {near[0]}?" if near else ""
            raise DocumentErrors([DocumentError(path, "", f"expected as {INDEX} lists it, got none{remedy}")])
        return read_task_file(path, self.lists[0] if len(self.lists) == 1 else None)

    def _task_faults(self, read: Read[TaskFile[Any]]) -> Iterator[DocumentError]:
        """Hold what a task's file says of itself against the index."""
        content = read.content
        if self.task not in self.index.content.tasks:
            problem = f"expected {shown(self.task)} too, as in $.architectures, got none"
            yield DocumentError(self.index.path, "$.tasks", problem)
        if len(self.lists) != 1:
            yield unlike(self.index.path, "$.architectures", "each task in one architecture's list", self.task)
        if is_blank(content.task_display_name):
            yield unlike(read.path, "$.task_display_name", "text that isn't blank", content.task_display_name)
        if content.task != self.task:
            yield unlike(read.path, "$.task", f"{shown(self.task)}, as the file is named", content.task)
        if any(read.kind not in GROUPS.get(name, SHAPES) for name in self.lists[:1]):
            yield unlike(read.path, f"$.{RUNS}", "runs of the kind that the index says", read.kind)
        if content.architecture is not None and content.architecture not in self.lists:
            as_in = f"{shown(self.lists[0] if self.lists else None)} as in {INDEX}"
            yield unlike(read.path, "$.architecture", as_in, content.architecture)

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
        if isinstance(model_id, str) and re.search(NAMED, model_id) and plain(model_id) == model_id:
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
            if not is_there(path):
                problem = f"expected as {TASKS}/{self.task}.json has its runs, got none"
                raise DocumentErrors([DocumentError(path, "", problem)])
            model = read_model_file(path, read.kind)
            faults = list(faults_of_model(self.index, self.task, model, model_id))
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
        numbers, alone = paired(read, model, places, rows, runs)
        for left in alone:
            self._alone(read, model, model_id, left, runs.get(left))
        sound = []
        for place in places:
            if (number := numbers.get(place)) is None:
                if place not in self.lost:
                    problem = f"expected the run of tasks/{read.path.name}: $.{RUNS}[{place}] too, got none such"
                    self._spoil(DocumentError(model.path, f"$.{RUNS}", problem), [place], model_id)
            elif of_run := fault_of_run(read, model, number, place, rows, runs):
                self._spoil(of_run, [place], model_id)
            elif place not in self.lost:
                sound.append((rows[place], runs[number]))
        if sound:
            self.models.append((model, sound))

    def _alone(self, read: Read[Any], model: Read[Any], model_id: str, number: int, run: Any) -> None:
        """Note a run in the model's file that no sound row of the model has."""
        if run is None:
            self.faults.append(Fault(error=model.lost[number].error, task=self.task, model_id=model_id, runs=0))
            return
        measured = SHAPES[read.kind].measured
        own = figures(run, measured)
        for part in read.lost.values():
            of_row = part.came if isinstance(part.came, dict) else {}
            if self._model_id_of(part) is None and [of_row.get(field) for field in measured] == [*own]:
                at = next(place for place, fault in enumerate(self.faults) if fault.error is part.error)
                self.faults[at] = msgspec.structs.replace(self.faults[at], model_id=model_id)
                return
        others = [row.model_id for row in read.content.configurations if figures(row, measured) == own]
        expected = f"expected a run that tasks/{read.path.name} has of this model"
        problem = (
            f"{expected}, got one that it has of {others[0]}" if others else f"{expected} too, got one that it hasn't"
        )
        error = DocumentError(model.path, f"$.{RUNS}[{number}]", problem)
        self.faults.append(Fault(error=error, task=self.task, model_id=model_id, runs=0 if others else 1))

    def _row_faults(
        self, read: Read[TaskFile[Any]], model_id: str, rows: Mapping[int, Any]
    ) -> Iterator[tuple[int, DocumentError]]:
        """Hold what the runs in a task's file say of their model against the index."""
        if indexed := self.index.content.models.get(model_id):
            for place, row in rows.items():
                yield from (
                    (place, fault) for fault in unlike_index(read.path, f"$.{RUNS}[{place}]", row, indexed, ())
                )


def _is_of_a_run(unknown: UnknownField) -> bool:
    return unknown.place.startswith(f"$.{RUNS}[*]")


def _one_run(error: DocumentError) -> int | None:
    """Return how many runs a fault spoils, where that can be told by its place."""
    return 1 if error.place.startswith(f"$.{RUNS}[") else None


def model_file_name(model_id: str, task: str) -> str:
    """Return the name of the file that holds a model's runs on a task."""
    return f"{model_id.replace('/', '__')}__{task}.json"
