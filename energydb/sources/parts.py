"""Decodes what is sound of a JSON document: faults are kept to the part that they spoil, unknown fields told."""

import difflib
import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
import msgspec.inspect

from energydb.errors import LONGEST_PLACE, DocumentError, DocumentErrors, plain
from energydb.sources.strict_json import (
    WORDS,
    NotFinite,
    Repeating,
    conversion_fault,
    decode,
    faults_of_text,
    parse,
    shown,
)

T = TypeVar("T")


class UnknownField(msgspec.Struct):
    """A field that isn't known: where it stands (* for any place), its types in words, in how many, and a value."""

    place: str
    field: str
    type: str
    objects: int
    example: str


class PartFault(NamedTuple):
    """The first fault of form of one part, which part that is by field and place or key, and what came for it."""

    part: tuple[str, int | str]
    error: DocumentError
    came: object


class Parts(NamedTuple, Generic[T]):
    """A document, or all of it that is sound.

    `places` says of each field with a list, where anything in it is at fault, where what is left stood.
    """

    value: T
    places: Mapping[str, tuple[int, ...]] = {}
    faults: Sequence[PartFault] = ()
    unknown: tuple[UnknownField, ...] = ()


def decode_parts(path: Path, data: bytes, decoder: msgspec.json.Decoder[T]) -> Parts[T]:
    """Decode a document as `decode` does; where that fails, all of it that is sound.

    Raises:
        DocumentErrors: the first fault of form that isn't of one part.
    """
    try:
        return Parts(decode(path, data, decoder))
    except DocumentErrors as error:
        return sound_parts(path, data, decoder, error)


def sound_parts(path: Path, data: bytes, decoder: msgspec.json.Decoder[T], error: DocumentErrors) -> Parts[T]:
    """Decode a document part by part, of which decoding it whole made `error`.

    Its parts are the objects in its lists and mappings: a run, a model. A field that isn't known is passed over, and
    told. A whole number may be written 4.0. Of parts that are at fault each has its first fault of form.

    Raises:
        DocumentErrors: the first fault of form that isn't of one part, or those of the parts, where none is sound.
    """
    try:
        parsed = parse(data.removeprefix(b"\xef\xbb\xbf"))
    except (RecursionError, ValueError):
        raise error from None
    mending = _Mending(path)
    kind = msgspec.inspect.type_info(decoder.type)
    mended = mending.mend(kind, parsed, "$", "$", ())
    if of_whole := mending.of_whole or next(faults_of_text(path, mended), None):
        raise DocumentErrors([of_whole])
    try:
        value = msgspec.convert(mended, decoder.type)
    except msgspec.ValidationError as unfit:
        of_parts = [one.error for one in mending.faults]
        fault = conversion_fault(path, "$", unfit, parsed)
        # Where of parts none is left, that is for faults of their own.
        is_emptied = fault.place.removeprefix("$.") in mending.places
        raise DocumentErrors(of_parts if is_emptied else [fault, *of_parts]) from unfit
    return Parts(value, mending.places, mending.faults, tuple(mending.told()))


class _Mending:
    """Takes a parsed document apart as its type says, and keeps what it finds: faults of parts, unknown fields."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.places: dict[str, tuple[int, ...]] = {}
        self.faults: list[PartFault] = []
        self.unknown: dict[str, UnknownField] = {}
        self.found: list[tuple[str, str, object]] = []  # unknown fields of what may yet be at fault
        self.of_whole: DocumentError | None = None
        self.kept: set[str] = set()  # degrees of parallelism that some part splits by

    def mend(self, kind: msgspec.inspect.Type, value: object, place: str, pattern: str, part: Any) -> object:
        """Return a value without what isn't known, and its lists and mappings without parts that are at fault.

        `pattern` is its place with * for where parts stand; `part` leads to it where it is within a part.
        """
        if isinstance(kind, msgspec.inspect.UnionType):
            of_none = value is None or len(kind.types) != 2
            return value if of_none else self.mend(_but_none(kind), value, place, pattern, part)
        if isinstance(kind, msgspec.inspect.IntType) and isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(kind, msgspec.inspect.StructType) and isinstance(value, dict):
            return self._mend_object(kind, value, place, pattern, part)
        if isinstance(kind, msgspec.inspect.VarTupleType) and isinstance(value, list):
            if part or not isinstance(kind.item_type, msgspec.inspect.StructType):
                mended = (self.mend(kind.item_type, one, f"{place}[{at}]", "", part) for at, one in enumerate(value))
                return list(mended)
            return self._sound(kind.item_type, list(enumerate(value)), place, pattern)
        if isinstance(kind, msgspec.inspect.DictType) and isinstance(value, dict):
            if part or not isinstance(kind.value_type, msgspec.inspect.StructType):
                return value
            found = self._sound(kind.value_type, list(value.items()), place, pattern, getattr(value, "twice", ()))
            keys = {at.part[1] for at in self.faults if at.part[0] == place.rpartition(".")[2]}
            return dict(zip([key for key in value if key not in keys], found, strict=True))
        return value

    def _sound(
        self,
        kind: msgspec.inspect.StructType,
        parts: Sequence[tuple[Any, object]],
        place: str,
        pattern: str,
        twice: Sequence[str] = (),
    ) -> list[object]:
        """Return the parts of a list or mapping that are sound, mended; of the others note the fault."""
        field = place.rpartition(".")[2]
        sound: list[object] = []
        places: list[int] = []
        for number, (key, came) in enumerate(parts):
            at = f"{place}[{key}]" if isinstance(key, int) else f"{place}.{key}"
            pattern_here = f"{pattern}[*]" if isinstance(key, int) else f"{pattern}.*"
            self.found = []
            try:
                if key in twice:
                    raise DocumentError(self.path, at, "expected each key once, got it twice")
                if key == "":
                    raise DocumentError(self.path, at, "expected a key that isn't empty")
                mended = self.mend(kind, came, at, pattern_here, (field, key))
                for text in (key, mended):
                    if fault := next(faults_of_text(self.path, text, at), None):
                        raise fault
                try:
                    msgspec.convert(mended, kind.cls)
                except msgspec.ValidationError as unfit:
                    raise conversion_fault(self.path, at, unfit, came) from unfit
                sound.append(mended)
                places.append(number)
                self._tell()
            except DocumentError as error:
                self.found = []
                self.faults.append(PartFault((field, key), error, came))
        if len(places) < len(parts):
            self.places[field] = tuple(places)
        return sound

    def _mend_object(
        self, kind: msgspec.inspect.StructType, value: dict[str, Any], place: str, pattern: str, part: Any
    ) -> dict[str, Any]:
        if isinstance(value, Repeating):
            fault = DocumentError(self.path, f"{place}.{value.twice[0]}", "expected each key once, got it twice")
            if part:
                raise fault
            self.of_whole = self.of_whole or fault
        known = {field.encode_name: field for field in kind.fields}
        mended: dict[str, Any] = {}
        degrees: dict[str, int | float] = {}
        unknown: list[str] = []
        for name, inner in value.items():
            if name in known:
                mended[name] = self.mend(known[name].type, inner, f"{place}.{name}", f"{pattern}.{name}", part)
            elif OTHER_PARALLEL in known and is_degree(name) and self._splits(inner, f"{place}.{name}"):
                degrees[name] = _as_count(inner)
            else:
                unknown.append(name)
        missing = [field for name, field in known.items() if name not in value and name != OTHER_PARALLEL]
        renamed = next(self._renamed(missing, [*unknown, *degrees], place), None)
        if renamed and part:
            raise renamed
        self.of_whole = self.of_whole or renamed
        given = "" if mended.get(OTHER_PARALLEL) is None else mended[OTHER_PARALLEL]
        if degrees and isinstance(given, str):
            mended[OTHER_PARALLEL] = ", ".join(filter(None, (given, written(degrees))))
        self.kept.update(degrees)
        self.found += [(f"{pattern}.{name}", name, value[name]) for name in unknown]
        if not part:
            self._tell()
        return mended

    def _splits(self, came: object, place: str) -> bool:
        """Tell whether a value is a degree of parallelism above 1: two setups must never become one curve.

        Raises:
            DocumentError: it's a number too large to be one.
        """
        if isinstance(came, NotFinite):
            raise DocumentError(self.path, place, f"expected a finite number, got {shown(came)}")
        if isinstance(came, bool) or not isinstance(came, int | float) or came <= 1:
            return False
        if came > _MOST:
            raise DocumentError(self.path, place, f"expected a number <= {_MOST}, got {shown(came)}")
        return True

    def _renamed(
        self, missing: Sequence[msgspec.inspect.Field], unknown: Sequence[str], place: str
    ) -> Iterator[DocumentError]:
        """Find a field that is missing while one of nearly its name is there: a slip, or a new name for it."""
        unknown = unknown[:_MANY]
        for field in missing:
            name = field.encode_name
            if near := [other for other in unknown if _is_near(name, other)]:
                yield DocumentError(
                    self.path, f"{place}.{near[0]}", f"expected no such field, got one: did you mean {name}?"
                )
            elif field.required and (near := difflib.get_close_matches(name, unknown, n=1, cutoff=0.5)):
                problem = f"expected a value, got no such field; is it what {near[0]} holds, which isn't known?"
                yield DocumentError(self.path, f"{place}.{name}", problem)

    def told(self) -> Iterator[UnknownField]:
        """Yield the fields that aren't known, but for degrees that say 1 where they aren't kept."""
        return (one for one in self.unknown.values() if not (one.field in self.kept and one.example in _ONE))

    def _tell(self) -> None:
        """Take down the unknown fields that were found in what is sound."""
        for place, field, value in self.found:
            word = "null" if value is None else WORDS[_JSON_NAMES.get(type(value), "object")]
            told = self.unknown.get(place)
            if told is None:
                self.unknown[place] = UnknownField(_short(place), _short(field), word, 1, shown(value))
                continue
            told.objects += 1
            if word not in told.type.split(", "):
                told.type += f", {word}"
        self.found = []


OTHER_PARALLEL = "other_parallel"
OTHER_KIND = "a kind of task"  # as the type of what is no field: a task of which nothing can be kept
_ONE = ("1", "1.0")
_MOST = 2**31 - 1  # as of every count
_MANY = 1000
_JSON_NAMES = {bool: "bool", int: "int", float: "float", NotFinite: "float", str: "str", list: "array"}


def _short(name: str) -> str:
    name = plain(name)
    return name if len(name) <= LONGEST_PLACE else f"{name[: LONGEST_PLACE - 3]}..."


def written(degrees: Mapping[str, int | float]) -> str:
    """Put degrees of parallelism that have no field of their own into the text that stands for all of them."""
    return ", ".join(f"{name} {degree}" for name, degree in sorted(degrees.items()))


def degrees_of(text: str) -> dict[str, int | float]:
    """Return the degrees that a text stands for; none where it isn't as `written` writes them.

    >>> degrees_of("context_parallel 2, ring_degree 4"), degrees_of("context_parallel 2, and more")
    ({'context_parallel': 2, 'ring_degree': 4}, {})
    """
    pairs = [part.rpartition(" ") for part in text.split(", ")]
    if not all(is_degree(name) and re.fullmatch(r"[1-9][0-9]*(\.[0-9]+)?", degree) for name, _, degree in pairs):
        return {}
    degrees = {name: _as_count(json.loads(degree)) for name, _, degree in pairs}
    is_read_so = written(degrees) == text and all(1 < degree <= _MOST for degree in degrees.values())
    return degrees if is_read_so else {}


def _but_none(kind: msgspec.inspect.UnionType) -> msgspec.inspect.Type:
    return next(one for one in kind.types if not isinstance(one, msgspec.inspect.NoneType))


def _as_count(degree: int | float) -> int | float:
    return int(degree) if degree == int(degree) else degree


def is_degree(name: str) -> bool:
    """Tell a degree of parallelism by its name, whatever it is that is split.

    >>> is_degree("context_parallel"), is_degree("cfg_degree"), is_degree("num_parallel_requests")
    (True, True, False)
    """
    return name.endswith(("_parallel", "_parallel_size", "_degree"))


@functools.lru_cache(maxsize=2**16)
def _is_near(name: str, other: str) -> bool:
    """Tell whether one name is another misspelt or with its words in another order; numbers must be the same.

    >>> _is_near("p95_itl_ms", "itl_p95_ms"), _is_near("p95_itl_ms", "p50_itl_ms"), _is_near("repeat", "repeats")
    (True, False, True)
    """
    one, two = (
        re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", it).lower()) for it in (name, other)
    )
    if sorted(re.findall(r"\d+", one)) != sorted(re.findall(r"\d+", two)):
        return False
    is_slip = len(one) > 3 and difflib.SequenceMatcher(None, one, two).ratio() >= 0.85
    return one.replace("_", "") == two.replace("_", "") or sorted(one.split("_")) == sorted(two.split("_")) or is_slip
