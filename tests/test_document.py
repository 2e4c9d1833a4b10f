"""The reader of model documents: what it takes, and what it refuses in which words."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from energydb.errors import DocumentErrors
from energydb.sources.document import read_document
from energydb.sources.records import File
from tests.documents import LLAMA, SCOUT, document, run, write

Damage = Callable[[dict[str, Any]], object]


def faults(path: Path) -> list[str]:
    """Read a faulty document, and return what is said of it, without the path."""
    with pytest.raises(DocumentErrors) as refused:
        read_document(path)
    assert all(line.startswith(f"{path}: ") for line in refused.value.lines)
    return [line.removeprefix(f"{path}: ") for line in refused.value.lines]


@pytest.mark.parametrize("path", [LLAMA, SCOUT], ids=lambda path: path.stem)
def test_every_published_value_is_read_as_it_stands(path):
    """42 runs of 21 values each, and the head, against Python's own reading of the same JSON."""
    raw = json.loads(path.read_text())

    read = read_document(path)

    (model,) = read.models
    for given, got in zip(raw["configurations"], model.runs, strict=True):
        assert {name: getattr(got, name) for name in given} == given
    for name in ("slug", "name", "model_id", "params_b", "active_params_b", "architecture"):
        assert getattr(model, name) == raw[name]
    for name in ("name", "publisher", "url", "data_url", "version", "workload", "method", "cite", "licence"):
        assert getattr(read.head, name) == raw["source"][name]
    assert {gpu: raw["configurations"][place] for gpu, place in model.picks.items()} == raw["best"]
    assert read.files == (File(path.name, hashlib.sha256(path.read_bytes()).hexdigest()),)
    assert read.head.task == "lm-arena-chat"


def _set(place: str, value: object) -> Damage:
    """Return a damage that sets one field, named by its JSON path."""
    *parents, last = re.findall(r"\w+", place)

    def damage(made: dict[str, Any]) -> None:
        holder: Any = made
        for step in parents:
            holder = holder[int(step) if step.isdigit() else step]
        holder[int(last) if last.isdigit() else last] = value

    return damage


RUN = "$.configurations[0]"

REFUSED = [
    (f"{RUN}.median_itl_ms", "16", 'expected a number, got "16"'),
    (f"{RUN}.median_itl_ms", "OOM", 'expected a number, got "OOM"'),
    (f"{RUN}.median_itl_ms", None, "expected a number, got null"),
    (f"{RUN}.median_itl_ms", True, "expected a number, got true"),
    (f"{RUN}.median_itl_ms", [16.4], "expected a number, got [16.4]"),
    (f"{RUN}.median_itl_ms", float("nan"), "expected a finite number, got NaN"),
    (f"{RUN}.median_itl_ms", float("inf"), "expected a finite number, got Infinity"),
    (f"{RUN}.median_itl_ms", 0, "expected a number > 0, got 0"),
    (f"{RUN}.p95_itl_ms", None, "expected a number, got null"),
    (f"{RUN}.p99_itl_ms", -1.5, "expected a number > 0, got -1.5"),
    (f"{RUN}.num_gpus", 2.5, "expected a whole number, got 2.5"),
    (f"{RUN}.num_gpus", True, "expected a whole number, got true"),
    (f"{RUN}.num_gpus", 0, "expected a whole number >= 1, got 0"),
    (f"{RUN}.repeat", 10**30, f"expected a whole number <= 2147483647, got {10**30}"),
    (f"{RUN}.gpu_power_watts_total", 400.5, "expected a whole number, got 400.5"),
    (f"{RUN}.under_itl_deadline", "true", 'expected true or false, got "true"'),
    (f"{RUN}.gpu", "", 'expected text that isn\'t empty, got ""'),
    (f"{RUN}.precision", "  ", 'expected text that isn\'t blank, got "  "'),
    (f"{RUN}.row_id", " \t", 'expected text that isn\'t blank, got " \\t"'),
    (f"{RUN}.precision", "BF\x0016", "expected text without NUL, got \\u0000 in it"),
    (f"{RUN}.p50_itl_ms", 16.4, "expected no such field, got one: misspelt?"),
    ("$.updated", "2026-02-30", 'expected a date, YYYY-MM-DD, got "2026-02-30"'),
    ("$.updated", "27.9.2026", 'expected a date, YYYY-MM-DD, got "27.9.2026"'),
    ("$.version", "2", 'expected "1", got "2"'),
    ("$.version", 1, "expected text, got 1"),
    ("$.unit", "J", 'expected "Wh per million output tokens", got "J"'),
    ("$.boundary", "wall", 'expected "gpu_only", got "wall"'),
    ("$.params_b", -70, "expected a number > 0, got -70"),
    ("$.caveat", " \n", 'expected text that isn\'t blank, got " \\n"'),
    ("$.source.licence_evidence[0]", 1, "expected text, got 1"),
    ("$.source.workload", "Chat", 'expected a task\'s id in brackets at its end, got "Chat"'),
    (
        "$.source.workload",
        "Chat (gpqa)",
        'expected the task that data_url names, (lm-arena-chat), at its end, got "Chat (gpqa)"',
    ),
    ("$.gpus", ["H100", "B200"], 'expected the GPUs of the configurations, ["H100"], got ["H100", "B200"]'),
    ("$.gpus", ["H100", "H100"], 'expected the GPUs of the configurations, ["H100"], got ["H100", "H100"]'),
    ("$.configurations", [], "expected a list that isn't empty, got []"),
    ("$.best.B200", run(gpu="B200"), 'expected one of the measured GPUs, ["H100"], got "B200"'),
    ("$.best.H100", run(max_num_seqs=9), 'expected one of the configurations, field by field, got "small/H100/1/9"'),
]


@pytest.mark.parametrize(("place", "value", "said"), REFUSED)
def test_a_wrong_value_is_refused_by_its_place(tmp_path, place, value, said):
    """File, JSON path, what was expected and what came."""
    made = document()
    _set(place, value)(made)

    assert faults(write(tmp_path / "bad.json", made)) == [f"{place}: {said}"]


def test_a_fault_within_a_mapping_says_what_it_can(tmp_path):
    """The decoder doesn't name the key; text of any length and with any line end stays on one line."""
    assert faults(write(tmp_path / "a.json", document(best={"H100": 5}))) == [
        "$.best[...]: expected an object, got a whole number"
    ]
    assert faults(write(tmp_path / "b.json", document(slug="x" * 70_000)))[0].startswith(
        '$.slug: expected text of at most 65536 characters, got "xxx'
    )
    (fault,) = faults(write(tmp_path / "c.json", document() | {"a\nb" * 1000: 1}))
    assert len(fault) < 300


@pytest.mark.parametrize("place", ["$.unit", "$.source.licence", f"{RUN}.median_itl_ms"])
def test_a_missing_field_is_refused(tmp_path, place):
    """Absent is not NULL: only the four late fields may be absent."""
    made = document()
    *parents, last = re.findall(r"\w+", place)
    holder: Any = made
    for step in parents:
        holder = holder[int(step) if step.isdigit() else step]
    del holder[last]

    assert faults(write(tmp_path / "bad.json", made)) == [f"{place}: expected a value, got no such field"]


def test_late_fields_may_be_absent(tmp_path):
    """row_id and repeat then come by their rule, in document order; the measured two are absent."""
    late = ("avg_running_batch", "p95_itl_ms", "row_id", "repeat")
    runs = [run(), run(joules_per_output_token=1.1), run(max_num_seqs=16)]
    early = [{name: value for name, value in made.items() if name not in late} for made in runs]

    (model,) = read_document(write(tmp_path / "early.json", document(*early))).models

    got = [(made.row_id, made.repeat, made.p95_itl_ms, made.avg_running_batch) for made in model.runs]
    assert got == [
        ("small/H100/1/8", 1, None, None),
        ("small/H100/1/8", 2, None, None),
        ("small/H100/1/16", 1, None, None),
    ]


def test_the_same_run_twice_is_refused(tmp_path):
    """A key that repeats would lose a row, or count it twice."""
    path = write(tmp_path / "twice.json", document(run(), run(joules_per_output_token=1.1)))

    assert faults(path) == [
        "$.configurations[1]: expected another gpu, num_gpus, max_num_seqs or repeat than"
        " $.configurations[0], got H100, 1, 8, 1 again"
    ]


def test_every_fault_of_rule_is_named(tmp_path):
    """One run over a faulty document is enough to mend it."""
    path = write(tmp_path / "bad.json", document(unit="J", boundary="wall", caveat=" ", gpus=["B200"]))

    assert [fault.partition(":")[0] for fault in faults(path)] == ["$.unit", "$.boundary", "$.caveat", "$.gpus"]


@pytest.mark.parametrize(
    ("once", "twice", "place"),
    [
        ('"gpu": "H100",', '"gpu": "H100",\n"gpu": "H100",', "$.configurations[0].gpu"),
        ('"gpu": "H100",', '"gpu" : "H100", "gpu": "H100",', "$.configurations[0].gpu"),
        ('"unit":', '"unit": "J", "unit":', "$.unit"),
        ('"licence":', '"licence": "none", "licence":', "$.source.licence"),
    ],
)
def test_a_key_that_comes_twice_is_refused(tmp_path, once, twice, place):
    """A decoder takes the last one silently, so the other would be lost."""
    path = tmp_path / "twice.json"
    path.write_text(json.dumps(document(), indent=2).replace(once, twice, 1))

    assert faults(path) == [f"{place}: expected each key once, got it twice"]


def test_text_that_looks_like_a_key_is_no_second_key(tmp_path):
    """Quotes, colons and blanks within texts are only text."""
    caveat = 'a floor: "unit": "J" , "unit" : "J"'

    assert read_document(write(tmp_path / "text.json", document(caveat=caveat))).head.caveat == caveat


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "$: expected a JSON document, got an empty file"),
        (b" \n", "$: expected a JSON document, got an empty file"),
        (b"hello", "$: expected JSON, got 'h' at line 1, column 1 (Expecting value)"),
        (b"[]", "$: expected an object, got []"),
        (b'{"version": "1",', "$: expected JSON, got the end of the file at line 1, column 17"),
        (b'{"version": "\xff"}', "$: expected UTF-8, got byte 0xff at 13"),
        ('{"version": "1"}'.encode("utf-16"), "$: expected UTF-8, got byte 0xff at 0"),
    ],
)
def test_what_is_not_a_json_document_is_refused(tmp_path, data, said):
    """Empty, cut, other text, another encoding."""
    path = tmp_path / "bad.json"
    path.write_bytes(data)

    (fault,) = faults(path)
    assert fault.startswith(said)


def test_a_byte_order_mark_and_other_line_ends_are_taken(tmp_path):
    """Editors on Windows write them; the figures are the same."""
    path = tmp_path / "windows.json"
    path.write_bytes(b"\xef\xbb\xbf" + SCOUT.read_bytes().replace(b"\n", b"\r\n"))

    assert read_document(path).models == read_document(SCOUT).models


def test_a_folder_or_pipe_is_no_document(tmp_path):
    """A pipe would block for ever."""
    os.mkfifo(tmp_path / "pipe")

    assert faults(tmp_path) == ["expected a file, got something else"]
    assert faults(tmp_path / "pipe") == ["expected a file, got something else"]
    assert faults(tmp_path / "none") == ["expected a file, got none"]


def test_a_name_that_is_not_utf8_is_refused(tmp_path):
    """The database couldn't say which file a number is from."""
    path = tmp_path / os.fsdecode(b"bad\xff.json")
    write(path, document())

    assert faults(path) == ["expected a file name in UTF-8"]


def test_a_blank_gpu_is_refused(tmp_path):
    """Though the head and the picks name it too; and so is blank evidence, by its place."""
    made = document(run(gpu=" "), source={"licence_evidence": ["a card", "\n"]})

    assert faults(write(tmp_path / "blank.json", made)) == [
        '$.source.licence_evidence[1]: expected text that isn\'t blank, got "\\n"',
        '$.configurations[0].gpu: expected text that isn\'t blank, got " "',
    ]


def test_a_pick_of_another_gpu_is_refused(tmp_path):
    """And one of the right GPU must be one of the runs in every field, not in its energy alone."""
    h100, b200 = run(), run(gpu="B200")
    path = tmp_path / "picks.json"

    assert faults(write(path, document(h100, b200, best={"H100": b200}))) == [
        '$.best.H100.gpu: expected "H100", got "B200"'
    ]
    assert faults(write(path, document(h100, b200, best={"H100": h100 | {"p90_itl_ms": 21.5}}))) == [
        '$.best.H100: expected one of the configurations, field by field, got "small/H100/1/8"'
    ]


def test_a_pick_is_told_from_a_run_of_the_same_energy(tmp_path):
    """By all its other fields."""
    runs = [run(max_num_seqs=8), run(max_num_seqs=16), run(max_num_seqs=32)]
    (model,) = read_document(write(tmp_path / "equal.json", document(*runs, best={"H100": runs[1]}))).models

    assert model.picks == {"H100": 1}


def test_late_fields_that_some_runs_have_are_kept(tmp_path):
    """The others come by their rule, counting all runs of the setting."""
    runs = [run(repeat=3, row_id="own"), run(joules_per_output_token=1.1), run(num_gpus=2)]
    for made in runs[1:]:
        del made["row_id"], made["repeat"]
    (model,) = read_document(write(tmp_path / "some.json", document(*runs))).models

    assert [(made.row_id, made.repeat) for made in model.runs] == [
        ("own", 3),
        ("small/H100/1/8", 2),
        ("small/H100/2/8", 1),
    ]


@pytest.mark.parametrize("late", ["row_id", "repeat"])
def test_one_late_field_may_be_absent_alone(tmp_path, late):
    """Each is filled in by itself."""
    made = {name: value for name, value in run().items() if name != late}
    (model,) = read_document(write(tmp_path / "some.json", document(made))).models

    assert [(made.row_id, made.repeat) for made in model.runs] == [("small/H100/1/8", 1)]


def test_every_field_of_a_head_is_its_own(tmp_path):
    """No two are alike here, so that none can stand in for another."""
    source = {name: f"the {name}" for name in json.loads(SCOUT.read_text())["source"]} | {
        **{"released": "2026-01-01", "compiled": "2026-01-02", "retrieved": "2026-01-03"},
        **{
            "workload": "Chat (chat)",
            "data_url": "https://lab.example/chat.json",
            "licence_evidence": ["one", "two"],
        },
    }
    top = {"updated": "2026-01-04", "data_version": "2026-01-05", "caveat": "the caveat", "itl_deadline_ms": 123}
    head = read_document(write(tmp_path / "head.json", document(source=source, **top))).head
    got = {name: getattr(head, name) for name in head.__struct_fields__}

    renamed = {"configurations": "configurations_note"}
    expected = {renamed.get(name, name): value for name, value in (source | top).items()}
    known = {"unit": "Wh per million output tokens", "boundary": "gpu_only", "document_version": "1"}
    expected |= known | {"format": "model_document", "task": "chat", "kind": "text"}
    expected |= {"origin": "published", "measurement_window": "steady_state", "basis": "measured"}
    expected |= {"is_complete": False, "has_all_tasks": False}  # one document of some
    assert {name: value if isinstance(value, int) else str(value) for name, value in got.items()} == {
        name: value if isinstance(value, int) else str(tuple(value) if isinstance(value, list) else value)
        for name, value in expected.items()
    }


@pytest.mark.parametrize(
    ("workload", "is_task"),
    [
        ("Chat (lm-arena-chat)", True),
        ("(lm-arena-chat)", True),
        ("Chat (lm-arena-chat) ", False),
        ("Chat (a b)", False),
    ],
)
def test_the_task_stands_in_the_last_brackets(tmp_path, workload, is_task):
    """At the very end, without blanks."""
    path = write(tmp_path / "task.json", document(source={"workload": workload}))

    if is_task:
        assert read_document(path).head.task == "lm-arena-chat"
    else:
        assert faults(path)[0].startswith("$.source.workload: expected a task's id in brackets at its end")


def test_of_many_texts_only_the_blank_ones_are_named(tmp_path):
    """Each at its own place: the runs beside it are well."""
    runs = [run(max_num_seqs=size) for size in (8, 16, 32)]
    runs[1] |= {"precision": " ", "row_id": "\t"}
    with pytest.raises(DocumentErrors) as refused:
        read_document(write(tmp_path / "blank.json", document(*runs, source={"method": " "})))

    assert [error.place for error in refused.value.errors] == [
        "$.source.method",
        "$.configurations[1].precision",
        "$.configurations[1].row_id",
    ]
