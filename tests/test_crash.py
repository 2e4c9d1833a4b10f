"""What is promised of the file, whatever happens: killed at any moment, two at once, readers all the while."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from energydb.check import check_database
from energydb.load import load
from tests.documents import LLAMA, SCOUT

ENERGYDB = Path(sys.executable).with_name("energydb")
KILLS = int(os.environ.get("ENERGYDB_KILLS", "30"))


def others(folder: Path) -> list[str]:
    """Name what lies in the folder beside the database."""
    return sorted(path.name for path in folder.iterdir() if path.name != "energy.duckdb")


def test_a_load_that_is_killed_leaves_the_old_file_or_the_new(tmp_path, capsys):
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
            time.sleep((number + chance.random()) / KILLS * length * 1.05)
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
    with capsys.disabled():
        print(
            f"\nkilled: {kills} of {KILLS} loads, {old} left the old file, {new} the new, {left} left a folder behind"
        )

    assert old + new == KILLS
    assert kills > KILLS // 2
    assert others(tmp_path) == []


def test_of_two_loads_at_once_one_is_refused(tmp_path):
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


READ = """
import duckdb, sys, time
seen, until = set(), time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    with duckdb.connect(sys.argv[1], read_only=True) as connection:
        rows = connection.execute(
            "select count(*), count(distinct model_key), (select any_value(slug) from model),"
            " (select sum(runs) from contents) from configuration"
        ).fetchall()
    seen.add(rows[0])
print(sorted(seen))
"""


def test_readers_never_err_while_the_file_is_rebuilt(tmp_path):
    """8 readers over 20 rebuilds: every answer is from one whole release."""
    path = tmp_path / "energy.duckdb"
    load([LLAMA], path, strict=True)
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READ, path, "600"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    try:
        for number in range(20):
            load([SCOUT if number % 2 else LLAMA], path, strict=True)
            assert all(reader.poll() is None for reader in readers), readers[0].stderr.read()
    finally:
        for reader in readers:
            reader.kill()
            reader.communicate()


def test_every_answer_of_a_reader_is_of_one_release(tmp_path):
    """22 runs are Llama's, 20 are Scout's: never a mixture."""
    path = tmp_path / "energy.duckdb"
    load([LLAMA], path, strict=True)
    reader = subprocess.Popen([sys.executable, "-c", READ, path, "5"], stdout=subprocess.PIPE, text=True)
    number = 0
    while reader.poll() is None:
        number += 1
        load([SCOUT if number % 2 else LLAMA], path, strict=True)
    answers = set(eval(reader.stdout.read()))

    assert answers <= {(22, 1, LLAMA.stem, 22), (20, 1, SCOUT.stem, 20)}
    assert len(answers) == 2


@pytest.mark.parametrize("wal", [b"", b"not a log", b"\0" * 4096])
def test_a_stray_log_never_leaks_into_the_new_file(tmp_path, wal):
    """It belongs to another file, whatever is in it."""
    path = tmp_path / "energy.duckdb"
    load([LLAMA], path, strict=True)
    Path(f"{path}.wal").write_bytes(wal)
    subprocess.run([ENERGYDB, "load", SCOUT, "--database", path, "--force"], capture_output=True, check=True)

    assert others(tmp_path) == []
    assert [result for result in check_database(path) if not result.sound] == []
