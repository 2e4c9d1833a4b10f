"""The file in other clients' hands: DuckDB 1.4 in Python, and the shell that PyPI brings."""

import json
import subprocess
import threading

import pytest

from energydb.load import load
from energydb.paths import QUERIES
from energydb.views import read_views
from tests.documents import LLAMA, SCOUT

pytestmark = pytest.mark.clients

EXPECTED = [
    ["llama-3-1-70b-instruct", "B200", 52.41],
    ["llama-3-1-70b-instruct", "H100", 103.65],
    ["llama-4-scout-17b-16e-instruct", "H100", 93.39],
]
SQL = "select model, gpu, wh_per_million_output_tokens from best_pick"


def test_the_shell_answers(duckdb_cli, seed_database):
    """Read-only, as the README says."""
    done = subprocess.run(
        [duckdb_cli, "-readonly", "-json", seed_database, SQL], capture_output=True, text=True, check=True
    )

    assert [list(row.values()) for row in json.loads(done.stdout)] == EXPECTED


def test_duckdb_1_4_answers(make_environment, seed_database):
    """The oldest client that the storage format is meant for; every view, and the comments too."""
    python = make_environment("duckdb==1.4.*")
    script = (
        "import duckdb, json, sys\n"
        "c = duckdb.connect(sys.argv[1], read_only=True)\n"
        "assert duckdb.__version__.startswith('1.4'), duckdb.__version__\n"
        f"rows = c.execute({SQL!r}).fetchall()\n"
        "views = c.execute('select view_name from duckdb_views() where not internal').fetchall()\n"
        "counts = {v: c.execute(f'select count(*) from {v}').fetchone()[0] for v, in views}\n"
        "picks = c.execute('select model, gpu, wh_per_million_output_tokens from pick()').fetchall()\n"
        "print(json.dumps([rows, counts, picks]))\n"
    )
    done = subprocess.run([python, "-c", script, seed_database], capture_output=True, text=True, check=True)
    rows, counts, picks = json.loads(done.stdout)

    assert rows == EXPECTED
    assert {
        "best_pick": 3,
        "concurrency_curve": 42,
        "configuration_detail": 42,
        "contents": 1,
        "data_quality": 0,
        "gpu_power": 42,
        "model_detail": 2,
        "provenance": 42,
    }.items() <= counts.items()
    assert len(counts) == sum(not view.is_macro for view in read_views())
    assert picks == EXPECTED


def test_a_view_file_runs_in_the_shell(duckdb_cli, seed_database, tmp_path):
    """`.read queries/best_pick.sql` creates the view anew, as it stands."""
    copy = tmp_path / "energy.duckdb"
    copy.write_bytes(seed_database.read_bytes())
    done = subprocess.run(
        [duckdb_cli, "-json", copy],
        input=f".read {QUERIES / 'best_pick.sql'}\n{SQL};\n",
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
