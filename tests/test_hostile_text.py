"""Text that means harm: stored exactly, and shown harmlessly in every format."""

import csv
import json
from io import StringIO

import duckdb
import pytest

from energydb.load import load
from tests.documents import document, write

HOSTILE = {
    "quotes": "Robert'); drop table model; --\"",
    "terminal": "\x1b[2J\x1b[31mred\x07\x9b0m",
    "line ends": "one\r\ntwo\u2028three\x0bfour",
    "markup": "[bold]x[/bold] <script>alert(1)</script> `code` | cell | ![i](x) & {{7*7}} %s {0}",
    "formula": "=cmd|' /C calc'!A0",
    "formula too": "@SUM(1+1)*cmd",
    "right to left": "abc\u202egnp.exe\u2066\u200f",
    "wide": "模型 Σ 🤖 e\u0301",
    "long": "x" * 60_000,
}


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """One document a text, which is its model's name and its caveat's."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "in").mkdir()
    for place, text in enumerate(HOSTILE.values()):
        made = document(slug=f"m{place}", name=text, model_id=f"org/m{place}")
        for run in (*made["configurations"], *made["best"].values()):
            run["row_id"] = run["row_id"].replace("small", f"m{place}")
        write(folder / "in" / f"{place}.json", made)
    load([folder / "in"], folder / "energy.duckdb", strict=True)
    return folder / "energy.duckdb"


SQL = "select slug, name from model order by slug"


def test_it_is_stored_exactly(database, proved):
    with duckdb.connect(str(database), read_only=True) as connection:
        stored = [name for _, name in connection.execute(SQL).fetchall()]

    assert stored == list(HOSTILE.values())
    proved("Hostile text", f"{len(HOSTILE)} texts", f"{len(stored)} stored as they came")


def ask(energydb, database, format):
    done = energydb("query", SQL, "--database", database, "--format", format)
    assert done.returncode == 0
    return done.stdout


def test_json_and_parquet_give_it_back(energydb, database, tmp_path):
    assert [row["name"] for row in json.loads(ask(energydb, database, "json"))] == list(HOSTILE.values())
    energydb("query", SQL, "--database", database, "--output", "out.parquet")
    assert [name for _, name in duckdb.sql(f"from '{tmp_path}/out.parquet'").fetchall()] == list(HOSTILE.values())


def test_csv_gives_it_back_but_starts_no_formula(energydb, database, tmp_path):
    energydb("query", SQL, "--database", database, "--output", "out.csv")
    text = (tmp_path / "out.csv").read_bytes().decode()
    read = [row["name"] for row in csv.DictReader(StringIO(text, newline=""))]

    assert read == [f"'{name}" if name[0] in "=@" else name for name in HOSTILE.values()]


@pytest.mark.parametrize("format", ["table", "markdown"])
def test_what_is_shown_moves_nothing(energydb, database, format):
    """No control, direction or line character of the text reaches the terminal; a row stays a row."""
    shown = ask(energydb, database, format)

    assert {char for char in shown if not char.isprintable()} <= {"\n"}
    assert sum(line.lstrip("| ").startswith("m") for line in shown.splitlines()) == len(HOSTILE)


def test_markdown_keeps_its_cells(energydb, database):
    """Nothing in a cell ends it, or becomes markup."""
    lines = ask(energydb, database, "markdown").splitlines()[2:]

    for line in lines:
        assert line.replace("\\|", "").count("|") == 3
        assert "<script" not in line.replace("\\<", "")


def test_a_fault_shows_it_on_one_line(energydb, tmp_path):
    """In a name, a key and a value."""
    hostile = HOSTILE["terminal"] + HOSTILE["line ends"]
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "a.json", document(unit=hostile))
    write(tmp_path / "in" / "b.json", document(best={hostile: 1}))
    write(tmp_path / "in" / f"c{hostile}.json", document(boundary="wall"))
    done = energydb("check", "in")

    assert (done.returncode, done.stdout) == (1, "")
    assert {char for char in done.stderr if not char.isprintable()} == {"\n"}
    assert len(done.stderr.splitlines()) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "key", [*HOSTILE.values(), "a\0b", "half \ud800", ""], ids=[*HOSTILE, "NUL", "half", "empty"]
)
def test_a_field_of_any_name_and_value_is_told(tmp_path, key):
    """And not refused; what of its name can't be stored is written as an escape."""
    load([write(tmp_path / "a.json", document() | {key: key})], tmp_path / "energy.duckdb", strict=False)
    with duckdb.connect(str(tmp_path / "energy.duckdb"), read_only=True) as connection:
        ((place, field, example),) = connection.execute("select place, field, example from unknown_field").fetchall()

    stored = {"a\0b": "a\\u0000b", "half \ud800": "half \\ud800", HOSTILE["long"]: f"{'x' * 197}..."}.get(key, key)
    assert field == stored
    assert place == (f"$.{'x' * 195}..." if key == HOSTILE["long"] else f"$.{stored}")
    whole = json.dumps(key)
    assert example == (whole if len(whole) <= 80 else f"{whole[:77]}...")
