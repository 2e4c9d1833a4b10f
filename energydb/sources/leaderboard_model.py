"""Holds a model's file of the leaderboard's data against the task's: which run is which, and what is at fault."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from energydb.errors import DocumentError
from energydb.sources.leaderboard_files import INDEX, TASKS, Read
from energydb.sources.leaderboard_form import RUNS, SHAPES, Index, IndexModel, ModelFile
from energydb.sources.strict_json import shown, unlike


def paired(
    read: Read[Any], model: Read[Any], places: Sequence[int], rows: Mapping[int, Any], runs: Mapping[int, Any]
) -> tuple[dict[int, int], list[int]]:
    """Return of each place in the task's file the number in the model's, and the numbers that stay alone.

    Equal runs belong together, then those that are left, as they come; where more are left in one file than in the
    other they all stay alone. `rows` and `runs` are those that are sound.
    """
    shape = SHAPES[read.kind]
    waiting: dict[tuple[object, ...], list[int]] = {}
    for number in sorted(runs, reverse=True):
        split = figures(runs[number].parallelization, shape.parallel)
        waiting.setdefault((*figures(runs[number], shape.measured), *split), []).append(number)
    numbers: dict[int, int] = {}
    for place, row in rows.items():
        if same := waiting.get(figures(row, (*shape.measured, *shape.parallel))):
            numbers[place] = same.pop()
    taken = set(numbers.values())
    alone = [place for place in places if place not in numbers]
    left = [number for number in range(len(runs) + len(model.lost)) if number not in taken]
    if len(alone) == len(left):
        return numbers | dict(zip(alone, left, strict=True)), []
    return numbers, left


def figures(of: Any, fields: Sequence[str]) -> tuple[object, ...]:
    """Return what a run says in some fields."""
    return tuple(getattr(of, field) for field in fields)


def faults_of_model(
    index: Read[Index], task: str, model: Read[ModelFile[Any]], model_id: str
) -> Iterator[DocumentError]:
    """Hold what a model's file says of the model against the index, and its output lengths against each other."""
    content = model.content
    indexed = index.content.models.get(model_id)
    if indexed is None:
        unread = index.lost.get(model_id)
        yield (
            unread.error if unread else unlike(index.path, "$.models", f"the models of {TASKS}/{task}.json", model_id)
        )
        return
    if content.task != task:
        yield unlike(model.path, "$.task", f"{shown(task)}, as the file is named", content.task)
    if content.model_id != model_id:
        yield unlike(model.path, "$.model_id", f"{shown(model_id)}, as the file is named", content.model_id)
    # Files of text models carry no nickname.
    unsaid = ("nickname",) if model.kind == "text" and content.nickname is None else ()
    yield from unlike_index(model.path, "$", content, indexed, unsaid)
    if model.kind == "text":
        yield from _length_faults(model)


def fault_of_run(
    read: Read[Any], model: Read[Any], number: int, place: int, rows: Mapping[int, Any], runs: Mapping[int, Any]
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


def unlike_index(
    path: Path, at: str, said: Any, indexed: IndexModel, unsaid: Sequence[str]
) -> Iterator[DocumentError]:
    """Hold what is said of a model against the index; an architecture needn't be said in all places."""
    for field in indexed.__struct_fields__:
        expected, got = getattr(indexed, field), getattr(said, field)
        if field == "architecture" and None in (expected, got):
            continue
        if field not in unsaid and got != expected:
            yield unlike(path, f"{at}.{field}", f"{shown(expected)} as in {INDEX}", got)


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
