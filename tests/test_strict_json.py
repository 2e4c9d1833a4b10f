"""Strict decoding: the bytes as they were at one moment, and nothing that a decoder overlooks."""

import json
import os
import threading
from pathlib import Path

import msgspec
import pytest

from energydb.errors import DocumentErrors, MachineError
from energydb.files import is_there, read_bytes
from energydb.sources.document_form import Configuration, ModelDocument
from energydb.sources.records import columns_of
from energydb.sources.strict_json import Count, Positive, Text, colons, colons_of_columns, decode, parse, shown
from tests.documents import LLAMA, run


def overwritten(path: Path, stop: threading.Event) -> None:
    number = os.open(path, os.O_WRONLY)
    while not stop.is_set():
        os.pwrite(number, b"x", 0)
    os.close(number)


def read_often(path: Path) -> None:
    """Where the machine is busy, a thread may miss one reading."""
    for _ in range(20):
        read_bytes(path)


def test_a_file_overwritten_in_place_while_it_is_read(tmp_path):
    """As long as before, and half of the old and half of the new all the same."""
    path = tmp_path / "changing.json"
    path.write_bytes(b" " * 30_000_000)
    stop = threading.Event()
    thread = threading.Thread(target=overwritten, args=(path, stop))
    thread.start()
    try:
        with pytest.raises(MachineError, match=r"changing\.json: was written to while it was read; try again"):
            read_often(path)
    finally:
        stop.set()
        thread.join()

    assert path.stat().st_size == 30_000_000


class Inner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An object within another."""

    text: Text
    count: Count = None


class Outer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One field of each sort."""

    text: Text
    number: Positive
    inner: Inner
    many: tuple[Inner, ...]
    words: tuple[Text, ...]
    named: dict[Text, Inner]
    late: Text = None


DECODER = msgspec.json.Decoder(Outer)
WHOLE = (
    '{"text": "a:b", "number": 1, "inner": {"text": ":", "count": 1}, "many": [{"text": "::"}, {"text": "c"}],'
    ' "words": ["x:", "y"], "named": {"k:": {"text": "d"}}, "late": ":"}'
)


def said_of(tmp_path: Path, text: str) -> list[str]:
    """Decode, and return what is said of it; nothing where it's taken."""
    path = tmp_path / "made.json"
    try:
        decode(path, text.encode(), DECODER)
    except DocumentErrors as error:
        return [line.removeprefix(f"{path}: ") for line in error.lines]
    return []


def test_colons_in_texts_and_keys_are_no_keys(tmp_path):
    """However many."""
    assert said_of(tmp_path, WHOLE) == []
    assert said_of(tmp_path, WHOLE.replace(', "late": ":"', "")) == []
    assert said_of(tmp_path, WHOLE.replace('"a:b"', r'"a\u003ab\\ \" \u003A \n"')) == []


TWICE = [
    ('"number": 1', '"number": 2, "number": 1', "$.number"),
    ('"inner": {', '"inner": {"text": "e", ', "$.inner.text"),
    ('{"text": "c"}', '{"text": "e", "text": "c"}', "$.many[1].text"),
    ('"named": {', '"named": {"k:": {"text": "e"}, ', "$.named.k:"),
    ('{"text": "d"}', '{"text": "e", "text": "d"}', "$.named.k:.text"),
    ('"late": ', '"late": "e", "late": ', "$.late"),
]


@pytest.mark.parametrize(("once", "twice", "place"), TWICE, ids=[place for _, _, place in TWICE])
def test_a_key_that_comes_twice_is_refused_wherever_it_stands(tmp_path, once, twice, place):
    """A decoder keeps the last alone."""
    made = WHOLE.replace(once, twice)

    assert made != WHOLE
    assert said_of(tmp_path, made) == [f"{place}: expected each key once, got it twice"]
    assert said_of(tmp_path, f"\ufeff{made}") == [f"{place}: expected each key once, got it twice"]


@pytest.mark.parametrize("colon", [r"\u003a", r"\u003A"])
@pytest.mark.parametrize(("once", "twice", "place"), TWICE, ids=[place for _, _, place in TWICE])
def test_a_colon_in_disguise_makes_up_for_no_second_key(tmp_path, once, twice, place, colon):
    """Written as an escape it is one more colon in the text than in the bytes, as a second key is one fewer."""
    for missing in range(1, 4):
        made = WHOLE.replace(once, twice).replace("a:b", f"a{colon * missing}b")

        assert said_of(tmp_path, made) == [f"{place}: expected each key once, got it twice"]


def test_a_text_with_nul_is_refused(tmp_path):
    """Not every reader of a database takes it; a backslash before it makes it plain text."""
    assert said_of(tmp_path, WHOLE.replace('"c"', r'"c\u0000"')) == [
        "$.many[1].text: expected text without NUL, got \\u0000 in it"
    ]
    assert said_of(tmp_path, WHOLE.replace('"c"', r'"c\\u0000"')) == []


def test_what_is_shown_of_a_value_is_short_and_on_one_line():
    """80 characters are whole, of more the first 77."""
    assert shown("x" * 78) == f'"{"x" * 78}"'
    assert shown("x" * 79) == f'"{"x" * 76}...'
    assert shown("a\n\x1b\u202e") == r'"a\n\u001b\u202e"'


def test_a_range_is_said_in_words(tmp_path):
    """What was expected and what came, at its place; the least and the most are in it."""
    assert said_of(tmp_path, WHOLE.replace('"count": 1', '"count": 0')) == [
        "$.inner.count: expected a whole number >= 1, got 0"
    ]
    assert said_of(tmp_path, WHOLE.replace('"count": 1', '"count": 2147483647')) == []
    assert said_of(tmp_path, WHOLE.replace('"count": 1', '"count": 2147483648')) == [
        "$.inner.count: expected a whole number <= 2147483647, got 2147483648"
    ]
    assert said_of(tmp_path, WHOLE.replace('"number": 1', '"number": 0')) == [
        "$.number: expected a number > 0, got 0"
    ]
    assert said_of(tmp_path, WHOLE.replace('"a:b"', f'"{"a" * 65536}"')) == []
    assert said_of(tmp_path, WHOLE.replace('"a:b"', f'"{"a" * 65537}"')) == [
        f'$.text: expected text of at most 65536 characters, got "{"a" * 76}...'
    ]


def test_the_first_of_several_repeated_keys_is_named(tmp_path):
    """One fault of form a file: the one that a reader comes to first."""
    made = WHOLE.replace('{"text": "c"}', '{"text": "e", "count": 1, "text": "f", "count": 2, "text": "g"}')

    assert said_of(tmp_path, made) == ["$.many[1].text: expected each key once, got it twice"]


def test_every_colon_of_a_good_document_is_accounted_for():
    """Else each would be searched through, slowly, for what isn't there."""
    assert colons(DECODER.decode(WHOLE)) == WHOLE.count(":")
    data = LLAMA.read_bytes()
    whole = msgspec.json.Decoder(ModelDocument).decode(data)
    of_runs = colons_of_columns(Configuration, columns_of(whole.configurations))

    assert colons(whole) == data.count(b":")
    assert colons(msgspec.structs.replace(whole, configurations=())) + of_runs == data.count(b":")


def test_runs_that_lack_late_fields_have_fewer_colons(tmp_path):
    """Counted column by column as struct by struct."""
    late = ("avg_running_batch", "p95_itl_ms", "row_id", "repeat")
    runs = [run(row_id="a:b:c", gpu="G:1"), {name: value for name, value in run().items() if name not in late}]
    data = json.dumps(runs).encode()
    decoded = msgspec.json.Decoder(tuple[Configuration, ...]).decode(data)

    assert colons_of_columns(Configuration, columns_of(decoded)) == colons(decoded) == data.count(b":")


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("1e999", "expected a finite number, got 1e999"),
        ("-1e999", "expected a finite number, got -1e999"),
        ("-Infinity", "expected a finite number, got -Infinity"),
        ("NaN", "expected a finite number, got NaN"),
        ("1e-400", "expected a number > 0, got 0.0"),
    ],
)
def test_a_number_that_no_double_holds_is_refused(tmp_path, number, said):
    """Whichever way it's written."""
    assert said_of(tmp_path, WHOLE.replace('"number": 1', f'"number": {number}')) == [f"$.number: {said}"]


def test_what_came_in_a_mapping_is_said_by_its_kind(tmp_path):
    """The decoder doesn't say under which key it was."""
    for given, kind in (
        ("5", "a whole number"),
        ("[]", "a list"),
        ('"d"', "text"),
        ("null", "null"),
        ("1.5", "a number"),
    ):
        assert said_of(tmp_path, WHOLE.replace('{"text": "d"}', given)) == [
            f"$.named[...]: expected an object, got {kind}"
        ]


@pytest.mark.parametrize("depth", [50, 900, 990, 5000, 200_000])
def test_a_value_of_any_depth_is_a_fault_at_its_place(tmp_path, depth):
    """However deep the parser follows, what walks through its values follows as well."""
    (said,) = said_of(tmp_path, WHOLE.replace('"number": 1', f'"number": {"[" * depth}{"]" * depth}'))

    assert said.startswith("$.number: expected a")
    assert len(said) < 200


@pytest.mark.parametrize("depth", [50, 900, 990, 5000])
def test_what_is_nested_too_deeply_is_shown_in_words(depth):
    """Or cut, as all that is long."""
    value = []
    for _ in range(depth):
        value = [value]

    assert shown(value).startswith("[[[[") or shown(value) == "a list, nested too deeply to show"
    assert len(shown(value)) <= 80


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (r"c\\ud800", None),
        (r"c\ud83d\ude00", None),
        (r"c\ud800", "expected text in Unicode, got half a character, \\ud800"),
        (r"\udfffc", "expected text in Unicode, got half a character, \\udfff"),
    ],
)
def test_half_a_character_is_refused(tmp_path, text, said):
    """No file in UTF-8 holds one, and no database; both halves are a character."""
    found = said_of(tmp_path, WHOLE.replace('"c"', f'"{text}"'))

    assert found == ([] if said is None else [f"$.many[1].text: {said}"])


@pytest.mark.parametrize(
    ("length", "is_taken", "is_finite"),
    [(30, True, True), (49, True, True), (99, False, True), (308, False, True), (309, False, False)],
)
def test_a_whole_number_is_a_number_as_far_as_a_double_holds_it(tmp_path, length, is_taken, is_finite):
    """The largest has 309 digits, and products must be doubles too; of what is larger the first are shown."""
    found = said_of(tmp_path, WHOLE.replace('"number": 1', f'"number": {"9" * length}'))

    expected = "a number between 1e-50 and 1e+50" if is_finite else "a finite number"
    assert found == ([] if is_taken else [f"$.number: expected {expected}, got {'9' * 77}..."])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-32-be"])
def test_another_encoding_is_no_json(tmp_path, encoding):
    """Python's parser would take it, and JSON is UTF-8."""
    with pytest.raises(ValueError, match=r"utf-8|Expecting"):
        parse(WHOLE.encode(encoding))


def test_every_key_that_comes_twice_is_known():
    """In their order."""
    made = parse(b'{"a": 1, "b": 2, "c": 3, "b": 4, "a": 5, "b": 6}')

    assert (made, made.twice) == ({"a": 5, "b": 6, "c": 3}, ("a", "b"))


def test_a_file_that_cannot_be_reached_is_its_own_fault(tmp_path):
    """Whatever stops it, its name goes with it, and nothing else."""
    (tmp_path / "loop.json").symlink_to("loop.json")

    for name in ("loop.json", "x" * 300):
        assert not is_there(tmp_path / name)
        with pytest.raises(DocumentErrors, match=f"{name}: expected a file, got none"):
            read_bytes(tmp_path / name)
