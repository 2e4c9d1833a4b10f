"""The READMEs' own words: each command is run, and its output held against the page."""

import csv
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy

from energydb import __version__
from energydb.load import PUBLISHED_MODELS, load
from energydb.paths import DATA, ROOT
from energydb.store.tables import Base
from energydb.store.views import read_views
from tests.benchmarks import __main__ as measured
from tests.readme import BEGIN, END, FIRST, PAGES, README, VIEWS, blocks, prepare, put_between, run, table_of_views

HERE = [block for block in blocks() if "uv run energydb" in block.command]
SHELL = [block for block in blocks() if block.command.startswith("duckdb ")]
SHELL_LINE = 'duckdb -readonly energy.duckdb "from best_pick"'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as after the first command, with the data beside it."""
    folder = tmp_path_factory.mktemp("readme")
    prepare(folder)
    return folder


@pytest.mark.parametrize("block", HERE, ids=lambda block: block.command[:60])
def test_a_command_prints_what_the_page_shows(folder, programs, block):
    assert run(block.command, folder, programs / "energydb") == block.output


@pytest.mark.clients
def test_the_shell_line_answers(folder, duckdb_cli):
    """Its whole output is wider than a page, so the page shows the line alone."""
    assert run(f"{SHELL_LINE} | cat", folder, duckdb_cli).count("52.41") == 1


@pytest.mark.clients
@pytest.mark.parametrize("block", SHELL, ids=lambda block: block.command[:60])
def test_a_shell_line_prints_what_the_page_shows(folder, duckdb_cli, block):
    assert run(block.command, folder, duckdb_cli) == block.output


def test_the_page_has_its_commands():
    """The first screen, the shell, and no block that nothing runs."""
    commands = [block.command for block in blocks()]

    assert commands[0] == FIRST
    assert [block.page for block in SHELL] == [README, VIEWS]
    assert f"`{SHELL_LINE}`" in README.read_text()
    assert [command for command in commands if command not in [b.command for b in HERE + SHELL]] == [
        "uv run ruff check . && uv run ruff format --check . && uv run mypy && uv run pytest"
    ]
    assert "`uv run pytest`" in README.read_text()


def links(page: Path) -> list[str]:
    """Return where a page's links lead, but for those to other sites."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    found: list[str] = re.findall(r"\]\(([^)]+)\)", text)
    return [link for link in found if not link.startswith(("https://", "http://"))]


def anchors(page: Path) -> list[str]:
    """Return the names under which a page's headings can be linked to, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    """To a file or folder that is there, and to a heading where one is named."""
    for link in links(page):
        place, _, anchor = link.partition("#")
        there = page.parent / place if place else page
        assert there.exists(), link
        assert not anchor or anchor in anchors(there), link


def test_every_page_is_linked_from_the_first():
    """Each says its own, and none is out of sight."""
    linked = [README.parent / link.partition("#")[0] for link in links(README)]

    assert [page for page in PAGES if page not in [README, *linked]] == []
    assert len(PAGES) == 6


def test_the_first_page_is_short():
    """A person reads it in one go: what isn't for everyone stands beside what it describes."""
    assert len(README.read_text().splitlines()) <= 190


def test_a_link_is_told_and_a_heading_named(tmp_path):
    """So that the test of links is seen to find them; GitHub's own names for headings."""
    page = tmp_path / "page.md"
    page.write_text(
        "# What `it` doesn't say, (yet)\n[a](b.md#c) [d](https://e.example)\n```sh\n[f](g)\n```\n[h](#i)\n"
    )

    assert links(page) == ["b.md#c", "#i"]
    assert anchors(page) == ["what-it-doesnt-say-yet"]


def test_a_table_is_put_where_it_belongs(tmp_path):
    """As the benchmark does with what it measured; all else on the page stays."""
    page = tmp_path / "page.md"
    page.write_text("head\nBEGIN\n\nold\nolder\n\nEND\nfoot\n")
    put_between(page, "BEGIN", "END", "new")

    assert page.read_text() == "head\nBEGIN\n\nnew\n\nEND\nfoot\n"
    with pytest.raises(AssertionError, match="expected BEGIN"):
        put_between(tmp_path / "page.md", "BEGIN", "NO END", "new")
    for place in (BEGIN, END):
        assert VIEWS.read_text().count(f"\n{place}\n") == 1
    for place in (measured.BEGIN, measured.END):
        assert measured.PAGE.read_text().count(f"\n{place}\n") == 1


def test_the_views_are_counted():
    """The changelog says how many there are."""
    macros = sum(view.is_macro for view in read_views())

    assert macros == 3
    assert f"{len(read_views()) - macros} views and three macros" in README.read_text()


def test_what_ships_and_what_is_built_are_named_as_they_are():
    """The wheel by its version, the publisher's models by their number."""
    assert f"`pip install energydb-{__version__}-py3-none-any.whl`" in README.read_text()
    assert f"2 of its {PUBLISHED_MODELS} models ship" in README.read_text()


LINES = re.findall(r"^\| .*\? \| `(energydb [^`]+)`", README.read_text(), re.MULTILINE)


@pytest.mark.parametrize("line", LINES)
def test_a_line_to_type_answers(folder, programs, line):
    """Each question as people put it: with rows, but where the two shipped models hold none."""
    shown = run(line, folder, programs / "energydb")

    empty = ("precision_comparison", "repeat_spread", "release_change", "withdrawn_run", "notice")
    assert ("no rows" in shown) == any(name in line for name in empty)


@pytest.mark.sweep
def test_every_line_to_type_holds_for_all_of_the_publishers_data(tmp_path, programs):
    """What names one model of two must name one of 46."""
    data = os.environ.get("ENERGYDB_LEADERBOARD")
    if not data:
        pytest.skip("ENERGYDB_LEADERBOARD doesn't name the leaderboard's folder")
    load([DATA, Path(data)], tmp_path / "energy.duckdb", strict=True)

    for line in LINES:
        run(line, tmp_path, programs / "energydb")


def test_there_is_a_line_for_every_question():
    assert len(LINES) >= 20


def test_the_table_of_views_is_that_of_their_heads():
    """As `python -m tests.readme` writes it: a row each, whose name, grain, key and question are the file's own."""
    page = VIEWS.read_text()
    table = page.partition(f"{BEGIN}\n\n")[2].partition(f"\n\n{END}")[0]

    assert table == table_of_views()
    assert [view.name for view in read_views() if f"`{view.name}{'(…)' if view.is_macro else ''}`" not in table] == []
    assert table.count("\n") == len(read_views()) + 1
    key = "`task`, `model`, `gpu`, `boundary`, `source`"
    best_pick = f"| task, model and GPU | {key} | Which run needs the least energy in time? |"
    assert f"| [`best_pick`](best_pick.sql) {best_pick}" in table


def test_the_picture_is_that_of_the_tables():
    """Every table and every foreign key, and no others."""
    page = VIEWS.read_text()
    picture = page.partition("```mermaid")[2].partition("```")[0]

    assert [name for name in Base.metadata.tables if name not in picture.split()] == []
    drawn = {tuple(line.split()[0:3:2]) for line in picture.splitlines() if "--o{" in line or "--o|" in line}
    declared = {
        (key.column.table.name, table.name) for table in Base.metadata.sorted_tables for key in table.foreign_keys
    }
    assert drawn == declared


def test_the_sqlalchemy_address_for_dashboards_works(seed_database):
    """Read-only: a dashboard must not lock the file."""
    address = "duckdb:////path/to/energy.duckdb?access_mode=read_only"
    assert address in README.read_text()

    engine = sqlalchemy.create_engine(address.replace("/path/to/energy.duckdb", str(seed_database)))
    with engine.connect() as connection:
        assert len(connection.exec_driver_sql("from best_pick").fetchall()) == 3
        with pytest.raises(sqlalchemy.exc.DBAPIError, match="read-only"):
            connection.exec_driver_sql("delete from published_pick")
    engine.dispose()


def test_the_line_for_spreadsheets_writes_the_whole_answer(folder, programs):
    """Every column, where a terminal shows some."""
    (line,) = re.findall(r"`(energydb query best_pick --output best_pick\.csv)`", README.read_text())
    run(line, folder, programs / "energydb")
    with (folder / "best_pick.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))

    assert [row["wh_per_million_output_tokens"] for row in rows] == ["52.41", "103.65", "93.39"]
    assert "licence" in rows[0]


@pytest.mark.clients
def test_the_line_for_data_frames_gives_them(folder, make_environment):
    """In pandas, and as said in polars, with what the page says to install."""
    ((line, other, packages),) = re.findall(
        r"`(duckdb\.connect\(.+\)\.df\(\))`, or `(\.pl\(\))`\n.*`pip install ([\w ]+)`", README.read_text()
    )
    python = make_environment("pandas")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages.split()], check=True)
    for expression, library in ((line, "pandas"), (line.replace(".df()", other), "polars")):
        script = f"import duckdb; frame = {expression}; print(type(frame).__module__, len(frame))"
        done = subprocess.run([python, "-c", script], cwd=folder, capture_output=True, text=True, check=True)
        module, rows = done.stdout.split()
        assert (module.partition(".")[0], rows) == (library, "3")


def tracked_files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.splitlines()


@pytest.mark.fresh
def test_the_first_command_works_in_a_fresh_copy(tmp_path):
    """With Python and pip alone: a virtual environment stands for the machine's own Python."""
    copy = tmp_path / "copy"
    for name in tracked_files():
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    python = tmp_path / "python"
    subprocess.run([sys.executable, "-m", "venv", python], check=True)
    clean = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    clean |= {"PATH": f"{python / 'bin'}{os.pathsep}{os.defpath}", "COLUMNS": "80"}
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(FIRST, shell=True, cwd=copy, env=clean, text=True, check=True, **both)

    shown = [line for line in blocks()[0].output.splitlines() if line in done.stdout.splitlines()]
    assert len(shown) == len(blocks()[0].output.splitlines())
    assert (copy / "energy.duckdb").is_file()


@pytest.mark.fresh
def test_the_wheel_works_in_an_empty_folder(tmp_path):
    """Documents, queries and migrations come out of the wheel."""
    subprocess.run(["uv", "build", "--wheel", "--out-dir", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run(["uv", "venv", "--python", sys.executable, tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run(["uv", "pip", "install", "--python", python, wheel], check=True)
    empty = tmp_path / "empty"
    empty.mkdir()
    command = f"{shlex.quote(str(python.with_name('energydb')))} load"

    assert f"`pip install {wheel.name}`" in README.read_text()
    assert run(command, empty) == blocks()[0].output.replace("uv run ", "")
    assert [path.name for path in empty.iterdir()] == ["energy.duckdb"]
