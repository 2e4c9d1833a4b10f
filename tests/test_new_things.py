"""What a publisher adds: loaded and compared by its own name where it can be, told in a line, and no fault."""

import json
from pathlib import Path
from typing import Any

import pytest

from energydb.errors import RefusedError
from energydb.load import check, load
from energydb.report import notices
from tests.documents import document, run, write
from tests.leaderboards import change, change_run, image_row, text_row, video_row, write_leaderboard
from tests.test_load import ask

CHAT = "tasks/lm-arena-chat.json"
SMALL = "models/org__Small-1B__lm-arena-chat.json"


def loaded(tmp_path: Path, rows: dict[str, list[dict[str, Any]]]) -> tuple[Path, list[str]]:
    """Load a leaderboard of these runs; return the file, and what is told of it, without fault or finding."""
    path = tmp_path / "energy.duckdb"
    report = load([write_leaderboard(tmp_path / "data", rows)], path, strict=True)
    assert report.left_out == ()
    return path, notices(report)


def rows_of(path: Path, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in ask(path, sql)]


# --- Fields ------------------------------------------------------------------------------------------------


@pytest.fixture
def with_fields(tmp_path):
    """A leaderboard with a field more in runs of two tasks, another in a model's file, and one in the index."""
    folder = write_leaderboard(tmp_path / "data")
    for place in (1, 2, 3):
        change_run(folder / CHAT, place, ttft_ms=40.5 + place)
    change_run(folder / "tasks/gpqa.json", 0, ttft_ms=7)
    change_run(folder / SMALL, 0, ttft_ms=41.5)
    change(folder / SMALL, license="mit")
    change(folder / "index.json", schema_version=4)
    return folder


def test_a_field_that_is_not_known_is_one_line(with_fields, energydb):
    """Name, type, in how many runs of which tasks, an example; exit code 0, and no finding."""
    done = energydb("load", "data")
    told = [line for line in done.stderr.splitlines() if line.startswith("notice")]

    assert done.returncode == 0
    assert "data_quality: no findings" in done.stderr
    assert len(told) == 3
    assert [line for line in told if "ttft_ms" in line] == [
        "notice: ttft_ms: a field that energydb doesn't know and doesn't keep: a whole number, such as 7,"
        " in 1 run of gpqa, 3 runs of lm-arena-chat"
    ]
    (of_model,) = (line for line in told if line.startswith("notice: license: "))
    assert 'text, such as "mit", in models/*.json: $.license' in of_model
    (of_index,) = (line for line in told if line.startswith("notice: schema_version: "))
    assert "a whole number, such as 4, in index.json: $.schema_version" in of_index


@pytest.mark.slow
def test_it_is_recorded_and_the_runs_are_as_they_were(with_fields, tmp_path):
    """A row a release and place; the view `notice` shows it."""
    path = tmp_path / "energy.duckdb"
    load([with_fields], path, strict=False)

    of_runs = "tasks/*.json: $.configurations[*].ttft_ms"
    fields = "from unknown_field join release using (release_key)"
    assert rows_of(
        path, f"select task, place, type, objects, example {fields} where field <> 'schema_version' order by 1, 3"
    ) == [
        ("gpqa", of_runs, "a whole number", 1, "7"),
        ("lm-arena-chat", of_runs, "a number", 3, "41.5"),
        ("lm-arena-chat", "models/*.json: $.license", "text", 1, '"mit"'),
    ]
    assert rows_of(path, f"select count(*) {fields} where place = 'index.json: $.schema_version'") == [(4,)]
    assert rows_of(path, "select task, runs from notice where name = 'ttft_ms' order by task") == [
        ("gpqa", 1),
        ("lm-arena-chat", 3),
    ]
    assert rows_of(path, "select count(*) from measured_run") == [(12,)]
    assert rows_of(path, "select distinct is_complete from contents") == [(True,)]


@pytest.mark.slow
def test_strict_refuses_it(with_fields, tmp_path, energydb):
    """A line each; the old file stays."""
    done = energydb("load", "data", "--strict")
    *fields, became = done.stderr.splitlines()

    assert (done.returncode, done.stdout) == (1, "")
    assert len(fields) == 3
    assert all("expected no field that energydb doesn't know" in line for line in fields)
    assert [name for name in ("ttft_ms", "license", "schema_version") if name in " ".join(fields)] == [
        "ttft_ms",
        "license",
        "schema_version",
    ]
    assert "not built, as strict refuses" in became
    assert not (tmp_path / "energy.duckdb").exists()
    assert energydb("check", "data").returncode == 0


# --- Names --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_new_task_is_a_task(tmp_path):
    path, told = loaded(tmp_path, {"haiku": [text_row("org/Small-1B"), text_row("org/Mix-8B")]})

    assert told == ["haiku: a task that energydb doesn't know yet, in 2 runs of haiku"]
    assert rows_of(path, "select task, model, gpu from best_pick") == [
        ("haiku", "mix-8b", "H100"),
        ("haiku", "small-1b", "H100"),
    ]
    assert rows_of(path, "select model, place from task_ranking order by place") == [("mix-8b", 1), ("small-1b", 1)]


@pytest.mark.slow
def test_a_new_gpu_is_compared(tmp_path):
    """By the name that it has, against those that are known."""
    rows = [
        text_row("org/Small-1B"),
        text_row("org/Small-1B", gpu_model="X9000", energy_per_token_joules=0.25),
        text_row("org/Small-1B", gpu_model="X9000", energy_per_token_joules=0.3, max_num_seqs=16),
    ]
    path, told = loaded(tmp_path, {"gpqa": rows})

    assert told == ["X9000: a GPU that energydb doesn't know yet, in 2 runs of gpqa"]
    assert rows_of(path, "select gpu, joules_per_output_token from best_pick") == [
        ("H100", 0.5123456789),
        ("X9000", 0.25),
    ]
    compared = "select distinct gpu, other_gpu, round(energy_ratio, 6) from gpu_comparison where gpu = 'H100'"
    assert rows_of(path, compared) == [("H100", "X9000", round(0.5123456789 / 0.25, 6))]


@pytest.mark.slow
@pytest.mark.parametrize("published", ["nvfp4", "int4", "mxfp6"])
def test_a_new_precision_is_compared(tmp_path, published):
    """Against the same model in BF16, and by name."""
    name = published.upper()
    other = {"model_id": f"org/Small-1B-{name}", "nickname": f"Small 1B {name}", "weight_precision": published}
    rows = [text_row("org/Small-1B"), text_row("org/Small-1B", energy_per_token_joules=0.25) | other]
    path, told = loaded(tmp_path, {"gpqa": rows})

    assert told == [f"{name}: a precision that energydb doesn't know yet, in 1 run of gpqa"]
    assert rows_of(path, "select model, precision from best_pick") == [
        ("small-1b", "BF16"),
        (f"small-1b-{published}", name),
    ]
    compared = "select model, other_precision, other_model from precision_comparison"
    assert rows_of(path, compared) == [("small-1b", name, f"small-1b-{published}")]


@pytest.mark.slow
def test_a_new_architecture_is_shown(tmp_path):
    rows = [text_row("org/Small-1B") | {"architecture": "State Space"}, text_row("org/Mix-8B")]
    path, told = loaded(tmp_path, {"gpqa": rows})

    assert told == ["State Space: an architecture that energydb doesn't know yet, in 1 run of gpqa"]
    assert set(rows_of(path, "select model, architecture from architecture_comparison")) == {
        ("mix-8b", "MoE"),
        ("small-1b", "State Space"),
    }


@pytest.mark.slow
def test_pipelines_are_a_column_and_no_news(tmp_path):
    """Two setups that differ in them are two curves."""
    rows = [
        text_row("org/Small-1B", num_gpus=4, tensor_parallel=4, energy_per_token_joules=1.0),
        text_row("org/Small-1B", num_gpus=4, tensor_parallel=2, pipeline_parallel=2, energy_per_token_joules=0.9),
    ]
    path, told = loaded(tmp_path, {"gpqa": rows})

    assert told == []
    setups = "select tensor_parallel, pipeline_parallel, other_parallel, joules_per_output_token from {}"
    assert rows_of(path, setups.format("concurrency_curve order by 4")) == [(2, 2, None, 0.9), (4, 1, None, 1.0)]
    assert rows_of(path, setups.format("best_pick")) == [(2, 2, None, 0.9)]
    assert rows_of(path, "from repeat_spread") == []


@pytest.mark.slow
def test_another_way_to_split_a_model_never_joins_two_curves(tmp_path):
    """Kept as text, told once, and part of what tells two setups."""
    rows = [
        text_row("org/Small-1B", num_gpus=4, tensor_parallel=4, energy_per_token_joules=1.0),
        text_row("org/Small-1B", num_gpus=4, tensor_parallel=2, context_parallel=2, energy_per_token_joules=0.9),
    ]
    path, told = loaded(tmp_path, {"gpqa": rows})

    assert told == ["context_parallel 2: a kind of parallelism that energydb doesn't know yet, in 1 run of gpqa"]
    assert rows_of(path, "select tensor_parallel, other_parallel from concurrency_curve order by 1") == [
        (2, "context_parallel 2"),
        (4, None),
    ]
    assert rows_of(path, "select other_parallel from best_pick") == [("context_parallel 2",)]
    assert rows_of(path, "from repeat_spread") == []


def test_a_new_kind_of_task_is_told_and_loses_no_other(tmp_path, energydb):
    """No table holds its runs: a line says so, it is recorded, and strict refuses it; all other tasks are whole."""
    folder = write_leaderboard(tmp_path / "data", {"gpqa": [text_row("org/Small-1B")]})
    index = json.loads((folder / "index.json").read_text())
    index["architectures"]["audio"] = ["text-to-speech"]
    index["tasks"].append("text-to-speech")
    (folder / "index.json").write_text(json.dumps(index))
    row = {"model_id": "org/Voice", "gpu_model": "H100", "num_gpus": 1, "energy_per_audio_second_joules": 3.5}
    made = {"task": "text-to-speech", "task_display_name": "Text to speech", "configurations": [row, row]}
    (folder / "tasks/text-to-speech.json").write_text(json.dumps(made))
    (folder / "models/org__Voice__text-to-speech.json").write_text(json.dumps({"configurations": [row]}))

    done = energydb("load", "data")
    said = (
        "text-to-speech: a kind of task that energydb can't hold, as it's measured by energy_per_audio_second_joules:"
        " 2 runs not loaded"
    )
    assert (done.returncode, [line for line in done.stderr.splitlines() if line.startswith("notice")]) == (
        0,
        [f"notice: {said}"],
    )
    path = tmp_path / "energy.duckdb"
    assert rows_of(path, "select kind, name, runs, example, place from notice") == [
        ("a kind of task", "text-to-speech", 2, "energy_per_audio_second_joules", "tasks/text-to-speech.json")
    ]
    assert rows_of(path, "select task, is_complete, has_all_tasks from release") == [("gpqa", True, True)]
    assert energydb("load", "data", "--strict").returncode == 1
    assert said in energydb("load", "data", "--strict").stderr


def test_a_leaderboard_of_unknown_tasks_alone_is_refused(tmp_path):
    folder = write_leaderboard(tmp_path / "data", {"gpqa": [text_row("org/Small-1B")]})
    row = {"model_id": "org/Voice", "gpu_model": "H100", "energy_per_audio_second_joules": 3.5}
    made = {"task": "gpqa", "task_display_name": "G", "configurations": [row]}
    (folder / "tasks/gpqa.json").write_text(json.dumps(made))

    with pytest.raises(RefusedError, match=r"measured by energy per token.*, got energy_per_audio_second_joules"):
        load([folder], tmp_path / "energy.duckdb", strict=False)


@pytest.mark.parametrize("field", ["energy_per_image_joules", "energy_per_video_joules", "batch_size"])
def test_a_field_of_another_kind_makes_no_other_kind_of_task(tmp_path, field):
    """It's a field that isn't known in a text task."""
    rows = [text_row("org/Small-1B"), text_row("org/Small-1B", max_num_seqs=16, **{field: 4.5})]
    report = check([write_leaderboard(tmp_path / "data", {"gpqa": rows})])

    assert [line.partition(":")[0] for line in notices(report)] == [field]
    assert [row["runs"] for row in report.contents.named()] == [2]


def test_the_index_may_call_its_lists_anew(tmp_path):
    """The kind of a task is in its runs."""
    folder = write_leaderboard(tmp_path / "data")
    groups = {"chat": ["lm-arena-chat", "gpqa"], "image": ["text-to-image"], "video": ["text-to-video"]}
    change(folder / "index.json", architectures=groups)
    for group, tasks in groups.items():
        for task in tasks:
            change(folder / "tasks" / f"{task}.json", architecture=group)

    report = check([folder])
    assert (report.left_out, [row["runs"] for row in report.contents.named()]) == ((), [1, 5, 3, 3])


def test_image_and_video_models_may_say_their_architecture(tmp_path):
    """In the index, the task's file and the model's, or in some of them."""
    rows = {"text-to-image": [image_row(architecture="DiT")], "text-to-video": [video_row()]}
    folder = write_leaderboard(tmp_path / "data", rows)
    index = json.loads((folder / "index.json").read_text())
    index["models"]["org/Film"]["architecture"] = "U-Net"
    change(folder / "index.json", models=index["models"])
    change(folder / "models/org__Paint-Σ__text-to-image.json", architecture="DiT")
    path = tmp_path / "energy.duckdb"
    load([folder], path, strict=False)

    assert rows_of(path, "select architecture from model order by slug") == [("U-Net",), ("DiT",)]
    change(folder / "models/org__Film__text-to-video.json", architecture="DiT")
    with pytest.raises(RefusedError, match=r'\$\.architecture: expected "U-Net" as in index\.json, got "DiT"'):
        load([folder], path, strict=False)


def test_a_field_of_a_models_file_is_told_beside_one_of_that_name_in_runs(tmp_path):
    """They are two fields."""
    folder = write_leaderboard(tmp_path / "data", {"gpqa": [text_row("org/Small-1B", license="x")]})
    change(folder / "models/org__Small-1B__gpqa.json", license="mit")

    assert [line.partition(", in ")[2] for line in notices(check([folder]))] == [
        "1 run of gpqa, models/*.json: $.license"
    ]


def test_new_things_of_a_document_are_told_alike(tmp_path):
    """A line each, whatever the format."""
    made = document(run(gpu="X9000", precision="NVFP4"), run(gpu="X9000", precision="NVFP4", max_num_seqs=16))
    report = check([write(tmp_path / "a.json", made)])

    assert notices(report) == [
        "X9000: a GPU that energydb doesn't know yet, in 2 runs of lm-arena-chat",
        "NVFP4: a precision that energydb doesn't know yet, in 2 runs of lm-arena-chat",
    ]
    assert report.finding_count == 0


@pytest.mark.slow
def test_what_has_no_value_is_told(tmp_path):
    """Runs without it stay in their curves."""
    rows = [text_row("org/Small-1B", max_num_seqs=None, p95_itl_ms=None), text_row("org/Small-1B", p95_itl_ms=None)]
    path, told = loaded(tmp_path, {"gpqa": rows})

    assert told == [
        "max_num_seqs: published without a value, in 1 run of gpqa",
        "p95_itl_ms: published without a value, in 2 runs of gpqa",
    ]
    assert sorted(rows_of(path, "select max_num_seqs from concurrency_curve"), key=str) == [(8,), (None,)]
