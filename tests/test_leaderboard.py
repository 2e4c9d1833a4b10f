"""The reader of the leaderboard's public data: what it takes, what it derives, and what it passes over."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from energydb.errors import DocumentErrors
from energydb.sources.leaderboard import is_leaderboard, read_leaderboard
from energydb.sources.records import OutputLengths
from tests.documents import LLAMA
from tests.leaderboards import change, change_run, image_row, small_tasks, text_row, video_row, write_leaderboard


@pytest.fixture
def folder(tmp_path):
    return write_leaderboard(tmp_path / "data")


def models(folder: Path) -> dict[tuple[str, str], Any]:
    reading = read_leaderboard(folder)
    assert [fault for document in reading.documents for fault in document.faults] == list(reading.faults) == []
    return {(document.head.task, model.slug): model for document in reading.documents for model in document.models}


CHAT = "tasks/lm-arena-chat.json"
SMALL = "models/org__Small-1B__lm-arena-chat.json"


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
        (32, 1, 0.41),
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
    heads = {document.head.task: document.head for document in read_leaderboard(folder).documents}
    chat = heads["lm-arena-chat"]

    assert str(chat.data_version) == str(chat.compiled) == "2026-02-16"
    assert chat.workload == "The lm-arena-chat task"
    assert (chat.itl_deadline_ms, heads["text-to-image"].itl_deadline_ms) == (500, None)
    assert chat.boundary == "gpu_only"
    assert (chat.method, chat.retrieved, chat.selection, chat.unit) == (None, None, None, None)


def test_a_head_is_of_the_same_source_as_the_publishers_documents(folder):
    """What the folder doesn't say stands in the documents that the publisher's data was made into before."""
    published = json.loads(LLAMA.read_text())
    source, head = published["source"], read_leaderboard(folder).documents[0].head

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


def test_percentiles_may_be_null(tmp_path):
    """All but the median."""
    nulls = {f"p{percent}_itl_ms": None for percent in (90, 95, 99)}
    folder = write_leaderboard(tmp_path / "data", {"gpqa": [text_row("org/Small-1B", **nulls)]})
    (run,) = models(folder)["gpqa", "small-1b"].runs

    assert (run.median_itl_ms, run.p90_itl_ms, run.p95_itl_ms, run.p99_itl_ms) == (20.123456, None, None, None)


def test_a_whole_number_may_be_written_with_a_point(tmp_path):
    """As a spreadsheet does; what is stored is the whole number."""
    whole = {"num_gpus": 2.0, "max_num_seqs": 16.0, "tensor_parallel": 2.0, "data_parallel": 1.0}
    folder = write_leaderboard(tmp_path / "data", {"gpqa": [text_row("org/Small-1B", **whole)]})
    (run,) = models(folder)["gpqa", "small-1b"].runs

    assert {name: (type(getattr(run, name)), getattr(run, name)) for name in whole} == {
        name: (int, int(value)) for name, value in whole.items()
    }


@pytest.mark.parametrize(
    ("degrees", "pipeline", "other"),
    [
        ({"pipeline_parallel": 2}, 2, None),
        ({"pipeline_parallel": 1}, 1, None),
        ({"context_parallel": 4}, 1, "context_parallel 4"),
        (
            {"sequence_parallel": 2.0, "context_parallel": 4, "pipeline_parallel": 3},
            3,
            "context_parallel 4, sequence_parallel 2",
        ),
    ],
    ids=str,
)
def test_every_way_to_split_a_model_is_kept(tmp_path, degrees, pipeline, other):
    """Pipelines by their degree; others, where they are split at all, as text in the order of their names."""
    folder = write_leaderboard(tmp_path / "data", {"gpqa": [text_row("org/Small-1B", **degrees)]})
    (run,) = models(folder)["gpqa", "small-1b"].runs

    assert (run.pipeline_parallel, run.other_parallel) == (pipeline, other)
    assert read_leaderboard(folder).documents[0].unknown == ()


def test_so_it_is_of_images_and_videos(tmp_path):
    tasks = {"text-to-image": [image_row(tile_degree=2)], "text-to-video": [video_row(cfg_parallel=2)]}
    read = models(write_leaderboard(tmp_path / "data", tasks))

    assert read["text-to-image", "paint-"].runs[0].other_parallel == "tile_degree 2"
    assert read["text-to-video", "film"].runs[0].other_parallel == "cfg_parallel 2"


@pytest.mark.parametrize(
    ("gpu", "precision", "kept"),
    [
        ("H100", "bfloat16", ("H100", None, "BF16", None)),
        ("NVIDIA H100 80GB HBM3", "fp8", ("H100", "NVIDIA H100 80GB HBM3", "FP8", None)),
        ("X9000", "nvfp4", ("X9000", None, "NVFP4", "nvfp4")),
        (" b200 ", "torch.bfloat16", ("B200", " b200 ", "BF16", "torch.bfloat16")),
    ],
)
def test_gpus_and_precisions_have_one_name(tmp_path, gpu, precision, kept):
    """What was published is kept beside, where it says more than the name; one that isn't known stays."""
    row = text_row("org/Small-1B", gpu_model=gpu) | {"weight_precision": precision}
    (run,) = models(write_leaderboard(tmp_path / "data", {"gpqa": [row]}))["gpqa", "small-1b"].runs

    assert (run.gpu, run.gpu_as_published, run.precision, run.precision_as_published) == kept


def test_fields_that_are_not_known_are_told_once_and_not_kept(folder):
    """What a run has in both of its files by the task's; with its type, in how many, and the first value."""
    before = read_leaderboard(folder)
    for path, places in ((CHAT, range(1, 5)), (SMALL, range(4))):
        for place in places:
            change_run(folder / path, place, warmup_s=place * 1.5, host=f"n{place}")
    change_run(folder / CHAT, 4, host=None)
    change_run(folder / SMALL, 2, trace=[1])
    change(folder / SMALL, license="mit")
    change(folder / "index.json", schema_version={"major": 2})
    index = json.loads((folder / "index.json").read_text())
    for model in index["models"].values():
        model["release_date"] = "2026-01-01"
    change(folder / "index.json", **index)
    reading = read_leaderboard(folder)
    told = {
        document.head.task: [(one.place, one.type, one.objects, one.example) for one in document.unknown]
        for document in reading.documents
    }

    of_index = [
        ("index.json: $.models.*.release_date", "text", 4, '"2026-01-01"'),
        ("index.json: $.schema_version", "an object", 1, '{"major": 2}'),
    ]
    assert {task: sorted(fields) for task, fields in told.items()} == {
        "lm-arena-chat": [
            *of_index,
            ("models/*.json: $.configurations[*].trace", "a list", 1, "[1]"),
            ("models/*.json: $.license", "text", 1, '"mit"'),
            ("tasks/*.json: $.configurations[*].host", "text, null", 4, '"n1"'),
            ("tasks/*.json: $.configurations[*].warmup_s", "a number", 4, "1.5"),
        ],
        **dict.fromkeys(("gpqa", "text-to-image", "text-to-video"), of_index),
    }
    assert [document.models for document in reading.documents] == [document.models for document in before.documents]
    assert [document.faults for document in reading.documents] == [()] * 4
    assert {document.head.is_complete for document in reading.documents} == {True}


STRAYS = [
    ".DS_Store",
    "tasks/._gpqa.json",
    "tasks/gpqa.json~",
    "models/.x.json.swp",
    "tasks/old.json",
    "models/a__b.json",
]


@pytest.mark.parametrize("stray", STRAYS)
def test_what_the_index_does_not_name_is_passed_over(folder, stray):
    """Whatever is in it; with a word."""
    before = read_leaderboard(folder)
    (folder / stray).write_bytes(b"\x00\x05\x16\x07")
    reading = read_leaderboard(folder)

    assert reading.documents == before.documents
    assert reading.faults == before.notes == ()
    assert reading.notes == (f"{folder}: passed over, as index.json names no such files: {stray}",)


def test_of_many_strays_the_first_are_named(folder):
    """In one line, empty folders too."""
    for stray in STRAYS:
        (folder / stray).write_text("")
    (folder / "models" / "empty").mkdir()

    named = ".DS_Store, models/.x.json.swp, models/a__b.json, models/empty/, tasks/._gpqa.json and 2 more"
    assert read_leaderboard(folder).notes == (f"{folder}: passed over, as index.json names no such files: {named}",)


def test_a_folder_is_told_by_what_lies_in_it(folder, tmp_path):
    (tmp_path / "other").mkdir()

    assert is_leaderboard(folder)
    assert not is_leaderboard(tmp_path / "other")


def test_no_index_is_a_fault(folder):
    (folder / "index.json").unlink()

    with pytest.raises(DocumentErrors) as refused:
        read_leaderboard(folder)
    assert refused.value.lines == (f"{folder}/index.json: expected a file, got none",)


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


def test_a_model_is_described_by_its_rows(folder):
    """Total and active parameters are two numbers."""
    mix = models(folder)["lm-arena-chat", "mix-8b"]

    assert (mix.name, mix.model_id, mix.architecture) == ("Mix 8B", "org/Mix-8B", "MoE")
    assert (mix.params_b, mix.active_params_b) == (8.0, 2.0)


def test_a_document_names_its_files_with_their_hashes(folder):
    """The task's, the index, and those of the models, by name."""
    (chat,) = [document for document in read_leaderboard(folder).documents if document.head.task == "lm-arena-chat"]
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
