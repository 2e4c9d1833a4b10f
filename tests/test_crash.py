"""What is promised of the file, whatever happens: killed at any moment, two at once, readers all the while."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from energydb.catalog import reading
from energydb.check import check_database
from energydb.load import load
from tests.documents import LLAMA, SCOUT

ENERGYDB = Path(sys.executable).with_name("energydb")
KILLS = int(os.environ.get("ENERGYDB_KILLS", "30"))


def others(folder: Path) -> list[str]:
    """Name what lies in the folder beside the database."""
    return sorted(path.name for path in folder.iterdir() if path.name != "energy.duckdb")


def test_a_load_that_is_killed_leaves_the_old_file_or_the_new(tmp_path, proved):
    """Kill -9 at moments over the whole run: whole and sound either way, and the next run clears up."""
    path = tmp_path / "energy.duckdb"
    load([LLAMA], path, strict=True)
    contents = {LLAMA: path.read_bytes()}
    started = time.monotonic()
    subprocess.run([ENERGYDB, "load", SCOUT, "--database", path], capture_output=True, check=True)
    length = time.monotonic() - started
    contents[SCOUT] = path.read_bytes()
    chance = random.Random(20260216)
    kills, old, new, left = 0, 0, 0, 0
    for number in range(KILLS):
        wanted, before = (LLAMA, SCOUT) if number % 2 else (SCOUT, LLAMA)
        path.write_bytes(contents[before])
        with subprocess.Popen([ENERGYDB, "load", wanted, "--database", path], stderr=-1, stdout=-1) as process:
            time.sleep((number + chance.random()) / KILLS * length * 1.4)  # on a busy machine a run takes longer
            process.send_signal(signal.SIGKILL)
            process.communicate()
        kills += process.returncode == -signal.SIGKILL
        if path.read_bytes() == contents[before]:
            old += 1
        else:
            new += 1
            assert [result for result in check_database(path) if not result.sound] == []
        left += bool(others(tmp_path))

    load([SCOUT], path, strict=True)
    assert old + new == KILLS
    assert kills > KILLS // 2
    assert min(old, new) > 0
    assert others(tmp_path) == []
    gave = f"{kills} killed in time; {old} left the old file, {new} the new; {left} left a folder, which went"
    proved("Killed at any moment", "30 loads", gave)


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
while os.path.exists(sys.argv[2]):
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
    time.sleep(0.1)  # or 8 of them would leave the rebuilds no time
print(json.dumps([sorted(seen), count, again], default=int))
"""


def test_readers_go_on_while_the_file_is_rebuilt(tmp_path, proved):
    """8 readers over 20 rebuilds: every answer is of one whole release, 22 runs of Llama or 20 of Scout.

    DuckDB opens a file twice, and where the exchange falls between the two its opening fails: the next succeeds.
    """
    path = tmp_path / "energy.duckdb"
    load([LLAMA], path, strict=True)
    rebuilding = tmp_path / "rebuilding"
    rebuilding.touch()
    command = [sys.executable, "-c", READ, path, rebuilding]
    readers = [subprocess.Popen(command, stdout=-1, stderr=-1, text=True) for _ in range(8)]
    for number in range(20):
        load([SCOUT if number % 2 else LLAMA], path, strict=True)
    rebuilding.unlink()
    ended = [(reader.communicate(), reader.returncode) for reader in readers]
    assert [said for (_, said), code in ended if code] == []
    answers = [json.loads(shown) for (shown, _), _ in ended]
    seen = {tuple(row) for rows, _, _ in answers for row in rows}
    assert seen == {(22, 1, LLAMA.stem, 22), (20, 1, SCOUT.stem, 20)}
    given, again = (sum(counts) for counts in zip(*(counts for _, *counts in answers), strict=True))
    gave = f"{given:,} answers, each of one release; {again} openings had to be repeated"
    proved("A reader sees one whole release", "8 readers, 20 rebuilds", gave)


def test_energydb_itself_opens_once_more(tmp_path):
    """A header of one file and the rest of another, as between DuckDB's two openings: by exchanging in a loop."""
    path = tmp_path / "energy.duckdb"
    files = []
    for document in (LLAMA, SCOUT):
        (tmp_path / document.stem).mkdir()
        files.append(tmp_path / document.stem / "energy.duckdb")
        load([document], files[-1], strict=True)
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
        for _ in range(150):
            with reading(path) as connection:
                assert connection.execute("select count(*) from configuration").fetchone() in ((22,), (20,))
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("wal", [b"", b"not a log", b"\0" * 4096])
def test_a_stray_log_never_leaks_into_the_new_file(tmp_path, wal):
    """It belongs to another file, whatever is in it."""
    path = tmp_path / "energy.duckdb"
    load([LLAMA], path, strict=True)
    Path(f"{path}.wal").write_bytes(wal)
    subprocess.run([ENERGYDB, "load", SCOUT, "--database", path, "--force"], capture_output=True, check=True)

    assert others(tmp_path) == []
    assert [result for result in check_database(path) if not result.sound] == []
