"""Decodes JSON strictly for every reader, and puts what is wrong in words: place, expected, got."""

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, cast

import msgspec
import msgspec.inspect
from msgspec import Meta

from energydb.errors import DocumentError, DocumentErrors
from energydb.names import NAMED, VISIBLE

T = TypeVar("T")

Count = Annotated[int, Meta(ge=1, le=2**31 - 1)]
# Above 0, and such that what is worked out of a few of them is a number too.
Positive = Annotated[float, Meta(gt=1e-50, lt=1e50)]
Text = Annotated[str, Meta(min_length=1, max_length=2**16)]
Visible = Annotated[str, Meta(min_length=1, max_length=2**16, pattern=VISIBLE)]


WORDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "object": "an object",
    "str": "text",
}


class Repeating(dict[str, Any]):
    """An object of a document in which keys came twice: which, in their order."""

    twice: tuple[str, ...] = ()


class NotFinite(NamedTuple):
    """What no double holds, as it's written: NaN and Infinity, which JSON doesn't know, 1e999, 5,000 digits."""

    text: str


def decode(path: Path, data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Decode a document by `decoder`, and refuse what it doesn't see; a byte-order mark is taken.

    Raises:
        DocumentErrors: the first fault of form.
    """
    document = decode_form(path, data, decoder)
    refuse_hidden(path, data, colons(document))
    return document


def decode_form(path: Path, data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Decode a document by `decoder`; `refuse_hidden` is still to come. A byte-order mark is taken.

    Raises:
        DocumentErrors: the first fault of form.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return decoder.decode(data)
    except msgspec.DecodeError as error:
        raise DocumentErrors([_form_fault(path, data, error)]) from error


def refuse_hidden(path: Path, data: bytes, accounted_for: int) -> None:
    """Refuse what a typed decoder doesn't see: a key that came twice, NUL in a text.

    Each key brings a colon, and each text those within it. As many in the bytes as the decoded document accounts
    for means that nothing was overwritten: unless a colon is written as an escape, which could make up for one.
    Then, and where the numbers differ, the slow search decides.

    Raises:
        DocumentErrors: the first of them.
    """
    is_escaped = b"\\" in data and (b"\\u0000" in data or b"\\u003" in data)
    if is_escaped or data.count(b":") != accounted_for:
        fault = next(faults_of_text(path, parse(data.removeprefix(b"\xef\xbb\xbf"))), None)
        if fault is not None:
            raise DocumentErrors([fault])


def colons(value: object) -> int:
    """Count the colons that a decoded value must have come with: of its keys, and within its texts."""
    if isinstance(value, str):
        return value.count(":")
    if isinstance(value, dict):
        return len(value) + "".join(value).count(":") + sum(map(colons, value.values()))
    if isinstance(value, tuple):
        return sum(map(colons, value))
    if not isinstance(value, msgspec.Struct):
        return 0
    required, texts, others = _fields(type(value))
    found = required + "".join(texts(value)).count(":")
    for name, is_required in others:
        inner = getattr(value, name)
        found += colons(inner) + (not is_required and inner is not None)
    return found


def colons_of_columns(kind: type[msgspec.Struct], columns: Mapping[str, Sequence[Any]]) -> int:
    """Count the colons that structs without nested values must have come with, given field by field."""
    fields = _described(kind)
    found = len(fields) * len(columns[fields[0].name])
    for name, is_required, is_text in _flat_fields(kind):
        values = columns[name]
        if not is_required and (absent := values.count(None)):
            found -= absent
            values = [value for value in values if value is not None]
        if is_text:
            found += "".join(values).count(":")
    return found


@functools.cache
def _flat_fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, bool, bool], ...]:
    """Return the fields that may be absent or are text; each with whether it's required, and whether it's text."""
    return tuple(
        (field.name, field.required, is_text)
        for field in _described(kind)
        if (is_text := isinstance(field.type, msgspec.inspect.StrType)) or not field.required
    )


@functools.cache
def _fields(
    kind: type[msgspec.Struct],
) -> tuple[int, Callable[[object], Iterable[str]], tuple[tuple[str, bool], ...]]:
    """Return how many keys every such object has, its required texts, and the fields that are to be looked at.

    The last each with whether it's required: those that may be absent, and those that hold more than a number.
    """
    fields = _described(kind)
    texts = required_texts(kind)
    return (
        sum(field.required for field in fields),
        attrgetter(*texts) if len(texts) > 1 else lambda value: [getattr(value, name) for name in texts],
        tuple(
            (field.name, field.required)
            for field in fields
            if field.name not in texts and not (field.required and isinstance(field.type, _NUMBERS))
        ),
    )


def required_texts(kind: type[msgspec.Struct]) -> list[str]:
    """Name the fields that every such object has and that are text."""
    return [
        field.name for field in _described(kind) if field.required and isinstance(field.type, msgspec.inspect.StrType)
    ]


@functools.cache
def _described(kind: type[msgspec.Struct]) -> tuple[msgspec.inspect.Field, ...]:
    return cast(msgspec.inspect.StructType, msgspec.inspect.type_info(kind)).fields


_NUMBERS = (msgspec.inspect.BoolType, msgspec.inspect.DateType, msgspec.inspect.FloatType, msgspec.inspect.IntType)


def unlike(path: Path, place: str, expected: str, got: object) -> DocumentError:
    """Make the fault of a value that is well formed and not what was expected."""
    return DocumentError(path, place, f"expected {expected}, got {shown(got)}")


def shown(value: object) -> str:
    """Show a value as it stands in JSON, on one line, short and without control characters."""
    if isinstance(value, NotFinite):
        text = value.text
    else:
        try:
            text = json.dumps(value, ensure_ascii=True, default=str)
        except RecursionError:
            text = f"{WORDS['array' if isinstance(value, list) else 'object']}, nested too deeply to show"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _form_fault(path: Path, data: bytes, error: msgspec.DecodeError) -> DocumentError:
    """Say where and what: msgspec gives the place and the rule, the document itself what came instead."""
    if not data.strip():
        return DocumentError(path, "$", "expected a JSON document, got an empty file")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as fault:
        return DocumentError(path, "$", f"expected UTF-8, got byte 0x{data[fault.start]:02x} at {fault.start}")
    problem, _, place = str(error).partition(" - at `")
    place = place.removesuffix("`").removeprefix("key` in `") or "$"
    try:
        parsed = parse(data)
    except json.JSONDecodeError as fault:
        got = "the end of the file" if fault.pos >= len(fault.doc.rstrip()) else f"{fault.doc[fault.pos]!r}"
        return DocumentError(
            path, "$", f"expected JSON, got {got} at line {fault.lineno}, column {fault.colno} ({fault.msg})"
        )
    except (RecursionError, ValueError):  # nested too deeply
        return DocumentError(path, place, f"expected a model document, got {problem}")
    if not isinstance(error, msgspec.ValidationError):
        return next(faults_of_text(path, parsed), DocumentError(path, "$", f"expected JSON, got {problem}"))
    return _validation_fault(path, place, problem, parsed)


def conversion_fault(path: Path, at: str, error: msgspec.ValidationError, came: object) -> DocumentError:
    """Say what is wrong with a value that stands at `at`, which msgspec was given by itself."""
    problem, _, place = str(error).partition(" - at `")
    within = place.removesuffix("`").removeprefix("key` in `").removeprefix("$")
    return _validation_fault(path, f"{at}{within}", problem, came, at)


def _validation_fault(path: Path, place: str, problem: str, parsed: object, root: str = "$") -> DocumentError:
    if match := re.match(r"Object (missing required|contains unknown) field `(.*)`", problem, re.DOTALL):
        missing = match[1] == "missing required"
        return DocumentError(
            path,
            f"{place}.{match[2]}",
            "expected a value, got no such field" if missing else "expected no such field, got one",
        )
    limit = r"(?: ([<>=]+) ([\d.e+-]+)| of length ([<>=]+) (\d+))?"
    match = re.match(rf"Expected `([\w |]+)`{limit}(?:, got `(\w+)`)?", problem)
    expected, got = problem, None
    if of_pattern := [words for pattern, words in _PATTERNS.items() if repr(pattern) in problem]:
        expected = of_pattern[0]
    elif match:
        expected, got = " or ".join(WORDS.get(kind, kind) for kind in match[1].split(" | ")), match[6]
        if match[2]:
            expected += f" {match[2]} {float(match[3]):g}" if float(match[3]) < 1e6 else f" {match[2]} {match[3]}"
        elif match[4] == ">=":
            expected += " that isn't empty"
        elif match[4]:
            expected += f" of at most {match[5]} characters"
    elif "date" in problem:
        expected = "a date, YYYY-MM-DD"
    elif problem == "Number out of range":
        expected = "a finite number"
    values = dict(_places(root, parsed))
    if match and match[3] in _LIMITS:
        got_number = values.get(place)
        is_above_0 = isinstance(got_number, int | float) and got_number > 0
        expected = "a number between 1e-50 and 1e+50" if is_above_0 else "a number > 0"
    # Within a mapping msgspec doesn't say which key it was at.
    shown_value = shown(values[place]) if place in values else WORDS.get(got or "", got or "something else")
    return DocumentError(path, place, f"expected {expected}, got {shown_value}")


_PATTERNS = {VISIBLE: "text that isn't blank", NAMED: "an id whose last part isn't blank"}
_LIMITS = ("1e-50", "1e+50")  # as msgspec writes those of Positive


def faults_of_text(path: Path, parsed: object, root: str = "$") -> Iterator[DocumentError]:
    """Find what a typed decoder doesn't see, or sees without its place."""
    for place, value in _places(root, parsed):
        if isinstance(value, Repeating):
            yield DocumentError(path, f"{place}.{value.twice[0]}", "expected each key once, got it twice")
        elif isinstance(value, dict):
            yield from (fault for key in value for fault in _faults_of_one_text(path, place, key))
        elif isinstance(value, NotFinite):
            yield DocumentError(path, place, f"expected a finite number, got {shown(value)}")
        elif isinstance(value, str):
            yield from _faults_of_one_text(path, place, value)


def _faults_of_one_text(path: Path, place: str, text: str) -> Iterator[DocumentError]:
    if "\x00" in text:
        yield DocumentError(path, place, "expected text without NUL, got \\u0000 in it")
    elif not text.isascii() and (half := _HALF.search(text)):
        yield DocumentError(path, place, f"expected text in Unicode, got half a character, {shown(half[0])[1:-1]}")


_HALF = re.compile("[\ud800-\udfff]")


def parse(data: bytes) -> object:
    """Parse JSON in UTF-8; a key that is there twice, and a number that no double holds, come as what they are.

    Raises:
        ValueError: it's no JSON, or isn't in UTF-8.
        RecursionError: it's nested too deeply.
    """
    return json.loads(
        data.decode("utf-8"),
        object_pairs_hook=_object,
        parse_constant=NotFinite,
        parse_float=_finite,
        parse_int=_whole,
    )


def _finite(text: str) -> object:
    """Return a number, or what it is that no double holds."""
    number = float(text)
    return number if math.isfinite(number) else NotFinite(text)


def _whole(text: str) -> object:
    """Return a whole number, or what it is that no double holds."""
    return int(text) if math.isfinite(float(text)) else NotFinite(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    repeating = Repeating(made)
    counted = Counter(key for key, _ in pairs)
    repeating.twice = tuple(key for key, count in counted.items() if count > 1)
    return repeating


def _places(place: str, value: object) -> Iterator[tuple[str, object]]:
    """Walk a parsed document, however deep: every value with its JSON path, in its order."""
    waiting: list[Iterator[tuple[str, object]]] = [iter([(place, value)])]
    while waiting:
        for at, inner in waiting[-1]:
            yield at, inner
            if isinstance(inner, dict):
                waiting.append(_within(at, inner))
                break
            if isinstance(inner, list):
                waiting.append(_items(at, inner))
                break
        else:
            waiting.pop()


def _within(place: str, value: dict[str, Any]) -> Iterator[tuple[str, object]]:
    return ((f"{place}.{key}", inner) for key, inner in value.items())


def _items(place: str, value: list[Any]) -> Iterator[tuple[str, object]]:
    return ((f"{place}[{index}]", inner) for index, inner in enumerate(value))
