"""What a fault in the leaderboard's public data spoils: a run, a model, a task or all; and how it is told."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from energydb.errors import DocumentErrors
from energydb.load import check
from energydb.sources.leaderboard import read_leaderboard
from energydb.sources.records import Fault
from tests.leaderboards import change, change_run, image_row, small_tasks, text_row, write_leaderboard

CHAT = "tasks/lm-arena-chat.json"
SMALL = "models/org__Small-1B__lm-arena-chat.json"
MIX = "models/org__Mix-8B__lm-arena-chat.json"
PAINT = "models/org__Paint-Σ__text-to-image.json"
RUNS = "$.configurations"
SMALL_RUNS = [0.5123456789, 0.55, 0.4, 0.41]  # their J per token, in order: the second to fifth run of the task


@pytest.fixture
def folder(tmp_path):
    return write_leaderboard(tmp_path / "data")


def faults_of(folder: Path) -> tuple[Fault, ...]:
    reading = read_leaderboard(folder)
    return (*(fault for document in reading.documents for fault in document.faults), *reading.faults)


def lost(folder: Path) -> list[tuple[str, str | None, str | None, int | None]]:
    """Return each fault in words, without the folder's name, and what it spoils: task, model and runs."""
    faults = faults_of(folder)
    assert all(str(fault.error).startswith(f"{folder}/") for fault in faults)
    return [(str(fault.error).removeprefix(f"{folder}/"), fault.task, fault.model_id, fault.runs) for fault in faults]


def left(folder: Path) -> dict[str, dict[str, int]]:
    """Return how many runs of which model there are, by task."""
    return {
        document.head.task: {model.model_id: len(model.runs) for model in document.models}
        for document in read_leaderboard(folder).documents
    }


def complete(folder: Path) -> dict[str, bool]:
    return {document.head.task: document.head.is_complete for document in read_leaderboard(folder).documents}


WHOLE = {
    "lm-arena-chat": {"org/Mix-8B": 1, "org/Small-1B": 4},
    "gpqa": {"org/Small-1B": 1},
    "text-to-image": {"org/Paint-Σ": 3},
    "text-to-video": {"org/Film": 3},
}
WITHOUT_SMALL = WHOLE | {"lm-arena-chat": {"org/Mix-8B": 1}}
WITH_3_OF_SMALL = WHOLE | {"lm-arena-chat": {"org/Mix-8B": 1, "org/Small-1B": 3}}
OF_SMALL = ("lm-arena-chat", "org/Small-1B")


def test_nothing_is_lost_of_what_is_sound(folder):
    assert (lost(folder), left(folder)) == ([], WHOLE)
    assert set(complete(folder).values()) == {True}


# --- A run ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "place", "values", "said", "gone"),
    [
        (CHAT, 2, {"median_itl_ms": "20"}, 'median_itl_ms: expected a number, got "20"', 1),
        (CHAT, 1, {"p99_itl_ms": ...}, "p99_itl_ms: expected a value, got no such field", 0),
        (CHAT, 4, {"num_gpus": 4.5}, "num_gpus: expected a whole number, got 4.5", 3),
        (SMALL, 3, {"avg_power_watts": -1}, "avg_power_watts: expected a number > 0, got -1", 3),
        (
            SMALL,
            0,
            {"parallelization": {}},
            "parallelization.tensor_parallel: expected a value, got no such field",
            0,
        ),
        (CHAT, 1, {"nickname": "Small 1.5B"}, 'nickname: expected "Small 1B" as in index.json, got "Small 1.5B"', 0),
        (
            CHAT,
            3,
            {"weight_precision": "int3"},
            'weight_precision: expected "bfloat16" as in index.json, got "int3"',
            2,
        ),
        (
            SMALL,
            1,
            {"median_itl_ms": 20.2},
            f"median_itl_ms: expected 20.123456 as in {CHAT}: {RUNS}[2], got 20.2",
            1,
        ),
        (
            SMALL,
            1,
            {"parallelization": {"tensor_parallel": 2, "data_parallel": 1, "expert_parallel": 1, "notes": ""}},
            f"parallelization.tensor_parallel: expected 1 as in {CHAT}: {RUNS}[2], got 2",
            1,
        ),
        (
            SMALL,
            1,
            {"output_length_distribution": {"bins": [1.0, 50.5, 100.5, 300.0], "counts": [2, 5, 4]}},
            "output_length_distribution.bins: expected the same as in $.output_length_distribution,"
            " got [1.0, 50.5, 100.5, 300.0]",
            1,
        ),
        (
            SMALL,
            1,
            {"output_length_distribution": {"bins": [1.0, 50.5, 100.5, 200.0], "counts": [2, 5]}},
            "output_length_distribution.counts: expected 3 counts as in $.output_length_distribution, got 2",
            1,
        ),
    ],
    ids=str,
)
def test_a_fault_of_one_run_loses_that_run(folder, path, place, values, said, gone):
    """In either of its two files; all other runs are as they were, with their own output lengths."""
    before = {document.head.task: document for document in read_leaderboard(folder).documents}
    change_run(folder / path, place, **values)

    assert lost(folder) == [(f"{path}: {RUNS}[{place}].{said}", *OF_SMALL, 1)]
    assert left(folder) == WITH_3_OF_SMALL
    after = {document.head.task: document for document in read_leaderboard(folder).documents}
    model = {model.model_id: model for model in after["lm-arena-chat"].models}["org/Small-1B"]
    places = [number for number in range(4) if number != gone]
    assert [run.joules_per_output_token for run in model.runs] == [SMALL_RUNS[number] for number in places]
    assert [lengths.counts for lengths in model.output_lengths] == [(number + 1, 5, 4) for number in places]
    assert {task: after[task] for task in after if task != "lm-arena-chat"} == {
        task: before[task] for task in before if task != "lm-arena-chat"
    }
    assert complete(folder) == {task: task != "lm-arena-chat" for task in WHOLE}
    assert {document.head.has_all_tasks for document in after.values()} == {True}


def test_a_run_that_is_at_fault_in_both_of_its_files_is_lost_once(folder):
    """Both faults are told, as both are to be mended."""
    change_run(folder / CHAT, 2, median_itl_ms="20")
    change_run(folder / SMALL, 1, median_itl_ms="20")

    assert lost(folder) == [
        (f'{CHAT}: {RUNS}[2].median_itl_ms: expected a number, got "20"', *OF_SMALL, 1),
        (f'{SMALL}: {RUNS}[1].median_itl_ms: expected a number, got "20"', *OF_SMALL, 0),
    ]
    assert left(folder) == WITH_3_OF_SMALL


def test_a_run_that_doesnt_say_its_model_is_told_by_the_nickname(folder):
    """And loses that model no more than itself; one that says neither by its figures."""
    change_run(folder / CHAT, 3, model_id=...)
    told = (f"{CHAT}: {RUNS}[3].model_id: expected a value, got no such field", *OF_SMALL, 1)

    assert lost(folder) == [told]
    assert left(folder) == WITH_3_OF_SMALL
    change_run(folder / CHAT, 3, nickname="Nobody 1B")
    assert (lost(folder), left(folder)) == ([told], WITH_3_OF_SMALL)
    change_run(folder / CHAT, 3, energy_per_token_joules=9.0)
    alone = f"{SMALL}: {RUNS}[2]: expected a run that {CHAT} has of this model too, got one that it hasn't"
    assert lost(folder) == [(told[0], "lm-arena-chat", None, 1), (alone, *OF_SMALL, 1)]
    assert left(folder) == WITH_3_OF_SMALL


def test_a_run_under_another_models_id_loses_itself_alone(folder):
    """Of both models it is said, and counted once."""
    change_run(folder / CHAT, 3, model_id="org/Mix-8B")
    expected = f"expected a run that {CHAT} has of this model, got one that it has of org/Mix-8B"

    first, *more = lost(folder)
    said = f"{CHAT}: {RUNS}[3].total_params_billions: expected 8.0 as in index.json, got 1.0"
    assert first == (said, "lm-arena-chat", "org/Mix-8B", 1)
    assert {(model_id, runs) for _, _, model_id, runs in more[:-1]} == {("org/Mix-8B", 0)}
    assert more[-1] == (f"{SMALL}: {RUNS}[2]: {expected}", *OF_SMALL, 0)
    assert left(folder) == WITH_3_OF_SMALL


def test_the_order_of_a_models_runs_needs_not_be_the_tasks(folder):
    """Equal runs belong together, with their own output lengths; what is at fault is still told of its own place."""
    before = read_leaderboard(folder)
    made = json.loads((folder / SMALL).read_text())
    made["configurations"].reverse()
    (folder / SMALL).write_text(json.dumps(made))

    after = read_leaderboard(folder)
    assert [document.models for document in after.documents] == [document.models for document in before.documents]
    change_run(folder / SMALL, 0, median_itl_ms=20.2)
    said = f"{SMALL}: {RUNS}[0].median_itl_ms: expected 21.2 as in {CHAT}: {RUNS}[4], got 20.2"
    assert lost(folder) == [(said, *OF_SMALL, 1)]


def test_the_same_row_twice_is_one_run(tmp_path):
    """A repeat differs in what was measured; a copy would count twice."""
    folder = write_leaderboard(tmp_path / "data", {"text-to-image": [image_row(), image_row(), image_row()]})
    said = "tasks/text-to-image.json: $.configurations[{}]: expected another run, got $.configurations[0] again"

    assert lost(folder) == [(said.format(place), "text-to-image", "org/Paint-Σ", 1) for place in (1, 2)]
    assert left(folder) == {"text-to-image": {"org/Paint-Σ": 1}}


def test_a_key_that_comes_twice_loses_its_run(folder):
    text = (folder / CHAT).read_text()
    (folder / CHAT).write_text(text.replace('"median_itl_ms":', '"median_itl_ms": 1, "median_itl_ms":', 1))

    said = f"{CHAT}: {RUNS}[0].median_itl_ms: expected each key once, got it twice"
    assert lost(folder) == [(said, "lm-arena-chat", "org/Mix-8B", 1)]
    assert left(folder) == WHOLE | {"lm-arena-chat": {"org/Small-1B": 4}}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"median_itl_ms": ..., "itl_median_ms": 20.1}, "itl_median_ms: {}: did you mean median_itl_ms?"),
        ({"num_gpus": ..., "numGpus": 1}, "numGpus: {}: did you mean num_gpus?"),
        ({"p95_itl_ms": ..., "p95_itl_mss": 22.5}, "p95_itl_mss: {}: did you mean p95_itl_ms?"),
        (
            {"avg_output_len": ..., "avg_output_tokens": 100.5},
            "avg_output_len: expected a value, got no such field; is it what avg_output_tokens holds, which isn't"
            " known?",
        ),
    ],
    ids=str,
)
def test_a_new_name_for_what_is_needed_is_a_fault(folder, values, said):
    """Near what is missing, it says which field that may be."""
    change_run(folder / CHAT, 1, **values)

    assert lost(folder) == [(f"{CHAT}: {RUNS}[1].{said.format('expected no such field, got one')}", *OF_SMALL, 1)]


# --- A model ----------------------------------------------------------------------------------------------


def _without_last_run(folder: Path) -> None:
    made = json.loads((folder / SMALL).read_text())
    made["configurations"].pop()
    (folder / SMALL).write_text(json.dumps(made))


def _without_lengths(folder: Path) -> None:
    made = json.loads((folder / SMALL).read_text())
    del made["output_length_distribution"]
    (folder / SMALL).write_text(json.dumps(made))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / SMALL).unlink(), [f"{SMALL}: expected as {CHAT} has its runs, got none"]),
        (
            lambda folder: (folder / SMALL).write_text("<html>"),
            [f"{SMALL}: $: expected JSON, got '<' at line 1, column 1 (Expecting value)"],
        ),
        (
            lambda folder: change(folder / SMALL, total_params_billions=None),
            [f"{SMALL}: $.total_params_billions: expected a number, got null"],
        ),
        (
            lambda folder: change(folder / SMALL, activated_params_billions=0.7),
            [f"{SMALL}: $.activated_params_billions: expected 1.0 as in index.json, got 0.7"],
        ),
        (
            lambda folder: change(folder / SMALL, nickname="Small 2B"),
            [f'{SMALL}: $.nickname: expected "Small 1B" as in index.json, got "Small 2B"'],
        ),
        (
            lambda folder: change(folder / SMALL, task="gpqa", model_id="org/Mix-8B"),
            [
                f'{SMALL}: $.task: expected "lm-arena-chat", as the file is named, got "gpqa"',
                f'{SMALL}: $.model_id: expected "org/Small-1B", as the file is named, got "org/Mix-8B"',
            ],
        ),
        (
            _without_last_run,
            [
                f"{SMALL}: $.output_length_distribution.counts: expected the sums over the runs, [6, 15, 12],"
                " got [10, 20, 16]"
            ],
        ),
        (_without_lengths, [f"{SMALL}: $.output_length_distribution: expected a value, got no such field"]),
        (
            lambda folder: change_run(
                folder / SMALL, 1, output_length_distribution={"bins": [1.0, 50.5, 100.5, 200.0], "counts": [2, 5, 5]}
            ),
            [
                f"{SMALL}: $.output_length_distribution.counts: expected the sums over the runs, [10, 20, 17],"
                " got [10, 20, 16]"
            ],
        ),
    ],
    ids=[
        "none",
        "no JSON",
        "null",
        "another figure",
        "another name",
        "another's",
        "a run less",
        "no lengths",
        "a sum",
    ],
)
def test_a_fault_of_a_models_file_loses_that_model(folder, spoil, said):
    """Of that task: with the first of its faults all of its runs are gone."""
    spoil(folder)

    assert lost(folder) == [(words, *OF_SMALL, 0 if number else 4) for number, words in enumerate(said)]
    assert left(folder) == WITHOUT_SMALL
    assert complete(folder) == {task: task != "lm-arena-chat" for task in WHOLE}


def test_a_nickname_is_needed_in_files_of_image_models(folder):
    """Those of text models carry none."""
    paint = json.loads((folder / PAINT).read_text())
    del paint["nickname"]
    (folder / PAINT).write_text(json.dumps(paint))
    said = f'{PAINT}: $.nickname: expected "Paint-\\u03a3" as in index.json, got null'

    assert lost(folder) == [(said, "text-to-image", "org/Paint-Σ", 3)]
    assert left(folder) == WHOLE | {"text-to-image": {}}
    change(folder / SMALL, nickname="Small 1B")
    (folder / PAINT).write_text(json.dumps(paint | {"nickname": "Paint-Σ"}))
    assert (lost(folder), left(folder)) == ([], WHOLE)


@pytest.mark.parametrize("bins", [[1.0, 50.5, 50.5, 200.0], [1.0, 100.5, 50.5, 200.0], [1.0, 50.5, 100.5]], ids=str)
def test_output_lengths_need_ascending_edges(tmp_path, bins):
    """One more than counts: else a bin has no width, or no end."""
    folder = write_leaderboard(tmp_path / "data", {"gpqa": [text_row("org/Small-1B")]})
    (path,) = (folder / "models").iterdir()
    made = json.loads(path.read_text())
    for holder in (made, *made["configurations"]):
        holder["output_length_distribution"]["bins"] = bins
    path.write_text(json.dumps(made))

    said = f"models/{path.name}: $.output_length_distribution.bins: expected 4 ascending edges, got {len(bins)}"
    assert lost(folder) == [(said, "gpqa", "org/Small-1B", 1)]


def test_a_model_that_the_index_lacks_is_lost(folder):
    """In each task that has it, however many runs that is."""
    index = json.loads((folder / "index.json").read_text())
    del index["models"]["org/Small-1B"]
    change(folder / "index.json", **index)
    said = 'index.json: $.models: expected the models of tasks/{}.json, got "org/Small-1B"'

    assert lost(folder) == [
        (said.format("lm-arena-chat"), *OF_SMALL, 4),
        (said.format("gpqa"), "gpqa", "org/Small-1B", 1),
    ]
    assert left(folder) == WITHOUT_SMALL | {"gpqa": {}}


def test_a_model_that_the_index_spoils_is_lost_in_each_task(folder):
    """One fault, told of each; of a model that no task has it is still told."""
    index = json.loads((folder / "index.json").read_text())
    index["models"]["org/Small-1B"]["activated_params_billions"] = "1"
    index["models"]["org/Idle-2B"] = index["models"]["org/Mix-8B"] | {"total_params_billions": 0}
    change(folder / "index.json", **index)
    of_small = 'index.json: $.models.org/Small-1B.activated_params_billions: expected a number, got "1"'
    of_idle = "index.json: $.models.org/Idle-2B.total_params_billions: expected a number > 0, got 0"

    assert lost(folder) == [
        (of_small, *OF_SMALL, 4),
        (of_small, "gpqa", "org/Small-1B", 1),
        (of_idle, None, "org/Idle-2B", 0),
    ]
    assert left(folder) == WITHOUT_SMALL | {"gpqa": {}}


def test_runs_that_the_index_contradicts_are_lost_one_by_one(folder):
    """Where all runs of a model say otherwise, and its file too, all of it is."""
    index = json.loads((folder / "index.json").read_text())
    index["models"]["org/Mix-8B"]["total_params_billions"] = 8.1
    change(folder / "index.json", **index)

    assert lost(folder) == [
        (
            f"{CHAT}: {RUNS}[0].total_params_billions: expected 8.1 as in index.json, got 8.0",
            "lm-arena-chat",
            "org/Mix-8B",
            1,
        ),
        (f"{MIX}: $.total_params_billions: expected 8.1 as in index.json, got 8.0", "lm-arena-chat", "org/Mix-8B", 0),
    ]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"energy_per_token_joules": 5e-324}, "expected a number between 1e-50 and 1e+50, got 5e-324"),
        ({"energy_per_token_joules": 1.7e308}, "expected a number between 1e-50 and 1e+50, got 1.7e+308"),
        ({"energy_per_token_joules": 0}, "expected a number > 0, got 0"),
        ({"nickname": " "}, 'expected text that isn\'t blank, got " "'),
        ({"weight_precision": "\t"}, 'expected text that isn\'t blank, got "\\t"'),
        ({"gpu_model": "\u200b"}, 'expected text that isn\'t blank, got "\\u200b"'),
        ({"model_id": " "}, 'expected an id whose last part isn\'t blank, got " "'),
        ({"model_id": "org/"}, 'expected an id whose last part isn\'t blank, got "org/"'),
        ({"model_id": "org/a\0"}, "expected text without NUL, got \\u0000 in it"),
    ],
    ids=str,
)
def test_what_no_figure_or_name_can_be_is_a_fault(folder, values, said):
    """Figures that products of would be 0 or infinite, and names in which nothing is to be seen."""
    (field,) = values
    change_run(folder / CHAT, 3, **values)

    (of_row, *_) = lost(folder)
    assert of_row == (f"{CHAT}: {RUNS}[3].{field}: {said}", *OF_SMALL, 1)
    assert left(folder) == WITH_3_OF_SMALL


def test_a_name_longer_than_a_files_is_a_fault_of_its_model(tmp_path):
    """And of its task: neither has a file."""
    long = "org/" + "x" * 5000
    folder = write_leaderboard(tmp_path / "data", {"gpqa": [text_row("org/Small-1B"), text_row("org/Mix-8B")]})
    change_run(folder / "tasks/gpqa.json", 1, model_id=long)
    index = json.loads((folder / "index.json").read_text())
    index["tasks"].append("y" * 300)
    (folder / "index.json").write_text(json.dumps(index))

    found = lost(folder)
    assert {(task, model_id, runs) for _, task, model_id, runs in found} == {
        ("gpqa", long, 1),
        ("y" * 300, None, None),
    }
    assert left(folder)["gpqa"] == {"org/Small-1B": 1}


# --- The index --------------------------------------------------------------------------------------------


def test_an_index_that_contradicts_itself_loses_a_task(folder):
    """One that is in its architectures and not in its tasks; nothing older is withdrawn for it."""
    index = json.loads((folder / "index.json").read_text())
    index["tasks"].remove("gpqa")
    (folder / "index.json").write_text(json.dumps(index))

    said = 'index.json: $.tasks: expected "gpqa" too, as in $.architectures, got none'
    assert lost(folder) == [(said, "gpqa", None, 1)]
    assert {document.head.has_all_tasks for document in read_leaderboard(folder).documents} == {False}


def test_a_model_without_runs_is_told(folder):
    """The index promises it; no file of it is there."""
    index = json.loads((folder / "index.json").read_text())
    index["models"]["org/Idle-2B"] = index["models"]["org/Mix-8B"]
    (folder / "index.json").write_text(json.dumps(index))

    said = f"{folder}/index.json: no task has runs of 1 model that it lists: org/Idle-2B"
    assert (lost(folder), read_leaderboard(folder).notes) == ([], (said,))


# --- A task -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"task_display_name": "  "}, '$.task_display_name: expected text that isn\'t blank, got "  "'),
        ({"task": "gpqa"}, '$.task: expected "lm-arena-chat", as the file is named, got "gpqa"'),
        ({"architecture": "diffusion"}, '$.architecture: expected "llm" as in index.json, got "diffusion"'),
    ],
    ids=["no name", "another's", "an architecture"],
)
def test_a_fault_of_a_tasks_file_loses_that_task(folder, values, said):
    """With how many runs; the others are whole, and know that one is missing."""
    change(folder / CHAT, **values)

    assert lost(folder) == [(f"{CHAT}: {said}", "lm-arena-chat", None, 5)]
    assert left(folder) == {task: models for task, models in WHOLE.items() if task != "lm-arena-chat"}
    heads = [document.head for document in read_leaderboard(folder).documents]
    assert {(head.is_complete, head.has_all_tasks) for head in heads} == {(True, False)}
    assert read_leaderboard(folder).notes == ()


def test_a_lost_tasks_runs_tell_their_faults_too(folder):
    """All that is to be mended, in one go."""
    change(folder / CHAT, task_display_name=" ")
    change_run(folder / CHAT, 0, num_gpus=0)

    assert [(said.partition(":")[2].split(":")[0], runs) for said, _, _, runs in lost(folder)] == [
        (" $.task_display_name", 5),
        (" $.configurations[0].num_gpus", 0),
    ]


def test_a_task_may_say_its_architecture(folder):
    """Or not; where it does it is the index's."""
    made = json.loads((folder / "tasks/text-to-video.json").read_text())
    del made["architecture"]
    (folder / "tasks/text-to-video.json").write_text(json.dumps(made))
    change(folder / CHAT, architecture="llm")
    assert (lost(folder), left(folder)) == ([], WHOLE)

    change(folder / "tasks/text-to-image.json", architecture="llm")
    said = 'tasks/text-to-image.json: $.architecture: expected "diffusion" as in index.json, got "llm"'
    assert lost(folder) == [(said, "text-to-image", None, 3)]


@pytest.mark.parametrize("found", ["{", '{"task": "lm-arena-chat"}', "[]"])
def test_of_a_file_that_cannot_be_read_no_runs_are_known(folder, found):
    (folder / CHAT).write_text(found)

    ((said, *of),) = lost(folder)
    assert said.startswith(f"{CHAT}: $")
    assert of == ["lm-arena-chat", None, None]
    assert "lm-arena-chat" not in left(folder)


def test_a_task_without_a_sound_run_is_lost_run_by_run(folder):
    """Each with its fault."""
    for place in range(5):
        change_run(folder / CHAT, place, avg_power_watts=None)

    assert lost(folder) == [
        (f"{CHAT}: {RUNS}[{place}].avg_power_watts: expected a number, got null", "lm-arena-chat", None, 1)
        for place in range(5)
    ]


def test_missing_files_are_named_and_those_beside_passed_over(folder):
    """A task that isn't there, a model that isn't, and a task that the index doesn't list."""
    (folder / "tasks/gpqa.json").unlink()
    (folder / PAINT).unlink()
    shutil.copy(folder / CHAT, folder / "tasks/extra.json")

    assert lost(folder) == [
        (f"{PAINT}: expected as tasks/text-to-image.json has its runs, got none", "text-to-image", "org/Paint-Σ", 3),
        ("tasks/gpqa.json: expected as index.json lists it, got none", "gpqa", None, None),
    ]
    assert read_leaderboard(folder).notes == (
        f"{folder}: passed over, as index.json names no such files: tasks/extra.json",
    )


def test_a_task_under_another_name_is_asked_for(folder):
    """What the index calls otherwise is most often the one that it means."""
    (folder / "tasks/gpqa.json").rename(folder / "tasks/GPQA_.json")

    said = "tasks/gpqa.json: expected as index.json lists it, got none"
    assert lost(folder) == [(said, "gpqa", None, None)]
    (folder / "tasks/GPQA_.json").rename(folder / "tasks/gpqa_.json")
    assert lost(folder) == [(f"{said}; did you mean gpqa_?", "gpqa", None, None)]


def test_the_kind_of_a_task_must_be_the_indexs(folder):
    index = json.loads((folder / "index.json").read_text())
    index["architectures"] = {"llm": index["tasks"], "diffusion": ["gpqa"]}
    change(folder / "index.json", **index)

    kinds = f"{RUNS}: expected runs of the kind that the index says"
    assert lost(folder) == [
        ('index.json: $.architectures: expected each task in one architecture\'s list, got "gpqa"', "gpqa", None, 1),
        (f'tasks/text-to-image.json: {kinds}, got "image"', "text-to-image", None, 3),
        (
            'tasks/text-to-image.json: $.architecture: expected "llm" as in index.json, got "diffusion"',
            "text-to-image",
            None,
            0,
        ),
        (f'tasks/text-to-video.json: {kinds}, got "video"', "text-to-video", None, 3),
        (
            'tasks/text-to-video.json: $.architecture: expected "llm" as in index.json, got "diffusion"',
            "text-to-video",
            None,
            0,
        ),
    ]
    assert left(folder) == {"lm-arena-chat": WHOLE["lm-arena-chat"]}


# --- All of it, several at once, and what is no fault here --------------------------------------------------


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"last_updated": "yesterday"}, '$.last_updated: expected a date, YYYY-MM-DD, got "yesterday"'),
        ({"tasks": []}, "$.tasks: expected a list that isn't empty, got []"),
        ({"architectures": None}, "$.architectures: expected an object, got null"),
    ],
    ids=str,
)
def test_without_its_index_nothing_can_be_told(folder, values, said):
    change(folder / "index.json", **values)

    with pytest.raises(DocumentErrors) as refused:
        read_leaderboard(folder)
    assert refused.value.lines == (f"{folder}/index.json: {said}",)


def test_faults_of_several_files_are_told_in_one_go(folder):
    """Each file with its own."""
    change_run(folder / CHAT, 1, median_itl_ms="20")
    change(folder / SMALL, total_params_billions=None)
    change(folder / "tasks/gpqa.json", task_display_name=7)

    assert lost(folder) == [
        (f'{CHAT}: {RUNS}[1].median_itl_ms: expected a number, got "20"', *OF_SMALL, 1),
        (f"{SMALL}: $.total_params_billions: expected a number, got null", *OF_SMALL, 3),
        ("tasks/gpqa.json: $.task_display_name: expected text, got 7", "gpqa", None, None),
    ]


@pytest.mark.parametrize("field", ["is_moe", "timelines", "kv_cache_usage_percent"])
def test_an_earlier_schema_is_refused_by_name(folder, field):
    """It measured and named things otherwise; where nothing is lacking, it is only a field more."""
    for place in range(5):
        change_run(folder / CHAT, place, **{field: True})
    assert (lost(folder), left(folder)) == ([], WHOLE)
    (chat,) = [one for one in read_leaderboard(folder).documents if one.head.task == "lm-arena-chat"]
    assert [(one.place, one.field, one.type, one.objects, one.example) for one in chat.unknown] == [
        (f"tasks/*.json: {RUNS}[*].{field}", field, "true or false", 5, "true")
    ]
    for place in range(5):
        change_run(folder / CHAT, place, avg_power_watts=...)

    said = f"{CHAT}: $: expected the leaderboard's schema, which is in use since 2025-11-30, got one before it, with"
    assert lost(folder) == [(f"{said} {field}, which isn't read", "lm-arena-chat", None, None)]


def test_one_run_of_an_earlier_schema_is_one_run(folder):
    change_run(folder / CHAT, 1, is_moe=True, avg_power_watts=...)

    said = f"{CHAT}: {RUNS}[1].avg_power_watts: expected a value, got no such field"
    assert lost(folder) == [(said, *OF_SMALL, 1)]


TOKENS = 100.5123456789  # with as many digits as the energies have: a rounded one would explain more


def with_energy_per_request(tmp_path: Path, joules: float) -> list[tuple[Any, ...]]:
    row = text_row("org/Small-1B", avg_output_len=TOKENS, energy_per_request_joules=joules)
    report = check([write_leaderboard(tmp_path / "data", {"gpqa": [row]})])
    return [(one["check_name"], one["model"], float(one["found"])) for one in report.findings.named()]


@pytest.mark.slow
def test_energy_per_request_is_checked(tmp_path):
    """Being J per token times output length, it must be just that: else it is a finding, and kept as it is."""
    found = with_energy_per_request(tmp_path, 52.012345678)

    assert found == [("energy_per_request_joules", "small-1b", 52.012345678)]


@pytest.mark.slow
@pytest.mark.parametrize(("off", "is_right"), [(1e-10, True), (1e-8, False), (-1e-8, False)])
def test_energy_per_request_is_exact_but_for_its_last_digits(tmp_path, off, is_right):
    """Multiplied in another order it differs in the sixteenth."""
    found = with_energy_per_request(tmp_path, 0.5123456789 * TOKENS * (1 + off))

    assert [name for name, _, _ in found] == ([] if is_right else ["energy_per_request_joules"])


def test_a_model_of_another_maker_is_another(tmp_path):
    """Organisations may share a model's name: both are read, and told apart by their ids."""
    rows = [text_row("org/Small-1B"), text_row("org/Small-1B") | {"model_id": "other/Small.1B", "max_num_seqs": 9}]
    folder = write_leaderboard(tmp_path / "data", {"gpqa": rows})

    assert (lost(folder), left(folder)) == ([], {"gpqa": {"org/Small-1B": 1, "other/Small.1B": 1}})
    (document,) = read_leaderboard(folder).documents
    assert [(model.slug, model.identity) for model in document.models] == [
        ("small-1b", "org/small-1b"),
        ("small-1b", "other/small.1b"),
    ]


@pytest.mark.slow
def test_a_model_under_two_spellings_is_a_finding(tmp_path):
    """Both are kept, each with its runs; the finding names both."""
    rows = [text_row("org/Small-1B"), text_row("org/Small-1B") | {"model_id": "Org/small-1b ", "max_num_seqs": 9}]
    folder = write_leaderboard(tmp_path / "data", {"gpqa": rows})

    assert left(folder) == {"gpqa": {"org/Small-1B": 1, "Org/small-1b ": 1}}
    told = [str(value) for finding in check([folder]).findings.rows for value in finding]
    assert any("org/Small-1B" in value for value in told)
    assert any("Org/small-1b" in value for value in told)


def test_every_run_of_the_small_leaderboard_was_there(folder):
    """What these tests count by."""
    assert {task: sum(models.values()) for task, models in WHOLE.items()} == {
        task: len(rows) for task, rows in small_tasks().items()
    }
