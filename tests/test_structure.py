"""The floors: a module imports only from lower ones, so that the way of the data has no way back."""

import ast
from pathlib import Path

import pytest

from energydb.paths import ROOT

FLOORS = [
    {"errors"},
    {"files", "gpus", "paths", "progress", "records", "tables", "units"},
    {"strict_json"},
    {"document_form", "leaderboard_files"},
    {"document", "document_writer", "leaderboard", "scenario", "views"},
    {"columns", "fetch"},
    {"normalise"},
    {"reading"},
    {"catalog", "database", "schema"},
    {"check", "export", "load", "question", "render", "upgrade"},
    {"pages"},
    {"cli"},
]
FLOOR = {module: floor for floor, modules in enumerate(FLOORS) for module in modules}
PACKAGE = ROOT / "energydb"
MODULES = sorted(path for path in PACKAGE.glob("*.py") if path.stem != "__init__")


def imports(path: Path) -> set[str]:
    """Name the project's own modules that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            own = [alias.name for alias in node.names if alias.name.startswith("energydb.")]
            found |= {name.partition(".")[2] for name in own}
        elif isinstance(node, ast.ImportFrom) and node.module == "energydb":
            found |= {alias.name for alias in node.names if (PACKAGE / f"{alias.name}.py").exists()}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("energydb."):
            found.add(node.module.partition(".")[2])
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_imports_from_lower_floors(path):
    assert {name: FLOOR[name] for name in imports(path) if FLOOR[name] >= FLOOR[path.stem]} == {}


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


@pytest.mark.parametrize("path", [path for path in MODULES if path.stem != "cli"], ids=lambda path: path.stem)
def test_only_the_command_line_imports_late_prints_or_exits(path):
    """Imports stand at the top; words and exit codes are the command line's."""
    assert late_imports(path) == []
    assert words_and_exits(path) == set()


def test_the_command_line_does_all_three():
    """Held by the same search, so that it is seen to find them; and what it imports late is heavy or its own."""
    path = PACKAGE / "cli.py"

    assert {"sys.exit", "sys.stdout", "typer"} <= words_and_exits(path)
    assert "from energydb.load import load as load_documents" in late_imports(path)
    assert {line.split()[1].partition(".")[0] for line in late_imports(path)} == {"duckdb", "energydb", "rich"}


def test_the_top_level_is_as_agreed():
    """Nothing else lies at the top of the project, but for names that begin with a dot."""
    agreed = {
        "pyproject.toml",
        "README.md",
        "alembic.ini",
        "migrations",
        "energydb",
        "data",
        "tests",
        "queries",
    }
    ignored = {"uv.lock", "dist"}
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}

    assert {name for name in found - ignored if not name.endswith((".duckdb", ".egg-info"))} == agreed
