"""Decodes JSON strictly for every reader, and puts what is wrong in words: place, expected, got."""

import functools
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, cast

import msgspec
import msgspec.inspect
from msgspec import Meta

from energydb.errors import DocumentError, DocumentErrors, MachineError

T = TypeVar("T")

Count = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Positive = Annotated[float, Meta(gt=0)]
Text = Annotated[str, Meta(min_length=1, max_length=2**16)]

_WORDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "object": "an object",
    "str": "text",
}


class _Repeating(dict[str, Any]):
    """An object of a document in which a key came twice."""

    key = ""


class _NotFinite(NamedTuple):
    """NaN or Infinity, which Python's parser takes and JSON doesn't know."""

    name: str


def read_bytes(path: Path) -> bytes:
    """Read a regular file whole.

    Raises:
        DocumentErrors: it is something else, a folder or a pipe.
        MachineError: it can't be read, or was written to meanwhile.
    """
    try:
        path.name.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DocumentErrors([DocumentError(path, "", "expected a file name in UTF-8")]) from error
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DocumentErrors([DocumentError(path, "", "expected a file, got something else")])
        with path.open("rb", buffering=0) as file:
            before = os.fstat(file.fileno())
            data = file.read()
            after = os.fstat(file.fileno())
    except FileNotFoundError as error:
        raise DocumentErrors([DocumentError(path, "", "expected a file, got none")]) from error
    except OSError as error:
        raise MachineError(f"{path}: can't be read: {error.strerror}") from error
    if (before.st_size, before.st_mtime_ns, len(data)) != (after.st_size, after.st_mtime_ns, after.st_size):
        raise MachineError(f"{path}: was written to while it was read; try again when it's whole")
    return data


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
        fault = next(_faults_of_text(path, _parse(data.removeprefix(b"\xef\xbb\xbf"))), None)
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
    if isinstance(value, _NotFinite):
        return value.name
    text = json.dumps(value, ensure_ascii=True, default=str)
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
        parsed = _parse(data)
    except json.JSONDecodeError as fault:
        got = "the end of the file" if fault.pos >= len(fault.doc.rstrip()) else f"{fault.doc[fault.pos]!r}"
        return DocumentError(
            path, "$", f"expected JSON, got {got} at line {fault.lineno}, column {fault.colno} ({fault.msg})"
        )
    except (RecursionError, ValueError):  # nested too deeply, or an integer of thousands of digits
        return DocumentError(path, place, f"expected a model document, got {problem}")
    if not isinstance(error, msgspec.ValidationError):
        return next(_faults_of_text(path, parsed), DocumentError(path, "$", f"expected JSON, got {problem}"))
    return _validation_fault(path, place, problem, parsed)


def _validation_fault(path: Path, place: str, problem: str, parsed: object) -> DocumentError:
    if match := re.match(r"Object (missing required|contains unknown) field `(.*)`", problem, re.DOTALL):
        missing = match[1] == "missing required"
        return DocumentError(
            path,
            f"{place}.{match[2]}",
            "expected a value, got no such field" if missing else "expected no such field, got one: misspelt?",
        )
    match = re.match(r"Expected `(\w+)`(?: ([<>=]+) ([\d.]+)| of length ([<>=]+) (\d+))?(?:, got `(\w+)`)?", problem)
    expected, got = problem, None
    if match:
        expected, got = _WORDS.get(match[1], match[1]), match[6]
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
    values = dict(_places("$", parsed))
    # Within a mapping msgspec doesn't say which key it was at.
    shown_value = shown(values[place]) if place in values else _WORDS.get(got or "", got or "something else")
    return DocumentError(path, place, f"expected {expected}, got {shown_value}")


def _faults_of_text(path: Path, parsed: object) -> Iterator[DocumentError]:
    """Find what a typed decoder doesn't see, or sees without its place."""
    for place, value in _places("$", parsed):
        if isinstance(value, _Repeating):
            yield DocumentError(path, f"{place}.{value.key}", "expected each key once, got it twice")
        elif isinstance(value, _NotFinite):
            yield DocumentError(path, place, f"expected a finite number, got {value.name}")
        elif isinstance(value, str) and "\x00" in value:
            yield DocumentError(path, place, "expected text without NUL, got \\u0000 in it")


def _parse(data: bytes) -> object:
    return json.loads(data, object_pairs_hook=_object, parse_constant=_NotFinite)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made and not isinstance(made, _Repeating):
            made = _Repeating(made)
            made.key = key
        made[key] = value
    return made


def _places(place: str, value: object) -> Iterator[tuple[str, object]]:
    """Walk a parsed document: every value with its JSON path."""
    yield place, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(f"{place}.{key}", inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(f"{place}[{index}]", inner)
