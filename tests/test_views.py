"""The contract of every view, and the views that need few words of their own."""

import re
import subprocess
import sys
from collections.abc import Iterator

import duckdb
import pytest

from energydb.ask.question import columns_of, example_of
from energydb.load import load
from energydb.paths import DATA, QUERIES, newest_revision
from energydb.store.views import read_view, read_views
from tests.conftest import add_model, add_release, add_run, answer, insert
from tests.leaderboards import write_leaderboard

ALL = read_views()
VIEWS = [view for view in ALL if not view.is_macro]
MACROS = [view for view in ALL if view.is_macro]
ids = [view.name for view in VIEWS]
# A BIGINT reaches JavaScript as text.
SAFE_TYPES = {"VARCHAR", "INTEGER", "DOUBLE", "BOOLEAN", "DATE"}


@pytest.mark.parametrize("view", VIEWS, ids=ids)
def test_a_view_is_commented_and_safe_for_every_client(everything, view):
    """The view and each column say what they are, in types that BI tools show."""
    (comment,) = everything.execute("select comment from duckdb_views() where view_name = ?", [view.name]).fetchone()
    columns = everything.execute(
        "select column_name, comment, data_type from duckdb_columns() where table_name = ?", [view.name]
    ).fetchall()

    assert comment
    assert [name for name, said, _ in columns if not said] == []
    assert {kind for _, _, kind in columns} <= SAFE_TYPES


def test_a_column_passed_on_keeps_its_comment(everything):
    """One name, one meaning; where two tables mean different things, the view says which."""
    said = dict(
        everything.execute("select table_name || '.' || column_name, comment from duckdb_columns()").fetchall()
    )

    assert said["best_pick.median_itl_ms"] == said["configuration.median_itl_ms"]
    assert said["gpu_power.rated_watts"] == said["gpu.rated_watts"]
    assert said["image_configuration_detail.repeat"] == said["image_configuration.repeat"]
    assert said["image_configuration_detail.repeat"] != said["configuration_detail.repeat"]


@pytest.mark.parametrize("view", VIEWS, ids=ids)
def test_a_views_key_is_unique(everything, view):
    """One row per key, as the header says."""
    key = ", ".join(view.key)

    assert everything.execute(f"select {key} from {view.name} group by {key} having count(*) > 1").fetchall() == []
    if view.name not in EMPTY_ON_GOOD_DATA:
        assert everything.execute(f"select count(*) from {view.name}").fetchone() != (0,)


EMPTY_ON_GOOD_DATA = ("data_quality", "run_mark", "notice", "precision_comparison", "withdrawn_run")


@pytest.mark.parametrize("name", EMPTY_ON_GOOD_DATA)
def test_the_key_of_a_view_that_good_data_leaves_empty_is_unique(database, name):
    """Here two models are in two formats on two GPUs, at two sizes each, and every run breaks rules of its own."""
    for key, (slug, precision) in enumerate((slug, kind) for slug in ("big", "small") for kind in ("BF16", "FP8")):
        full = slug if precision == "BF16" else f"{slug}-fp8"
        model = add_model(database, key + 1, slug=full, params_b=8.0)
        for gpu in ("B200", "H100"):
            for size in (8, 16):
                odd = {"p90_itl_ms": 1.0, "avg_output_tokens": 1, "row_id": "odd", "tensor_parallel": 3}
                add_run(database, model_key=model, gpu=gpu, max_num_seqs=size, precision=precision, **odd)
    if name == "withdrawn_run":
        add_release(database, 9, data_version="2026-03-01", compiled="2026-03-01", is_complete=True)
    view = read_view(QUERIES / f"{name}.sql")
    key = ", ".join(view.key)
    count, keys = database.execute(f"select count(*), count(distinct ({key})) from {name}").fetchone()

    # Each of 16 runs has at least four findings, and so a mark; a task and two GPUs aren't known; each of two models
    # on two GPUs has one other precision; no run is left in the newer release.
    others = {"run_mark": 16, "notice": 3, "precision_comparison": 4, "withdrawn_run": 16}
    assert count >= 64 if name == "data_quality" else count == others[name]
    assert keys == count


@pytest.mark.parametrize("view", ALL, ids=lambda view: view.name)
def test_a_view_reads_just_what_its_header_says(empty_database, view):
    """Built from its declared reads alone, by the plain file: so the header is whole, and `.read` works."""
    declared = {view.name: view for view in ALL}
    needed = list(view.reads)
    for name in needed:
        needed += [read for read in (declared[name].reads if name in declared else ()) if read not in needed]
    with duckdb.connect() as connection:
        connection.execute(f"attach '{empty_database}' as empty (read_only)")
        for name in needed:
            if name not in declared:
                connection.execute(f"create table {name} as from empty.{name} limit 0")
        for other in ALL:
            if other.name in needed:
                connection.execute(other.sql)
        connection.execute(view.sql)
        text = re.sub(r"--.*", "", view.sql)
        assert [name for name in view.reads if not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.parametrize("view", ALL, ids=lambda view: view.name)
def test_a_view_names_its_columns(view):
    """In its last select, where each stands once: a star there would let a column that a table gains leak."""
    last = re.sub(r"--.*", "", view.sql).rpartition("\nselect\n")[2].partition(";")[0]
    names = re.findall(r"^    (?:.* )?(?:\w+\.)?(\w+),$", last.partition("\nfrom ")[0], re.MULTILINE)

    assert not re.search(r"(^|[\s.(])\*(,|\s*$| exclude| replace)", last, re.MULTILINE)
    assert len(names) == len(set(names)) >= 8


@pytest.mark.parametrize("view", VIEWS, ids=ids)
def test_a_view_answers_the_same_when_attached(everything_database, view):
    """Tools attach the file under a name of their own, next to tables of the same names."""
    with duckdb.connect() as connection:
        connection.execute(f"attach '{everything_database}' as other (read_only)")
        connection.execute("create table configuration as select 1 as configuration_key")
        attached = connection.execute(f"from other.{view.name} order by all").fetchall()
    with duckdb.connect(str(everything_database), read_only=True) as connection:
        assert attached == connection.execute(f"from {view.name} order by all").fetchall()


@pytest.mark.parametrize("macro", MACROS, ids=lambda macro: macro.name)
def test_a_macro_answers_only_where_its_own_build_is_in_use(seed_database, everything_database, macro):
    """By another database's name it would read the tables of the one in use, and say nothing of it."""
    call = f"{macro.name}({', '.join('8' for parameter in macro.parameters if parameter.is_required)})"
    with duckdb.connect(str(seed_database), read_only=True) as connection:
        own = connection.execute(f"from {call}").fetchall()
        connection.execute(f"attach '{everything_database}' as other (read_only)")
        for columns in ("*", "count(*)"):
            with pytest.raises(duckdb.InvalidInputException, match="use` that one first"):
                connection.execute(f"select {columns} from other.{call}").fetchall()
        assert connection.execute(f"from {call}").fetchall() == own
        connection.execute("use other")
        others = connection.execute(f"from other.{call}").fetchall()
        assert connection.execute(f"from {call}").fetchall() == others
        assert len(others) > len(own) > 0
        (comment,) = connection.execute(
            "select comment from duckdb_functions() where function_name = ? and database_name = 'other'", [macro.name]
        ).fetchone()
    assert "`use` it first" in comment
    assert "`use` it first" in macro.description


@pytest.mark.sweep
def test_builds_of_the_same_documents_answer_for_each_other(seed_database, tmp_path):
    """One digest, the same rows: there is nothing to refuse. Another scenario is another build."""
    load([DATA], tmp_path / "again.duckdb", strict=True)
    places = (DATA / "scenarios.csv").read_text().splitlines()
    (tmp_path / "fewer.csv").write_text("\n".join(places[:-1]) + "\n")
    load([DATA], tmp_path / "other.duckdb", strict=True, scenarios=tmp_path / "fewer.csv")
    with duckdb.connect(str(seed_database), read_only=True) as connection:
        for name in ("again", "other"):
            connection.execute(f"attach '{tmp_path / name}.duckdb' as {name} (read_only)")
        assert connection.execute("from again.pick()").fetchall() == connection.execute("from pick()").fetchall()
        with pytest.raises(duckdb.InvalidInputException, match="pick: belongs to another database"):
            connection.execute("from other.pick()").fetchall()


@pytest.mark.slow
def test_views_need_core_functions_only(everything_database):
    """A client without json, icu or parquet, and without network, reads every view."""
    script = (
        "import duckdb, sys\n"
        "c = duckdb.connect(sys.argv[1], read_only=True, config={'autoload_known_extensions': False,"
        " 'autoinstall_known_extensions': False})\n"
        f"for name in {ids}: c.execute(f'from {{name}}').fetchall()\n"
    )
    subprocess.run([sys.executable, "-c", script, everything_database], check=True)


@pytest.mark.parametrize("macro", MACROS, ids=lambda macro: macro.name)
def test_a_macros_answer_is_described_and_its_key_unique(everything, macro):
    """By its example: every column said to be something, in safe types, and one row a key."""
    sql = example_of(everything, macro)
    columns = columns_of(everything, macro, sql)
    key = ", ".join(macro.key)

    assert [column.name for column in columns if not column.comment] == []
    assert {column.type for column in columns} <= SAFE_TYPES
    assert everything.execute(sql).fetchall()
    assert everything.execute(f"select {key} {sql} group by {key} having count(*) > 1").fetchall() == []


@pytest.mark.parametrize("macro", MACROS, ids=lambda macro: macro.name)
def test_a_macro_declares_the_parameters_of_its_sql(everything, macro):
    """In their order, none called as a column is, which DuckDB would mix up with it."""
    (found,) = everything.execute(
        "select distinct parameters from duckdb_functions() where function_name = ?", [macro.name]
    ).fetchone()
    columns = {name for (name,) in everything.execute("select column_name from duckdb_columns()").fetchall()}

    assert found == [parameter.name for parameter in macro.parameters]
    assert columns.isdisjoint(found)


@pytest.mark.parametrize("view", ALL, ids=lambda view: view.name)
def test_an_example_answers(everything, view):
    """The page of each shows one, and it isn't empty but where the data is good."""
    rows = everything.execute(example_of(everything, view)).fetchall()

    assert rows or view.name in (*EMPTY_ON_GOOD_DATA, "gpu_comparison")


def test_a_header_that_lacks_a_field_is_an_error(tmp_path):
    """A view without a key or a question can't be explained to anyone."""
    whole = (QUERIES / "best_pick.sql").read_text()
    for lacking in ("-- Key:", "-- Grain:", "-- Reads:", "-- View:", "-- Topic: Picks", "-- Example:", "?"):
        (tmp_path / "best_pick.sql").write_text(whole.replace(lacking, "-- "))
        with pytest.raises(ValueError, match=r"best_pick\.sql"):
            read_view(tmp_path / "best_pick.sql")


# --- model_detail --------------------------------------------------------------------------------------


def current(database):
    rows = answer(database, "from model_detail order by model_key")
    return [row["model_key"] for row in rows if row["is_current"]]


def test_the_newest_release_that_holds_a_model_is_current(database):
    """By compiled, data_version, format, key; a model that went stays with its last release."""
    add_release(database, 1, compiled="2026-01-01", data_version="2026-09-01")
    add_release(database, 2, compiled="2026-02-01", data_version="2026-02-01")
    add_release(database, 3, compiled="2026-02-01", data_version="2026-03-01", format="a")
    add_release(database, 4, compiled="2026-02-01", data_version="2026-03-01", format="b")
    add_release(database, 5, compiled="2026-02-01", data_version="2026-03-01", format="b")
    for release_key in (1, 2, 3, 4, 5):
        add_model(database, release_key, release_key=release_key, slug="stays")
    add_model(database, 6, release_key=1, slug="went")
    add_model(database, 7, release_key=2, slug="went")

    assert current(database) == [5, 7]


def test_tasks_have_their_own_current_release(database):
    """A model that was measured on two tasks is current on both."""
    add_model(database, 1, release_key=add_release(database, 1, task="chat"))
    add_model(database, 2, release_key=add_release(database, 2, task="code", compiled="2026-02-01"))

    assert current(database) == [1, 2]


def test_nothing_of_one_source_hides_another_s(database):
    """Nor own runs what is published, nor one boundary another; but a document's release hides a leaderboard's."""
    insert(database, "source", source_key=2, name="Other", publisher="Other", url="https://other.example/")
    older, newer = ({"compiled": f"2026-0{month}-01", "data_version": f"2026-0{month}-01"} for month in (1, 2))
    for key, values in enumerate(
        (
            {"format": "leaderboard", "is_complete": True, **older},
            newer,
            {"source_key": 2, "is_complete": True, **newer},
            {"origin": "own", "is_complete": True, **newer},
            {"boundary": "wall", "is_complete": True, **newer},
        ),
        1,
    ):
        add_model(database, key, release_key=add_release(database, key, **values))

    rows = answer(database, "from model_detail")

    assert current(database) == [2, 3, 4, 5]
    assert [row["source"] for row in rows] == ["Lab", "Lab", "Other", "Lab (own)", "Lab"]


def test_a_release_that_is_dated_ahead_is_current_only_alone(database):
    """The file's energydb is of 2026-12-03: a date of a year later is a slip, and hides no other."""
    for key, date in ((1, "2026-01-01"), (2, "2027-12-02"), (3, "2027-12-03")):
        add_release(database, key, compiled="2026-01-01", data_version=date, is_complete=True)
        add_model(database, key, release_key=key, slug="stays")
    add_model(database, 4, release_key=3, slug="alone")

    rows = answer(database, "from model_detail order by model_key")

    assert current(database) == [2, 4]
    assert [row["is_dated_ahead"] for row in rows] == [False, False, True, True]
    assert [row["is_withdrawn"] for row in rows] == [False] * 4


def test_a_model_that_the_newest_complete_release_lacks_is_withdrawn(database):
    """Until an incomplete one, that is newer, holds it again."""
    for key, (month, is_complete) in enumerate(((1, True), (2, True), (3, False)), 1):
        date = f"2026-0{month}-01"
        add_release(database, key, compiled=date, data_version=date, is_complete=is_complete)
    add_model(database, 1, release_key=1, slug="went")
    add_model(database, 2, release_key=1, slug="came-back")
    add_model(database, 3, release_key=3, slug="came-back")
    add_model(database, 4, release_key=1, slug="stayed")
    add_model(database, 5, release_key=2, slug="stayed")

    rows = answer(database, "from model_detail order by model_key")

    assert [row["is_withdrawn"] for row in rows] == [True, True, False, False, False]
    assert current(database) == [3, 5]


def test_models_that_share_a_slug_are_named_by_their_makers(database):
    """Two of one maker by their ids, and one that comes twice by its place; the stored slug stays."""
    ids = ("one/Small", "two/Small", "two/small", "one/Mid.1", "one/Mid-1", "Big", "two/Big", "one/Alone")
    for key, model_id in enumerate(ids, 1):
        slug = model_id.rpartition("/")[2].lower().replace(".", "-")
        add_model(database, key, model_id=model_id, slug=slug)

    rows = answer(database, "from model_detail order by model_key")

    names = ["one/small", "two/small", "two/small #2", "one/Mid.1", "one/Mid-1", "big", "two/big", "alone"]
    assert [row["model"] for row in rows] == names
    assert [row["slug"] for row in rows] == ["small"] * 3 + ["mid-1"] * 2 + ["big"] * 2 + ["alone"]
    assert all(row["is_current"] for row in rows)


@pytest.fixture(scope="module")
def unmarked(tmp_path_factory) -> Iterator[duckdb.DuckDBPyConnection]:
    """Text, image and video runs of which none is marked, as in any sound file."""
    folder = tmp_path_factory.mktemp("unmarked")
    load([write_leaderboard(folder / "data")], folder / "energy.duckdb", strict=True)
    with duckdb.connect(str(folder / "energy.duckdb"), read_only=True) as connection:
        assert connection.execute("select count(*) from marked_run").fetchone() == (0,)
        yield connection


@pytest.mark.parametrize("view", VIEWS, ids=ids)
def test_a_limit_on_rows_holds(unmarked, view):
    """DuckDB 2.0 forgets one above a left join on a constant to an empty table: then answers and sums go wrong."""
    (rows,) = unmarked.execute(f"select count(*) from {view.name}").fetchone()

    for sql in (f"from {view.name} limit 1", f"from {view.name} order by all limit 1"):
        assert unmarked.execute(f"select count(*) from ({sql})").fetchone() == (min(1, rows),)
        assert len(unmarked.execute(sql).fetchall()) == min(1, rows)


OF_MODEL = {"release_key": 1, "identity": "org/small", "file_name": "a.json", "place": "$", "fault": "none"}


def test_a_run_is_marked_wherever_it_is_named(database):
    """By a finding, and by what of its model was left out; a run that is withdrawn says so."""
    add_run(database, max_num_seqs=8)
    add_run(database, max_num_seqs=16, joules_per_output_token=0.1)
    insert(database, "marked_run", kind="text", run_key=2, has_finding=True, is_withdrawn=False)
    insert(database, "marked_run", kind="image", run_key=1, has_finding=True, is_withdrawn=True)
    for key, runs in ((1, 2), (2, 0)):
        insert(database, "left_out", left_out_key=key, runs=runs, **OF_MODEL)

    (pick,), (free,) = (answer(database, f"from {name}") for name in ("best_pick", "pick(without_findings := true)"))
    (release,) = answer(database, "from contents")
    details = answer(database, "from configuration_detail order by configuration_key")

    assert (pick["max_num_seqs"], pick["has_finding"], pick["runs_left_out"]) == (16, True, 2)
    assert (free["max_num_seqs"], free["has_finding"], free["runs_left_out"]) == (8, False, 2)
    assert (release["left_out"], release["runs_left_out"]) == (2, 2)
    assert [(row["has_finding"], row["is_withdrawn"]) for row in details] == [(False, False), (True, False)]


LOST = {"runs": 3, "file_name": "a.json", "place": "$", "fault": "none"}


@pytest.mark.parametrize(
    ("lost", "of_model", "of_others", "of_task"),
    [
        (None, 0, 0, 0),
        ({"release_key": 2, "task": "chat", "identity": "org/small"}, 3, 0, 3),
        ({"release_key": 2, "task": "chat", "identity": "org/gone"}, 0, 0, 3),
        ({"release_key": 2, "task": "chat"}, 3, 3, 3),
        ({"release_key": 2, "identity": "org/small"}, 3, 0, 3),
        ({"release_key": 3, "task": "code", "identity": "org/small"}, 0, 0, 0),
        ({"release_key": 1, "task": "chat", "identity": "org/small"}, 3, 0, 3),
        ({"release_key": 1, "task": "chat", "identity": "org/small", "runs": None}, 1, 0, 1),
        ({"task": "chat"}, 3, 3, 3),
        ({"task": "code"}, 0, 0, 0),
        ({"runs": None}, 1, 1, 1),
    ],
    ids=str,
)
def test_what_is_left_out_counts_for_all_that_rests_on_it(database, lost, of_model, of_others, of_task):
    """Of a model in a newer release, for the older one that stands for it; a place rests on the whole task."""
    add_run(database)  # of release 1, in whose place release 2 would be
    for key, day, task in ((2, "2026-03-01", "chat"), (3, "2026-03-01", "code")):
        add_release(database, key, data_version=day, compiled=day, task=task)
    add_run(database, model_key=add_model(database, 2, slug="other", release_key=2))
    if lost is not None:
        insert(database, "left_out", left_out_key=1, **(LOST | lost))

    picks = {row["model"]: row["runs_left_out"] for row in answer(database, "from best_pick")}
    places = {row["model"]: row["runs_left_out"] for row in answer(database, "from task_ranking")}

    assert picks == {"small": of_model, "other": of_others}
    assert places == {"small": of_task, "other": of_task}


def test_a_task_that_was_left_out_whole_is_in_the_contents(database):
    """Beside the releases, without a source; one that can't be told has no name."""
    add_run(database)
    lost = {"file_name": "a.json", "place": "$", "fault": "none"}
    for key, (task, runs) in enumerate((("gpqa", 3), ("gpqa", 4), (None, None)), 1):
        insert(database, "left_out", left_out_key=key, task=task, runs=runs, **lost)

    rows = answer(database, "from contents where release_key is null")

    assert [(row["task"], row["left_out"], row["runs_left_out"]) for row in rows] == [("gpqa", 2, 7), (None, 1, None)]
    assert {(row["source"], row["models"], row["runs"], row["is_complete"]) for row in rows} == {(None, 0, 0, False)}


# --- concurrency_curve ---------------------------------------------------------------------------------


def test_scout_has_two_curves_on_h100(seeds):
    """4 and 8 GPUs, 10 points each, never mixed: each starts without a smaller neighbour."""
    rows = answer(seeds, "from concurrency_curve where model like '%scout%'")

    for num_gpus in (4, 8):
        curve = [row for row in rows if row["num_gpus"] == num_gpus]
        concurrency = [row["max_num_seqs"] for row in curve]
        assert len(curve) == 10
        assert concurrency == sorted(concurrency)
        assert [row["next_smaller_max_num_seqs"] for row in curve] == [None, *concurrency[:-1]]
        assert min(row["energy_ratio_to_best"] for row in curve) == 1.0
    assert len(rows) == 20


def test_a_point_is_held_against_the_mean_of_the_next_smaller(database):
    """Repeats lie side by side: neither is the other's neighbour."""
    add_run(database, max_num_seqs=8, joules_per_output_token=4.0, tokens_per_second=100.0, repeat=1)
    add_run(database, max_num_seqs=8, joules_per_output_token=2.0, tokens_per_second=300.0, repeat=2)
    add_run(database, max_num_seqs=16, joules_per_output_token=1.5, tokens_per_second=500.0)

    rows = answer(database, "from concurrency_curve")

    got = [
        (
            row["max_num_seqs"],
            row["repeat"],
            row["next_smaller_max_num_seqs"],
            row["energy_ratio_to_next_smaller"],
            row["throughput_ratio_to_next_smaller"],
            row["energy_ratio_to_best"],
        )
        for row in rows
    ]
    # The mean at 8 is 3 J and 200 tokens/s; the least of the curve is 1.5 J.
    assert got == [
        (8, 1, None, None, None, 4.0 / 1.5),
        (8, 2, None, None, None, 2.0 / 1.5),
        (16, 1, 8, 0.5, 2.5, 1.0),
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"gpu": "B200"},
        {"num_gpus": 2},
        {"num_gpus": 1, "tensor_parallel": 2},
        {"data_parallel": 2},
        {"expert_parallel": 2},
        {"pipeline_parallel": 2},
        {"other_parallel": "context_parallel 2"},
        {"precision": "FP8"},
    ],
    ids=str,
)
def test_every_part_of_a_serving_setup_parts_curves(database, other):
    """Two setups never share a neighbour or a best."""
    add_run(database, max_num_seqs=8, joules_per_output_token=1.0)
    add_run(database, max_num_seqs=16, joules_per_output_token=2.0, **other)

    rows = answer(database, "from concurrency_curve")

    assert [row["next_smaller_max_num_seqs"] for row in rows] == [None, None]
    assert [row["energy_ratio_to_best"] for row in rows] == [1.0, 1.0]


def test_a_run_without_a_limit_is_last_of_its_curve(database):
    """Against the curve's best, and no step up from any other."""
    add_run(database, max_num_seqs=None, joules_per_output_token=1.0)
    add_run(database, max_num_seqs=None, repeat=2, joules_per_output_token=3.0)
    add_run(database, max_num_seqs=8, joules_per_output_token=2.0)

    rows = answer(database, "from concurrency_curve")

    got = [(row["max_num_seqs"], row["energy_ratio_to_best"], row["next_smaller_max_num_seqs"]) for row in rows]
    assert got == [(8, 2.0, None), (None, 1.0, None), (None, 3.0, None)]
    assert {row["energy_ratio_to_next_smaller"] for row in rows} == {None}
    assert {row["throughput_ratio_to_next_smaller"] for row in rows} == {None}


def test_a_run_that_lacks_a_percentile_is_on_no_frontier_of_it(database):
    """It needs the least, and nobody knows how long it takes at p99."""
    add_run(database, max_num_seqs=8, joules_per_output_token=2.0)
    add_run(database, max_num_seqs=16, joules_per_output_token=1.0, p99_itl_ms=None)

    rows = answer(database, "from energy_latency_frontier")

    assert [(row["percentile"], row["max_num_seqs"]) for row in rows] == [("median", 16), ("p99", 8)]


# --- gpu_power, configuration_detail, provenance, contents ---------------------------------------------


def test_power_against_the_rating(seeds):
    """Llama 3.1 70B on 2 B200 at 2048 drew 1,907 W: 953.5 W each, of 1,000 W rated."""
    (row,) = answer(
        seeds, "from gpu_power where model = 'llama-3-1-70b-instruct' and gpu = 'B200' and max_num_seqs = 2048"
    )

    assert (row["gpu_power_watts_total"], row["gpu_power_watts_each"], row["rated_watts"]) == (1907, 953.5, 1000)
    assert row["share_of_rated_watts"] == 0.9535


def test_a_gpu_without_facts_has_no_share(database):
    """Unknown is NULL, not zero, and the row stays."""
    add_run(database, gpu="X1")

    (row,) = answer(database, "from gpu_power")
    assert (row["gpu_power_watts_each"], row["rated_watts"], row["share_of_rated_watts"]) == (400.0, None, None)


def test_what_is_derived_of_a_run(database):
    """0.5 J a token: 2 tokens a joule, and 175 J for a request of 350 tokens."""
    add_run(database, joules_per_output_token=0.5, num_gpus=4, gpu_power_watts_total=200)

    (row,) = answer(database, "from configuration_detail")
    assert (row["tokens_per_joule"], row["joules_per_request"], row["gpu_power_watts_each"]) == (2.0, 175.0, 50.0)


def test_every_run_has_its_provenance(seeds):
    """Source, licence, citation, caveat and boundary, for each of the 42 runs."""
    rows = answer(seeds, "from provenance")

    assert len(rows) == 42
    for row in rows:
        assert row["source"] == "ML.ENERGY Leaderboard"
        assert row["licence"].startswith("Apache-2.0")
        assert "arXiv 2505.06371" in row["cite"]
        assert row["caveat"].startswith("GPU energy only")
        assert row["boundary"] == "gpu_only"
        assert row["document"] in ("llama-3-1-70b-instruct.json", "llama-4-scout-17b-16e-instruct.json")


def test_contents_counts_each_release(database):
    """Counts of one release don't multiply each other."""
    add_run(database, gpu="H100")
    add_run(database, gpu="B200")
    add_run(database, model_key=add_model(database, 2, slug="other"))
    add_release(database, 2, data_version="2026-02-01")

    rows = answer(database, "from contents")

    got = [(row["release_key"], row["documents"], row["models"], row["gpus"], row["runs"]) for row in rows]
    assert got == [(1, 2, 2, 2, 3), (2, 0, 0, 0, 0)]
    assert rows[0]["schema_revision"] == newest_revision()
