"""What is promised of the file, whatever happens: killed at any moment, two at once, readers all the while."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from energydb.load import load
from energydb.store.check import check_database
from energydb.store.sandbox import reading
from tests.conftest import swept
from tests.documents import LLAMA, SCOUT
from tests.test_load import without_own_bytes

ENERGYDB = Path(sys.executable).with_name("energydb")
KILLS = int(os.environ.get("ENERGYDB_KILLS", "100"))

# Moments of a load, in their order: what the file then is, and whether a lock and a folder of the run lie beside it.
MOMENTS = {
    "call _take": ("old", False, False),
    "return _take": ("old", True, False),
    "c_return posix.mkdir": ("old", True, True),
    "call read_document": ("old", True, True),
    "return lay_out": ("old", True, True),
    "call exec_driver_sql from contents": ("old", True, True),
    "call exec_driver_sql checkpoint": ("old", True, True),
    "return exec_driver_sql checkpoint": ("old", True, True),
    "return unlink": ("old", True, True),
    "call replace": ("old", True, True),
    "c_return posix.replace": ("new", True, True),
    "c_call posix.fsync": ("new", True, True),
    "c_return posix.fsync": ("new", True, True),
    "return put_in_place": ("new", True, True),
    "call show_report": ("new", False, False),
}
SOME = ("c_return posix.mkdir", "call read_document", "call replace", "c_return posix.replace")


class Ending(NamedTuple):
    """How a load ended, and what it left: the file, `old` or `new`, and beside it."""

    code: int
    said: str
    file: str
    lock: bool
    folder: bool


@pytest.fixture
def end(tmp_path, programs, built):
    """Have a signal end the load of Scout over Llama's file, at a moment."""
    path = tmp_path / "energy.duckdb"
    new = without_own_bytes(path_of(tmp_path / "new", built[SCOUT]))

    def end_at(moment: str, number: int = signal.SIGKILL) -> Ending:
        path.write_bytes(built[LLAMA])
        command = [programs / "killed", str(int(number)), moment, "load", SCOUT, "--database", path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if path.read_bytes() == built[LLAMA]:
            file = "old"
        else:
            assert without_own_bytes(path) == new, moment
            file = "new"
        left = others(tmp_path)
        locks = [name for name in left if name.endswith(".lock")]
        folders = [name for name in left if name.endswith(".building")]
        assert max(len(locks), len(folders)) <= 1, "the run before left them, and this one didn't clear up"
        assert len(locks) + len(folders) == len(left)
        return Ending(done.returncode, done.stderr, file, bool(locks), bool(folders))

    return end_at


def path_of(path: Path, content: bytes) -> Path:
    path.mkdir()
    (path / "energy.duckdb").write_bytes(content)
    return path / "energy.duckdb"


def others(folder: Path) -> list[str]:
    """Name what lies in the folder beside the database."""
    return sorted(path.name for path in folder.iterdir() if path.name not in ("energy.duckdb", "new"))


KILLED = 128 + signal.SIGKILL
CUT = 128 + signal.SIGXFSZ


def clear_up(folder: Path) -> None:
    """Load once more, as if nothing had been."""
    load([SCOUT], folder / "energy.duckdb", strict=True)
    assert others(folder) == []


def clear_by_hand(folder: Path) -> None:
    """Take away what lies there, so that what is found next is of the next run, and its events are as many."""
    for name in others(folder):
        shutil.rmtree(folder / name) if name.endswith(".building") else (folder / name).unlink()


@pytest.mark.slow
def test_a_killed_load_leaves_the_old_file_or_the_new(tmp_path, end):
    """Each byte of one of the two, at moments on both sides of the exchange; the next run clears up."""
    for moment in SOME:
        assert end(moment) == (KILLED, "", *MOMENTS[moment]), moment
    assert end("write 300000")[:3] == (CUT, "", "old")
    clear_up(tmp_path)


@pytest.mark.sweep
def test_a_load_that_is_killed_anywhere_leaves_the_old_file_or_the_new(tmp_path, end, built, proved):
    """At every moment above, within DuckDB's writing, and at each thing that it does to a file."""
    for moment, left in MOMENTS.items():
        clear_by_hand(tmp_path)
        assert end(moment) == (KILLED, "", *left), moment
    whole = len(built[SCOUT])
    for size in (4096, whole // 3, whole // 2, whole - 4096):
        assert end(f"write {size}")[:3] == (CUT, "", "old"), size
    clear_up(tmp_path)
    events = int(end("event 0").said.split()[-2])
    places = sorted({1 + number * events // KILLS for number in range(KILLS)})
    endings = []
    for place in places:
        clear_by_hand(tmp_path)
        endings.append(end(f"event {place}"))
    assert {ending.code for ending in endings} == {KILLED}
    files = [ending.file for ending in endings]
    assert files == sorted(files, reverse=True), "once the new file is there, it stays"
    old, new = files.count("old"), files.count("new")
    assert min(old, new) > 0
    left = sum(ending.lock or ending.folder for ending in endings)
    clear_up(tmp_path)
    cases = f"{len(MOMENTS)} moments, 4 writes, at most 100 events"
    proved(
        "Killed at any moment",
        cases,
        f"of {len(places)} events, {old} left the old file, {new} the new; {left} left"
        " something beside it, which went",
    )


@pytest.mark.slow
def test_a_terminated_load_leaves_nothing_behind(tmp_path, end):
    """SIGTERM, as from a scheduler, ends it by way of its clean-up."""
    for moment in ("call read_document", "return lay_out", "call exec_driver_sql checkpoint"):
        assert end(moment, signal.SIGTERM) == (128 + signal.SIGTERM, "", "old", False, False), moment


def test_of_two_loads_one_is_refused(tmp_path, programs):
    """With the process named that holds the file, which is stopped meanwhile, and then goes on to its end."""
    path = tmp_path / "energy.duckdb"
    stopping = [programs / "killed", str(int(signal.SIGSTOP)), "return lay_out", "load", LLAMA, "--database", path]
    with subprocess.Popen(stopping, stdout=-3, stderr=-3) as first:
        holder = stopped(tmp_path)
        second = subprocess.run(
            [programs / "energydb", "load", SCOUT, "--database", path], capture_output=True, text=True, check=False
        )
        os.kill(holder, signal.SIGCONT)
    refusal = f"energydb: energy.duckdb: being rebuilt by process {holder}; try again when it's done\n"

    assert (second.returncode, second.stdout, second.stderr) == (3, "", refusal)
    assert first.returncode == 0
    assert others(tmp_path) == []
    with reading(path) as connection:
        assert connection.execute("select count(*) from configuration").fetchone() == (22,)


def stopped(folder: Path) -> int:
    """Wait for a process that holds the folder's lock and has stopped; return its id."""
    for _ in range(3000):
        for lock in folder.glob(".energydb-*.lock"):
            state = subprocess.run(
                ["ps", "-o", "stat=", "-p", lock.read_text() or "0"], capture_output=True, text=True, check=False
            )
            if state.stdout.startswith("T"):
                return int(lock.read_text())
        time.sleep(0.02)
    raise AssertionError("no process stopped")


@pytest.mark.sweep
def test_of_two_loads_at_once_one_is_refused(tmp_path, proved):
    """At once, with the process named; the file is then the first one's, whole."""
    path = tmp_path / "energy.duckdb"
    refused, done = 0, 0
    for _ in range(4):
        pair = [
            subprocess.Popen(
                [ENERGYDB, "load", document, "--database", path], stderr=subprocess.PIPE, text=True, stdout=-3
            )
            for document in (LLAMA, SCOUT)
        ]
        said = [process.communicate()[1] for process in pair]
        for process, other, words in zip(pair, reversed(pair), said, strict=True):
            if process.returncode == 3:
                refused += 1
                assert words.startswith("energydb: energy.duckdb: being rebuilt by ")
                assert str(other.pid) in words or "another process" in words
                assert len(words.splitlines()) == 1
            else:
                done += process.returncode == 0
        assert [result for result in check_database(path) if not result.sound] == []
        assert others(tmp_path) == []

    assert refused + done == 8
    assert done >= 4
    assert refused >= 1
    proved("Of two loads of one file", "4 pairs", f"{refused} refused, {done} done")


READ = """
import duckdb, json, os, sys, time
seen, count, again = set(), 0, 0
rebuilding = True
while rebuilding:
    rebuilding = os.path.exists(sys.argv[2])  # the last answer is of the last release
    try:
        connection = duckdb.connect(sys.argv[1], read_only=True)
    except duckdb.IOException:
        again += 1
        connection = duckdb.connect(sys.argv[1], read_only=True)
    with connection:
        (row,) = connection.execute(
            "select count(*), count(distinct model_key), (select any_value(slug) from model),"
            " (select sum(runs) from contents) from configuration"
        ).fetchall()
    seen.add(row)
    count += 1
    if count == 1:
        print("begun", flush=True)
    time.sleep(0.1)  # or 8 of them would leave the rebuilds no time
print(json.dumps([sorted(seen), count, again], default=int))
"""


def answers_meanwhile(folder: Path, whole: bytes, readers: int, rebuilds: int) -> tuple[int, int]:
    """Rebuild while others read, first Scout and at last Llama; hold every answer against what these hold.

    Return how many were given, and how many openings had to be repeated.
    """
    path = folder / "energy.duckdb"
    path.write_bytes(whole)
    rebuilding = folder / "rebuilding"
    rebuilding.touch()
    command = [sys.executable, "-c", READ, path, rebuilding]
    processes = [subprocess.Popen(command, stdout=-1, stderr=-1, text=True) for _ in range(readers)]
    for process in processes:
        assert process.stdout.readline() == "begun\n"
    for number in range(rebuilds):
        load([LLAMA if number % 2 else SCOUT], path, strict=True)
    rebuilding.unlink()
    ended = [(process.communicate(), process.returncode) for process in processes]
    assert [said for (_, said), code in ended if code] == []
    answers = [json.loads(shown) for (shown, _), _ in ended]
    for rows, _, _ in answers:
        assert {tuple(row) for row in rows} == {(22, 1, LLAMA.stem, 22), (20, 1, SCOUT.stem, 20)}
    given, again = (sum(counts) for counts in zip(*(counts for _, *counts in answers), strict=True))
    return given, again


@pytest.mark.slow
def test_a_reader_goes_on_while_the_file_is_rebuilt(tmp_path, built):
    """Every answer is of one whole release, 22 runs of Llama or 20 of Scout."""
    given, _ = answers_meanwhile(tmp_path, built[SCOUT], readers=1, rebuilds=2)
    assert given > 0


@pytest.mark.sweep
def test_readers_go_on_while_the_file_is_rebuilt(tmp_path, built, proved):
    """DuckDB opens a file twice; where the exchange falls between the two its opening fails, the next succeeds."""
    given, again = answers_meanwhile(tmp_path, built[SCOUT], readers=8, rebuilds=20)
    assert given > 20
    gave = f"{given:,} answers, each of one release; {again} openings had to be repeated"
    proved("A reader sees one whole release", "8 readers, 20 rebuilds", gave)


@pytest.mark.parametrize("openings", [15, swept(150)])
def test_energydb_itself_opens_once_more(tmp_path, built, openings):
    """A header of one file and the rest of another, as between DuckDB's two openings: by exchanging in a loop."""
    path = tmp_path / "energy.duckdb"
    files = [path_of(tmp_path / document.stem, content) for document, content in built.items()]
    shutil.copy(files[0], path)
    stop = threading.Event()

    def exchange() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            shutil.copy(files[number % 2], tmp_path / "next")
            (tmp_path / "next").replace(path)

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        for _ in range(openings):
            with reading(path) as connection:
                assert connection.execute("select count(*) from configuration").fetchone() in ((22,), (20,))
    finally:
        stop.set()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("log", [b"", b"not a log", b"\0" * 4096], ids=["empty", "text", "zeros"])
def test_a_stray_log_never_leaks_into_the_new_file(tmp_path, built, energydb, log):
    """It belongs to another file, whatever is in it."""
    path = tmp_path / "energy.duckdb"
    path.write_bytes(built[LLAMA])
    Path(f"{path}.wal").write_bytes(log)

    assert energydb("load", SCOUT, "--force").returncode == 0
    assert others(tmp_path) == []
    assert without_own_bytes(path) == without_own_bytes(path_of(tmp_path / "new", built[SCOUT]))
