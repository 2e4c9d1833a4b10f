"""Input of every sort to the readers: whatever it is, the project's own error or a reading, and nothing else."""

import json
import math
import os
import random
import threading
import time
from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energydb.errors import DocumentErrors, MachineError
from energydb.sources.document import read_document
from energydb.sources.leaderboard import read_leaderboard
from energydb.store.columns import batch_of
from tests.documents import SCOUT, document, run, write
from tests.leaderboards import small_tasks, write_leaderboard

EXAMPLES = int(os.environ.get("ENERGYDB_EXAMPLES", "150"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
SMALL = json.dumps(document(run(), run(max_num_seqs=16)), indent=1).encode()


def faults(reader, path) -> tuple[str, ...]:
    """Return what a reader says against its input; what it takes can be stored, and so can what it says."""
    try:
        reading = reader(path)
    except DocumentErrors as error:
        return tuple(map(str, error.errors))
    for read in reading.documents:
        assert storable((msgspec.structs.astuple(read.head), [msgspec.structs.astuple(one) for one in read.unknown]))
        assert storable([[model.slug, model.name, model.model_id, model.architecture] for model in read.models])
        assert storable([list(model.runs.columns.values()) for model in read.models])
        assert all(
            len(model.runs) > 0 and max(model.picks.values(), default=0) < len(model.runs) for model in read.models
        )
        batch_of([read])
    found = [*(fault for read in reading.documents for fault in read.faults), *reading.faults]
    assert storable([(fault.task, fault.model_id) for fault in found])
    assert all(fault.runs is None or fault.runs >= 0 for fault in found)
    assert reading.documents or found
    return tuple(str(fault.error) for fault in found)


def storable(value) -> bool:
    """Tell whether all text in a value is UTF-8 without NUL, and every number within a column's range."""
    if isinstance(value, str):
        return "\0" not in value and bool(value.encode("utf-8") or True)
    if isinstance(value, list | tuple):
        return all(map(storable, value))
    if isinstance(value, int):
        return abs(value) < 2**63
    return not isinstance(value, float) or math.isfinite(value)


TRIED = Counter()


def read(path, data: bytes) -> None:
    """Read; any exception other than the project's own is a failure, and so is a fault without its file."""
    TRIED["by Hypothesis"] += 1
    path.write_bytes(data)
    said = faults(read_document, path)
    assert storable(said)
    assert all(line.startswith(f"{path}: ") and len(line) < 800 for line in said)


@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_bytes_changed_anywhere(data, tmp_path_factory):
    """Flipped, cut out, doubled or put in, a few at a time."""
    path = tmp_path_factory.getbasetemp() / "fuzz.json"
    made = bytearray(SMALL)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(made) - 1))
        length = data.draw(st.integers(0, 20))
        new = data.draw(
            st.binary(max_size=6) | st.sampled_from([b'"', b"{", b"]", b"\\u0000", b"1e999", b"\xff", b"NaN"])
        )
        made[place : place + length] = new
    read(path, bytes(made))


@settings(max_examples=EXAMPLES, deadline=None)
@given(value=JSON, place=st.integers(0, 59))
def test_any_value_in_any_place(value, place, tmp_path_factory):
    """Whatever JSON can hold, where a document holds something else."""
    made = document(run())
    holders = [(made, key) for key in made]
    holders += [(made["source"], key) for key in made["source"]]
    made["configurations"][0] = dict(made["configurations"][0])  # the pick has its own
    holders += [(made["configurations"][0], key) for key in made["configurations"][0]]
    holder, key = holders[place % len(holders)]
    holder[key] = value
    read(tmp_path_factory.getbasetemp() / "fuzz.json", json.dumps(made).encode("utf-8", "surrogatepass"))


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None)
@given(value=JSON, key=st.text() | st.sampled_from(["x_parallel", "ring_degree", "repeats", "a\0", "other_parallel"]))
def test_any_field_besides(value, key, tmp_path_factory):
    """Whatever its name and value, in the head, a run and a pick: told, or a fault of that one."""
    made = document(run(), run(max_num_seqs=16))
    for holder in (made, made["source"], made["configurations"][1], made["best"], made["best"]["H100"]):
        holder.setdefault(key, value)
        read(tmp_path_factory.getbasetemp() / "fuzz.json", json.dumps(made).encode("utf-8", "surrogatepass"))


def test_a_leaderboard_changed_anywhere(tmp_path):
    """Every file of the folder, at places over the whole of it."""
    chance = random.Random(1)
    folder = write_leaderboard(tmp_path / "data", small_tasks())
    for path in sorted(folder.rglob("*.json")):
        good = path.read_bytes()
        for _ in range(12):
            made = bytearray(good)
            place = chance.randrange(len(made))
            made[place : place + chance.randrange(9)] = chance.choice(
                [b"", b"0", b'"', b"null", b"{}", b"\xff", b"-1e400"]
            )
            path.write_bytes(made)
            said = faults(read_leaderboard, folder)
            assert all(line.startswith(f"{folder}/") and len(line) < 800 for line in said), said
            TRIED["by random changes"] += 1
        path.write_bytes(good)
    read_leaderboard(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "$: expected a model document, got "),
        ('{"version":' + "[" * 100_000 + "]" * 100_000 + "}", "$.version: expected a model document, got "),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "$: expected a model document, got "),
        (
            json.dumps(document()).replace("1.0", "1" * 5000, 1),
            "$.configurations[0].joules_per_output_token: expected a finite number, got 1111",
        ),
        (json.dumps(document()).replace('token": 1.0', 'token": ' + "1" * 30), None),
        (
            json.dumps(document()).replace('"BF16"', '"\\ud800"', 1),
            "$.configurations[0].precision: expected text in Unicode, got half a character, \\ud800",
        ),
        (
            "{" + ",".join(f'"k{number}": {number}' for number in range(100_000)) + "}",
            "$: expected a model document, got another kind of JSON, which begins with k0, k1, k2, k3",
        ),
        (json.dumps(document(caveat="x" * 20_000_000)), "$.caveat: expected text of at most 65536 characters, got "),
        (SCOUT.read_text() * 2, "$: expected JSON, got '{' at line "),
    ],
    ids=[
        "open lists",
        "deep list",
        "deep objects",
        "5000 digits",
        "30 digits",
        "half a pair",
        "10⁵ keys",
        "20 MB",
        "two",
    ],
)
def test_extremes(tmp_path, text, said):
    """Depth, length and number have ends; each is a fault at its place, or plainly a number."""
    path = tmp_path / "extreme.json"
    path.write_text(text)
    found = faults(read_document, path)

    assert len(found) == (said is not None)
    assert all(line.startswith(f"{path}: {said}") and len(line) < 800 for line in found), found


@pytest.mark.sweep
def test_a_million_keys(tmp_path):
    """One line all the same."""
    path = tmp_path / "extreme.json"
    path.write_text("{" + ",".join(f'"k{number}": {number}' for number in range(1_000_000)) + "}")

    (line,) = faults(read_document, path)
    assert line == (
        f"{path}: $: expected a model document, got another kind of JSON, which begins with k0, k1, k2, k3"
    )


@pytest.mark.slow
def test_many_fields_that_are_not_known_are_read_in_time(tmp_path):
    """10⁵ in the head, and a thousand in each of 200 runs: each is told, in how many."""
    runs = [run(max_num_seqs=number + 1) | {f"k{key}": key for key in range(1000)} for number in range(200)]
    for made in runs:
        del made["repeat"]  # so that each is held against a name that is missing
    made = document(*runs) | {f"k{key}": key for key in range(100_000)}
    start = time.monotonic()
    (read,) = read_document(write(tmp_path / "many.json", made)).documents

    assert time.monotonic() - start < 30
    assert (len(read.models[0].runs), len(read.unknown)) == (200, 100_000 + 2 * 1000)
    assert [one.objects for one in read.unknown if one.place == "$.configurations[*].k7"] == [200]


def test_what_was_tried(proved):
    """All of it by the tests above, so that none is left out."""
    assert TRIED["by Hypothesis"] >= EXAMPLES
    assert TRIED["by random changes"] > 100
    given = ", ".join(f"{count} {how}" for how, count in TRIED.items())
    proved("Any input ends", "1,050 by Hypothesis, 12 a file", f"{given}: none with anything else")


@pytest.mark.sweep
def test_a_text_of_200_megabytes(tmp_path):
    """Refused by its length, in words of one line."""
    path = tmp_path / "extreme.json"
    path.write_text(json.dumps(document()).replace('"caveat": "', '"caveat": "' + "x" * 200_000_000, 1))

    (line,) = faults(read_document, path)
    assert line.startswith(f"{path}: $.caveat: expected text of at most 65536 characters, got ")
    assert len(line) < 300


def test_a_file_that_is_written_to_while_it_is_read(tmp_path):
    """Half of the old and half of the new would be neither."""
    path = tmp_path / "growing.json"
    path.write_bytes(b" " * 50_000_000)
    stop = threading.Event()

    def grow() -> None:
        with path.open("ab", buffering=0) as file:
            while not stop.is_set():
                file.write(b" ")

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        with pytest.raises(MachineError, match="was written to while it was read; try again"):
            read_document(path)
    finally:
        stop.set()
        thread.join()


def test_a_file_that_goes_while_it_is_read(tmp_path):
    path = write(tmp_path / "gone.json", document())
    path.unlink()

    with pytest.raises(DocumentErrors, match="expected a file, got none"):
        read_document(path)
