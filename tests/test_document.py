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
from energydb.sources.records import Document, File
from tests.documents import LLAMA, SCOUT, document, faults_of, only, run, write

Damage = Callable[[dict[str, Any]], object]


def faults(path: Path) -> list[str]:
    """Read a faulty document, and return what is said of it, without the path."""
    said = [str(fault.error) for fault in faults_of(read_document, path)]
    assert said
    assert all(line.startswith(f"{path}: ") for line in said)
    return [line.removeprefix(f"{path}: ") for line in said]


def sound(path: Path) -> list[Document]:
    """Return what there is beside the faults."""
    try:
        return list(read_document(path).documents)
    except DocumentErrors:
        return []


@pytest.mark.parametrize("path", [LLAMA, SCOUT], ids=lambda path: path.stem)
def test_every_published_value_is_read_as_it_stands(path):
    """42 runs of 21 values each, and the head, against Python's own reading of the same JSON."""
    raw = json.loads(path.read_text())

    read = only(read_document(path))

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
    (f"{RUN}.tensor_parallel", None, "expected a whole number, got null"),
    (f"{RUN}.num_gpus", "4.0", 'expected a whole number, got "4.0"'),
    (f"{RUN}.max_num_seqs", 2.5, "expected a whole number or null, got 2.5"),
    (f"{RUN}.max_num_seqs", "8", 'expected a whole number or null, got "8"'),
    (f"{RUN}.max_num_seqs", 0, "expected a whole number >= 1, got 0"),
    (f"{RUN}.p90_itl_ms", "21.0", 'expected a number or null, got "21.0"'),
    (f"{RUN}.pipeline_parallel", 0, "expected a whole number >= 1, got 0"),
    (f"{RUN}.pipeline_parallel", None, "expected a whole number, got null"),
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
    (f"{RUN}.pipeline_paralel", 2, "expected no such field, got one: did you mean pipeline_parallel?"),
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


# The second of them is the pick.
TWO = (run(), run(max_num_seqs=16, joules_per_output_token=0.5))


@pytest.mark.parametrize(("place", "value", "said"), REFUSED)
def test_a_wrong_value_is_refused_by_its_place(tmp_path, place, value, said):
    """File, JSON path, what was expected and what came; and nothing but what stands there is spoilt."""
    made = document(*TWO)
    _set(place, value)(made)
    path = write(tmp_path / "bad.json", made)

    assert faults(path) == [f"{place}: {said}"]
    if not place.startswith((RUN, "$.best")):
        assert sound(path) == []
        return
    (read,) = read_document(path).documents
    (model,) = read.models
    assert [fault.runs for fault in read.faults] == [1 if place.startswith(RUN) else 0]
    assert [made.max_num_seqs for made in model.runs] == ([16] if place.startswith(RUN) else [8, 16])
    assert {gpu: model.runs[number].max_num_seqs for gpu, number in model.picks.items()} == (
        {} if place.startswith("$.best.H100") else {"H100": 16}
    )


def test_a_fault_within_a_mapping_says_what_it_can(tmp_path):
    """It names the key, though the decoder doesn't; text of any length and with any line end stays on one line."""
    assert faults(write(tmp_path / "a.json", document(best={"H100": 5}))) == [
        "$.best.H100: expected an object, got 5"
    ]
    assert faults(write(tmp_path / "b.json", document(slug="x" * 70_000)))[0].startswith(
        '$.slug: expected text of at most 65536 characters, got "xxx'
    )
    (fault,) = faults(write(tmp_path / "c.json", document(best={"a\nb" * 1000: 1})))
    assert len(fault) < 300


@pytest.mark.parametrize("place", ["$.unit", "$.source.licence", f"{RUN}.median_itl_ms"])
def test_a_missing_field_is_refused(tmp_path, place):
    """Absent is not NULL: only the late fields may be absent."""
    made = document(*TWO)
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

    (model,) = only(read_document(write(tmp_path / "early.json", document(*early)))).models

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
    found = faults_of(read_document, path)
    assert {(fault.task, fault.model_id) for fault in found} == {("lm-arena-chat", "org/Small")}
    assert [fault.runs for fault in found] == [1, 0, 0, 0]

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

    assert only(read_document(write(tmp_path / "text.json", document(caveat=caveat)))).head.caveat == caveat


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "$: expected a JSON document, got an empty file"),
        (b" \n", "$: expected a JSON document, got an empty file"),
        (b"hello", "$: expected JSON, got 'h' at line 1, column 1 (Expecting value)"),
        (b"[]", "$: expected a model document, got []"),
        (b"{}", "$: expected a model document, got another kind of JSON, an empty object"),
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

    assert only(read_document(path)).models == only(read_document(SCOUT)).models


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
    (model,) = only(read_document(write(tmp_path / "equal.json", document(*runs, best={"H100": runs[1]})))).models

    assert model.picks == {"H100": 1}


def test_late_fields_that_some_runs_have_are_kept(tmp_path):
    """The others come by their rule, counting all runs of the setting."""
    runs = [run(repeat=3, row_id="own"), run(joules_per_output_token=1.1), run(num_gpus=2)]
    for made in runs[1:]:
        del made["row_id"], made["repeat"]
    (model,) = only(read_document(write(tmp_path / "some.json", document(*runs)))).models

    assert [(made.row_id, made.repeat) for made in model.runs] == [
        ("own", 3),
        ("small/H100/1/8", 2),
        ("small/H100/2/8", 1),
    ]


@pytest.mark.parametrize("late", ["row_id", "repeat"])
def test_one_late_field_may_be_absent_alone(tmp_path, late):
    """Each is filled in by itself."""
    made = {name: value for name, value in run().items() if name != late}
    (model,) = only(read_document(write(tmp_path / "some.json", document(made)))).models

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
    head = only(read_document(write(tmp_path / "head.json", document(source=source, **top)))).head
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
        assert only(read_document(path)).head.task == "lm-arena-chat"
    else:
        assert faults(path)[0].startswith("$.source.workload: expected a task's id in brackets at its end")


def test_of_many_texts_only_the_blank_ones_are_named(tmp_path):
    """Each at its own place: the runs beside it are well."""
    runs = [run(max_num_seqs=size) for size in (8, 16, 32)]
    runs[1] |= {"precision": " ", "row_id": "\t"}
    found = faults_of(read_document, write(tmp_path / "blank.json", document(*runs, source={"method": " "})))

    assert [fault.error.place for fault in found] == [
        "$.source.method",
        "$.configurations[1].precision",
        "$.configurations[1].row_id",
    ]


# --- What is kept to where it is ------------------------------------------------------------------------


def kept(read: Document) -> tuple[list[int | None], dict[str, int | None]]:
    """Return max_num_seqs of the runs that are there, and of the picks."""
    (model,) = read.models
    of_runs = [made.max_num_seqs for made in model.runs]
    return of_runs, {gpu: of_runs[number] for gpu, number in model.picks.items()}


def test_each_fault_counts_the_runs_that_no_fault_before_it_spoilt(tmp_path):
    """Of form and of rule, in one run and in several; the picks of what is left are there."""
    runs = [run(max_num_seqs=2**place) for place in range(6)]
    runs[1] |= {"precision": " ", "row_id": " "}
    runs[2] |= {"p99_itl_ms": -1}
    runs[4] |= {"max_num_seqs": 8, "row_id": "again"}  # as the one before it
    (read,) = read_document(write(tmp_path / "a.json", document(*runs, best={"H100": runs[5]}))).documents

    assert kept(read) == ([1, 8, 32], {"H100": 32})
    assert [(fault.error.place, fault.runs) for fault in read.faults] == [
        ("$.configurations[2].p99_itl_ms", 1),
        ("$.configurations[1].precision", 1),
        ("$.configurations[1].row_id", 0),
        ("$.configurations[4]", 1),
    ]
    assert {(fault.task, fault.model_id) for fault in read.faults} == {("lm-arena-chat", "org/Small")}


def test_a_pick_goes_with_its_run(tmp_path):
    """Which is one fault of the run, not another of the pick; others stand at their new places."""
    b200 = run(gpu="B200", max_num_seqs=16)
    spoilt = run() | {"row_id": " "}
    (read,) = read_document(write(tmp_path / "a.json", document(spoilt, b200))).documents

    assert kept(read) == ([16], {"B200": 16})
    assert [fault.error.place for fault in read.faults] == ["$.configurations[0].row_id"]


@pytest.mark.parametrize(
    ("best", "place", "said"),
    [
        ('"H100": {pick}, "H100": {pick}', "$.best.H100", "expected each key once, got it twice"),
        ('"H100": 5', "$.best.H100", "expected an object, got 5"),
        ('"": {pick}', "$.best.", "expected a key that isn't empty"),
        ('"X1": {pick}', "$.best.X1", 'expected one of the measured GPUs, ["H100"], got "X1"'),
    ],
)
def test_a_fault_of_a_pick_spoils_no_run(tmp_path, best, place, said):
    """All runs are there, and what isn't sound is no pick."""
    path = tmp_path / "a.json"
    made = json.dumps(document(*TWO, best="HERE"))
    path.write_text(made.replace('"HERE"', "{" + best.replace("{pick}", json.dumps(TWO[1])) + "}"))
    (read,) = read_document(path).documents

    assert kept(read) == ([8, 16], {})
    assert [(fault.error.place, fault.error.problem, fault.runs) for fault in read.faults] == [(place, said, 0)]


def test_what_spoils_all_of_a_document_has_all_of_its_runs(tmp_path):
    """Once; faults of picks and runs beside it have none. A wrong list of GPUs is told beside a pick's fault."""
    path = write(tmp_path / "a.json", document(*TWO, gpus=["B200"], unit="J", best={"H100": 5}))
    found = faults_of(read_document, path)

    assert read_document(path).documents == ()
    assert [(fault.error.place, fault.runs) for fault in found] == [("$.unit", 2), ("$.gpus", 0), ("$.best.H100", 0)]


def test_unknown_fields_are_told_wherever_they_stand(tmp_path):
    """With type, count and an example; what is known is read as if they weren't there."""
    runs = [made | {"clock_mhz": 1980} for made in TWO]
    made = document(*runs, new={"a": 1}, source={"doi": "10.1/x"})
    (read,) = read_document(write(tmp_path / "a.json", made)).documents

    assert kept(read) == ([8, 16], {"H100": 16})
    assert read.faults == ()
    assert {(one.place, one.type, one.objects, one.example) for one in read.unknown} == {
        ("$.new", "an object", 1, '{"a": 1}'),
        ("$.source.doi", "text", 1, '"10.1/x"'),
        ("$.configurations[*].clock_mhz", "a whole number", 2, "1980"),
        ("$.best.*.clock_mhz", "a whole number", 1, "1980"),
    }
    assert read.models[0].runs == only(read_document(write(tmp_path / "b.json", document(*TWO)))).models[0].runs


def test_what_is_null_is_not_known(tmp_path):
    """Where a table can hold that: no cap on sequences, and any percentile but the median."""
    null = dict.fromkeys(("max_num_seqs", "p90_itl_ms", "p95_itl_ms", "p99_itl_ms", "avg_running_batch"))
    made = run() | null
    del made["row_id"]
    (got,) = only(read_document(write(tmp_path / "a.json", document(made)))).models[0].runs

    assert {name: getattr(got, name) for name in null} == null
    assert got.row_id == "small/H100/1/none"


def test_kinds_of_parallelism_are_part_of_the_setup(tmp_path):
    """A pipeline has its field, 1 where nothing is said; any other above 1 is kept as text."""
    runs = [run(), run(max_num_seqs=16, pipeline_parallel=2.0), run(max_num_seqs=32, context_parallel=4)]
    (model,) = only(read_document(write(tmp_path / "a.json", document(*runs)))).models

    assert [(made.pipeline_parallel, made.other_parallel) for made in model.runs] == [
        (1, None),
        (2, None),
        (1, "context_parallel 4"),
    ]


def test_gpus_and_precisions_go_by_their_usual_names(tmp_path):
    """The document's own words are kept beside, and a blank one is said as it stands."""
    made = run(gpu="NVIDIA H100 80GB HBM3", precision="bfloat16")
    (model,) = only(read_document(write(tmp_path / "a.json", document(made)))).models
    (got,) = model.runs

    assert (got.gpu, got.gpu_as_published) == ("H100", "NVIDIA H100 80GB HBM3")
    assert (got.precision, got.precision_as_published) == ("BF16", "bfloat16")
    assert model.picks == {"H100": 0}
