"""A database file held against what it promises: each kind of loss or change shows, in its own line."""

import shutil
from pathlib import Path

import duckdb
import pytest

from energydb.errors import DataError
from energydb.load import load
from energydb.store.check import check_database
from tests.conftest import swept
from tests.documents import LLAMA

LOSSES = {
    "a run": (
        "delete from image_configuration where image_configuration_key = 1",
        ["file text-to-image.json: image_configuration: expected 3 rows, as were loaded, got 2"],
    ),
    "bins": (
        "delete from output_length_bin where bin = 2 and configuration_key = 1",
        ["file gpqa.json: output_length_bin: expected 3 rows, as were loaded, got 2"],
    ),
    "a bin told twice": (
        "update output_length_bin set bin = 1 where bin = 2 and configuration_key = 1",
        ["runs in output_length_bin: 1 come more than once"],
    ),
    "a count": ("insert into loaded select 'model', 1, 1 union all select 'mine', null, 1", ["table loaded: 2 rows"]),
    "picks": (
        "delete from published_pick where gpu = 'B200'",
        [
            "file llama-3-1-70b-instruct.json: published_pick: expected 2 rows, as were loaded, got 1",
            "published picks: 1 differ from the computed ones",
            "view data_quality: 1 findings",
        ],
    ),
    "evidence": (
        "delete from licence_evidence where release_key = 1 and position = 3",
        ["table licence_evidence: expected 27 rows, as were loaded, got 26"],
    ),
    "what made it": ("delete from build", ["table build: expected 1 rows, as were loaded, got 0"]),
    "a file": (
        "delete from file where file_key in (select max(file_key) from file where file_name = 'index.json')",
        ["table file: expected 28 rows, as were loaded, got 27"],
    ),
    "a scenario": (
        "delete from scenario where name = 'france'",
        ["table scenario: expected 3 rows, as were loaded, got 2"],
    ),
    "a run's setting": (
        "update configuration set max_num_seqs = 8 where row_id like 'llama-3-1-70b-instruct/B200/2/16'",
        ["runs in configuration: 1 come more than once"],
    ),
    "a figure": (
        "update configuration set p90_itl_ms = 1 where configuration_key = 1",
        ["view data_quality: 1 findings"],
    ),
    "a view": (
        "drop view low_load_penalty",
        ["view low_load_penalty: isn't there", "view low_load_penalty: can't be read"],
    ),
    "another view": (
        "create or replace view gpu_scaling as select * replace (num_gpus + 1 as num_gpus) from gpu_power",
        ["view gpu_scaling: not as energydb makes it"],
    ),
    "another macro": (
        "create or replace macro pick() as table from best_pick",
        ["macro pick: not as energydb makes it"],
    ),
    "a comment": ("comment on column gpu_power.gpu is null", ["column gpu_power.gpu: not as energydb makes it"]),
    "the view of faults": (
        "drop view data_quality",
        ["view data_quality: isn't there", "published picks: can't be read", "view data_quality: can't be read"],
    ),
    "a mark": (
        "insert into marked_run values ('text', 1, true, false), ('image', 1, false, true)",
        ["marks of runs: 2 unlike those of run_mark"],
    ),
    "a table": ("drop table scenario", ["table scenario: isn't there"]),
    "a table's keys": (
        "create table kept as from published_pick; drop table published_pick; create table published_pick as"
        " from kept; drop table kept; insert into published_pick values (999, 'H100', 1)",
        [
            "table published_pick: not as energydb makes it",
            "foreign key published_pick.model_key to model.model_key: 1 rows point nowhere",
        ],
    ),
}


def faults(path: Path) -> list[str]:
    return [f"{result.what}: {result.found}" for result in check_database(path) if not result.sound]


@pytest.mark.slow
@pytest.mark.parametrize("step", [12, swept(1)])
def test_a_loss_shows(everything_database, tmp_path, proved, step):
    """Each line is expected by its beginning; what rests on the lost thing may be named after it."""
    shown = 0
    for loss, (damage, expected) in list(LOSSES.items())[::step]:
        path = tmp_path / f"{loss}.duckdb"
        shutil.copyfile(everything_database, path)
        with duckdb.connect(str(path)) as connection:
            connection.execute(damage)
        found = faults(path)

        assert all(any(line.startswith(start) for line in found) for start in expected), (loss, found)
        assert found[0].startswith(expected[0]), loss
        shown += 1
    if step == 1:
        proved("Rows that are lost from a file", f"{len(LOSSES)} losses", f"{shown} named")


@pytest.mark.slow
@pytest.mark.parametrize("places", [4, swept(12)])
def test_a_damaged_block_is_a_fault(everything_database, tmp_path, places):
    """A bit that turned on the disk, wherever: named, with no traceback; not where the file holds no row."""
    whole = everything_database.read_bytes()
    path = tmp_path / "energy.duckdb"
    named = 0
    for place in range(30_000, len(whole), len(whole) // places):
        damaged = bytearray(whole)
        damaged[place] ^= 255
        path.write_bytes(damaged)
        try:
            found = faults(path)
        except DataError as error:
            found = [str(error)]
        assert all("Corrupt" in line or "can't be read" in line for line in found), found
        named += bool(found)

    assert named > places // 2


@pytest.mark.slow
def test_a_whole_file_has_no_faults(everything_database):
    assert faults(everything_database) == []


@pytest.mark.slow
def test_every_line_of_a_whole_file(tmp_path):
    """What is held, and how many: 22 runs and two picks of one document."""
    path = tmp_path / "energy.duckdb"
    load([LLAMA], path, strict=True)
    found = {result.what: result.found for result in check_database(path)}

    assert found["rows of files"] == "all there, of 1 files"
    assert found["runs in configuration"] == "each once"
    assert found["published picks"] == "2 equal the computed ones"
    assert found["table configuration"] == "22 rows"
    assert found["foreign keys"] == "21 hold"


@pytest.mark.slow
def test_rows_that_were_added_show(everything_database, tmp_path):
    """As many as were read, and no more: a file that someone added to holds what no document says."""
    path = tmp_path / "energy.duckdb"
    shutil.copyfile(everything_database, path)
    with duckdb.connect(str(path)) as connection:
        for statement in (
            "insert into gpu (name) values ('X1')",
            "insert into task values ('idle', 'text')",
            "insert into source values (99, 'mine', 'mine', 'mine')",
            "insert into release by name (select * replace (99 as release_key) from release limit 1)",
            "insert into scenario by name (select * replace ('mine' as name) from scenario limit 1)",
            "insert into licence_evidence values (1, 99, 'mine')",
            "insert into video_configuration by name (select * replace (999 as video_configuration_key, 3 as repeat)"
            " from video_configuration order by video_configuration_key limit 1)",
            "insert into output_length_bin values (1, 99, 1, 2, 3)",
            "insert into model by name (select * replace (999 as model_key, 'mine' as slug) from model"
            " where slug = 'paint-' order by model_key limit 1)",
            "insert into published_pick select model_key, 'B200', configuration_key from published_pick"
            " join model using (model_key) where slug = 'llama-4-scout-17b-16e-instruct'",
        ):
            connection.execute(statement)
    with duckdb.connect(str(everything_database), read_only=True) as connection:
        names = ("task", "release", "licence_evidence")
        counts = {name: connection.execute(f"select count(*) from {name}").fetchone()[0] for name in names}
    results = list(check_database(path))
    found = [f"{result.what}: {result.found}" for result in results if not result.sound]

    for line in (
        "table scenario: expected 3 rows, as were loaded, got 4",
        "table gpu: expected 2 rows, as were loaded, got 3",
        "table source: expected 1 rows, as were loaded, got 2",
        *(f"table {name}: expected {rows} rows, as were loaded, got {rows + 1}" for name, rows in counts.items()),
        "file text-to-video.json: video_configuration: expected 3 rows, as were loaded, got 4",
        "file gpqa.json: output_length_bin: expected 3 rows, as were loaded, got 4",
        "file text-to-image.json: model: expected 1 rows, as were loaded, got 2",
        "file llama-4-scout-17b-16e-instruct.json: published_pick: expected 1 rows, as were loaded, got 2",
    ):
        assert line in found, (line, found)
    assert "rows of files" not in [result.what for result in results]  # the line that says that all are there
