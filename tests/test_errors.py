"""Faults in words: whole from process to process, short whatever is in them."""

import pickle
from pathlib import Path

import pytest

from energydb.errors import DocumentError, DocumentErrors, FindingsError, LockedError, MachineError, RefusedError


def test_a_place_is_cut_and_a_problem_is_not():
    """A key may be as long as a book; of 200 characters all are kept."""
    assert str(DocumentError("a.json", "x" * 200, "p" * 300)) == f"a.json: {'x' * 200}: {'p' * 300}"
    assert str(DocumentError("a.json", "x" * 201, "p")) == f"a.json: {'x' * 197}...: p"
    assert str(DocumentError("a.json", "", "p")) == "a.json: p"


def test_a_fault_goes_from_one_process_to_another_whole():
    """Documents are read in several."""
    fault = DocumentError(Path("a.json"), "$.unit", "expected J")
    back = pickle.loads(pickle.dumps(fault))

    assert (type(back), str(back)) == (DocumentError, str(fault))
    assert (back.path, back.place, back.problem) == (Path("a.json"), "$.unit", "expected J")


def test_faults_have_a_line_each():
    """In their order; where findings are refused, what became of the file comes last."""
    faults = [DocumentError("b.json", "$", "one"), DocumentError("a.json", "$", "two")]

    assert str(DocumentErrors(faults)) == "b.json: $: one\na.json: $: two"
    assert DocumentErrors(faults).lines == ("b.json: $: one", "a.json: $: two")
    assert MachineError("one fault").lines == ("one fault",)
    *first, more, last = FindingsError(faults, 5, Path("energy.duckdb")).lines
    assert first == ["b.json: $: one", "a.json: $: two"]
    assert more == "and 3 more"
    assert last.startswith("energy.duckdb: not built")


@pytest.mark.parametrize(
    ("message", "by"),
    [
        (
            'IO Error: Could not set lock on file "/x": Conflicting lock is held in /usr/bin/duckdb (PID 42).'
            " See also https://duckdb.org/docs",
            "/usr/bin/duckdb (PID 42)",
        ),
        ('IO Error: Could not set lock on file "/x/e.duckdb"', "another process"),
    ],
)
def test_who_holds_a_file_is_named(message, by):
    """Where DuckDB knows it: that is what to close."""
    said = str(LockedError(Path("e.duckdb"), message))

    assert said == f"e.duckdb: held open for writing by {by}; close it there and try again"


def test_faults_of_one_kind_are_told_by_the_first():
    """One place, whichever run or model, and one rule, whatever the values; one that spoils several things is one."""
    faults = [
        DocumentError("x/a.json", "$.runs[0].gpus", 'expected a number, got "1"'),
        DocumentError("x/a.json", "$.runs[1].gpus", 'expected a number, got "2, got 3"'),
        DocumentError("x/b.json", "$.runs[0].gpus", "expected a number, got null"),
        DocumentError("x/b.json", "$.runs[0].gpus", "expected 2.5 as in c.json: $.runs[4], got 1e-7"),
        DocumentError("x/c.json", "$.runs[0].gpus", "expected 7 as in c.json: $.runs[12], got 8"),
        DocumentError("x/d.json", "$.runs[0].watts", "expected a number, got null"),
        DocumentError("x/d.json", "$.models.org/A-1.5B.size", "expected a number, got null"),
        DocumentError("x/d.json", "$.models.org/B-2B.size", "expected a number, got null"),
    ]
    told = DocumentErrors([*faults, faults[0], faults[-1]])

    assert told.lines == (
        'x/a.json: $.runs[0].gpus: expected a number, got "1"',
        "and 2 more like it, in a.json, b.json",
        "x/b.json: $.runs[0].gpus: expected 2.5 as in c.json: $.runs[4], got 1e-7",
        "and 1 more like it, in c.json",
        "x/d.json: $.runs[0].watts: expected a number, got null",
        "x/d.json: $.models.org/A-1.5B.size: expected a number, got null",
        "and 1 more like it, in d.json",
    )
    assert told.counted == "8 faults in 4 files"


def test_what_was_refused_says_what_became_of_the_file(tmp_path):
    """And the next step, last."""
    target = tmp_path / "energy.duckdb"
    refused = RefusedError([DocumentError("a.json", "$", "one")], target, "mend that")

    assert refused.lines == (
        "a.json: $: one",
        f"{target}: not built, and there is none: 1 fault in 1 file",
        "mend that",
    )
    target.touch()
    assert refused.lines[1] == f"{target}: not built, and what was there is as it was: 1 fault in 1 file"
