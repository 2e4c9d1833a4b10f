"""The file as a whole: laid out as migrations lead to, upgraded, replaced, and by hand."""

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import alembic.command
import alembic.config
import duckdb
import pytest
from alembic.script import ScriptDirectory

import energydb.store.database
from energydb.errors import DataError, UsageError
from energydb.load import load
from energydb.paths import ALEMBIC_INI, ROOT, newest_revision
from energydb.store.database import block_size, replacing, writing
from energydb.store.sandbox import reading
from energydb.store.schema import create_macros, lay_out
from energydb.store.tables import Base
from energydb.store.upgrade import migrate, upgrade
from energydb.store.views import read_views
from tests.documents import SCOUT
from tests.later import LATER

CATALOG = {
    "tables": "select table_name, comment from duckdb_tables()",
    "columns": "select table_name, column_name, data_type, is_nullable, column_default, comment"
    " from duckdb_columns() where not internal",
    "constraints": "select table_name, constraint_type, constraint_text, constraint_column_names"
    " from duckdb_constraints()",
    "indexes": "select table_name, index_name, is_unique, sql from duckdb_indexes()",
    "views": "select view_name, sql, comment from duckdb_views() where not internal",
    "macros": "select function_name, parameters, macro_definition, comment from duckdb_functions()"
    " where function_type = 'table_macro' and not internal",
    "revision": "select version_num from alembic_version",
}


@pytest.fixture(scope="module")
def migrated_database(tmp_path_factory):
    """An empty file, made by running every migration."""
    path = tmp_path_factory.mktemp("migrated") / "energy.duckdb"
    with writing(path) as connection:
        migrate(connection)
    return path


def catalog(path: Path) -> dict[str, list[tuple]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return {what: sorted(connection.execute(sql).fetchall(), key=str) for what, sql in CATALOG.items()}


def test_a_new_file_is_what_the_migrations_lead_to(migrated_database, tmp_path):
    """Laid out in one go: every table, view, macro, column, type, comment, constraint, index, and the revision.

    But for the order of a table's columns: what a migration adds comes last, and is declared where it belongs.
    """
    with writing(tmp_path / "new.duckdb") as connection:
        lay_out(connection)
        create_macros(connection)

    new = catalog(tmp_path / "new.duckdb")

    for what, rows in catalog(migrated_database).items():
        assert new[what] == rows, what
    assert len(new["tables"]) == len(Base.metadata.tables)
    assert len(new["views"]) + len(new["macros"]) == len(read_views())
    assert [name for name, comment in new["tables"] if not comment] == []
    assert [row for row in new["columns"] if not row[-1]] == []
    assert new["revision"] == [(newest_revision(),)]


@pytest.mark.slow
def test_a_load_does_without_alembic(tmp_path):
    """Its import alone takes as long as all else that is imported for a load."""
    script = (
        "import sys; from pathlib import Path; from energydb.load import load\n"
        "load([], Path(sys.argv[1]), strict=True)\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'alembic', 'mako', 'duckdb'}))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "energy.duckdb")]

    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "['duckdb']\n"


def test_types_are_those_that_every_client_shows(empty_database):
    """A 4-byte FLOAT would change every published figure."""
    types = {row[2] for row in catalog(empty_database)["columns"]}

    assert types <= {"VARCHAR", "INTEGER", "DOUBLE", "BOOLEAN", "DATE"}


@pytest.fixture
def alembic_by_hand(programs):
    """Run Alembic's own command, as someone would by hand."""

    def run_alembic(*arguments: str, database: Path, program: Path = programs / "alembic") -> None:
        environment = {**os.environ, "ENERGYDB_DATABASE": str(database)}
        subprocess.run([program, *arguments], cwd=ROOT, env=environment, check=True, capture_output=True)

    return run_alembic


def test_there_is_no_way_down(seed_database, tmp_path):
    """It says so, in one line, before anything is changed: DuckDB alters no table that another one references."""
    path = Path(shutil.copy(seed_database, tmp_path))
    program = Path(sys.executable).with_name("alembic")
    environment = {**os.environ, "ENERGYDB_DATABASE": str(path)}
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run([program, "downgrade", "base"], cwd=ROOT, env=environment, check=False, **both)

    assert done.returncode != 0
    assert "no downgrade: build the file anew" in done.stdout
    assert "Traceback" not in done.stdout
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute("select count(*) from best_pick").fetchone() == (3,)
    assert catalog(path) == catalog(seed_database)


@pytest.mark.slow
def test_upgrade_by_hand_keeps_rows_and_makes_the_same_kind_of_file(seed_database, tmp_path, alembic_by_hand):
    """On a loaded file it changes no answer; on no file it makes an empty one, in the format of load."""
    path = Path(shutil.copy(seed_database, tmp_path))
    with duckdb.connect(str(path), read_only=True) as connection:
        before = connection.execute("from configuration_detail").fetchall()
    alembic_by_hand("upgrade", "head", database=path)
    alembic_by_hand("upgrade", "head", database=tmp_path / "new.duckdb")
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute("from configuration_detail").fetchall() == before
        storage = "select tags['storage_version'], (select block_size from pragma_database_size())"
        storage += " from duckdb_databases() where not internal"
        loaded = connection.execute(storage).fetchall()
    with duckdb.connect(str(tmp_path / "new.duckdb"), read_only=True) as connection:
        assert connection.execute(storage).fetchall() == loaded
    assert "v1.4.0" in loaded[0][0]


def test_a_view_of_ones_own_outlives_an_upgrade(seed_database, tmp_path, alembic_by_hand):
    """Only energydb's views are dropped and created again."""
    path = Path(shutil.copy(seed_database, tmp_path))
    with duckdb.connect(str(path)) as connection:
        connection.execute("create view mine as select 1 as one")
    alembic_by_hand("upgrade", "head", database=path)

    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute("from mine").fetchall() == [(1,)]


def test_offline_mode_is_refused():
    """Views and comments need the file itself."""
    config = alembic.config.Config(str(ALEMBIC_INI))

    with pytest.raises(SystemExit, match="isn't supported"):
        alembic.command.upgrade(config, "head", sql=True)


def test_the_newest_revision_is_the_last_file():
    """Named by number, so that a folder shows their order."""
    script = ScriptDirectory.from_config(alembic.config.Config(str(ALEMBIC_INI)))

    assert script.get_current_head() == newest_revision()


def test_upgrade_leaves_the_newest_as_it_is(seed_database, tmp_path):
    """Nothing to do is nothing done."""
    path = Path(shutil.copy(seed_database, tmp_path))
    before = path.read_bytes()

    assert upgrade(path) == (newest_revision(), newest_revision())
    assert path.read_bytes() == before


ROWS = "from configuration order by all"


@pytest.fixture
def with_mine(seed_database, tmp_path):
    """The shipped documents' file with a table that someone added, in a shell that was killed: still in the log."""
    path = Path(shutil.copy(seed_database, tmp_path))
    script = (
        "import duckdb, os, sys\n"
        "connection = duckdb.connect(sys.argv[1])\n"
        "connection.execute('create table mine as select 1 as one')\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", script, path], check=True)
    assert Path(f"{path}.wal").stat().st_size > 0
    return path


def test_upgrade_keeps_every_row_and_what_someone_added(later, with_mine, seed_database, proved):
    """The file is copied with its log, migrated and put in place; what comes new is NULL, and the rest is sound."""
    with duckdb.connect(str(seed_database), read_only=True) as connection:
        before = connection.execute(ROWS).fetchall()
        names = [name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()]
        counts = {name: connection.execute(f"select count(*) from {name}").fetchone()[0] for name in names}
    asked = later("query", "best_pick", "--database", with_mine)
    assert f"older energydb (schema {newest_revision()}): energydb upgrade {with_mine}" in asked.stderr

    upgraded = later("upgrade", with_mine)

    assert upgraded.stderr == f"{with_mine}: schema {LATER}, from {newest_revision()}\n"
    assert [file.name for file in with_mine.parent.iterdir() if file.is_file()] == [with_mine.name]
    with duckdb.connect(str(with_mine), read_only=True) as connection:
        assert connection.execute("from mine").fetchall() == [(1,)]
        after = connection.execute("select * exclude (time_to_first_token_ms) " + ROWS).fetchall()
        assert sorted(after, key=str) == sorted(before, key=str)
        assert connection.execute("select count(time_to_first_token_ms) from configuration").fetchone() == (0,)
        assert {n: connection.execute(f"select count(*) from {n}").fetchone()[0] for n in names} == counts
        said = "select comment from duckdb_columns() where column_name = 'time_to_first_token_ms'"
        # Of the table and of the view.
        assert connection.execute(said).fetchall() == [("Time to the first token, ms.",)] * 2
    checked = later("check", with_mine).stdout
    assert [line for line in checked.splitlines() if not line.startswith("ok")] == []
    proved("An older file is brought", "a later schema", f"{sum(counts.values())} rows of {len(counts)} tables kept")


def test_a_migration_that_fails_leaves_the_file_as_it_was(later, seed_database, tmp_path):
    """Here a column is in its way; nothing of the half-way stays."""
    path = Path(shutil.copy(seed_database, tmp_path))
    with duckdb.connect(str(path)) as connection:
        connection.execute("alter table configuration add column time_to_first_token_ms varchar")
    before = path.read_bytes()

    failed = later("upgrade", path)

    assert failed.returncode != 0
    assert "already exists" in failed.stderr
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["energy.duckdb"]


@pytest.mark.slow
def test_a_newer_schema_is_neither_read_nor_replaced(later, tmp_path):
    """What it would lose isn't known here; each says what to do."""
    path = tmp_path / "energy.duckdb"
    assert later("load", "--database", path).returncode == 0
    before = path.read_bytes()
    newer = rf"made by a newer energydb \(schema {LATER}, this one knows {newest_revision()}\): use that one"

    with pytest.raises(DataError, match=newer), reading(path):
        pass
    with pytest.raises(DataError, match=rf"made by a newer energydb \(schema {LATER}\), so it isn't replaced"):
        load([], path, strict=True)
    with pytest.raises(DataError, match=newer):
        upgrade(path)
    assert path.read_bytes() == before
    load([], path, strict=True, force=True)
    assert catalog(path)["revision"] == [(newest_revision(),)]


@pytest.fixture
def before_releases(tmp_path):
    """A file that energydb made before its first release, kept from then."""
    path = tmp_path / "energy.duckdb"
    path.write_bytes(gzip.decompress((Path(__file__).parent / "older" / "0004.duckdb.gz").read_bytes()))
    return path


@pytest.mark.slow
def test_a_file_from_before_the_first_release_is_rebuilt(before_releases):
    """No migration leads on from there: one line says what to do, and that works as it stands."""
    remedy = rf"rebuild it with `energydb load --database {before_releases}`, naming its documents$"
    before = before_releases.read_bytes()

    with pytest.raises(DataError, match=remedy), reading(before_releases):
        pass
    with pytest.raises(DataError, match=remedy):
        upgrade(before_releases)
    assert before_releases.read_bytes() == before
    load([], before_releases, strict=True)
    assert catalog(before_releases)["revision"] == [(newest_revision(),)]


def test_what_someone_added_to_it_keeps_it(before_releases):
    """Whatever energydb called its tables then, this is none of them."""
    with duckdb.connect(str(before_releases)) as connection:
        connection.execute("create table mine as select 1 as one; comment on table mine is 'All mine.'")

    with pytest.raises(DataError, match=r"holds tables or views that energydb didn't make \(mine\)"):
        load([], before_releases, strict=True)


@pytest.mark.parametrize(
    ("size", "blocks"), [(0, 16384), (100 * 1024**2 - 1, 16384), (100 * 1024**2, 262144), (10**12, 262144)]
)
def test_blocks_are_large_from_100_mib_of_documents_on(size, blocks):
    """Small ones keep a small file small, and large ones a large one."""
    assert block_size(size) == blocks


@pytest.mark.slow
def test_a_file_has_the_blocks_that_its_documents_call_for(seeds, tmp_path, monkeypatch):
    """By their bytes; here the bound is moved down to them."""
    asking = "select block_size from pragma_database_size()"
    monkeypatch.setattr(energydb.store.database, "LARGE", SCOUT.stat().st_size)
    load([SCOUT], tmp_path / "energy.duckdb", strict=True)

    assert seeds.execute(asking).fetchall() == [(16384,)]
    with duckdb.connect(str(tmp_path / "energy.duckdb"), read_only=True) as connection:
        assert connection.execute(asking).fetchall() == [(262144,)]


def become_notes(path: Path) -> None:
    path.write_text("my notes")


def become_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def gain_a_table(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table mine as select 1 as one")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (become_notes, "not a DuckDB file, so it isn't replaced"),
        (become_folder, "expected a file, got a folder"),
        (gain_a_table, r"holds tables or views that energydb didn't make \(mine\)"),
    ],
)
def test_what_a_target_became_meanwhile_is_not_replaced(empty_database, tmp_path, change, said):
    """A load of an hour leaves time to save something else there: it's looked at again before it is replaced."""
    path = tmp_path / "energy.duckdb"
    shutil.copyfile(empty_database, path)
    before = None

    def build() -> None:
        nonlocal before
        with replacing(path) as built:
            shutil.copyfile(empty_database, built)
            change(path)
            before = path.read_bytes() if path.is_file() else None

    with pytest.raises(DataError, match=said):
        build()

    assert (path.read_bytes() if path.is_file() else None) == before
    assert [file.name for file in tmp_path.iterdir()] == ["energy.duckdb"]


@pytest.mark.parametrize(
    ("name", "log"),
    [("energy.duckdb", "energy.duckdb.wal"), ("energy?x=1.duckdb", "energy.wal?x=1.duckdb"), ("a?b?c", "a.wal?b?c")],
)
def test_a_log_of_the_old_file_is_gone_before_the_new_one_is_there(empty_database, tmp_path, monkeypatch, name, log):
    """Whoever opened the new file in between would find a log that isn't its own; DuckDB names it as it does."""
    with duckdb.connect(str(tmp_path / name)) as connection:
        connection.execute("create table mine as select 1 as one")
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, log])
    shutil.copyfile(empty_database, tmp_path / name)
    (tmp_path / log).write_bytes(b"of the old file")
    there = []
    replace = os.replace

    def recorded(source: Path, target: Path) -> None:
        there.append(sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith(".")))
        replace(source, target)

    monkeypatch.setattr(os, "replace", recorded)
    with replacing(tmp_path / name) as built:
        shutil.copyfile(empty_database, built)
        (tmp_path / log).stat()  # as long as the new file isn't whole, the old one keeps its own

    assert there == [[name]]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_an_empty_file_is_replaced_and_an_absent_one_made(empty_database, tmp_path):
    """As `touch` or `mktemp` makes it."""
    (tmp_path / "empty.duckdb").touch()
    for name in ("empty.duckdb", "absent.duckdb"):
        with replacing(tmp_path / name) as built:
            assert built.name == name
            shutil.copyfile(empty_database, built)

        assert (tmp_path / name).read_bytes() == empty_database.read_bytes()


def test_upgrade_needs_a_file_of_energydbs(tmp_path):
    """Nothing is made of nothing, or of something else."""
    (tmp_path / "notes").write_text("my notes")
    duckdb.connect(str(tmp_path / "other.duckdb")).close()
    with duckdb.connect(str(tmp_path / "numbered.duckdb")) as connection:
        connection.execute("create table build (one int); create table alembic_version as select 7 as version_num")
    for name, error, said in (
        ("none", UsageError, "expected an energydb file, got none"),
        ("notes", UsageError, "expected an energydb file, got another file"),
        ("numbered.duckdb", DataError, r"made by a newer energydb \(schema 7,"),
        ("other.duckdb", DataError, "expected an energydb file, got another DuckDB database"),
    ):
        with pytest.raises(error, match=f"{name}: {said}"):
            upgrade(tmp_path / name)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes", "numbered.duckdb", "other.duckdb"]
