"""The reader of the leaderboard's public data: what it takes, what it derives, and what it refuses."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from energydb.errors import DocumentErrors
from energydb.sources.leaderboard import is_leaderboard, read_leaderboard
from energydb.sources.records import OutputLengths
from tests.documents import LLAMA
from tests.leaderboards import image_row, small_tasks, text_row, video_row, write_leaderboard


@pytest.fixture
def folder(tmp_path):
    return write_leaderboard(tmp_path / "data")


def models(folder: Path) -> dict[tuple[str, str], Any]:
    documents = read_leaderboard(folder)
    return {(document.head.task, model.slug): model for document in documents for model in document.models}


def faults(folder: Path) -> list[str]:
    with pytest.raises(DocumentErrors) as refused:
        read_leaderboard(folder)
    assert all(line.startswith(f"{folder}/") for line in refused.value.lines)
    return [line.removeprefix(f"{folder}/") for line in refused.value.lines]


def change(path: Path, **values: Any) -> None:
    """Change fields at the top of a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def change_run(path: Path, place: int, **values: Any) -> None:
    """Change fields of one run in a JSON file."""
    made = json.loads(path.read_text())
    made["configurations"][place] |= values
    path.write_text(json.dumps(made))


CHAT = "tasks/lm-arena-chat.json"
SMALL = "models/org__Small-1B__lm-arena-chat.json"
PAINT = "models/org__Paint-Σ__text-to-image.json"


def test_figures_are_kept_in_full_precision(folder):
    """Nothing is rounded on the way in; what a row lacks is derived without rounding."""
    run = models(folder)["lm-arena-chat", "small-1b"].runs[0]

    assert run.joules_per_output_token == 0.5123456789
    assert run.wh_per_million_output_tokens == 0.5123456789 / 3600 * 1e6
    assert run.avg_running_batch == run.avg_requests_in_flight == 7.9350877
    assert run.gpu_power_watts_total == 0.5123456789 * 390.25
    assert run.avg_output_tokens == 100.5
    assert run.median_itl_ms == 20.123456
    assert run.under_itl_deadline is True
    assert run.row_id == "small-1b/H100/1/8"
    assert run.precision == "BF16"


def test_repeats_are_counted_in_upstream_order(folder):
    """Two runs of one setting are both kept, and told apart."""
    runs = models(folder)["lm-arena-chat", "small-1b"].runs

    assert [(run.max_num_seqs, run.repeat, run.joules_per_output_token) for run in runs] == [
        (8, 1, 0.5123456789),
        (8, 2, 0.55),
        (16, 1, 0.4),
        (32, 1, 0.45),
    ]


def test_image_and_video_runs_have_their_own_units(folder):
    read = models(folder)
    image, video = read["text-to-image", "paint-"].runs[0], read["text-to-video", "film"].runs[0]

    assert (image.joules_per_image, image.images_per_second, image.batch_latency_s) == (600.0, 0.5, 2.0)
    assert (video.joules_per_video, video.num_frames, video.fps, video.video_width) == (60000.0, 81, 15.0, 832)
    assert read["text-to-image", "paint-"].name == "Paint-Σ"
    assert read["text-to-image", "paint-"].architecture is None


def test_output_lengths_and_notes_go_with_the_runs(tmp_path):
    tasks = {"gpqa": [text_row("org/Mix-8B", num_gpus=4, data_parallel=4, tensor_parallel=1, expert_parallel=4)]}
    model = models(write_leaderboard(tmp_path / "data", tasks))["gpqa", "mix-8b"]

    assert model.output_lengths == (OutputLengths((1.0, 50.5, 100.5, 200.0), (1, 5, 4)),)
    assert [run.parallel_notes for run in model.runs] == ["DP for attention, EP for MLP experts"]


def test_a_head_holds_what_the_publisher_says(folder):
    """And nothing that it doesn't: the folder knows no method and no retrieval date."""
    heads = {document.head.task: document.head for document in read_leaderboard(folder)}
    chat = heads["lm-arena-chat"]

    assert str(chat.data_version) == str(chat.compiled) == "2026-02-16"
    assert chat.workload == "The lm-arena-chat task"
    assert (chat.itl_deadline_ms, heads["text-to-image"].itl_deadline_ms) == (500, None)
    assert chat.boundary == "gpu_only"
    assert (chat.method, chat.retrieved, chat.selection, chat.unit) == (None, None, None, None)


def test_a_head_is_of_the_same_source_as_the_publishers_documents(folder):
    """What the folder doesn't say stands in the documents that the publisher's data was made into before."""
    published = json.loads(LLAMA.read_text())
    source, head = published["source"], read_leaderboard(folder)[0].head

    for field in ("name", "publisher", "url", "licence", "cite", "cite_url"):
        assert getattr(head, field) == source[field], field
    assert head.boundary == published["boundary"]
    assert head.licence_evidence[:2] == tuple(source["licence_evidence"][:2])
    assert source["licence_evidence"][2].startswith(f"{head.licence_evidence[2]}; ")
    # There it is the caveat of a pick, here of every run.
    assert published["caveat"].replace(" (the most energy-efficient configuration under a latency limit)", "") == (
        head.caveat
    )


def test_null_is_taken_where_the_publishers_types_allow_it(tmp_path):
    """No cap on sequences, unknown frames and fps: NULL, not zero."""
    tasks = {
        "gpqa": [text_row("org/Small-1B", max_num_seqs=None)],
        "text-to-video": [video_row(num_frames=None, fps=None)],
    }
    read = models(write_leaderboard(tmp_path / "data", tasks))

    assert read["gpqa", "small-1b"].runs[0].max_num_seqs is None
    assert read["gpqa", "small-1b"].runs[0].row_id == "small-1b/H100/1/none"
    assert (read["text-to-video", "film"].runs[0].num_frames, read["text-to-video", "film"].runs[0].fps) == (
        None,
        None,
    )


def test_a_folder_is_told_by_what_lies_in_it(folder, tmp_path):
    (tmp_path / "other").mkdir()

    assert is_leaderboard(folder)
    assert not is_leaderboard(tmp_path / "other")


def test_every_file_with_a_fault_of_form_is_named(folder):
    """Each with its first fault."""
    change_run(folder / CHAT, 1, median_itl_ms="20")
    change(folder / SMALL, total_params_billions=None)
    change(folder / "index.json", last_updated="yesterday")

    assert faults(folder) == [
        'index.json: $.last_updated: expected a date, YYYY-MM-DD, got "yesterday"',
        f'{CHAT}: $.configurations[1].median_itl_ms: expected a number, got "20"',
        f"{SMALL}: $.total_params_billions: expected a number, got null",
    ]


@pytest.mark.parametrize("field", ["is_moe", "max_num_batched_tokens", "timelines"])
def test_an_earlier_schema_is_refused_by_name(folder, field):
    """It measured and named things otherwise."""
    change_run(folder / CHAT, 0, **{field: True})

    assert faults(folder) == [
        f"{CHAT}: $.configurations[0].{field}: expected the leaderboard's schema of 2026, got {field},"
        " of an earlier one, which isn't read"
    ]


def test_missing_and_unlisted_files_are_named(folder):
    """Rows would be lost, or their lengths and notes."""
    (folder / "tasks/gpqa.json").unlink()
    (folder / PAINT).unlink()
    shutil.copy(folder / CHAT, folder / "tasks/extra.json")

    said = faults(folder)

    assert "tasks/gpqa.json: expected as index.json lists it, got none" in said
    assert f"{PAINT}: expected as tasks/text-to-image.json has its runs, got none" in said
    assert 'tasks/extra.json: expected one of the tasks that index.json lists, got "extra"' in said
    assert 'tasks/extra.json: $.task: expected "extra", as the file is named, got "lm-arena-chat"' in said
    assert (
        "models/org__Small-1B__gpqa.json: expected a model and task of a file in tasks/,"
        ' got "org__Small-1B__gpqa.json"' in said
    )


def test_no_index_is_a_fault(folder):
    (folder / "index.json").unlink()

    assert faults(folder) == ["index.json: expected a file, got none"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"median_itl_ms": 20.2},
            "$.configurations[1].median_itl_ms: expected 20.123456 as in tasks/lm-arena-chat.json:"
            " $.configurations[2], got 20.2",
        ),
        (
            {"parallelization": {"tensor_parallel": 2, "data_parallel": 1, "expert_parallel": 1, "notes": ""}},
            "$.configurations[1].parallelization.tensor_parallel: expected 1 as in tasks/lm-arena-chat.json:"
            " $.configurations[2], got 2",
        ),
        (
            {"output_length_distribution": {"bins": [1.0, 50.5, 100.5, 200.0], "counts": [2, 5, 5]}},
            "$.output_length_distribution.counts: expected the sums over the runs, [10, 20, 17], got [10, 20, 16]",
        ),
        (
            {"output_length_distribution": {"bins": [1.0, 50.5, 100.5, 300.0], "counts": [2, 5, 4]}},
            "$.configurations[1].output_length_distribution.bins: expected the same as in"
            " $.output_length_distribution, got [1.0, 50.5, 100.5, 300.0]",
        ),
        (
            {"output_length_distribution": {"bins": [1.0, 50.5, 100.5, 200.0], "counts": [2, 5]}},
            "$.configurations[1].output_length_distribution.counts: expected 3 counts as in"
            " $.output_length_distribution, got 2",
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_task_and_its_model_file_must_hold_the_same(folder, values, said):
    """Two copies of one figure that disagree: neither can be trusted."""
    change_run(folder / SMALL, 1, **values)

    assert faults(folder) == [f"{SMALL}: {said}"]


def test_a_run_that_one_file_lacks_is_named(folder):
    made = json.loads((folder / SMALL).read_text())
    made["configurations"].pop()
    (folder / SMALL).write_text(json.dumps(made))

    assert faults(folder)[0] == f"{SMALL}: $.configurations: expected 4 runs as in {CHAT}, got 3"


def test_what_is_said_of_a_model_must_agree(folder):
    """Index, rows and model file describe one model."""
    change_run(folder / CHAT, 1, nickname="Small 1.5B")
    change(folder / PAINT, activated_params_billions=0.7)

    assert faults(folder) == [
        f'{CHAT}: $.configurations[1].nickname: expected "Small 1B" as in index.json, got "Small 1.5B"',
        f"{PAINT}: $.activated_params_billions: expected 0.6 as in index.json, got 0.7",
    ]


def test_energy_per_request_is_checked(folder):
    """It isn't stored, being J per token times output length: so it must be just that."""
    for path, place in ((CHAT, 1), (SMALL, 0)):
        change_run(folder / path, place, energy_per_request_joules=52.0)

    (fault,) = faults(folder)
    place = f"{CHAT}: $.configurations[1].energy_per_request_joules"
    assert fault.startswith(f"{place}: expected energy_per_token_joules x avg_output_len, 51.4907")


def test_the_same_row_twice_is_refused(tmp_path):
    """A repeat differs in what was measured; a copy would count twice."""
    folder = write_leaderboard(tmp_path / "data", {"text-to-image": [image_row(), image_row()]})

    assert faults(folder) == [
        "tasks/text-to-image.json: $.configurations[1]: expected another run, got $.configurations[0] again"
    ]


def test_an_unknown_precision_is_refused(folder):
    change_run(folder / "tasks/gpqa.json", 0, weight_precision="int3")

    assert (
        'tasks/gpqa.json: $.configurations[0].weight_precision: expected one of bfloat16, fp8, mxfp4, got "int3"'
        in faults(folder)
    )


def test_a_key_that_comes_twice_is_refused(folder):
    text = (folder / CHAT).read_text()
    (folder / CHAT).write_text(text.replace('"median_itl_ms":', '"median_itl_ms": 1, "median_itl_ms":', 1))

    assert faults(folder) == [f"{CHAT}: $.configurations[0].median_itl_ms: expected each key once, got it twice"]


def test_the_kind_of_a_task_must_be_the_indexs(folder):
    index = json.loads((folder / "index.json").read_text())
    index["architectures"] = {"llm": index["tasks"], "diffusion": ["gpqa"]}
    change(folder / "index.json", **index)

    said = faults(folder)
    assert 'index.json: $.architectures: expected each task in one architecture\'s list, got "gpqa"' in said
    kinds = "$.configurations: expected runs of the kind that the index says"
    assert f'tasks/text-to-image.json: {kinds}, got "image"' in said


def test_two_models_of_one_slug_are_refused(tmp_path):
    """Organisations may share a model's name: the slug would count both as one."""
    rows = [text_row("org/Small-1B"), text_row("org/Small-1B") | {"model_id": "other/Small.1B", "max_num_seqs": 9}]
    folder = write_leaderboard(tmp_path / "data", {"gpqa": rows})

    assert faults(folder) == [
        'tasks/gpqa.json: $.configurations[1].model_id: expected another last part than "org/Small-1B",'
        ' got "other/Small.1B"'
    ]


def test_the_order_of_rows_is_the_publishers(tmp_path):
    """Models by slug, runs as they stand in the task's file."""
    tasks = small_tasks()
    tasks["lm-arena-chat"].reverse()
    model = models(write_leaderboard(tmp_path / "data", tasks))["lm-arena-chat", "small-1b"]

    assert [(run.max_num_seqs, run.repeat) for run in model.runs] == [(32, 1), (16, 1), (8, 1), (8, 2)]


def values(run: Any) -> dict[str, Any]:
    """Return every field of a run."""
    return {field: getattr(run, field) for field in run.__struct_fields__}


def test_every_field_of_a_text_run_is_its_own(tmp_path):
    """No two figures are alike here, so that none can stand in for another."""
    row = text_row(
        "org/Mix-8B",
        **{"num_gpus": 6, "tensor_parallel": 2, "data_parallel": 3, "expert_parallel": 5, "max_num_seqs": 48},
        **{"median_itl_ms": 20.125, "p90_itl_ms": 21.25, "p95_itl_ms": 22.375, "p99_itl_ms": 23.5625},
        **{"avg_batch_size": 7.5, "avg_output_len": 100.5, "gpu_model": "B200"},
        **{"energy_per_token_joules": 0.75, "output_throughput_tokens_per_sec": 390.25},
    )
    (run,) = models(write_leaderboard(tmp_path / "data", {"gpqa": [row]}))["gpqa", "mix-8b"].runs

    assert values(run) == {
        "gpu": "B200",
        "num_gpus": 6,
        "tensor_parallel": 2,
        "data_parallel": 3,
        "expert_parallel": 5,
        "precision": "FP8",
        "max_num_seqs": 48,
        "avg_requests_in_flight": 7.5,
        "wh_per_million_output_tokens": 0.75 / 3600 * 1e6,
        "joules_per_output_token": 0.75,
        "median_itl_ms": 20.125,
        "p90_itl_ms": 21.25,
        "p95_itl_ms": 22.375,
        "p99_itl_ms": 23.5625,
        "tokens_per_second": 390.25,
        "gpu_power_watts_total": 0.75 * 390.25,
        "avg_output_tokens": 100.5,
        "under_itl_deadline": True,
        "avg_running_batch": 7.5,
        "row_id": "mix-8b/B200/6/48",
        "repeat": 1,
        "pipeline_parallel": 1,
        "energy_per_request_joules": 0.75 * 100.5,
        "parallel_notes": "DP for attention, EP for MLP experts",
        "other_parallel": None,
        "gpu_as_published": None,
        "precision_as_published": None,
    }


OF_A_BATCH = {
    **{"num_gpus": 6, "ulysses_degree": 3, "ring_degree": 2, "batch_size": 4, "inference_steps": 28},
    **{"batch_latency_s": 8.5, "gpu_power_watts_total": 1234.5, "gpu": "B200", "precision": "BF16", "repeat": 1},
    **{"other_parallel": None, "gpu_as_published": None, "precision_as_published": None},
}
PUBLISHED = {name: OF_A_BATCH[name] for name in ("num_gpus", "ulysses_degree", "ring_degree", "batch_size")} | {
    **{"inference_steps": 28, "batch_latency_s": 8.5, "avg_power_watts": 1234.5, "gpu_model": "B200"}
}


def test_every_field_of_an_image_run_is_its_own(tmp_path):
    """An image needn't be square."""
    own = {"image_height": 768, "image_width": 1360}
    row = image_row(**PUBLISHED, **own, energy_per_image_joules=600.5, throughput_images_per_sec=0.47)
    (run,) = models(write_leaderboard(tmp_path / "data", {"text-to-image": [row]}))["text-to-image", "paint-"].runs

    assert values(run) == OF_A_BATCH | own | {"joules_per_image": 600.5, "images_per_second": 0.47}


def test_every_field_of_a_video_run_is_its_own(tmp_path):
    """Frames, frames per second, height and width are four numbers."""
    own = {"video_height": 480, "video_width": 832, "num_frames": 81, "fps": 15.5}
    row = video_row(**PUBLISHED, **own, energy_per_video_joules=60000.5, throughput_videos_per_sec=0.46)
    (run,) = models(write_leaderboard(tmp_path / "data", {"text-to-video": [row]}))["text-to-video", "film"].runs

    assert values(run) == OF_A_BATCH | own | {"joules_per_video": 60000.5, "videos_per_second": 0.46}


@pytest.mark.parametrize(
    ("other", "repeats"),
    [
        ({"energy_per_token_joules": 0.6}, [1, 2, 3]),
        ({"tensor_parallel": 2}, [1, 2, 3]),
        ({"num_gpus": 2}, [1, 1, 2]),
        ({"max_num_seqs": 16}, [1, 1, 2]),
        ({"gpu_model": "B200"}, [1, 1, 2]),
    ],
    ids=str,
)
def test_a_repeat_has_the_same_gpu_num_gpus_and_max_num_seqs(tmp_path, other, repeats):
    """The second and the third are alike but for their energy; the first may be of another setting."""
    rows = [
        text_row("org/Small-1B"),
        text_row("org/Small-1B", **{"energy_per_token_joules": 0.55, **other}),
        text_row("org/Small-1B", **other | {"energy_per_token_joules": 0.7}),
    ]
    runs = models(write_leaderboard(tmp_path / "data", {"gpqa": rows}))["gpqa", "small-1b"].runs

    assert [run.repeat for run in runs] == repeats


BATCH_SETTINGS = [
    ("image", name, value)
    for name, value in {
        **{"gpu_model": "B200", "num_gpus": 2, "ulysses_degree": 2, "ring_degree": 2, "batch_size": 2},
        **{"inference_steps": 21, "image_height": 512, "image_width": 512},
    }.items()
] + [
    ("video", name, value)
    for name, value in {"num_frames": 80, "fps": 14, "video_height": 1, "video_width": 2}.items()
]


@pytest.mark.parametrize(("kind", "name", "value"), BATCH_SETTINGS)
def test_a_batch_of_another_setting_is_no_repeat(tmp_path, kind, name, value):
    """Whatever isn't measured sets it apart; what is measured doesn't."""
    make, slug = {"image": (image_row, "paint-"), "video": (video_row, "film")}[kind]
    more = {f"energy_per_{kind}_joules": 700.0, "batch_latency_s": 2.5}
    rows = [make(), make(**{name: value}), make(**more), make(**{name: value}, **more)]
    runs = models(write_leaderboard(tmp_path / "data", {f"text-to-{kind}": rows}))[f"text-to-{kind}", slug].runs

    assert [run.repeat for run in runs] == [1, 1, 2, 2]


@pytest.mark.parametrize(("median", "within"), [(499.99, True), (500.0, True), (500.01, False)])
def test_the_publishers_deadline_is_500_ms(tmp_path, median, within):
    """Of the unrounded median; the deadline itself is in time."""
    row = text_row("org/Small-1B", median_itl_ms=median)
    (run,) = models(write_leaderboard(tmp_path / "data", {"gpqa": [row]}))["gpqa", "small-1b"].runs

    assert run.under_itl_deadline is within


@pytest.mark.parametrize(
    ("given", "read"), [("bfloat16", "BF16"), ("fp8", "FP8"), ("mxfp4", "MXFP4")], ids=["BF16", "FP8", "MXFP4"]
)
def test_each_precision_has_its_name(tmp_path, given, read):
    """As documents write them."""
    row = text_row("org/Small-1B") | {"weight_precision": given}
    (run,) = models(write_leaderboard(tmp_path / "data", {"gpqa": [row]}))["gpqa", "small-1b"].runs

    assert run.precision == read


@pytest.mark.parametrize(("off", "is_taken"), [(1e-10, True), (1e-8, False), (-1e-8, False)])
def test_energy_per_request_is_exact_but_for_its_last_digits(tmp_path, off, is_taken):
    """Multiplied in another order it differs in the sixteenth."""
    row = text_row("org/Small-1B", energy_per_request_joules=0.5123456789 * 100.5 * (1 + off))
    folder = write_leaderboard(tmp_path / "data", {"gpqa": [row]})

    if is_taken:
        assert models(folder)["gpqa", "small-1b"].runs[0].avg_output_tokens == 100.5
    else:
        assert len(faults(folder)) == 1


def test_a_model_is_described_by_its_rows(folder):
    """Total and active parameters are two numbers."""
    mix = models(folder)["lm-arena-chat", "mix-8b"]

    assert (mix.name, mix.model_id, mix.architecture) == ("Mix 8B", "org/Mix-8B", "MoE")
    assert (mix.params_b, mix.active_params_b) == (8.0, 2.0)


def test_a_document_names_its_files_with_their_hashes(folder):
    """The task's, the index, and those of the models, by name."""
    (chat,) = [document for document in read_leaderboard(folder) if document.head.task == "lm-arena-chat"]
    places = [CHAT, "index.json", "models/org__Mix-8B__lm-arena-chat.json", SMALL]

    assert [(file.name, file.sha256) for file in chat.files] == [
        (Path(place).name, hashlib.sha256((folder / place).read_bytes()).hexdigest()) for place in places
    ]
    assert chat.path == str(folder / CHAT)


@pytest.mark.parametrize(
    ("there", "is_one"),
    [
        (["tasks/", "index.json"], True),
        (["tasks/", "models/"], True),
        (["tasks/"], False),
        (["models/", "index.json"], False),
        (["tasks", "index.json"], False),
    ],
    ids=str,
)
def test_a_folder_without_its_index_is_still_told(tmp_path, there, is_one):
    """Half a folder is a fault to be named, and no folder of documents."""
    for name in there:
        (tmp_path / name).mkdir() if name.endswith("/") else (tmp_path / name).touch()

    assert is_leaderboard(tmp_path) is is_one


@pytest.mark.parametrize("bins", [[1.0, 50.5, 50.5, 200.0], [1.0, 100.5, 50.5, 200.0], [1.0, 50.5, 100.5]], ids=str)
def test_output_lengths_need_ascending_edges(tmp_path, bins):
    """One more than counts: else a bin has no width, or no end."""
    folder = write_leaderboard(tmp_path / "data", {"gpqa": [text_row("org/Small-1B")]})
    (path,) = (folder / "models").iterdir()
    made = json.loads(path.read_text())
    for holder in (made, *made["configurations"]):
        holder["output_length_distribution"]["bins"] = bins
    path.write_text(json.dumps(made))

    assert [fault.partition(": ")[2] for fault in faults(folder)] == [
        f"$.output_length_distribution.bins: expected 4 ascending edges, got {len(bins)}"
    ]


@pytest.mark.parametrize(
    ("path", "architecture", "said"),
    [
        (CHAT, "llm", 'expected no such field in a text task, got "llm"'),
        ("tasks/text-to-image.json", "llm", 'expected "diffusion", got "llm"'),
        ("tasks/text-to-video.json", None, 'expected "diffusion", got null'),
    ],
)
def test_a_task_says_its_architecture_where_it_is_diffusion(folder, path, architecture, said):
    """And nowhere else: so the publisher writes it."""
    made = json.loads((folder / path).read_text())
    made.pop("architecture", None)
    (folder / path).write_text(json.dumps(made | ({"architecture": architecture} if architecture else {})))

    assert faults(folder) == [f"{path}: $.architecture: {said}"]


def test_a_nickname_in_a_models_file_must_agree(folder):
    """Files of image models carry one; those of text models needn't."""
    change(folder / SMALL, nickname="Small 2B")
    paint = json.loads((folder / PAINT).read_text())
    del paint["nickname"]
    (folder / PAINT).write_text(json.dumps(paint))

    assert faults(folder) == [
        f'{SMALL}: $.nickname: expected "Small 1B" as in index.json, got "Small 2B"',
        f'{PAINT}: $.nickname: expected "Paint-\\u03a3" as in index.json, got null',
    ]
    change(folder / SMALL, nickname="Small 1B")
    (folder / PAINT).write_text(json.dumps(paint | {"nickname": "Paint-Σ"}))
    assert models(folder)["lm-arena-chat", "small-1b"].name == "Small 1B"


def test_a_models_file_without_output_lengths_is_a_fault(folder):
    """Of a text model: nothing is held against the runs' own then."""
    made = json.loads((folder / SMALL).read_text())
    del made["output_length_distribution"]
    (folder / SMALL).write_text(json.dumps(made))

    assert faults(folder) == [f"{SMALL}: $.output_length_distribution: expected a value, got no such field"]


def test_a_model_that_the_index_lacks_is_a_fault(folder):
    """One a task, however many runs it has."""
    index = json.loads((folder / "index.json").read_text())
    del index["models"]["org/Mix-8B"]
    (folder / "index.json").write_text(json.dumps(index))

    assert faults(folder) == [
        'index.json: $.models: expected the models of tasks/lm-arena-chat.json, got "org/Mix-8B"'
    ]
