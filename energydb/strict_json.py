"""Decodes JSON strictly for every reader, and puts what is wrong in words: place, expected, got."""

import functools
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
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
    """Decode a document by `decoder`; a byte-order mark is taken.

    Raises:
        DocumentErrors: the first fault of form.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        document = decoder.decode(data)
    except msgspec.DecodeError as error:
        raise DocumentErrors([_form_fault(path, data, error)]) from error
    if b"\\u0000" in data or _count_keys(data) != _count_fields(document):
        fault = next(_faults_of_text(path, _parse(data)), None)
        if fault is not None:
            raise DocumentErrors([fault])
    return document


def _count_fields(value: object) -> int:
    """Count the keys that a decoded document must have come with, through all that it holds.

    A field that may be absent counts where it isn't None.
    """
    if isinstance(value, dict):
        return len(value) + sum(map(_count_fields, value.values()))
    if isinstance(value, tuple):
        return 0 if value and not isinstance(value[0], msgspec.Struct) else sum(map(_count_fields, value))
    if isinstance(value, msgspec.Struct):
        fields = [(field.required, getattr(value, field.name)) for field in _fields(type(value))]
        present = [inner for required, inner in fields if required or inner is not None]
        return len(present) + sum(
            _count_fields(inner) for inner in present if isinstance(inner, dict | tuple | msgspec.Struct)
        )
    return 0


_fields = functools.cache(msgspec.structs.fields)


def _count_keys(data: bytes) -> int | None:
    """Count the key tokens, quickly; None where white space before a colon makes that unsure.

    As many as the decoded fields means that no key came twice; a quote and colon within a text can only
    raise the number. Otherwise the exact and slow search decides.
    """
    if any(data.count(blank) for blank in (b" :", b"\t:", b"\n:", b"\r:")):
        return None
    return data.count(b'":')


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
        return DocumentError(
            path,
            "$",
            f"expected UTF-8, got byte 0x{data[fault.start]:02x} at {fault.start}",
        )
    problem, _, place = str(error).partition(" - at `")
    place = place.removesuffix("`").removeprefix("key` in `") or "$"
    try:
        parsed = _parse(data)
    except json.JSONDecodeError as fault:
        got = "the end of the file" if fault.pos >= len(fault.doc.rstrip()) else f"{fault.doc[fault.pos]!r}"
        return DocumentError(
            path,
            "$",
            f"expected JSON, got {got} at line {fault.lineno}, column {fault.colno} ({fault.msg})",
        )
    except (
        RecursionError,
        ValueError,
    ):  # nested too deeply, or an integer of thousands of digits
        return DocumentError(path, place, f"expected a model document, got {problem}")
    if not isinstance(error, msgspec.ValidationError):
        return next(
            _faults_of_text(path, parsed),
            DocumentError(path, "$", f"expected JSON, got {problem}"),
        )
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
