"""Reading in several processes: the same file as in one, and no process that outlives what it works for."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from energydb import reading
from energydb.errors import DocumentErrors
from energydb.load import check, load
from energydb.store.check import check_database
from tests.benchmarks.corpus import RUNS_EACH, write_corpus
from tests.benchmarks.measure import with_children
from tests.conftest import heed_signals, swept
from tests.documents import SCOUT, document, write
from tests.leaderboards import write_leaderboard
from tests.test_load import ask, leftovers, without_own_bytes

ENERGYDB = Path(sys.executable).with_name("energydb")
MANY = 280  # documents: 20 MB, above where processes are started

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor: nothing is read beside")


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("many") / "documents"
    write_corpus(folder, MANY)
    return folder


def readers_of(pid: int) -> list[int]:
    """Name the processes that a load has started."""
    return with_children(pid)[1:]


def started(many: Path, target: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a load, and wait until it reads in processes of its own."""
    process = subprocess.Popen(
        [ENERGYDB, "load", many, "--database", target],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    )
    for _ in range(2000):
        if len(readers := readers_of(process.pid)) > 1:
            return process, readers
        time.sleep(0.005)
    raise AssertionError("no process was started")


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_several_processes_make_the_same_file(many, tmp_path, monkeypatch):
    """Byte for byte, both formats together, from a folder whose names sort otherwise; and nothing is left."""
    some = tmp_path / "some"
    some.mkdir()
    for number, path in enumerate(sorted(many.iterdir())[:40]):
        shutil.copy(path, some / f"{-number % 7}-{path.name}")
    shutil.copy(SCOUT, some)
    write_leaderboard(some / "leaderboard")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    load([some], tmp_path / "one" / "energy.duckdb", strict=True)
    monkeypatch.setattr(reading, "MUCH", 0)
    monkeypatch.setattr(reading, "BYTES_PER_BATCH", 200_000)
    load([some], tmp_path / "two" / "energy.duckdb", strict=True)

    first, second = (without_own_bytes(tmp_path / name / "energy.duckdb") for name in ("one", "two"))
    assert first == second
    assert leftovers(tmp_path / "two") == ["energy.duckdb"]


@pytest.mark.sweep
def test_one_processor_makes_the_same_file_by_way_of_files(many, tmp_path, monkeypatch):
    paths = sorted(many.iterdir())[:5]
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    load(paths, tmp_path / "one" / "energy.duckdb", strict=True)
    monkeypatch.setattr(reading, "MUCH", 0)
    monkeypatch.setattr(reading, "processors", lambda: 1)
    monkeypatch.setattr(reading, "BYTES_PER_BATCH", 100_000)  # two documents: three files in all
    load(paths, tmp_path / "two" / "energy.duckdb", strict=True)

    assert without_own_bytes(tmp_path / "one" / "energy.duckdb") == without_own_bytes(
        tmp_path / "two" / "energy.duckdb"
    )


@pytest.mark.sweep
def test_every_run_of_many_documents_is_there(many, tmp_path):
    path = tmp_path / "energy.duckdb"
    report = load([many], path, strict=True)

    assert report.findings.rows == []
    assert ask(path, "select count(*) as runs, count(distinct row_id) as ids from configuration") == [
        {"runs": MANY * RUNS_EACH, "ids": MANY * 96}
    ]
    (row,) = ask(
        path, "select model, count(*) as runs from configuration_detail where model = 'model-00123' group by 1"
    )
    assert row == {"model": "model-00123", "runs": RUNS_EACH}
    assert [result for result in check_database(path) if not result.sound] == []


@pytest.mark.slow
def test_faults_are_the_same_from_several_processes(many, tmp_path, monkeypatch):
    """Each faulty document by name, in the order of the files; and one that came twice is said."""
    some = tmp_path / "some"
    some.mkdir()
    for path in sorted(many.iterdir())[:8]:
        shutil.copy(path, some)
    write(some / "a.json", document(unit="J"))
    write(some / "z.json", document(boundary="wall"))
    said = []
    for much in (2**40, 0):
        monkeypatch.setattr(reading, "MUCH", much)
        monkeypatch.setattr(reading, "BYTES_PER_BATCH", 100_000)
        with pytest.raises(DocumentErrors) as refused:
            check([some])
        said.append(refused.value.lines)
    (some / "a.json").unlink()
    (some / "z.json").unlink()
    shutil.copy(some / "model-00000.json", some / "twin.json")

    assert said[0] == said[1]
    assert [line.partition(": $")[0] for line in said[0]] == [f"{some}/a.json", f"{some}/z.json"]
    assert check([some]).notes == (f"{some}/twin.json: the same bytes as {some}/model-00000.json, loaded once",)


@pytest.mark.slow
@pytest.mark.parametrize("loads", [1, swept(5)])
def test_no_reader_outlives_its_parent(many, scout_here, tmp_path, proved, loads):
    """Killed -9 at moments of its reading: its processes end, and the next load isn't kept from its work."""
    path = scout_here
    before = path.read_bytes()
    chance = random.Random(7)
    ended = 0
    for _ in range(loads):
        process, readers = started(many, path)
        time.sleep(chance.random() * 0.3)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        until = time.monotonic() + 5
        while any(map(is_running, readers)) and time.monotonic() < until:
            time.sleep(0.01)
        assert not any(map(is_running, readers))
        ended += len(readers)
        assert path.read_bytes() == before
    load([SCOUT], path, strict=True)

    assert leftovers(tmp_path) == ["energy.duckdb"]
    if loads == 5:
        proved("No process outlives", "5 loads", f"{ended} processes, each ended with its load")


@pytest.mark.slow
def test_a_reader_that_dies_is_the_machines_fault(many, scout_here, tmp_path):
    """Out of memory, most often: one line, exit code 3, the file as it was, nothing left."""
    path = scout_here
    before = path.read_bytes()
    process, readers = started(many, path)
    os.kill(readers[0], signal.SIGKILL)
    _, said = process.communicate()

    assert process.returncode == 3
    assert said == "energydb: a process that read documents was ended, or ran out of memory; try again\n"
    assert path.read_bytes() == before
    assert leftovers(tmp_path) == ["energy.duckdb"]
    assert not any(map(is_running, readers))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("delays", [(0,), swept((0.02, 0.1, 0.2, 0.3))], ids=["at once", "later"])
def test_a_signal_ends_all_of_them(many, tmp_path, number, delays):
    """Quietly, and nothing is left: as they are started, while the schema is made, and while they are waited for."""
    for delay in delays:
        process, readers = started(many, tmp_path / "energy.duckdb")
        time.sleep(delay)
        process.send_signal(number)
        _, said = process.communicate(timeout=20)

        assert (process.returncode, said) == (128 + number, "")
        assert leftovers(tmp_path) == []
        assert not any(map(is_running, readers))


@pytest.mark.slow
def test_a_small_load_starts_no_process(tmp_path):
    """It would take longer to start one than to read."""
    with subprocess.Popen([ENERGYDB, "load", "--database", tmp_path / "e.duckdb"], stdout=-3, stderr=-3) as process:
        seen = 0
        while process.poll() is None:
            seen = max(seen, len(readers_of(process.pid)))
            time.sleep(0.01)

    assert (process.returncode, seen) == (0, 0)
