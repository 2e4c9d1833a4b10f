"""What is at fault: refused with all else, whose old file stays; or with --keep-going left out, told and recorded."""

import json
from pathlib import Path

import pytest

from energydb import reading
from energydb.errors import DataError, RefusedError, UsageError
from energydb.load import load
from energydb.store.check import check_database
from tests.documents import SCOUT, document, run, write
from tests.leaderboards import change, change_run, small_tasks, text_row, write_leaderboard
from tests.test_load import ask, leftovers, without_own_bytes

CHAT = "tasks/lm-arena-chat.json"
SMALL = "models/org__Small-1B__lm-arena-chat.json"


@pytest.fixture
def faulty(tmp_path):
    """A leaderboard with a fault in a run, a model and a task: 1, 3 and an unknown number of its 12 runs."""
    folder = write_leaderboard(tmp_path / "data")
    change_run(folder / CHAT, 3, num_gpus="one")
    change(folder / "models/org__Film__text-to-video.json", nickname="Movie")
    (folder / "tasks/gpqa.json").write_text("{")
    return folder


SAID = [
    f'{CHAT}: $.configurations[3].num_gpus: expected a whole number, got "one"',
    'models/org__Film__text-to-video.json: $.nickname: expected "Film" as in index.json, got "Movie"',
    "tasks/gpqa.json: $: expected JSON, got its end at line 1, column 2",
]


def test_by_default_nothing_is_loaded_and_the_old_file_stays(faulty, scout_here, energydb):
    """The last lines say so, how many faults there are in how many files, and what can be done."""
    before = scout_here.read_bytes()
    done = energydb("load", "data")

    *faults, became, remedy = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (1, "")
    assert [fault.partition(" (")[0] for fault in faults[:2]] == [f"energydb: data/{said}" for said in SAID[:2]]
    assert faults[2].startswith("energydb: data/tasks/gpqa.json: $: expected JSON")
    assert len(faults) == 3
    assert became == "energydb: energy.duckdb: not built, and what was there is as it was: 3 faults in 3 files"
    assert remedy == (
        "energydb: mend that and load again; or leave out what isn't sound: the same command with --keep-going"
    )
    assert scout_here.read_bytes() == before
    assert leftovers(scout_here.parent) == ["data", "energy.duckdb"]


def test_of_faults_of_one_kind_the_first_is_shown(tmp_path):
    """And how many more there are like it, in which files; another rule or another field is another kind."""
    tasks = {
        f"task-{number}": [text_row("org/Small-1B", max_num_seqs=size) for size in (8, 16)] for number in range(6)
    }
    folder = write_leaderboard(tmp_path / "data", tasks)
    for number in range(6):
        for place in (0, 1):
            change_run(folder / f"tasks/task-{number}.json", place, num_gpus=f"{number}{place}")
    change_run(folder / "tasks/task-0.json", 1, num_gpus=0)
    target = tmp_path / "energy.duckdb"

    with pytest.raises(RefusedError) as refused:
        load([folder], target, strict=False)
    number = "expected a whole number"
    assert [line.replace(f"{tmp_path}/", "") for line in refused.value.lines] == [
        f'data/tasks/task-0.json: $.configurations[0].num_gpus: {number}, got "00"',
        "and 10 more like it, in task-1.json, task-2.json, task-3.json and 2 more files",
        f"data/tasks/task-0.json: $.configurations[1].num_gpus: {number} >= 1, got 0",
        "energy.duckdb: not built, and there is none: 12 faults in 6 files",
        "mend that and load again",
    ]
    assert not target.exists()


def test_with_keep_going_all_that_is_sound_is_loaded(faulty, scout_here, energydb):
    """Exit code 1; each fault, and of which task and model how many runs are gone."""
    done = energydb("load", "data", "--keep-going")

    assert done.returncode == 1
    assert [line.split()[0] for line in done.stdout.splitlines()[-3:]] == [
        "lm-arena-chat",
        "text-to-image",
        "text-to-video",
    ]
    said = done.stderr.splitlines()
    assert [line for line in said if line.startswith("energydb: data/")][:2] == [
        f"energydb: data/{SAID[0]}",
        f"energydb: data/{SAID[1]}",
    ]
    assert [line for line in said if line.startswith("left out")] == [
        "left out: lm-arena-chat: org/Small-1B: 1 run",
        "left out: text-to-video: org/Film: 3 runs",
        "left out: gpqa: all models: all runs",
        "left out: 3 faults in all: energydb query left_out",
    ]
    counts = "select table_name, count(*) from (select 'text' as table_name from configuration) group by all"
    assert ask(scout_here, counts) == [{"table_name": "text", "count_star()": 4}]
    assert [result for result in check_database(scout_here) if not result.sound] == []


def loaded(folder: Path, target: Path) -> Path:
    report = load([folder], target, strict=False, keep_going=True)
    assert report.left_out
    return target


@pytest.mark.slow
def test_what_was_left_out_is_in_the_file(faulty, tmp_path):
    """File, place, fault and runs lost, by task and model; `contents` counts them."""
    path = loaded(faulty, tmp_path / "energy.duckdb")

    names = "left_out.task, model_id, file_name, place, fault, runs, release_key is null as is_of_none, model_key"
    rows = [tuple(row.values()) for row in ask(path, f"select {names} from left_out order by left_out_key")]
    (small,) = ask(path, "select model_key from model_detail where task = 'lm-arena-chat' and model = 'small-1b'")
    whole = 'expected a whole number, got "one"'
    named = 'expected "Film" as in index.json, got "Movie"'
    assert rows[:2] == [
        (
            "lm-arena-chat",
            "org/Small-1B",
            "lm-arena-chat.json",
            "$.configurations[3].num_gpus",
            whole,
            1,
            False,
            small["model_key"],
        ),
        ("text-to-video", "org/Film", "org__Film__text-to-video.json", "$.nickname", named, 3, False, None),
    ]
    assert (rows[2][:4], rows[2][5:]) == (("gpqa", None, "gpqa.json", "$"), (None, True, None))
    assert ask(path, "select task, models, runs, is_complete, left_out, runs_left_out from contents") == [
        dict(zip(("task", "models", "runs", "is_complete", "left_out", "runs_left_out"), row, strict=True))
        for row in (
            ("gpqa", 0, 0, False, 1, None),
            ("lm-arena-chat", 2, 4, False, 1, 1),
            ("text-to-image", 1, 3, True, 0, 0),
            ("text-to-video", 0, 0, False, 1, 3),
        )
    ]
    assert ask(path, "select distinct has_all_tasks from release") == [{"has_all_tasks": False}]


def test_what_lost_runs_says_so_in_the_answers(faulty, tmp_path):
    """Its model, its curve and its picks; no other."""
    path = loaded(faulty, tmp_path / "energy.duckdb")

    for view in ("model_detail", "best_pick", "concurrency_curve", "configuration_detail", "gpu_power"):
        assert ask(
            path, f"select distinct model, runs_left_out from {view} where task = 'lm-arena-chat' order by 1"
        ) == [{"model": "mix-8b", "runs_left_out": 0}, {"model": "small-1b", "runs_left_out": 1}], view
    assert ask(path, "select distinct runs_left_out from best_image_pick") == [{"runs_left_out": 0}]
    # 0.4 J at 16 sequences, the least, is what was lost.
    assert ask(path, "select joules_per_output_token from best_pick where model = 'small-1b'") == [
        {"joules_per_output_token": 0.41}
    ]


@pytest.mark.slow
def test_a_query_says_on_which_runs_it_lacks(faulty, energydb):
    energydb("load", "data", "--keep-going")
    said = energydb("query", "best_pick", "--format", "csv").stderr

    assert "runs_left_out: 1 of these rows lacks runs that could not be loaded" in said


@pytest.mark.slow
def test_what_a_newer_release_lost_is_not_withdrawn(tmp_path):
    """It isn't complete: its source may still have what isn't in it."""
    tasks = small_tasks()
    older = write_leaderboard(tmp_path / "older", tasks, last_updated="2025-12-01")
    for name, spoil in {"sound": False, "faulty": True}.items():
        newer = write_leaderboard(tmp_path / name, tasks)
        if spoil:
            (newer / "models/org__Mix-8B__lm-arena-chat.json").unlink()
            (newer / "tasks/gpqa.json").write_text("")
        path = tmp_path / f"{name}.duckdb"
        load([older, newer], path, strict=False, keep_going=spoil)
        assert ask(path, "from withdrawn_run") == []
        assert {row["model"] for row in ask(path, "from best_pick where task = 'lm-arena-chat'")} == {
            "mix-8b",
            "small-1b",
        }
        assert [row["model"] for row in ask(path, "from best_pick where task = 'gpqa'")] == ["small-1b"]


@pytest.mark.parametrize(
    ("spoil", "of_small"),
    [
        (lambda folder: (folder / "models/org__Small-1B__lm-arena-chat.json").unlink(), 4),
        (lambda folder: (folder / "tasks/lm-arena-chat.json").write_text("{"), 1),
        (lambda folder: change(folder / "tasks/lm-arena-chat.json", task="gpqa"), 5),
    ],
    ids=["a model", "a task that can't be read", "a task"],
)
def test_older_figures_that_stand_for_lost_ones_say_so(tmp_path, spoil, of_small):
    """By the newer release's count, or at least 1 where that isn't known; whatever the folders are called."""
    made = []
    for names in (("a", "b"), ("b", "a")):
        place = tmp_path / "".join(names)
        write_leaderboard(place / names[0], last_updated="2025-12-01")
        newer = write_leaderboard(place / names[1])
        spoil(newer)
        path = place / "energy.duckdb"
        load([place], path, strict=False, keep_going=True)
        pick = "model = 'small-1b' and task = 'lm-arena-chat'"
        (row,) = ask(path, f"select data_version, runs_left_out from best_pick where {pick}")
        assert (str(row["data_version"]), row["runs_left_out"]) == ("2025-12-01", of_small)
        for other in ask(path, "select task, runs_left_out from task_ranking"):
            assert other["runs_left_out"] == (of_small if other["task"] == "lm-arena-chat" else 0)
        made.append((ask(path, "select digest from build"), ask(path, "from left_out"), ask(path, "from file")))
    assert made[0] == made[1]


def test_a_lost_head_is_told_alike_wherever_documents_lie(tmp_path):
    """Of two that disagree it's the same that stays, and its fault names no folder."""
    made = []
    for names in (("a", "b"), ("b", "a")):
        place = tmp_path / "".join(names)
        for name, deadline in zip(names, (400, 500), strict=True):
            (place / name).mkdir(parents=True)
            write(place / name / "model.json", document(run(), itl_deadline_ms=deadline))
        load([place], place / "energy.duckdb", strict=False, keep_going=True)
        made.append([ask(place / "energy.duckdb", f"from {name}") for name in ("left_out", "build", "release")])
    assert made[0] == made[1]
    assert made[0][0][0]["fault"] == 'expected "400" as in model.json, of the same release, got "500"'


def test_where_nothing_is_sound_nothing_is_loaded(tmp_path, scout_here):
    """And leaving that out is no way on."""
    folder = write_leaderboard(tmp_path / "data", {"gpqa": [text_row("org/Small-1B")]})
    change_run(folder / "tasks/gpqa.json", 0, num_gpus=0)
    before = scout_here.read_bytes()

    for faulty in ([folder], [write(tmp_path / "bad.json", document(unit="J"))]):
        with pytest.raises(RefusedError) as refused:
            load(faulty, scout_here, strict=False, keep_going=True)
        assert refused.value.lines[1:] == (
            f"{scout_here}: not built, and what was there is as it was: 1 fault in 1 file",
            "mend that and load again",
        )
    assert scout_here.read_bytes() == before


@pytest.mark.slow
def test_of_documents_a_run_a_pick_or_all_is_left_out(tmp_path):
    """Beside sound ones, and others that disagree about their release."""
    bad_run = document(run(), run(max_num_seqs=16), slug="run", model_id="org/run")
    bad_run["configurations"][1]["num_gpus"] = "1"
    write(tmp_path / "run.json", bad_run)
    write(tmp_path / "all.json", document(unit="J", slug="all", model_id="org/all"))
    odd = document(run(), run(max_num_seqs=16), slug="odd", model_id="org/odd", source={"licence": "CC0"})
    write(tmp_path / "odd.json", odd)
    for slug in ("a", "b"):
        write(tmp_path / f"{slug}.json", document(slug=slug, model_id=f"org/{slug}"))
    path = loaded(tmp_path, tmp_path / "energy.duckdb")

    names = "file_name, place, model_id, runs, release_key, model_key is not null as is_of_a_model"
    rows = [tuple(row.values()) for row in ask(path, f"select {names} from left_out order by file_name, place")]
    assert [row for row in rows if row[0] != "run.json"] == [
        ("all.json", "$.unit", "org/all", 1, None, False),
        ("odd.json", "$.source.licence", "org/odd", 2, 1, False),
    ]
    assert ("run.json", "$.configurations[1].num_gpus", "org/run", 1, 1, True) in rows
    assert ask(path, "select model, runs_left_out from model_detail order by model") == [
        {"model": "a", "runs_left_out": 0},
        {"model": "b", "runs_left_out": 0},
        {"model": "run", "runs_left_out": 1},
    ]
    contents = "select release_key, models, is_complete, runs_left_out from contents order by release_key"
    assert [tuple(row.values()) for row in ask(path, contents)] == [(1, 3, False, 3), (None, 0, False, 1)]


@pytest.mark.slow
def test_two_copies_of_a_release_are_as_complete_as_both(tmp_path):
    """How much was read of a folder isn't what it says of its release."""
    whole, part = (write_leaderboard(tmp_path / name) for name in ("whole", "part"))
    change(part / "index.json", note="a field more")
    change_run(part / CHAT, 0, num_gpus=0)
    (part / "tasks/gpqa.json").write_text("")
    path = loaded(tmp_path, tmp_path / "energy.duckdb")

    assert whole.is_dir()
    assert [tuple(row.values()) for row in ask(path, "select task, is_complete, left_out from contents")] == [
        ("gpqa", True, 0),
        ("gpqa", False, 1),  # that of the part, of which no release came
        ("lm-arena-chat", False, 1),
        ("text-to-image", True, 0),
        ("text-to-video", True, 0),
    ]
    assert ask(path, "select place, release_key is null as is_of_none from left_out order by 1") == [
        {"place": "$", "is_of_none": True},
        {"place": "$.configurations[0].num_gpus", "is_of_none": False},
    ]
    assert ask(path, "select task from release where has_all_tasks") == [{"task": "gpqa"}]


@pytest.mark.slow
def test_several_processes_leave_out_the_same(faulty, tmp_path, monkeypatch):
    """Byte for byte; and another fault makes another file."""
    write(faulty.parent / "bad.json", document(unit="J"))
    write(faulty.parent / "scout.json", json.loads(SCOUT.read_text()))
    paths = [faulty, faulty.parent / "bad.json", faulty.parent / "scout.json"]
    digests = []
    for name, much in (("one", 2**40), ("two", 0), ("three", 0)):
        monkeypatch.setattr(reading, "MUCH", much)
        monkeypatch.setattr(reading, "BYTES_PER_BATCH", 1)
        if name == "three":
            change_run(faulty / CHAT, 0, warmup="none")
            change_run(faulty / CHAT, 3, num_gpus="two")
        (tmp_path / name).mkdir()
        load(paths, tmp_path / name / "energy.duckdb", strict=False, keep_going=True)
        digests.append(ask(tmp_path / name / "energy.duckdb", "from build")[0])

    assert without_own_bytes(tmp_path / "one" / "energy.duckdb") == without_own_bytes(
        tmp_path / "two" / "energy.duckdb"
    )
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.slow
def test_a_sound_load_with_keep_going_is_any_load(tmp_path, energydb):
    """Exit code 0, and nothing left out; a path that isn't there is still refused."""
    folder = write_leaderboard(tmp_path / "data")
    done = energydb("load", "data", "--keep-going")

    assert done.returncode == 0
    assert "left out" not in done.stderr
    assert ask(tmp_path / "energy.duckdb", "from left_out") == []
    assert ask(tmp_path / "energy.duckdb", "select distinct is_complete, has_all_tasks from release") == [
        {"is_complete": True, "has_all_tasks": True}
    ]
    with pytest.raises(UsageError, match="no such file or folder"):
        load([folder, tmp_path / "none"], tmp_path / "energy.duckdb", strict=False, keep_going=True)


@pytest.mark.slow
def test_strict_and_keep_going_refuse_findings_of_what_is_left(tmp_path):
    """Each is asked for by itself."""
    made = document(run(p90_itl_ms=19.0), run(max_num_seqs=16))
    made["configurations"][1]["num_gpus"] = "1"
    write(tmp_path / "a.json", made)

    with pytest.raises(DataError, match="itl_order"):
        load([tmp_path], tmp_path / "energy.duckdb", strict=True, keep_going=True)
    assert leftovers(tmp_path) == ["a.json"]
