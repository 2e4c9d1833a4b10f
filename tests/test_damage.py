"""Every field of a document, damaged in every way: refused at its place, found by a rule, or named here."""

import copy
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from energydb import RELEASED
from energydb.errors import DocumentErrors
from energydb.sources.document import read_document
from energydb.sources.leaderboard import read_leaderboard
from energydb.store.columns import batch_of
from energydb.store.database import open_engine
from energydb.store.rows import insert, table_rows
from energydb.store.schema import lay_out
from tests.conftest import swept
from tests.documents import SCOUT, faults_of
from tests.leaderboards import write_leaderboard

RUN = "$.configurations[3]"
WHOLE = json.loads(SCOUT.read_text())
FIELDS = [
    *(f"$.{name}" for name in WHOLE if name not in ("configurations", "source", "best")),
    *(f"$.source.{name}" for name in WHOLE["source"]),
    *(f"{RUN}.{name}" for name in WHOLE["configurations"][3]),
]


def _steps(place: str) -> list[Any]:
    return [int(step) if step.isdigit() else step for step in re.findall(r"\w+", place)]


def _holder(made: Any, place: str) -> tuple[Any, Any]:
    *parents, last = _steps(place)
    for step in parents:
        made = made[step]
    return made, last


def _damages(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what may become of a value: a name for the damage, and the damaged value."""
    yield "null", None
    yield "list", [value]
    yield "object", {"value": value}
    yield "NaN", float("nan")
    yield "Infinity", float("inf")
    if isinstance(value, bool):
        yield "other", not value
        yield "text", "true"
        yield "number", 1
    elif isinstance(value, int | float):
        yield "text", str(value)
        yield "true", True
        yield "negative", -value
        yield "zero", 0
        yield "huge", 10**30
        yield "1000 times", value * 1000
        yield "a thousandth", value / 1000
        yield "half more", value * 1.5 if isinstance(value, float) else value + value // 2 + 1
    elif isinstance(value, str):
        yield "number", 1
        yield "empty", ""
        yield "blank", "  \t"
        yield "NUL", value[:3] + "\0" + value[3:]
        if value.swapcase() != value:
            yield "other case", value.swapcase()
        yield "cut", value[:-1]
    else:
        yield "empty", []
        yield "text", "H100"


def _cases() -> Iterator[tuple[str, str, str]]:
    """Yield place, damage, and the damaged document as text."""
    for place in FIELDS:
        holder, last = _holder(WHOLE, place)
        value = holder[last]
        for damage, damaged in _damages(value):
            made = copy.deepcopy(WHOLE)
            holder, last = _holder(made, place)
            holder[last] = damaged
            yield place, damage, json.dumps(made)
        made = copy.deepcopy(WHOLE)
        holder, last = _holder(made, place)
        del holder[last]
        yield place, "removed", json.dumps(made)
        made = copy.deepcopy(WHOLE)
        holder, last = _holder(made, place)
        holder[f"{last}_"] = holder.pop(last)
        yield place, "misspelt", json.dumps(made)
        twice = f'"{last}": {json.dumps(value)}'
        text = json.dumps(WHOLE)
        start = text.index('"max_num_seqs": 64') - 200 if place.startswith(RUN) else 0
        start = text.index('"source"') if place.startswith("$.source.") else start
        at = text.index(f'"{last}":', max(start, 0))
        yield place, "twice", f"{text[:at]}{twice}, {text[at:]}"
    names = list(WHOLE["configurations"][3])
    for one, other in pairwise(names):
        made = copy.deepcopy(WHOLE)
        run = made["configurations"][3]
        run[one], run[other] = run[other], run[one]
        if made != WHOLE:
            yield f"{RUN}.{one}", f"swapped with {other}", json.dumps(made)


CASES = list(_cases())

# Damage that can't be told from good data: by (field, damage), with the reason. Anything else that passes is a fault.
_PROSE = "prose may say anything, and has no fixed form"
_NAME = "a name may be written in any way; nothing else in the document says it"
SILENT = {
    **{
        (f"$.{name}", damage): reason
        for name, reason in {
            "caveat": _PROSE,
            "name": _NAME,
            "model_id": _NAME,
            **{
                f"source.{field}": _PROSE
                for field in (
                    *("publisher", "url", "version", "compiled_evidence", "licence", "method", "selection"),
                    *("cite", "cite_url", "used_for", "configurations"),
                )
            },
            "source.name": "another name is another source, as far as one document can tell",
        }.items()
        for damage in ("other case", "cut")
    },
    ("$.source.licence_evidence", "empty"): "a licence may lack evidence: an empty list says so",
    ("$.itl_deadline_ms", "1000 times"): "a deadline is a choice, and every run keeps a longer one",
    ("$.itl_deadline_ms", "half more"): "a deadline is a choice, and every run keeps a longer one",
    ("$.params_b", "half more"): "a total half as large again is plausible: 109 or 163 billion",
    ("$.active_params_b", "half more"): "a share of active parameters half as large again is plausible",
    (f"{RUN}.avg_output_tokens", "half more"): "output lengths vary as much between runs",
    (f"{RUN}.p99_itl_ms", "half more"): "nothing bounds the last percentile closely",
    (f"{RUN}.row_id", "removed"): "a field that came late: it is filled by its rule",
    (f"{RUN}.repeat", "removed"): "a field that came late: it is filled by its rule",
    (f"{RUN}.precision", "other case"): "a usual spelling: it's one name, and the publisher's words are kept beside",
    (f"{RUN}.data_parallel", "swapped with expert_parallel"): "both splits of the model make 4 GPUs",
}


def refuse_faults(reader, path) -> None:
    """Raise all that a reader finds against what it reads, whatever it spoils."""
    if found := faults_of(reader, path):
        raise DocumentErrors([fault.error for fault in found])


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    """Load a document into a file that is emptied again; return the checks that found something, and what is told."""
    folder = tmp_path_factory.mktemp("damage")
    engine = open_engine(folder / "energy.duckdb")
    with engine.connect() as connection:
        lay_out(connection)
        connection.commit()

        def find(text: str) -> set[str]:
            path = folder / "llama-4-scout-17b-16e-instruct.json"
            path.write_text(text)
            refuse_faults(read_document, path)
            for rows in table_rows([batch_of(read_document(path).documents)], (), ("0", RELEASED, "none")):
                insert(connection, rows)
            found = (
                connection.exec_driver_sql("select check_name from data_quality union all select kind from notice")
                .scalars()
                .all()
            )
            connection.rollback()
            return set(found)

        yield find
    engine.dispose()


@pytest.mark.slow
@pytest.mark.parametrize("step", [13, swept(1)])
def test_no_damage_is_silently_accepted(findings, proved, step):
    """Refused at its place, or found; the few that can't be told are listed, and each of those is silent indeed."""
    refused, found, silent, misplaced = [], [], set(), []
    tried = CASES[::step]
    for place, damage, text in tried:
        try:
            checks = findings(text)
        except DocumentErrors as error:
            refused.append((place, damage))
            if not all(": $" in str(one) for one in error.errors):
                misplaced.append((place, damage, error.lines))
            continue
        if checks:
            found.append((place, damage))
        else:
            silent.add((place, damage))
    assert misplaced == []
    assert sorted(silent - SILENT.keys()) == []
    assert sorted(SILENT.keys() & {(place, damage) for place, damage, _ in tried} - silent) == []
    assert all(SILENT.values())
    assert refused
    assert found
    if step == 1:
        assert SILENT.keys() == silent
        gave = f"{len(refused)} refused, {len(found)} found; {len(silent)} can't be told from good data"
        proved("A damaged document", f"{len(CASES)} damages", gave)


def test_there_are_hundreds_of_cases():
    assert len(CASES) > 700


# --- The leaderboard's folder: every figure stands in two files, so damage in one of them is a disagreement ------

LEADERBOARD_SILENT = {
    ("data", "llm", "misspelt"): "the lists of tasks may be renamed",
    **{(where, "architecture", "removed"): "all other places say it" for where in ("data", "tasks", "models")},
    **{("tasks", "task_display_name", damage): _PROSE for damage in ("other case", "cut")},
    **{("models", "notes", damage): _PROSE for damage in ("blank", "cut", "empty")},
}


def _places(made: Any, place: str = "$") -> Iterator[str]:
    """Yield the path of every field, of lists the first item only."""
    if isinstance(made, dict):
        for name, value in made.items():
            yield f"{place}\0{name}"
            yield from _places(value, f"{place}\0{name}")
    elif isinstance(made, list) and made and isinstance(made[0], dict):
        yield from _places(made[0], f"{place}\0#0")


def _at(made: Any, place: str) -> tuple[Any, Any]:
    *parents, last = [0 if step == "#0" else step for step in place.split("\0")[1:]]
    for step in parents:
        made = made[step]
    return made, last


@pytest.mark.parametrize("step", [29, swept(1)])
def test_no_damage_of_a_leaderboard_is_silently_accepted(tmp_path, proved, step):
    """Each field of each kind of file: refused, but for what nothing else says."""
    folder = write_leaderboard(tmp_path / "data")
    files = [folder / "index.json"]
    files += [folder / "tasks" / f"{task}.json" for task in ("gpqa", "text-to-image", "text-to-video")]
    files += sorted(path for path in (folder / "models").glob("*.json") if "lm-arena" not in path.name)
    count, silent, misplaced = 0, set(), []
    for path in files:
        whole = json.loads(path.read_text())
        for place in _places(whole):
            holder, last = _at(whole, place)
            for damage, damaged in [*_damages(holder[last]), ("removed", None), ("misspelt", None)]:
                count += 1
                if count % step:
                    continue
                made = copy.deepcopy(whole)
                holder, last = _at(made, place)
                if damage in ("removed", "misspelt"):
                    value = holder.pop(last)
                    if damage == "misspelt":
                        holder[f"{last}_"] = value
                else:
                    holder[last] = damaged
                path.write_text(json.dumps(made))
                try:
                    refuse_faults(read_leaderboard, folder)
                    if any(read.unknown for read in read_leaderboard(folder).documents):
                        continue  # told
                    silent.add((path.parent.name, last, damage))
                except DocumentErrors as error:
                    misplaced += [str(one) for one in error.errors if str(folder) not in str(one)]
        path.write_text(json.dumps(whole))
    assert misplaced == []
    assert sorted(silent - LEADERBOARD_SILENT.keys()) == []
    assert count > 2000
    if step == 1:
        assert sorted(LEADERBOARD_SILENT.keys() - silent) == []
        gave = f"{len(silent)} kinds can't be told from good data"
        proved("A damaged file of the leaderboard", f"{count:,} damages", gave)
