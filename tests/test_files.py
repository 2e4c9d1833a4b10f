"""Files as the machine knows them: told by their bytes, put in place whole and to stay, one worker at a time."""

import contextlib
import os
from pathlib import Path

import pytest

from energydb.errors import DataError, MachineError, UsageError
from energydb.files import only_one, put_in_place, real_file, working_folder
from energydb.store.sandbox import is_duckdb


def open_paths() -> set[str]:
    """Name what this process holds open."""
    found = set()
    for number in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # what the list itself was read by
            found.add(str(number.readlink()))
    return found


def test_a_duckdb_file_is_told_by_its_bytes(seed_database, tmp_path):
    """Whatever its name; another place in the file, or something short, doesn't count."""
    (tmp_path / "odd.json").write_bytes(seed_database.read_bytes())
    (tmp_path / "early.duckdb").write_bytes(b"DUCK" * 2)
    (tmp_path / "late.duckdb").write_bytes(b"." * 9 + b"DUCK")
    (tmp_path / "just.duckdb").write_bytes(b"." * 8 + b"DUCK")

    told = {path.name: is_duckdb(path) for path in (*tmp_path.iterdir(), tmp_path, tmp_path / "none")}
    assert [name for name, is_one in sorted(told.items()) if is_one] == ["just.duckdb", "odd.json"]


def test_what_is_put_in_place_stays_there(tmp_path, monkeypatch):
    """A name in a folder is on the disk only when the folder is: after the new file has it, not before."""
    (tmp_path / "built").write_text("new")
    target = tmp_path / "target"
    target.write_text("old")
    synced = []
    fsync = os.fsync

    def recorded(number: int) -> None:
        fsync(number)
        synced.append((os.path.samestat(os.fstat(number), tmp_path.stat()), target.read_text()))

    monkeypatch.setattr(os, "fsync", recorded)
    before = open_paths()
    put_in_place(tmp_path / "built", target)

    assert synced == [(True, "new")]
    assert open_paths() == before
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o4755])
def test_the_mode_of_what_was_there_is_kept(tmp_path, mode):
    """All of it: who may read it, and more."""
    (tmp_path / "built").touch(0o644)
    (tmp_path / "target").touch()
    (tmp_path / "target").chmod(mode)

    put_in_place(tmp_path / "built", tmp_path / "target")

    assert (tmp_path / "target").stat().st_mode & 0o7777 == mode


def test_only_one_may_hold_a_target(tmp_path):
    """The second is told who holds it; another target in the same folder is free, and so is this one afterwards."""
    target = tmp_path / "energy.duckdb"
    said = f"energy.duckdb: being rebuilt by process {os.getpid()}; try again when it's done"
    with only_one(target):
        with pytest.raises(MachineError, match=said), only_one(target):
            pass
        with only_one(tmp_path / "other.duckdb"):
            assert len(list(tmp_path.iterdir())) == 2
        with pytest.raises(MachineError, match=said), only_one(target):
            pass
    with only_one(target):
        pass

    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_dead_run_is_taken(tmp_path):
    """Its file is still there, with the number of a process that isn't."""
    target = tmp_path / "energy.duckdb"
    with only_one(target):
        (lock,) = tmp_path.iterdir()
    lock.write_text("99999999999")

    with only_one(target):
        assert lock.read_text() == str(os.getpid())

    assert list(tmp_path.iterdir()) == []


def test_a_forked_process_holds_no_lock(tmp_path):
    """It may outlive what the lock protects: then the next one would wait for it."""
    reader, writer = os.pipe()
    with only_one(tmp_path / "energy.duckdb"), working_folder(tmp_path / "energy.duckdb"):
        locks = {str(path) for path in tmp_path.iterdir()}
        if not (child := os.fork()):
            try:
                os.write(writer, str(len(locks & open_paths())).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        inherited = os.read(reader, 3)
        held = locks & open_paths()
    os.close(reader)
    os.close(writer)

    assert len(held) == 2
    assert inherited == b"0"


def test_a_working_folder_is_gone_afterwards(tmp_path):
    """However the work ends; and a fault of the disk is put in words."""
    with working_folder(tmp_path / "energy.duckdb") as folder:
        (folder / "half").write_text("half")
        assert folder.parent == tmp_path
    with pytest.raises(KeyError), working_folder(tmp_path / "energy.duckdb"):
        raise KeyError
    with (
        pytest.raises(MachineError, match=r"energy\.duckdb: can't be written: No space left on device"),
        working_folder(tmp_path / "energy.duckdb"),
    ):
        Path("/dev/full").write_text("more than fits")

    assert list(tmp_path.iterdir()) == []


def test_a_name_stands_for_a_file_or_for_one_to_come(tmp_path):
    """Through links, to what they lead to."""
    (tmp_path / "link").symlink_to("to-come")

    assert real_file(tmp_path / "link") == tmp_path / "to-come"
    with pytest.raises(UsageError, match="expected a name in UTF-8"):
        real_file(tmp_path / os.fsdecode(b"bad\xff"))
    with pytest.raises(DataError, match="expected a file, got a folder"):
        real_file(tmp_path)
