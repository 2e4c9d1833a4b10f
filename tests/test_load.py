"""The rebuild: whole or not at all, the same bytes for the same documents, nothing lost."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from energydb.errors import DataError, DocumentErrors, FindingsError, MachineError, UsageError
from energydb.load import check, finding_faults, load
from energydb.paths import newest_revision
from energydb.store.tables import Configuration
from tests.conftest import answer
from tests.documents import LLAMA, SCOUT, document, older_release, run, write
from tests.leaderboards import change_run, text_row, write_leaderboard

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
    rows = seeds.execute("select file_name, sha256 from file order by file_name").fetchall()

    assert rows == [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in (LLAMA, SCOUT)]


def test_two_builds_are_the_same_bytes(tmp_path, proved):
    """In two folders, from two places, in two orders: only DuckDB's own identifier differs."""
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in (LLAMA, SCOUT):
        shutil.copy(path, moved)
    builds = []
    for place, paths in {"one": [LLAMA, SCOUT], "two": [SCOUT, LLAMA], "three": [moved]}.items():
        (tmp_path / place).mkdir()
        builds.append(tmp_path / place / "energy.duckdb")
        load(paths, builds[-1], strict=True)

    first, second, third = map(without_own_bytes, builds)
    assert first == second == third
    proved("The same documents give the same bytes", f"{len(builds)} builds", "equal")


def test_the_same_bytes_given_twice_are_loaded_once(tmp_path):
    """With a word, and whatever the name of the copy."""
    copy = tmp_path / "copy.json"
    shutil.copy(SCOUT, copy)

    report = load([SCOUT, SCOUT, copy], tmp_path / "energy.duckdb", strict=True)

    assert len(report.notes) == 1
    assert "the same bytes as" in report.notes[0]
    assert ask(tmp_path / "energy.duckdb", "select count(*) as runs from configuration") == [{"runs": 20}]


def test_the_same_release_in_another_form_is_loaded_once(tmp_path):
    """Written anew, with other blanks and another order of its keys and models: same runs, told in a note."""
    first = write_leaderboard(tmp_path / "in" / "first")
    again = shutil.copytree(first, tmp_path / "in" / "again")
    for path in again.rglob("*.json"):
        made = json.loads(path.read_text())
        path.write_text(json.dumps(dict(reversed(made.items())), indent=3))
    one, both = tmp_path / "one.duckdb", tmp_path / "both.duckdb"
    load([first], one, strict=True)
    report = load([tmp_path / "in"], both, strict=True)

    for table in ("model", "configuration", "image_configuration", "output_length_bin", "release"):
        assert ask(both, f"from {table}") == ask(one, f"from {table}"), table
    assert [note.rpartition(": ")[2].split(" with")[0] for note in report.notes] == [
        "1 model",
        "2 models",
        "1 model",
        "1 model",
    ]
    change_run(again / "tasks/gpqa.json", 0, median_itl_ms=20.5)
    change_run(again / "models/org__Small-1B__gpqa.json", 0, median_itl_ms=20.5)
    report = load([tmp_path / "in"], both, strict=False)
    assert [row["check_name"] for row in report.findings.named()] == ["identity"] * 2


@pytest.mark.slow
def test_a_folder_is_searched_through(tmp_path):
    """Folders within it too, but for hidden ones; other files are passed over."""
    (tmp_path / "in" / "deeper").mkdir(parents=True)
    (tmp_path / "in" / ".git").mkdir()
    shutil.copy(SCOUT, tmp_path / "in" / "deeper")
    (tmp_path / "in" / ".git" / "broken.json").write_text("{")
    (tmp_path / "in" / "README.md").write_text("text")

    report = check([tmp_path / "in"])

    assert report.contents.rows[0][report.contents.columns.index("runs")] == 20


@pytest.mark.slow
def test_a_linked_folder_is_said_and_not_searched(tmp_path):
    """It could lead in a circle; a linked document is read."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "scout.json").symlink_to(SCOUT)
    (tmp_path / "in" / "more").symlink_to(LLAMA.parent)

    report = check([tmp_path / "in"])

    assert [row[report.contents.columns.index("runs")] for row in report.contents.rows] == [20]
    assert report.notes == (f"{tmp_path}/in/more: a link to a folder, not searched; name it to load what is in it",)


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


@pytest.mark.slow
def test_a_model_twice_in_one_release_is_a_finding(tmp_path):
    """Two documents of one model would count its runs twice: both are kept, found, and with strict refused."""
    write(tmp_path / "a.json", document())
    write(tmp_path / "b.json", document(run(max_num_seqs=16), name="Small again", model_id="ORG/small"))
    path = tmp_path / "energy.duckdb"

    report = load([tmp_path], path, strict=False)

    assert sorted((row["document"], row["check_name"], row["found"]) for row in report.findings.named()) == [
        ("a.json", "identity", "also small (ORG/small) in b.json"),
        ("b.json", "identity", "also small (org/Small) in a.json"),
    ]
    assert ask(path, "select name, max_num_seqs from configuration join model using (model_key) order by name") == [
        {"name": "Small", "max_num_seqs": 8},
        {"name": "Small again", "max_num_seqs": 16},
    ]


@pytest.mark.slow
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


@pytest.mark.slow
def test_of_many_findings_the_first_are_told_and_all_counted(tmp_path):
    """300,000 lines tell nobody anything: 20, then how many more."""
    bad = write(tmp_path / "bad.json", document(*(run(max_num_seqs=size, p90_itl_ms=19.0) for size in range(8, 31))))
    path = tmp_path / "energy.duckdb"

    report = load([bad], path, strict=False)

    assert (len(finding_faults(report)), report.finding_count) == (20, 23)
    assert ask(path, "select count(*) as findings from data_quality") == [{"findings": 23}]
    with pytest.raises(FindingsError) as refused:
        load([bad], path, strict=True)
    assert [line.startswith("bad.json: small/H100/1/") for line in refused.value.lines] == [True] * 20 + [False] * 2
    assert refused.value.lines[20] == "and 3 more"


def energydb_process(
    *arguments: str | Path, obeying_modes: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run the command; `obeying_modes` without what lets root read and write anything."""
    command = [Path(sys.executable).with_name("energydb"), *arguments]
    if obeying_modes and os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root writes anywhere")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", *command]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_bad_document_leaves_the_old_file_as_it_was(scout_here, tmp_path):
    """Byte for byte, and nothing temporary stays."""
    before = scout_here.read_bytes()

    with pytest.raises(DocumentErrors):
        load([SCOUT, write(tmp_path / "bad.json", document(unit="J"))], scout_here, strict=False)

    assert scout_here.read_bytes() == before
    assert leftovers(tmp_path) == ["bad.json", "energy.duckdb"]


@pytest.mark.slow
def test_mode_link_and_stale_log(tmp_path, built):
    """The old file's mode is kept, a link stays a link, and a stale log is never replayed."""
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "energy.duckdb"
    real.write_bytes(built[LLAMA])
    real.chmod(0o640)
    link = tmp_path / "energy.duckdb"
    link.symlink_to(real)
    Path(f"{real}.wal").write_bytes(b"")

    load([SCOUT], link, strict=True)

    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert leftovers(tmp_path / "real") == ["energy.duckdb"]
    assert ask(link, "select count(*) as runs from configuration") == [{"runs": 20}]


def test_what_is_not_ours_is_not_replaced(tmp_path, seed_database, proved):
    """A slip in --database must not cost a file."""
    made = {}

    def place(kind: str, content: bytes | None = None, *, statement: str | None = None) -> Path:
        made[kind] = tmp_path / f"{kind}.duckdb"
        if content is not None:
            made[kind].write_bytes(content)
        if statement:
            with duckdb.connect(str(made[kind])) as connection:
                connection.execute(statement)
        return made[kind]

    whole = seed_database.read_bytes()
    place("notes", b"my notes\n" * 100)
    place("another database", statement="create table mine as select 1 as one")
    place("with a table added", whole, statement="create table mine as select 1 as one")
    own = (
        "create schema lab; create table lab.build (one int); create table pick (one int); create sequence best_pick"
    )
    place("with energydb's names elsewhere", whole, statement=own)
    place("of two schemas", whole, statement="insert into alembic_version values ('0001')")
    place("of a newer schema", whole, statement="update alembic_version set version_num = '9999'")
    place("cut", whole[: len(whole) // 2])
    place("a folder").mkdir()
    os.mkfifo(place("a pipe"))
    place("a device").symlink_to("/dev/null")
    loop = place("a link loop")
    loop.symlink_to(loop)
    before = {kind: path.read_bytes() for kind, path in made.items() if path.is_file()}
    refused = {}
    for kind, path in made.items():
        with pytest.raises((DataError, MachineError)) as refusal:
            load([SCOUT], path, strict=True)
        refused[kind] = str(refusal.value).removeprefix(f"{path}: ")

    assert {kind: path.read_bytes() for kind, path in made.items() if path.is_file()} == before
    assert leftovers(tmp_path) == sorted(path.name for path in made.values())
    remedy = "so it isn't replaced; --force replaces it all the same"
    not_made = "holds tables or views that energydb didn't make"
    assert refused == {
        "notes": f"not a DuckDB file, {remedy}",
        "another database": f"a DuckDB file, but not energydb's, {remedy}",
        "with a table added": f"{not_made} (mine), {remedy}",
        "with energydb's names elsewhere": f"{not_made} (best_pick, lab.build, pick), {remedy}",
        "of two schemas": f"expected one revision of the schema, got {newest_revision()}, 0001",
        "of a newer schema": f"made by a newer energydb (schema 9999), {remedy}",
        "cut": f"can't be opened by DuckDB, {remedy}",
        "a folder": "expected a file, got a folder",
        "a pipe": "expected a file, got a device or pipe",
        "a device": "expected a file, got a device or pipe",
        "a link loop": "can't be reached: Too many levels of symbolic links",
    }
    assert Path("/dev/null").is_char_device()
    proved("What isn't energydb's", f"{len(made)} kinds", f"{len(refused)} refused")


def test_force_replaces_what_is_not_ours(tmp_path):
    """Asked for by name, as for a file of notes that is no longer wanted."""
    path = tmp_path / "mine"
    path.write_text("my notes")

    load([SCOUT], path, strict=True, force=True)

    assert ask(path, "select count(*) as runs from configuration") == [{"runs": 20}]


def test_force_spares_what_is_no_file(tmp_path):
    """A device, which a root's load would replace, a pipe; and DuckDB's word for no file at all."""
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "/dev/null"):
        with pytest.raises(DataError, match="expected a file, got a device or pipe"):
            load([SCOUT], tmp_path / name, strict=True, force=True)
    with pytest.raises(UsageError, match="expected a file's name"):
        load([SCOUT], tmp_path / ":memory:", strict=True)
    assert Path("/dev/null").is_char_device()


@pytest.mark.slow
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


def fill(programs: Path, path: Path, size: int) -> None:
    """Load where no file may grow beyond a size: one line, exit code 3, the old file as it was, nothing left."""
    before = path.read_bytes()
    command = [programs / "killed", "0", f"write {size}", "load", SCOUT, "--database", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (3, "", 1), done.stderr
    assert done.stderr.endswith(": File too large\n")
    assert path.read_bytes() == before
    assert leftovers(path.parent) == [path.name]


@pytest.mark.slow
def test_a_full_disk_is_the_machines_fault(scout_here, programs):
    """At its beginning, and within the data."""
    for size in (0, len(scout_here.read_bytes()) // 2):
        fill(programs, scout_here, size)


@pytest.mark.sweep
def test_a_disk_that_is_full_at_any_size_is_the_machines_fault(scout_here, programs, proved):
    """At every stage at which writing can stop."""
    whole = len(scout_here.read_bytes())
    sizes = (0, 4096, 65536, whole // 2, whole - 4096)
    for size in sizes:
        fill(programs, scout_here, size)
    proved("A full disk leaves", f"{len(sizes)} sizes", "each refused in one line, the file as it was")


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A file system of its own, of 4 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]
    if os.geteuid() or subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets no test mount a disk")
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.sweep
def test_a_small_disk_that_fills_up(small_disk, built, energydb):
    """Whatever is left of it: all is done, or nothing; it's ENOSPC here, and a limit on one file's size elsewhere."""
    path = small_disk / "energy.duckdb"
    path.write_bytes(built[SCOUT])
    before = without_own_bytes(path)
    codes = set()
    for left in (0, 64, 512, 1024, 2048):
        filler = small_disk / "filler"
        free = shutil.disk_usage(small_disk).free
        filler.write_bytes(b"x" * (free - left * 1024))
        done = energydb("load", SCOUT, "--database", path)
        codes.add(done.returncode)
        if done.returncode:
            assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (3, "", 1), done.stderr
        assert without_own_bytes(path) == before
        assert leftovers(small_disk) == ["energy.duckdb", "filler"]
        filler.unlink()

    assert codes == {0, 3}


def test_a_disk_that_may_only_be_read(small_disk, built, energydb):
    path = small_disk / "energy.duckdb"
    path.write_bytes(built[SCOUT])
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)

    done = energydb("load", SCOUT, "--database", path)

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"energydb: {path}: may not be written, so it isn't replaced\n"
    assert energydb("query", "best_pick", "--database", path).returncode == 0


@pytest.mark.slow
def test_a_target_that_may_not_be_written(scout_here, tmp_path):
    """Someone protected it, so it isn't replaced."""
    scout_here.chmod(0o444)
    before = scout_here.read_bytes()
    for arguments in (["load", SCOUT, "--database", scout_here], ["load", "--force", "--database", scout_here]):
        done = energydb_process(*arguments, obeying_modes=True)
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr == f"energydb: {scout_here}: may not be written, so it isn't replaced\n"
    assert scout_here.read_bytes() == before
    assert leftovers(tmp_path) == ["energy.duckdb"]


def test_a_folder_that_cannot_be_read_is_a_fault(tmp_path):
    """Half the documents would be missing, without a word."""
    (tmp_path / "in" / "closed").mkdir(parents=True)
    shutil.copy(SCOUT, tmp_path / "in")
    (tmp_path / "in" / "closed").chmod(0)
    done = energydb_process("check", tmp_path / "in", obeying_modes=True)

    assert done.returncode == 1
    assert f"{tmp_path}/in/closed: expected what can be read, got: Permission denied\n" in done.stderr
    done = energydb_process("load", tmp_path / "in", "--keep-going", obeying_modes=True, cwd=tmp_path)
    assert done.returncode == 1
    fault = {"file_name": "closed", "fault": "expected what can be read, got: Permission denied"}
    assert ask(tmp_path / "energy.duckdb", "select file_name, fault from left_out") == [fault]
    assert ask(tmp_path / "energy.duckdb", "select count(*) as runs from configuration") == [{"runs": 20}]


@pytest.mark.parametrize("closed", ["tasks", "models", "models/org__Small-1B__gpqa.json"])
def test_what_cannot_be_read_of_the_leaderboard_is_a_fault(tmp_path, closed):
    """By its own name, and not the database's; a file of a model is left out where all else is kept."""
    folder = write_leaderboard(tmp_path / "data", {"gpqa": [text_row("org/Small-1B"), text_row("org/Mix-8B")]})
    (folder / closed).chmod(0)
    done = energydb_process("load", folder, "--keep-going", obeying_modes=True, cwd=tmp_path)
    (folder / closed).chmod(0o700)

    assert done.returncode == 1
    assert f"{closed}: expected what can be read, got: Permission denied" in done.stderr
    assert (tmp_path / "energy.duckdb").exists() == closed.endswith(".json")


def test_links_that_lead_nowhere_stop_nothing(tmp_path):
    """Or in a circle, beside a document and within the leaderboard's folders: what nobody names is passed over."""
    shutil.copy(SCOUT, tmp_path)
    folder = write_leaderboard(tmp_path / "data", {"gpqa": [text_row("org/Small-1B")]})
    for link in (tmp_path / "round", tmp_path / "round.txt", folder / "models" / "round.json", folder / "round"):
        link.symlink_to(link.name)
    (folder / "models" / "gone.json").symlink_to("nowhere.json")

    report = load([tmp_path], tmp_path / "energy.duckdb", strict=False)

    assert report.models == 2
    assert {note.removeprefix(f"{tmp_path}/") for note in report.notes} == {
        "data: passed over, as index.json names no such files: models/gone.json, models/round.json, round"
    }


@pytest.mark.slow
def test_huge_counts_are_findings_and_no_overflow(tmp_path):
    """Each is in range; their product is in no integer's."""
    made = document(run(tensor_parallel=2**31 - 1, data_parallel=2**31 - 1, expert_parallel=2**31 - 1))

    report = check([write(tmp_path / "huge.json", made)])

    assert [row[report.findings.columns.index("check_name")] for row in report.findings.rows] == ["num_gpus"]


def test_a_folder_that_is_not_there(tmp_path):
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


def test_a_target_held_open_for_writing_is_refused(scout_here, tmp_path):
    """With the process that holds it; the file stays as it was."""
    before = scout_here.read_bytes()
    with holder(scout_here, "writing") as process:
        with pytest.raises(MachineError, match=rf"held open for writing by .*PID {process.pid}"):
            load([LLAMA], scout_here, strict=True)
        process.communicate("\n")

    assert scout_here.read_bytes() == before
    assert leftovers(tmp_path) == ["energy.duckdb"]


def test_a_reader_goes_on_undisturbed(scout_here, tmp_path):
    """It keeps its whole old snapshot; who opens the file anew gets the new one."""
    with holder(scout_here, "reading") as process:
        load([LLAMA], scout_here, strict=True)
        assert ask(scout_here, "select count(*) as runs from configuration") == [{"runs": 22}]
        assert process.communicate("\n")[0] == "20\n"


def test_a_folder_that_cannot_be_written(tmp_path):
    """One line that says so, and exit code 3."""
    (tmp_path / "fixed").mkdir()
    (tmp_path / "fixed").chmod(0o555)
    done = energydb_process("load", "--database", tmp_path / "fixed" / "e.duckdb", obeying_modes=True)

    assert (done.returncode, done.stdout) == (3, "")
    assert "can't write into its folder: Permission denied" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_tables_hold_a_column_for_every_field():
    """A field of a run that had no column would be lost without a word."""
    names = {column.name for column in Configuration.__table__.columns}

    assert set(json.loads(SCOUT.read_text())["configurations"][0]) <= names


STRAYS = ["._a.json", ".DS_Store", ".a.json.swp", "a.json~", "b.json.bak", "c.json.orig"]


@pytest.mark.slow
@pytest.mark.parametrize("stray", STRAYS)
def test_what_editors_and_file_managers_left_is_passed_over(tmp_path, stray):
    """With a word, whatever is in it; and what is no document at all without one."""
    shutil.copy(SCOUT, tmp_path / "a.json")
    (tmp_path / stray).write_bytes(b"\x00\x05\x16\x07")
    (tmp_path / "notes.txt").write_text("mine")

    report = check([tmp_path])

    assert report.notes == (f"{tmp_path}: passed over, as their names are no documents': {stray}",)
    assert [row["runs"] for row in report.contents.named()] == [20]


@pytest.mark.slow
def test_of_many_strays_and_of_empty_folders_there_is_a_line_a_folder(tmp_path):
    """A disk from a Mac has one beside each document."""
    (tmp_path / "in" / "deeper").mkdir(parents=True)
    (tmp_path / "in" / "empty").mkdir()
    shutil.copy(SCOUT, tmp_path / "in" / "deeper")
    for number in range(8):
        (tmp_path / "in" / f"._{number}.json").write_text("")
    (tmp_path / "in" / "deeper" / "._scout.json").write_text("")

    passed_over = "passed over, as their names are no documents'"
    assert check([tmp_path / "in"]).notes == (
        f"{tmp_path}/in: {passed_over}: ._0.json, ._1.json, ._2.json, ._3.json, ._4.json and 3 more",
        f"{tmp_path}/in/deeper: {passed_over}: ._scout.json",
        f"{tmp_path}/in/empty: an empty folder, passed over",
    )


@pytest.mark.slow
def test_a_stray_that_is_named_is_read(tmp_path):
    """Who names a file means it."""
    shutil.copy(SCOUT, tmp_path / "scout.json~")
    (tmp_path / "._scout.json").write_bytes(b"\x00\x05\x16\x07")

    assert [row["runs"] for row in check([tmp_path / "scout.json~"]).contents.named()] == [20]
    with pytest.raises(DocumentErrors, match=r"\._scout\.json: \$: expected JSON"):
        check([tmp_path / "._scout.json"])


@pytest.mark.slow
def test_strays_of_a_leaderboard_are_told_beside_those_of_documents(tmp_path):
    """One line for each folder that has some, in the load's words."""
    write_leaderboard(tmp_path / "in" / "board")
    shutil.copy(SCOUT, tmp_path / "in")
    (tmp_path / "in" / "board" / "models" / "old.json").write_text("{")
    (tmp_path / "in" / ".DS_Store").write_text("")

    assert check([tmp_path / "in"]).notes == (
        f"{tmp_path}/in: passed over, as their names are no documents': .DS_Store",
        f"{tmp_path}/in/board: passed over, as index.json names no such files: models/old.json",
    )
