"""Real files for every test: the shipped documents loaded once, and an empty migrated file a test."""

import functools
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from energydb.load import load
from energydb.paths import DATA
from energydb.store.database import writing
from energydb.store.schema import create_macros, lay_out
from tests import reliability
from tests.documents import LLAMA, SCOUT, run
from tests.later import make as make_later
from tests.later import run as run_later
from tests.leaderboards import small_tasks, write_leaderboard

# Without bytecode on disk each process that a test starts takes two to three times as long to do so.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def swept(*values: Any) -> Any:
    """Make a case that only the sweep goes through; the others are the sample of it."""
    return pytest.param(*values, marks=pytest.mark.sweep)


def heed_signals() -> None:
    """Undo, in a process to be started, that scripts have what they start in the background ignore Ctrl-C."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


Proved = Callable[[str, str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what writes the table of promises in this folder's README."""
    parser.addoption(
        "--write-reliability", action="store_true", help="put what the tests counted into tests/README.md"
    )


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what the tests of reliability counted, in whichever process they ran."""
    passed = terminalreporter.stats.get("passed", [])
    gave = dict(value for report in passed for name, value in report.user_properties if name == "proved")
    if gave:
        terminalreporter.section("reliability")
        for promise, outcome in gave.items():
            terminalreporter.line(f"{promise} …: {outcome}")
    if config.getoption("--write-reliability"):
        reliability.write(gave)


@pytest.fixture
def proved(record_property: Callable[[str, object], None]) -> Proved:
    """Take down what a test of a promise counted: its cases are the table's, its outcome is shown at the end.

    `promise` is how its row in this folder's README begins.
    """

    def take_down(promise: str, cases: str, gave: str) -> None:
        stated = [row[2] for row in reliability.rows() if row[0].startswith(promise)]
        assert stated == [cases], f"tests/README.md: {promise}"
        record_property("proved", (promise, gave))

    return take_down


@pytest.fixture(scope="session")
def seed_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documents that come with energydb, loaded."""
    path = tmp_path_factory.mktemp("seeds") / "energy.duckdb"
    load([], path, strict=True)
    return path


@pytest.fixture
def seeds(seed_database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The shipped documents, to be asked."""
    with duckdb.connect(str(seed_database), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, bytes]:
    """The file energy.duckdb of either shipped document alone: its bytes."""
    path = tmp_path_factory.mktemp("built") / "energy.duckdb"
    bytes_of = {}
    for document in (LLAMA, SCOUT):
        load([document], path, strict=True)
        bytes_of[document] = path.read_bytes()
    return bytes_of


@pytest.fixture
def scout_here(built: dict[Path, bytes], tmp_path: Path) -> Path:
    """Scout's file, as the database of the test's folder."""
    path = tmp_path / "energy.duckdb"
    path.write_bytes(built[SCOUT])
    return path


@pytest.fixture(scope="session")
def everything_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Something of all that can be loaded: the shipped documents, and two releases of a small leaderboard."""
    folder = tmp_path_factory.mktemp("everything")
    older = small_tasks()
    older["lm-arena-chat"][0]["p99_itl_ms"] = 24.5
    write_leaderboard(folder / "older", older, last_updated="2025-12-01")
    write_leaderboard(folder / "newer")
    load([DATA, folder / "older", folder / "newer"], folder / "energy.duckdb", strict=True)
    return folder / "energy.duckdb"


@pytest.fixture
def everything(everything_database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Something of all that can be loaded, to be asked."""
    with duckdb.connect(str(everything_database), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file without rows."""
    path = tmp_path_factory.mktemp("empty") / "energy.duckdb"
    with writing(path) as connection:
        lay_out(connection)
        create_macros(connection)
    return path


@pytest.fixture
def database(empty_database: Path, tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A file without rows, to be filled by `add_model` and `add_run`, in one transaction.

    What has errors to see, or another connection, commits it first.
    """
    path = tmp_path / "made.duckdb"
    shutil.copyfile(empty_database, path)
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute("begin")
        connection.execute("insert into build values ('0', '2026-12-03', 'none')")
        yield connection


def insert(database: duckdb.DuckDBPyConnection, table: str, **values: Any) -> None:
    """Insert one row, unless its key is there already."""
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    ignoring = "" if table == "output_length_bin" else "or ignore"  # it has no key
    database.execute(f"insert {ignoring} into {table} ({names}) values ({marks})", list(values.values()))


def add_release(database: duckdb.DuckDBPyConnection, release_key: int = 1, **values: Any) -> int:
    """Add a release of one source; `values` overrides its fields."""
    insert(database, "source", source_key=1, name="Lab", publisher="The Lab", url="https://lab.example/")
    release = {
        **{"release_key": release_key, "source_key": 1, "task": "chat", "format": "model_document"},
        **{"data_version": "2026-01-01", "compiled": "2026-01-01", "itl_deadline_ms": 500, "workload": "Chat (chat)"},
        **{"licence": "CC0", "cite": "Lab 2026", "cite_url": "https://lab.example/paper", "caveat": "A floor."},
        **{"boundary": "gpu_only", "origin": "published", "measurement_window": "steady_state", "basis": "measured"},
        "is_complete": False,
        "has_all_tasks": False,
        **values,
    }
    insert(database, "boundary", name=release["boundary"])
    insert(database, "task", id=release["task"], kind=release.pop("kind", "text"))
    insert(database, "release", **release)
    return release_key


def add_model(database: duckdb.DuckDBPyConnection, model_key: int = 1, **values: Any) -> int:
    """Add a model, with a file of its own, to release 1 or to the one in `values`."""
    release_key = values.get("release_key") or add_release(database)
    insert(
        database,
        "file",
        file_key=model_key,
        release_key=release_key,
        file_name=f"{model_key}.json",
        sha256=str(model_key),
    )
    model = {
        "model_key": model_key,
        "release_key": release_key,
        "file_key": model_key,
        "slug": "small",
        "name": "Small",
        "model_id": "org/Small",
        "identity": str(values.get("model_id", f"org/{values.get('slug', 'Small')}")).lower(),
        "params_b": 8.0,
        "active_params_b": 8.0,
        "architecture": "Dense Transformer",
        **values,
    }
    insert(database, "model", **model)
    return model_key


def add_run(database: duckdb.DuckDBPyConnection, **values: Any) -> int:
    """Add a run of model 1, or of the one in `values`; all fields that aren't given agree with them."""
    model_key = values.pop("model_key", None) or add_model(database)
    made = run(**values)
    insert(database, "gpu", name=made["gpu"])
    (key,) = database.execute("select coalesce(max(configuration_key), 0) + 1 from configuration").fetchone()
    insert(database, "configuration", configuration_key=key, model_key=model_key, **made)
    return key


def add_image_run(database: duckdb.DuckDBPyConnection, **values: Any) -> int:
    """Add a run of an image model: 600 J an image, 1 image in 2 s, 300 W."""
    return _add_diffusion_run(
        database,
        "image",
        {"image_height": 1024, "image_width": 1024, "joules_per_image": 600.0, "images_per_second": 0.5},
        values,
    )


def add_video_run(database: duckdb.DuckDBPyConnection, **values: Any) -> int:
    """Add a run of a video model: 600 J a video, 1 video in 2 s, 300 W."""
    size = {"video_height": 480, "video_width": 832, "num_frames": 81, "fps": 15.0}
    figures = {"joules_per_video": 600.0, "videos_per_second": 0.5}
    return _add_diffusion_run(database, "video", size | figures, values)


def _add_diffusion_run(database, kind: str, defaults: dict[str, Any], values: dict[str, Any]) -> int:
    model_key = values.pop("model_key", None) or add_model(
        database, release_key=add_release(database, task=f"text-to-{kind}", kind=kind, itl_deadline_ms=None)
    )
    made = {
        **{"gpu": "H100", "num_gpus": 1, "ulysses_degree": 1, "ring_degree": 1, "precision": "BF16"},
        **{
            "inference_steps": 20,
            "batch_size": 1,
            "batch_latency_s": 2.0,
            "gpu_power_watts_total": 300.0,
            "repeat": 1,
        },
        **defaults,
        **values,
    }
    insert(database, "gpu", name=made["gpu"])
    table = f"{kind}_configuration"
    (key,) = database.execute(f"select coalesce(max({table}_key), 0) + 1 from {table}").fetchone()
    insert(database, table, **{f"{table}_key": key}, model_key=model_key, **made)
    return key


def answer(database: duckdb.DuckDBPyConnection, sql: str) -> list[dict[str, Any]]:
    """Ask, and return the rows as mappings from column to value."""
    cursor = database.execute(sql)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


_FORKED = {"alembic": "alembic.config:main", "energydb": "energydb.cli:main", "killed": "tests.killing:main"}
EnergydbCommand = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def programs() -> Iterator[Path]:
    """A folder with programs that one process of the session forks."""
    forked = Path(__file__).with_name("forked.py")
    with tempfile.TemporaryDirectory() as name:  # a socket's path must be short, and pytest's are long
        folder = Path(name)
        command = [sys.executable, forked, folder / "socket"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, start_new_session=True, **pipes) as server:
            assert server.stdout.readline() == b"ready\n"
            for program, function in _FORKED.items():
                words = shlex.join([sys.executable, "-IS", str(forked), str(folder / "socket"), function])
                (folder / program).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
                (folder / program).chmod(0o755)
            yield folder


@pytest.fixture
def energydb(tmp_path: Path, programs: Path) -> EnergydbCommand:
    """Run the command as a process of its own, in an empty folder."""

    def run_command(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        hidden = ("UV", "COLUMNS")  # set by `uv run`, and by some shells
        inherited = {name: value for name, value in os.environ.items() if name not in hidden}
        inherited = {name: value for name, value in inherited.items() if not name.startswith("ENERGYDB_")}
        return subprocess.run(
            [programs / "energydb", *arguments],
            cwd=tmp_path,
            env={**inherited, **environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run_command


@pytest.fixture(scope="session")
def _made_later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("later")
    make_later(folder)
    return folder


@pytest.fixture
def later(_made_later: Path, tmp_path: Path) -> EnergydbCommand:
    """Run the command of an energydb that has one more measured column, in the test's folder."""
    return functools.partial(run_later, _made_later, cwd=tmp_path)


@pytest.fixture(scope="session")
def make_environment(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Make a virtual environment that holds one package from PyPI; return its Python."""

    @functools.cache
    def make(package: str) -> Path:
        folder = tmp_path_factory.mktemp("environment")
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = folder / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=True)
        return python

    return make


@pytest.fixture(scope="session")
def duckdb_cli(make_environment: Callable[[str], Path]) -> Path:
    """The DuckDB shell, as PyPI brings it."""
    return make_environment("duckdb-cli").with_name("duckdb")
