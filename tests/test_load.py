"""The rebuild: whole or not at all, the same bytes for the same documents, nothing lost."""

import fcntl
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from energydb.errors import DataError, DocumentErrors, MachineError, UsageError
from energydb.load import check, load
from energydb.tables import Configuration
from tests.conftest import answer
from tests.documents import LLAMA, SCOUT, document, older_release, run, write

# DuckDB's checksum of the header, and the random identifier that it gives each file.
OWN_BYTES = [*range(8), *range(124, 140)]


def without_own_bytes(path: Path) -> bytes:
    data = bytearray(path.read_bytes())
    for place in OWN_BYTES:
        data[place] = 0
    return bytes(data)


def ask(path: Path, sql: str):
    with duckdb.connect(str(path), read_only=True) as connection:
        return answer(connection, sql)


def test_every_published_value_reads_back(seeds):
    """42 runs of 21 values, each equal to Python's own reading of the raw JSON."""
    published = [row for path in (LLAMA, SCOUT) for row in json.loads(path.read_text())["configurations"]]
    names = list(published[0])
    rows = seeds.execute(f"select {', '.join(names)} from configuration order by configuration_key").fetchall()

    assert len(names) == 21
    assert len(rows) == 42
    assert rows == [tuple(row.values()) for row in published]


def test_the_head_reads_back(seeds):
    """Each field of the head, against the raw JSON."""
    raw = json.loads(LLAMA.read_text())
    (release,) = answer(seeds, "from release join source using (source_key)")

    renamed = {"configurations": "configurations_note"}
    for name, value in raw["source"].items():
        if name != "licence_evidence":
            assert str(release[renamed.get(name, name)]) == value
    for name in ("updated", "data_version", "unit", "itl_deadline_ms", "caveat", "boundary"):
        assert str(release[name]) == str(raw[name])
    evidence = seeds.execute("select evidence from licence_evidence order by position").fetchall()
    assert [item for (item,) in evidence] == raw["source"]["licence_evidence"]
    assert release["document_version"] == raw["version"]


def test_documents_are_told_by_name_and_hash(seeds):
    """A number can be traced to the bytes that it came from."""
    rows = seeds.execute("select file_name, sha256 from document order by file_name").fetchall()

    assert rows == [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in (LLAMA, SCOUT)]


def test_two_builds_are_the_same_bytes(tmp_path):
    """In two folders, from two places, in two orders: only DuckDB's own identifier differs."""
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in (LLAMA, SCOUT):
        shutil.copy(path, moved)
    builds = []
    for place, paths in {
        "one": [LLAMA, SCOUT],
        "two": [SCOUT, LLAMA],
        "three": [moved],
    }.items():
        (tmp_path / place).mkdir()
        builds.append(tmp_path / place / "energy.duckdb")
        load(paths, builds[-1], strict=True)

    first, second, third = map(without_own_bytes, builds)
    assert first == second == third


def test_the_same_bytes_given_twice_are_loaded_once(tmp_path):
    """With a word, and whatever the name of the copy."""
    copy = tmp_path / "copy.json"
    shutil.copy(SCOUT, copy)

    report = load([SCOUT, SCOUT, copy], tmp_path / "energy.duckdb", strict=True)

    assert len(report.notes) == 1
    assert "the same bytes as" in report.notes[0]
    assert ask(tmp_path / "energy.duckdb", "select count(*) as runs from configuration") == [{"runs": 20}]


def test_a_folder_is_searched_through(tmp_path):
    """Folders within it too, but for hidden ones; other files are passed over."""
    (tmp_path / "in" / "deeper").mkdir(parents=True)
    (tmp_path / "in" / ".git").mkdir()
    shutil.copy(SCOUT, tmp_path / "in" / "deeper")
    (tmp_path / "in" / ".git" / "broken.json").write_text("{")
    (tmp_path / "in" / "README.md").write_text("text")

    report = check([tmp_path / "in"])

    assert report.contents.rows[0][report.contents.columns.index("runs")] == 20


def test_a_folder_without_documents_is_refused(tmp_path):
    """An empty database would look like an answer."""
    with pytest.raises(DataError, match="expected a folder with documents"):
        load([tmp_path], tmp_path / "energy.duckdb", strict=False)
    with pytest.raises(UsageError, match="no such file or folder"):
        load([tmp_path / "none"], tmp_path / "energy.duckdb", strict=False)


def test_every_faulty_document_is_named_in_one_run(tmp_path):
    """In the order of the files."""
    write(tmp_path / "a.json", document(unit="J"))
    write(tmp_path / "b.json", document())
    write(tmp_path / "c.json", document(boundary="wall", caveat=" "))

    with pytest.raises(DocumentErrors) as refused:
        check([tmp_path])

    assert [line.split(": ")[:2] for line in refused.value.lines] == [
        [str(tmp_path / "a.json"), "$.unit"],
        [str(tmp_path / "c.json"), "$.boundary"],
        [str(tmp_path / "c.json"), "$.caveat"],
    ]


def test_heads_that_disagree_are_named_field_by_field(tmp_path):
    """Held against the head that most documents of the release have."""
    for slug in ("a", "b"):
        write(tmp_path / f"{slug}.json", document(run(row_id=f"{slug}/H100/1/8"), slug=slug))
    odd = document(slug="c", itl_deadline_ms=400, source={"licence": "CC0", "compiled": "2026-02-17"})
    write(tmp_path / "0.json", odd)

    with pytest.raises(DocumentErrors) as refused:
        check([tmp_path])

    assert [line.replace(f"{tmp_path}/", "") for line in refused.value.lines] == [
        '0.json: $.source.compiled: expected "2026-02-16" as in a.json, of the same release, got "2026-02-17"',
        '0.json: $.source.licence: expected "Apache-2.0 per the ml-energy/benchmark-v3 dataset card"'
        ' as in a.json, of the same release, got "CC0"',
        '0.json: $.itl_deadline_ms: expected "500" as in a.json, of the same release, got "400"',
    ]


def test_a_slug_twice_in_one_release_is_refused(tmp_path):
    """Two documents of one model would count its runs twice."""
    write(tmp_path / "a.json", document())
    write(tmp_path / "b.json", document(name="Small again"))

    with pytest.raises(DocumentErrors, match=r"b\.json: \$\.slug: expected a slug once.*a\.json"):
        check([tmp_path])


def test_two_releases_lie_side_by_side(tmp_path):
    """Nothing is counted twice, and the newer one is current."""
    older = document(run(joules_per_output_token=0.5), **older_release())
    newer = document(run(joules_per_output_token=0.7), params_b=9.0, active_params_b=9.0)
    path = tmp_path / "energy.duckdb"
    load([write(tmp_path / "older.json", older), write(tmp_path / "newer.json", newer)], path, strict=True)

    assert ask(path, "select count(*) as runs from configuration") == [{"runs": 2}]
    assert ask(path, "select joules_per_output_token from best_pick") == [{"joules_per_output_token": 0.7}]
    assert ask(path, "select params_b from model_detail order by is_current") == [
        {"params_b": 8.0},
        {"params_b": 9.0},
    ]


def test_a_source_that_redescribes_itself_keeps_both(tmp_path):
    """A new address or publisher is no reason to lose the older release."""
    older = document(**older_release(publisher="The group"))
    path = tmp_path / "energy.duckdb"
    load([write(tmp_path / "older.json", older), write(tmp_path / "newer.json", document())], path, strict=True)

    rows = ask(path, "select publisher from model_detail order by is_current")
    assert [row["publisher"][:10] for row in rows] == ["The group", "The ML.ENE"]


def test_findings_are_reported_and_with_strict_refused(tmp_path):
    """Data with findings is published unless it's asked not to be."""
    bad = write(tmp_path / "bad.json", document(run(p90_itl_ms=19.0)))
    path = tmp_path / "energy.duckdb"

    report = load([bad], path, strict=False)
    before = path.read_bytes()

    assert len(report.findings.rows) == 1
    with pytest.raises(DocumentErrors, match=r"bad\.json: small/H100/1/8: itl_order: expected median_itl_ms"):
        load([bad], path, strict=True)
    assert path.read_bytes() == before


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_bad_document_leaves_the_old_file_as_it_was(tmp_path):
    """Byte for byte, and nothing temporary stays."""
    path = tmp_path / "energy.duckdb"
    load([SCOUT], path, strict=True)
    before = path.read_bytes()

    with pytest.raises(DocumentErrors):
        load([SCOUT, write(tmp_path / "bad.json", document(unit="J"))], path, strict=False)

    assert path.read_bytes() == before
    assert leftovers(tmp_path) == ["bad.json", "energy.duckdb"]


def test_mode_link_and_stale_log(tmp_path):
    """The old file's mode is kept, a link stays a link, and a stale log is never replayed."""
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "energy.duckdb"
    load([LLAMA], real, strict=True)
    real.chmod(0o640)
    link = tmp_path / "energy.duckdb"
    link.symlink_to(real)
    Path(f"{real}.wal").write_bytes(b"")

    load([SCOUT], link, strict=True)

    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert leftovers(tmp_path / "real") == ["energy.duckdb"]
    assert ask(link, "select count(*) as runs from configuration") == [{"runs": 20}]


@pytest.mark.parametrize("content", [b"my notes\n" * 100, None], ids=["text", "duckdb"])
def test_what_is_not_ours_is_not_replaced(tmp_path, content):
    """A slip in --database must not cost a file."""
    path = tmp_path / "mine"
    if content is None:
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table mine as select 1 as one")
    else:
        path.write_bytes(content)
    before = path.read_bytes()

    with pytest.raises(DataError, match="isn't replaced; --force"):
        load([SCOUT], path, strict=True)

    assert path.read_bytes() == before
    assert leftovers(tmp_path) == ["mine"]


def test_force_replaces_what_is_not_ours(tmp_path):
    """Asked for by name, as for a file of notes that is no longer wanted."""
    path = tmp_path / "mine"
    path.write_text("my notes")

    load([SCOUT], path, strict=True, force=True)

    assert ask(path, "select count(*) as runs from configuration") == [{"runs": 20}]


def test_tables_that_someone_added_are_not_lost(tmp_path):
    """Names alone don't make a file energydb's; and one's own table in it would be gone with a rebuild."""
    path = tmp_path / "energy.duckdb"
    load([SCOUT], path, strict=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table users as select 1 as one")
    before = path.read_bytes()

    with pytest.raises(DataError, match=r"tables or views that energydb didn't make \(users\)"):
        load([SCOUT], path, strict=True)
    assert path.read_bytes() == before


def test_only_a_file_is_a_target(tmp_path):
    """Not a device, which a root's load would replace; not a pipe, a link loop or a folder."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("pipe", "/dev/null"):
        with pytest.raises(DataError, match="expected a file, got a device or pipe"):
            load([SCOUT], tmp_path / name, strict=True, force=True)
    with pytest.raises(MachineError, match="Too many levels of symbolic links"):
        load([SCOUT], tmp_path / "loop", strict=True)
    with pytest.raises(UsageError, match="expected a file's name"):
        load([SCOUT], tmp_path / ":memory:", strict=True)
    assert Path("/dev/null").is_char_device()


def test_what_dead_runs_left_goes_and_a_live_runs_stays(tmp_path):
    """A live run holds a lock on its folder; a killed one can't."""
    dead = tmp_path / ".energydb-dead.building"
    dead.mkdir()
    (dead / "energy.duckdb").write_text("half")
    live = tmp_path / ".energydb-live.building"
    live.mkdir()
    lock = os.open(live, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)

    load([SCOUT], tmp_path / "energy.duckdb", strict=True)
    os.close(lock)

    assert leftovers(tmp_path) == [".energydb-live.building", "energy.duckdb"]


def test_a_full_disk_is_the_machines_fault(tmp_path):
    """At every size at which writing stops: one line, exit code 3, the old file as it was, nothing left."""
    path = tmp_path / "energy.duckdb"
    load([SCOUT], path, strict=True)
    before = path.read_bytes()
    whole = len(before)
    for size in (0, 4096, 65536, whole // 2, whole - 4096):
        done = subprocess.run(
            [Path(sys.executable).with_name("energydb"), "load", SCOUT, "--database", path],
            preexec_fn=lambda size=size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (3, "", 1), done.stderr
        assert done.stderr.endswith(": File too large\n")
        assert path.read_bytes() == before
        assert leftovers(tmp_path) == ["energy.duckdb"]


def test_a_folder_that_cannot_be_read_is_a_fault(tmp_path):
    """Half the documents would be missing, without a word."""
    (tmp_path / "in" / "closed").mkdir(parents=True)
    shutil.copy(SCOUT, tmp_path / "in")
    (tmp_path / "in" / "closed").chmod(0)
    command = [Path(sys.executable).with_name("energydb"), "check", tmp_path / "in"]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"energydb: {tmp_path}/in/closed: Permission denied\n"


def test_huge_counts_are_findings_and_no_overflow(tmp_path):
    """Each is in range; their product is in no integer's."""
    made = document(run(tensor_parallel=2**31 - 1, data_parallel=2**31 - 1, expert_parallel=2**31 - 1))

    report = check([write(tmp_path / "huge.json", made)])

    assert [row[report.findings.columns.index("check_name")] for row in report.findings.rows] == ["num_gpus"]


def test_a_folder_is_no_target(tmp_path):
    """Nor is a folder that isn't there."""
    with pytest.raises(DataError, match="expected a file, got a folder"):
        load([SCOUT], tmp_path, strict=True)
    with pytest.raises(MachineError, match="No such file or directory"):
        load([SCOUT], tmp_path / "none" / "energy.duckdb", strict=True)


HOLD = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "reading")
print("open", flush=True)
sys.stdin.readline()
print(connection.execute("select count(*) from configuration").fetchone()[0])
"""


def holder(path: Path, how: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, path, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "open\n"
    return process


def test_a_target_held_open_for_writing_is_refused(tmp_path):
    """With the process that holds it; the file stays as it was."""
    path = tmp_path / "energy.duckdb"
    load([SCOUT], path, strict=True)
    before = path.read_bytes()
    with holder(path, "writing") as process:
        with pytest.raises(MachineError, match=rf"held open for writing by .*PID {process.pid}"):
            load([LLAMA], path, strict=True)
        process.communicate("\n")

    assert path.read_bytes() == before
    assert leftovers(tmp_path) == ["energy.duckdb"]


def test_a_reader_goes_on_undisturbed(tmp_path):
    """It keeps its whole old snapshot; who opens the file anew gets the new one."""
    path = tmp_path / "energy.duckdb"
    load([SCOUT], path, strict=True)
    with holder(path, "reading") as process:
        load([LLAMA], path, strict=True)
        assert ask(path, "select count(*) as runs from configuration") == [{"runs": 22}]
        assert process.communicate("\n")[0] == "20\n"


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root writes anywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    """One line that says so, and exit code 3."""
    (tmp_path / "fixed").mkdir()
    (tmp_path / "fixed").chmod(0o555)
    command = [
        Path(sys.executable).with_name("energydb"),
        "load",
        "--database",
        tmp_path / "fixed" / "e.duckdb",
    ]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (3, "")
    assert "can't write into its folder: Permission denied" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_tables_hold_a_column_for_every_field():
    """A field of a run that had no column would be lost without a word."""
    names = {column.name for column in Configuration.__table__.columns}
    own = {"configuration_key", "model_key", "parallel_notes"}

    assert set(json.loads(SCOUT.read_text())["configurations"][0]) == names - own
