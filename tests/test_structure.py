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


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_only_the_command_line_imports_late_prints_or_exits(path):
    """Imports stand at the top; words and exit codes are the command line's."""
    if path.stem == "cli":
        return
    tree = ast.parse(path.read_text())
    late = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) and node.col_offset]
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}

    assert late == []
    assert names.isdisjoint({"print", "exit", "typer"})


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
