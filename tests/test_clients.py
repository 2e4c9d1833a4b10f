"""The file in other clients' hands: DuckDB of every line since 1.4 in Python, and the shells that PyPI brings."""

import json
import subprocess
import sys
import threading

import pytest

from energydb.load import load
from energydb.paths import QUERIES
from energydb.store.views import read_views
from tests.documents import LLAMA, SCOUT

pytestmark = pytest.mark.clients

EXPECTED = [
    ["llama-3-1-70b-instruct", "B200", 52.41],
    ["llama-3-1-70b-instruct", "H100", 103.65],
    ["llama-4-scout-17b-16e-instruct", "H100", 93.39],
]
# The oldest that reads the file whole, and the newest of each line since.
PYTHON_CLIENTS = ("1.4.2", "1.4.*", "1.5.*", "2.0.*")
SHELLS = ("1.4.4.post2", "1.5.*")
NAMES = [view.name for view in read_views() if not view.is_macro]
NAMES += ["pick(max_p99_itl_ms := 100)", "energy_at(12)", "deployment_plan(1000, under_scenario := 'us-average')"]
FETCH = """
import duckdb, json, sys
connection = duckdb.connect(sys.argv[1], read_only=True, config={"threads": 4})
fetched = {name: connection.execute(f"from {name}").fetchall() for name in sys.argv[2:]}
print(json.dumps({"version": duckdb.__version__, **fetched}, default=str))
"""
EMPTY = ("data_quality", "run_mark", "notice", "precision_comparison", "withdrawn_run")
SQL = "select model, gpu, wh_per_million_output_tokens from best_pick"


def test_the_shell_answers(duckdb_cli, seed_database):
    """Read-only, as the README says."""
    done = subprocess.run(
        [duckdb_cli, "-readonly", "-json", seed_database, SQL], capture_output=True, text=True, check=True
    )

    assert [list(row.values()) for row in json.loads(done.stdout)] == EXPECTED


@pytest.mark.parametrize("version", PYTHON_CLIENTS)
def test_every_view_is_the_same_in_every_client(make_environment, everything_database, tmp_path, version):
    """Fetched whole, row for row, in order: a count was right where 1.4 lost every video row with two threads."""
    python = make_environment(f"duckdb=={version}")
    (tmp_path / "fetch.py").write_text(FETCH)
    command = ["fetch.py", everything_database, *NAMES]
    theirs, ours = (
        subprocess.run([client, *command], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
        for client in (python, sys.executable)
    )

    assert json.loads(theirs).pop("version").startswith(version.rstrip("*"))
    for name in NAMES:
        assert json.loads(theirs)[name] == json.loads(ours)[name], name
    assert all(json.loads(ours)[name] for name in NAMES if name not in EMPTY)


@pytest.mark.parametrize("version", [PYTHON_CLIENTS[0], PYTHON_CLIENTS[-1]])
def test_every_view_file_runs_statement_by_statement(make_environment, seed_database, tmp_path, version):
    """As a program runs it, in the oldest client and in the newest."""
    copy = tmp_path / "energy.duckdb"
    copy.write_bytes(seed_database.read_bytes())
    script = (
        "import duckdb, pathlib, sys\n"
        "connection = duckdb.connect(sys.argv[1])\n"
        "for path in sys.argv[2:]:\n"
        "    for statement in connection.extract_statements(pathlib.Path(path).read_text()):\n"
        "        connection.execute(statement)\n"
        "print(connection.execute('select count(*) from pick()').fetchall())\n"
    )
    python = make_environment(f"duckdb=={version}")
    command = [python, "-c", script, copy, *(QUERIES / f"{view.name}.sql" for view in read_views())]

    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[(3,)]\n"


@pytest.mark.parametrize("version", SHELLS)
def test_every_view_file_runs_in_the_shell(make_environment, seed_database, tmp_path, version):
    """`.read queries/best_pick.sql` creates the view anew, as it stands; and the shell's answer is ours."""
    shell = make_environment(f"duckdb-cli=={version}").with_name("duckdb")
    copy = tmp_path / "energy.duckdb"
    copy.write_bytes(seed_database.read_bytes())
    done = subprocess.run(
        [shell, "-bail", "-json", copy],
        input="".join(f".read {QUERIES / view.name}.sql\n" for view in read_views()) + f"{SQL};\n",
        capture_output=True,
        text=True,
        check=True,
    )

    assert [list(row.values()) for row in json.loads(done.stdout)] == EXPECTED


def test_the_shell_reads_through_rebuilds(duckdb_cli, tmp_path):
    """Each answer is of one whole release; an opening that the exchange falls into is made once more."""
    path = tmp_path / "energy.duckdb"
    load([LLAMA], path, strict=True)
    stop = threading.Event()

    def rebuild() -> None:
        for number in range(10):
            load([SCOUT if number % 2 else LLAMA], path, strict=True)
        stop.set()

    thread = threading.Thread(target=rebuild)
    thread.start()
    seen = set()
    sql = "select count(*), count(distinct model_key), (select any_value(slug) from model) from configuration"
    while not stop.is_set() or len(seen) < 2:
        command = [duckdb_cli, "-readonly", "-csv", "-noheader", path, sql]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        seen.add(done.stdout.strip())
        if stop.is_set():
            load([LLAMA if any(SCOUT.stem in row for row in seen) else SCOUT], path, strict=True)
    thread.join()

    assert seen == {f"22,1,{LLAMA.stem}", f"20,1,{SCOUT.stem}"}
