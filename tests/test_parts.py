"""Part by part: what is sound of a document, the fault of each part that isn't, and the fields that aren't known."""

import json

import msgspec
import pytest

from energydb.errors import DocumentErrors
from energydb.sources.parts import OTHER_PARALLEL, decode_parts, degrees_of, written
from energydb.sources.strict_json import Count, Positive, Text


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An object of a list or mapping."""

    energy: Positive
    count: Count | None = 7
    repeat: Count = 1
    p95_itl_ms: Positive | None = None
    pipeline_parallel: Count = 1
    other_parallel: Text | None = None


class Inner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An object that is no part."""

    words: tuple[Text, ...] = ()


class Whole(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document of all shapes."""

    title: Text
    inner: Inner
    runs: tuple[Part, ...]
    best: dict[Text, Part] = {}


DECODER = msgspec.json.Decoder(Whole)


def made(*runs, **further):
    """Make a document of runs, each with its energy."""
    return {"title": "t", "inner": {}, "runs": [{"energy": 1.5} | run for run in runs], **further}


def parts(tmp_path, document):
    text = document if isinstance(document, str) else json.dumps(document)
    return decode_parts(tmp_path / "a.json", text.encode(), DECODER)


def said(read):
    return [f"{fault.error.place}: {fault.error.problem}" for fault in read.faults]


def refused(tmp_path, document):
    with pytest.raises(DocumentErrors) as error:
        parts(tmp_path, document)
    return [f"{fault.place}: {fault.problem}" for fault in error.value.errors]


def told(read):
    return [(one.place, one.type, one.objects, one.example) for one in read.unknown]


def test_a_sound_document_is_whole(tmp_path):
    """Without faults, unknown fields or places."""
    read = parts(tmp_path, made({}, {"count": None}))

    assert [run.count for run in read.value.runs] == [7, None]
    assert (read.faults, read.unknown, read.places) == ((), (), {})


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        ({"energy": -1}, "energy: expected a number > 0, got -1"),
        ({"energy": "1.5"}, 'energy: expected a number, got "1.5"'),
        ({"energy": None}, "energy: expected a number, got null"),
        ({"energy": float("nan")}, "energy: expected a finite number, got NaN"),
        ({"count": "4.0"}, 'count: expected a whole number or null, got "4.0"'),
        ({"count": 4.5}, "count: expected a whole number or null, got 4.5"),
        ({"count": 2**63}, f"count: expected a whole number <= 2147483647, got {2**63}"),
        ({"count": 10**30}, f"count: expected a whole number <= 2147483647, got {10**30}"),
        ({"count": -(2**65)}, f"count: expected a whole number >= 1, got {-(2**65)}"),
        ({"repeats": 2}, "repeats: expected no such field, got one: did you mean repeat?"),
        ({"itl_p95_ms": 2}, "itl_p95_ms: expected no such field, got one: did you mean p95_itl_ms?"),
        ({"p95ItlMs": 2}, "p95ItlMs: expected no such field, got one: did you mean p95_itl_ms?"),
        ({"context_parallel": 2**31}, f"context_parallel: expected a number <= 2147483647, got {2**31}"),
        ({"context_parallel": float("inf")}, "context_parallel: expected a finite number, got Infinity"),
        ({"other_parallel": 2}, "other_parallel: expected text or null, got 2"),
        ({"other_parallel": "\0"}, "other_parallel: expected text without NUL, got \\u0000 in it"),
    ],
)
def test_a_fault_is_its_parts(tmp_path, damage, fault):
    """All else is there, with the places at which it stood; what is unknown of the faulty part isn't told."""
    read = parts(tmp_path, made({"count": 1}, damage | {"clock": 1}, {"count": 3}))

    assert said(read) == [f"$.runs[1].{fault}"]
    assert [run.count for run in read.value.runs] == [1, 3]
    assert read.places == {"runs": (0, 2)}
    assert [one.part for one in read.faults] == [("runs", 1)]
    assert read.unknown == ()
    in_mapping = parts(tmp_path, made({}, best={"a": {"energy": 1}, "b": {"energy": 1} | damage, "c": {"energy": 2}}))
    assert said(in_mapping) == [f"$.best.b.{fault}"]
    assert in_mapping.value.best.keys() == {"a", "c"}


@pytest.mark.parametrize("field", ["p50_itl_ms", "p99_itl_ms", "clock", "rpt"])
def test_another_number_or_another_word_is_no_slip(tmp_path, field):
    """p50 isn't p95 misspelt."""
    assert told(parts(tmp_path, made({field: 2}))) == [(f"$.runs[*].{field}", "a whole number", 1, "2")]


def test_a_near_name_is_no_slip_where_the_known_one_is_there(tmp_path):
    """Then it's a field of its own."""
    assert told(parts(tmp_path, made({"repeat": 1, "repeats": 2}))) == [
        ("$.runs[*].repeats", "a whole number", 1, "2")
    ]


def test_unknown_fields_are_told_with_type_count_and_example(tmp_path):
    """In the head, in an object of it, in runs and in picks; of several types each is named once."""
    runs = [{"a": 1}, {"a": 1.5}, {"a": None}, {"a": "x"}, {"a": 2}, {"a": [1]}, {"a": {}}, {"a": True}]
    read = parts(tmp_path, made(*runs, best={"k": {"energy": 1, "b": "B"}}, c=1, inner={"d": {"e": 1}}))

    types = "a whole number, a number, null, text, a list, an object, true or false"
    assert sorted(told(read)) == [
        ("$.best.*.b", "text", 1, '"B"'),
        ("$.c", "a whole number", 1, "1"),
        ("$.inner.d", "an object", 1, '{"e": 1}'),
        ("$.runs[*].a", types, 8, "1"),
    ]
    assert len(read.value.runs) == 8


def test_an_unknown_field_may_hold_anything(tmp_path):
    """Text with NUL, half a character, no number, depth: none of it is kept."""
    text = json.dumps(made({"a": "x"}))
    for value in (r'"\u0000"', r'"\ud800"', "1e999", "NaN", "9" * 5000, "[" * 500 + "]" * 500, '{"b": 1, "b": 2}'):
        read = parts(tmp_path, text.replace('"x"', value))

        assert (len(read.value.runs), read.faults, read.unknown[0].field) == (1, [], "a")
        assert read.unknown[0].example.isascii()
        assert len(read.unknown[0].example) <= 80


@pytest.mark.parametrize(("value", "count"), [("4.0", 4), ("4e0", 4), ("0.4e1", 4), ("null", None)])
def test_a_whole_number_may_be_written_with_a_point(tmp_path, value, count):
    (run,) = parts(
        tmp_path, '{"title": "t", "inner": {}, "runs": [{"energy": 1, "count": ' + value + "}]}"
    ).value.runs

    assert run.count == count
    assert type(run.count) is type(count)


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"context_parallel": 2}, "context_parallel 2"),
        ({"context_parallel": 2.0}, "context_parallel 2"),
        ({"cfg_degree": 2, "context_parallel_size": 4}, "cfg_degree 2, context_parallel_size 4"),
        ({"other_parallel": "x"}, "x"),
        ({"other_parallel": "x", "context_parallel": 2}, "x, context_parallel 2"),
        ({"other_parallel": None, "context_parallel": 2}, "context_parallel 2"),
    ],
)
def test_degrees_above_1_are_part_of_a_setup(tmp_path, fields, kept):
    """Under their own names, in one text; what the document says itself stays."""
    read = parts(tmp_path, made(fields))

    assert [run.other_parallel for run in read.value.runs] == [kept]
    assert (read.faults or [], read.unknown) == ([], ())


def test_a_degree_of_1_is_told_where_no_run_is_split_by_it(tmp_path):
    """It isn't kept; where some runs have more, theirs says that the others have none."""
    (told,) = parts(tmp_path, made({"context_parallel": 1}, {"context_parallel": 1.0})).unknown
    assert (told.field, told.type, told.objects) == ("context_parallel", "a whole number, a number", 2)

    read = parts(tmp_path, made({"context_parallel": 1}, {"context_parallel": 2}))
    assert ([run.other_parallel for run in read.value.runs], read.unknown) == ([None, "context_parallel 2"], ())


@pytest.mark.parametrize("name", ["num_parallel_requests", "parallel", "parallel_sampling", "temperature_degrees"])
def test_what_only_sounds_like_a_degree_is_an_unknown_field(tmp_path, name):
    """It doesn't make another setup of a run."""
    read = parts(tmp_path, made({name: 4}))

    assert [run.other_parallel for run in read.value.runs] == [None]
    assert [(one.field, one.example) for one in read.unknown] == [(name, "4")]


@pytest.mark.parametrize("value", [True, False, 0, -1, 0.5, "2", None, [2]])
def test_what_is_no_degree_is_an_unknown_field(tmp_path, value):
    """It says nothing of how far a model is split, whatever its name."""
    read = parts(tmp_path, made({"context_parallel": value}))

    assert [run.other_parallel for run in read.value.runs] == [None]
    assert [(one.field, one.example) for one in read.unknown] == [("context_parallel", json.dumps(value))]


def test_degrees_and_their_text_go_both_ways():
    """But for texts that the reader wouldn't write so."""
    for degrees in ({"a_parallel": 2}, {"a_parallel": 2, "ring_degree": 3.5}):
        assert degrees_of(written(degrees)) == degrees
    for text in (
        "",
        "a_parallel",
        "a_parallel 2.0",
        "a_parallel \uff12",
        "b_parallel 2, a_parallel 3",
        "a_parallel 1",
    ):
        assert degrees_of(text) == {}
    assert OTHER_PARALLEL in Part.__struct_fields__


def test_a_key_that_comes_twice_is_its_parts(tmp_path):
    """In a run, a pick, a field that isn't known; and in the mapping itself both are left out."""
    text = json.dumps(made({"count": 1}, {"count": 2}, best={"a": {"energy": 1}, "b": {"energy": 2}}))
    twice = "expected each key once, got it twice"

    assert said(parts(tmp_path, text.replace('"count": 2', '"count": 2, "count": 3'))) == [
        f"$.runs[1].count: {twice}"
    ]
    assert said(parts(tmp_path, text.replace('"count": 2', '"x": 2, "x": 3'))) == [f"$.runs[1].x: {twice}"]
    read = parts(tmp_path, text.replace('"b": {"energy": 2}', '"a": {"energy": 2}'))
    assert (said(read), read.value.best) == ([f"$.best.a: {twice}"], {})
    assert refused(tmp_path, text.replace('"title": "t"', '"title": "t", "title": "u"')) == [f"$.title: {twice}"]


def test_a_fault_of_the_head_is_told_with_those_of_its_parts(tmp_path):
    """So that all of it can be mended at once; where no part is left, theirs alone."""
    of_runs = ["$.runs[0].energy: expected a number > 0, got -1"]

    assert refused(tmp_path, made({"energy": -1}, {}, title=3)) == ["$.title: expected text, got 3", *of_runs]
    with_slip = {name: value for name, value in made({}, titles="t").items() if name != "title"}
    assert refused(tmp_path, with_slip) == ["$.titles: expected no such field, got one: did you mean title?"]
