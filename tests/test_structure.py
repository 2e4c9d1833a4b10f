"""The floors: a module imports only from lower ones, so that the way of the data has no way back."""

import ast
import itertools
import re
from pathlib import Path

import pytest

from energydb.paths import ROOT

PACKAGE = ROOT / "energydb"
ROWS = re.findall(r"^\| .+ \| (`.+`) \|$", (PACKAGE / "README.md").read_text(), re.MULTILINE)
FLOOR = {room: floor for floor, rooms in enumerate(reversed(ROWS)) for room in re.findall(r"`([^`]+)`", rooms)}


def name_of(path: Path) -> str:
    """Return a module's name within the package, a folder's for its `__init__`."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


# A folder's `__init__` may say no more than what the folder is.
MODULES = {
    name_of(path): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.stem != "__init__" or len(ast.parse(path.read_text()).body) > 1
}
del MODULES["__init__"]
COMMAND_LINE = [name for name in MODULES if name.partition(".")[0] == "cli"]


def imports(path: Path) -> set[str]:
    """Name the project's own modules that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            within = {f"{node.module}.{alias.name}" for alias in node.names}
            rooms = {name for name in within if name.removeprefix("energydb.") in MODULES}
            found |= rooms or {node.module}
    return {name.removeprefix("energydb.") for name in found if name.startswith("energydb.")}


def test_each_room_stands_on_one_floor():
    """The table of floors and the folder name the same rooms, each once."""
    rooms = [room for row in ROWS for room in re.findall(r"`([^`]+)`", row)]

    assert sorted(rooms) == sorted(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_from_lower_floors(name):
    assert [other for other in imports(MODULES[name]) if FLOOR[other] >= FLOOR[name]] == []


def test_the_wings_follow_each_other():
    """What comes in, the file, what is asked of it, the commands."""
    wings = [room.partition(".")[0] for room in sorted(FLOOR, key=FLOOR.__getitem__) if "." in room]

    assert [wing for wing, _ in itertools.groupby(wings)] == ["sources", "store", "ask", "cli"]


def late_imports(path: Path) -> list[str]:
    """Return the imports of a module that don't stand at its top."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return [ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) and node.col_offset]


def words_and_exits(path: Path) -> set[str]:
    """Return what a module uses of that by which a program speaks or ends."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used |= {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
    used |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    used |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return used & {"print", "exit", "quit", "SystemExit", "sys.exit", "sys.stdout", "sys.stderr", "typer"}


@pytest.mark.parametrize("name", [name for name in MODULES if name not in COMMAND_LINE])
def test_only_the_command_line_imports_late_prints_or_exits(name):
    """Imports stand at the top; words and exit codes are the command line's."""
    assert late_imports(MODULES[name]) == []
    assert words_and_exits(MODULES[name]) == set()


def test_the_command_line_does_all_three():
    """Held by the same search, so that it is seen to find them; and what it imports late is heavy or its own."""
    used = set().union(*(words_and_exits(MODULES[name]) for name in COMMAND_LINE))
    late = [line for name in COMMAND_LINE for line in late_imports(MODULES[name])]

    assert {"sys.exit", "sys.stdout", "typer"} <= used
    assert "from energydb.load import load as load_documents" in late
    assert {line.split()[1].partition(".")[0] for line in late} == {"duckdb", "energydb", "rich"}


def test_tests_use_public_names_only():
    """What has a leading underscore may change without a word: neither imported, nor asked for, nor replaced."""
    rooms = "|".join(["energydb", *(name.rpartition(".")[2] for name in MODULES)])
    private = rf"from energydb[\w.]* import .*\b_[A-Za-z]|setattr\([\w.]+, \"_|\b({rooms})\._[A-Za-z]"
    for found in ("from energydb.load import _fetch", 'setattr(reading, "_MUCH", 0)', "says = leaderboard._SOURCE"):
        assert re.search(private, found)

    files = [file for file in sorted((ROOT / "tests").rglob("*.py")) if file != Path(__file__)]
    assert [file.name for file in files if re.search(private, file.read_text())] == []


def test_the_top_level_is_as_agreed():
    """Nothing else lies at the top of the project, but for names that begin with a dot."""
    agreed = {"pyproject.toml", "README.md", "alembic.ini", "migrations", "energydb", "data", "tests", "queries"}
    ignored = {"uv.lock", "dist"}
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}

    assert {name for name in found - ignored if not name.endswith((".duckdb", ".egg-info"))} == agreed
