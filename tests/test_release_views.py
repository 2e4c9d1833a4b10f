"""Views over releases, repeats, images, videos and output lengths, on hand-made rows."""

import copy

import duckdb
import pytest

from energydb.load import load
from tests.conftest import add_image_run, add_model, add_release, add_run, add_video_run, answer, insert
from tests.leaderboards import small_tasks, text_row, write_leaderboard

# --- release_change ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_column_that_is_added_is_compared_too(later, tmp_path):
    """Whatever columns the tables have: here one more, whose value changed between two releases in one run."""
    rows = [text_row("org/Small-1B", max_num_seqs=size, time_to_first_token_ms=40.5) for size in (8, 16)]
    write_leaderboard(tmp_path / "older", {"gpqa": rows}, last_updated="2025-12-01")
    rows[1]["time_to_first_token_ms"] = 44.25
    write_leaderboard(tmp_path / "newer", {"gpqa": rows}, last_updated="2026-02-16")
    loaded = later("load", "older", "newer")
    assert loaded.returncode == 0, loaded.stderr

    changed = later("query", "select run, field, old_value, new_value from release_change", "--format", "csv")
    shown = later(
        "query",
        "select max_num_seqs, time_to_first_token_ms from configuration_detail where is_current order by all",
        "--format",
        "csv",
    )

    assert changed.stdout.splitlines() == [
        "run,field,old_value,new_value",
        '"1 GPUs, max_num_seqs 16, repeat 1",time_to_first_token_ms,40.5,44.25',
    ]
    assert shown.stdout.splitlines() == ["max_num_seqs,time_to_first_token_ms", "8,40.5", "16,44.25"]


@pytest.fixture
def two_releases(tmp_path):
    """A second release with one changed figure, a new and a missing run, and a corrected parameter count."""
    newer = copy.deepcopy(small_tasks())
    chat = newer["lm-arena-chat"]
    chat[1]["p99_itl_ms"] = 25.0  # changed: 23.5 before
    del chat[4]  # missing: max_num_seqs 32
    chat.append(dict(chat[3], max_num_seqs=64, avg_batch_size=60.0, output_throughput_tokens_per_sec=1500.0))
    chat[-1] |= {"energy_per_token_joules": 0.13, "energy_per_request_joules": 0.13 * chat[-1]["avg_output_len"]}
    chat[-1]["avg_power_watts"] = chat[-1]["energy_per_token_joules"] * 1500.0
    for row in newer["text-to-video"]:
        row["total_params_billions"] = 1.4  # corrected: 1.3 before
    folders = [
        write_leaderboard(tmp_path / "older", last_updated="2025-12-01"),
        write_leaderboard(tmp_path / "newer", newer, last_updated="2026-02-16"),
    ]
    load(folders, tmp_path / "energy.duckdb", strict=True)
    with duckdb.connect(str(tmp_path / "energy.duckdb"), read_only=True) as connection:
        yield connection


def changes(database):
    names = ("task", "model", "gpu", "run", "change", "field", "old_value", "new_value")
    return [tuple(row[name] for name in names) for row in answer(database, "from release_change")]


def test_a_second_release_shows_exactly_what_changed(two_releases):
    """Each difference once, and nothing that stayed."""
    run = "1 GPUs, max_num_seqs {}, repeat 1"

    assert changes(two_releases) == [
        ("lm-arena-chat", "small-1b", "H100", run.format(32), "went", None, None, None),
        ("lm-arena-chat", "small-1b", "H100", run.format(64), "appeared", None, None, None),
        ("lm-arena-chat", "small-1b", "H100", run.format(8), "changed", "p99_itl_ms", "23.5", "25.0"),
        ("text-to-video", "film", None, None, "changed", "params_b", "1.3", "1.4"),
    ]


def test_a_redescribed_model_keeps_both_descriptions(two_releases):
    """The older count stays with its release; the newer is current."""
    rows = answer(two_releases, "select params_b, is_current from model_detail where model = 'film' order by 1")

    assert [tuple(row.values()) for row in rows] == [(1.3, False), (1.4, True)]


def test_two_releases_count_nothing_twice(two_releases):
    """Current rows are those of the newer release alone."""
    assert answer(two_releases, "select count(*) as n from concurrency_curve")[0]["n"] == 6
    assert answer(two_releases, "select count(*) as n from best_video_pick")[0]["n"] == 2
    assert answer(two_releases, "select count(*) as n from measured_run")[0]["n"] == 24


def test_a_model_that_appears_or_goes_is_one_row(database):
    """Its runs aren't listed again."""
    add_run(database, model_key=add_model(database, 1, release_key=add_release(database, 1), slug="went"))
    newer = add_release(database, 2, data_version="2026-02-01")
    add_run(database, model_key=add_model(database, 2, release_key=newer, slug="came"))

    assert changes(database) == [
        ("chat", "came", None, None, "appeared", None, None, None),
        ("chat", "went", None, None, "went", None, None, None),
    ]


def test_releases_follow_within_source_task_and_format(database):
    """A leaderboard's release isn't the previous one of a document's; the first has no previous at all."""
    for key, values in enumerate(
        [{}, {"task": "code"}, {"format": "leaderboard"}, {"data_version": "2026-03-01"}], start=1
    ):
        model_key = add_model(database, key, release_key=add_release(database, key, **values))
        add_run(database, model_key=model_key, joules_per_output_token=float(key), tokens_per_second=400.0)

    rows = answer(database, "from release_change")

    assert {(row["release_key"], str(row["previous_data_version"])) for row in rows} == {(4, "2026-01-01")}
    assert [(row["field"], row["old_value"], row["new_value"]) for row in rows] == [
        ("gpu_power_watts_total", "400.0", "1600.0"),
        ("joules_per_output_token", "1.0", "4.0"),
        ("wh_per_million_output_tokens", "277.78", "1111.11"),
    ]


def test_a_release_at_the_wall_follows_none_of_the_gpus(database):
    """Another boundary is another measurement: it is told, and its figures aren't a change of the first one's."""
    for key, (date, boundary, joules) in enumerate(
        [("2026-01-01", "gpu_only", 1.0), ("2026-02-01", "wall", 2.0), ("2026-03-01", "gpu_only", 1.0)], start=1
    ):
        release = add_release(database, key, data_version=date, boundary=boundary)
        add_run(database, model_key=add_model(database, key, release_key=release), joules_per_output_token=joules)

    boundary = ("chat", None, None, None, "changed", "boundary")
    assert changes(database) == [(*boundary, "gpu_only", "wall"), (*boundary, "wall", "gpu_only")]


def test_two_boundaries_of_one_day_are_no_change(database):
    """A source that publishes both at once, again and again, changes nothing."""
    for key, (date, boundary) in enumerate(
        [(date, boundary) for date in ("2026-01-01", "2026-02-01") for boundary in ("gpu_only", "wall")], start=1
    ):
        add_release(database, key, data_version=date, boundary=boundary)

    assert changes(database) == []


def test_what_a_release_says_of_itself_is_compared(database):
    """Method, selection, deadline and caveat, and whatever else; but not its dates, nor how much of it was loaded."""
    add_release(database, 1, method="By the meter.", itl_deadline_ms=500, retrieved="2026-01-02")
    said = {"method": "By the socket.", "itl_deadline_ms": 100, "selection": "All.", "retrieved": "2026-02-02"}
    add_release(database, 2, data_version="2026-02-01", compiled="2026-02-01", is_complete=True, **said)

    assert changes(database) == [
        ("chat", None, None, None, "changed", "itl_deadline_ms", "500", "100"),
        ("chat", None, None, None, "changed", "method", "By the meter.", "By the socket."),
        ("chat", None, None, None, "changed", "selection", None, "All."),
    ]


def test_unknown_fields_appear_and_go(database):
    """What energydb doesn't know of a release is still told of when it changes."""
    for key, fields in ((1, ("stays", "goes")), (2, ("stays", "comes"))):
        add_release(database, key, data_version=f"2026-0{key}-01")
        for field in fields:
            place = f"$.configurations[*].{field}"
            what = {"field": field, "type": "a number", "objects": 1, "example": str(key)}
            insert(database, "unknown_field", release_key=key, place=place, **what)

    assert changes(database) == [
        ("chat", None, None, None, "appeared", "$.configurations[*].comes", None, "2"),
        ("chat", None, None, None, "went", "$.configurations[*].goes", "1", None),
    ]


def test_a_field_that_no_run_has_any_more_is_one_row(database):
    """Not a row a run; a run that alone lacks a value is a change of that run."""
    for key, p95, p99 in ((1, 22.0, 23.0), (2, None, None)):
        add_model(database, key, release_key=add_release(database, key, data_version=f"2026-0{key}-01"))
        add_run(database, model_key=key, max_num_seqs=8, p95_itl_ms=p95, p99_itl_ms=p99)
        add_run(database, model_key=key, max_num_seqs=16, p95_itl_ms=p95)

    assert changes(database) == [
        ("chat", None, None, None, "went", "p95_itl_ms", None, None),
        ("chat", "small", "H100", "1 GPUs, max_num_seqs 8, repeat 1", "changed", "p99_itl_ms", "23.0", None),
    ]


def test_repeats_are_paired_by_equal_values_first(database):
    """Of three runs of a setting the first went and the last changed: what stayed isn't told."""
    for key, runs in ((1, (1.0, 2.0, 3.0)), (2, (2.0, 4.0))):
        add_model(database, key, release_key=add_release(database, key, data_version=f"2026-0{key}-01"))
        for repeat, joules in enumerate(runs, 1):
            add_run(
                database,
                model_key=key,
                repeat=repeat,
                joules_per_output_token=joules,
                tokens_per_second=400.0,
                wh_per_million_output_tokens=1.0,
                gpu_power_watts_total=1.0,
                energy_per_request_joules=1.0,
            )

    run = "1 GPUs, max_num_seqs 8, repeat {}"
    assert changes(database) == [
        ("chat", "small", "H100", run.format(2), "changed", "joules_per_output_token", "1.0", "4.0"),
        ("chat", "small", "H100", run.format(3), "went", None, None, None),
    ]


def test_a_model_is_the_same_however_its_id_is_spelt(database):
    """Its id and slug changed in case: it neither went nor appeared, and its identity is no field."""
    add_run(database, model_key=add_model(database, 1, model_id="org/Small", slug="small"))
    add_release(database, 2, data_version="2026-02-01")
    add_run(database, model_key=add_model(database, 2, release_key=2, model_id="Org/small", slug="Small"))

    assert changes(database) == [
        ("chat", "Small", None, None, "changed", "model_id", "org/Small", "Org/small"),
        ("chat", "Small", None, None, "changed", "slug", "small", "Small"),
    ]


def test_values_that_come_or_go_are_changes(database):
    """NULL is a value: a percentile that wasn't published before."""
    add_run(database, p95_itl_ms=None)
    newer = add_release(database, 2, data_version="2026-02-01")
    add_run(database, model_key=add_model(database, 2, release_key=newer))

    assert changes(database) == [
        ("chat", "small", "H100", "1 GPUs, max_num_seqs 8, repeat 1", "changed", "p95_itl_ms", None, "22.0")
    ]


def test_image_runs_are_told_by_their_whole_setting(database):
    """Two that differ in steps alone are two runs."""
    for key, joules in ((1, 600.0), (2, 500.0)):
        release = add_release(
            database, key, task="text-to-image", kind="image", data_version=f"2026-0{key}-01", itl_deadline_ms=None
        )
        add_model(database, key, release_key=release)
        add_image_run(database, model_key=key, inference_steps=20)
        add_image_run(database, model_key=key, inference_steps=28, joules_per_image=joules)

    assert [row[3:] for row in changes(database)] == [
        (
            "1 GPUs, ulysses_degree 1, ring_degree 1, BF16, batch_size 1, 1024 x 1024, 28 steps, repeat 1",
            "changed",
            "joules_per_image",
            "600.0",
            "500.0",
        )
    ]


# --- model_history -------------------------------------------------------------------------------------


def test_history_goes_from_release_to_release(database):
    """0.5 J, then 0.4 J: a ratio of 0.8; a run over the deadline is no best."""
    add_run(database, joules_per_output_token=0.5)
    newer = add_release(database, 2, data_version="2026-02-01")
    add_model(database, 2, release_key=newer, params_b=9.0)
    add_run(database, model_key=2, joules_per_output_token=0.4)
    add_run(database, model_key=2, joules_per_output_token=0.1, max_num_seqs=16, median_itl_ms=501.0)

    rows = answer(database, "from model_history")

    assert [(row["params_b"], row["runs"], row["energy_ratio_to_previous"]) for row in rows] == [
        (8.0, 1, None),
        (9.0, 2, 0.8),
    ]


def test_runs_move_where_they_leave_the_range_of_repeats(database):
    """Repeats 20 % apart allow 20 %, where there are none 10 % are; another setting isn't compared."""
    before = {8: (1.0, 1.2), 16: (1.0,), 32: (1.0,), 64: (1.0,)}
    after = {8: (1.4, 1.5), 16: (1.09,), 32: (0.5,), 128: (9.0,)}
    for key, settings in ((1, before), (2, after)):
        add_model(database, key, release_key=add_release(database, key, data_version=f"2026-0{key}-01"))
        for size, runs in settings.items():
            for repeat, joules in enumerate(runs, 1):
                add_run(database, model_key=key, max_num_seqs=size, repeat=repeat, joules_per_output_token=joules)

    older, newer = answer(database, "from model_history")

    assert (older["runs_moved"], older["largest_move"]) == (None, None)
    # 1.4 is 17 % above 1.2, 1.5 is 25 %; 1.09 is within 10 %; 0.5 is half.
    assert (newer["runs_moved"], newer["largest_move"]) == (2, 0.5)


def test_images_move_too(database):
    """Whatever a run makes: here an image at a tenth of the energy, in other formats nothing to hold it against."""
    for key, joules, form in ((1, 600.0, "leaderboard"), (2, 60.0, "leaderboard"), (3, 6.0, "model_document")):
        release = {"task": "text-to-image", "kind": "image", "format": form, "itl_deadline_ms": None}
        add_model(database, key, release_key=add_release(database, key, data_version=f"2026-0{key}-01", **release))
        add_image_run(database, model_key=key, joules_per_image=joules)

    rows = answer(database, "from model_history order by model_key")

    assert [(row["runs_moved"], row["largest_move"]) for row in rows] == [(None, None), (1, 0.1), (None, None)]


# --- withdrawn_run -------------------------------------------------------------------------------------


def add_complete(database, key, date, **values):
    """Add a model to a complete release of a date."""
    dates = {"data_version": date, "compiled": date}
    return add_model(database, key, release_key=add_release(database, key, is_complete=True, **dates, **values))


def withdrawn(database):
    return [
        (row["model_key"], row["setting"].rpartition(", ")[2], row["gpu"], str(row["outdated_by_data_version"]))
        for row in answer(database, "from withdrawn_run order by run_key")
    ]


def test_a_run_is_withdrawn_where_the_newest_complete_release_lacks_its_setting(database):
    """Or its GPU; that a repeat is missing says nothing."""
    add_complete(database, 1, "2026-01-01")
    add_complete(database, 2, "2026-02-01")
    for repeat in (1, 2):
        add_run(database, model_key=1, repeat=repeat)
    add_run(database, model_key=1, max_num_seqs=16)
    add_run(database, model_key=1, gpu="B200")
    add_run(database, model_key=1, max_num_seqs=32)
    add_run(database, model_key=2)
    add_run(database, model_key=2, max_num_seqs=16, tensor_parallel=2)
    add_run(database, model_key=2, max_num_seqs=32, other_parallel="context_parallel 2")

    assert withdrawn(database) == [
        (1, "max_num_seqs 16", "H100", "2026-02-01"),
        (1, "max_num_seqs 8", "B200", "2026-02-01"),
        (1, "max_num_seqs 32", "H100", "2026-02-01"),
    ]


def test_a_task_is_withdrawn_where_a_newer_publication_of_all_tasks_lacks_it(database):
    """Only then: not by one of some tasks, of another source or boundary, or dated ahead."""
    add_run(database, model_key=add_complete(database, 1, "2026-01-01", task="code"))
    add_complete(database, 2, "2026-02-01")
    insert(database, "source", source_key=2, name="Other", publisher="Other", url="https://other.example/")
    for key, values in enumerate(({"source_key": 2}, {"boundary": "wall"}), 3):
        add_complete(database, key, "2026-02-01", has_all_tasks=True, **values)
    add_complete(database, 5, "2027-12-03", has_all_tasks=True)

    assert withdrawn(database) == []
    add_complete(database, 6, "2026-03-01", has_all_tasks=True)
    assert withdrawn(database) == [(1, "max_num_seqs 8", "H100", "2026-03-01")]
    assert answer(database, "from configuration_detail where is_current") == []


# --- repeat_spread -------------------------------------------------------------------------------------


def test_spread_of_runs_that_share_every_setting(database):
    """1.0 and 1.2 J are 20 % apart; a setting that was run once has no row."""
    add_run(database, repeat=1, joules_per_output_token=1.0, median_itl_ms=20.0, tokens_per_second=400.0)
    add_run(database, repeat=2, joules_per_output_token=1.2, median_itl_ms=25.0, tokens_per_second=500.0)
    add_run(database, max_num_seqs=16)
    add_run(database, max_num_seqs=32, repeat=1)
    add_run(database, max_num_seqs=32, repeat=2, tensor_parallel=2)

    (row,) = answer(database, "from repeat_spread")

    assert (row["max_num_seqs"], row["runs"]) == (8, 2)
    assert row["energy_spread"] == pytest.approx(0.2, rel=1e-12)
    assert row["latency_spread"] == pytest.approx(0.25, rel=1e-12)
    assert row["throughput_spread"] == pytest.approx(0.25, rel=1e-12)
    assert row["least_wh_per_million_output_tokens"] == 277.78
    assert row["most_wh_per_million_output_tokens"] == 333.33


# --- best_image_pick, best_video_pick ------------------------------------------------------------------


def test_an_image_pick_keeps_to_30_seconds_and_its_size(database):
    """A cheaper run that takes longer isn't picked; another size or number of steps is picked by itself."""
    add_image_run(database, batch_size=1, joules_per_image=600.0, batch_latency_s=30.0)
    add_image_run(database, batch_size=2, joules_per_image=500.0, batch_latency_s=30.1)
    add_image_run(database, batch_size=4, joules_per_image=700.0)
    add_image_run(database, batch_size=8, joules_per_image=800.0, inference_steps=28)
    add_image_run(database, batch_size=16, joules_per_image=100.0, image_height=512)

    rows = answer(database, "from best_image_pick")

    assert [(row["image_height"], row["inference_steps"], row["batch_size"]) for row in rows] == [
        (512, 20, 16),
        (1024, 20, 1),
        (1024, 28, 8),
    ]


def test_a_video_pick_keeps_to_300_seconds_and_its_length(database):
    """81 frames and 49 frames aren't the same product; nor is another frame rate."""
    add_video_run(database, batch_size=1, batch_latency_s=300.0)
    add_video_run(database, batch_size=2, batch_latency_s=300.1, joules_per_video=1.0)
    add_video_run(database, batch_size=4, num_frames=49, joules_per_video=300.0)
    add_video_run(database, batch_size=8, fps=8.0, joules_per_video=500.0)

    rows = answer(database, "from best_video_pick")

    assert [(row["num_frames"], row["fps"], row["batch_size"]) for row in rows] == [
        (49, 15, 4),
        (81, 8, 8),
        (81, 15, 1),
    ]


def test_ties_of_images_go_to_the_smaller_setup(database):
    """So that a rebuild never changes a pick."""
    add_image_run(database, num_gpus=2, ulysses_degree=2, batch_size=1)
    add_image_run(database, num_gpus=1, batch_size=4)
    add_image_run(database, num_gpus=1, batch_size=2, repeat=2)
    add_image_run(database, num_gpus=1, batch_size=2, repeat=1)

    (row,) = answer(database, "from best_image_pick")
    assert (row["num_gpus"], row["batch_size"], row["repeat"]) == (1, 2, 1)


# --- task_ranking --------------------------------------------------------------------------------------


def test_each_task_is_ranked_in_its_own_unit(database):
    """A model by its best GPU; equals share a place; videos of another size are another product."""
    for key, slug, joules in ((1, "b", 2.0), (2, "a", 1.0), (3, "c", 2.0)):
        add_model(database, key, release_key=add_release(database, 1), slug=slug)
        add_run(database, model_key=key, joules_per_output_token=joules)
        add_run(database, model_key=key, joules_per_output_token=joules * 2, gpu="B200")
    videos = add_release(database, 2, task="text-to-video", kind="video", itl_deadline_ms=None)
    for key, slug, height in ((4, "film", 480), (5, "movie", 720)):
        add_model(database, key, release_key=videos, slug=slug)
        add_video_run(database, model_key=key, video_height=height)

    rows = answer(database, "from task_ranking")

    assert [(row["place"], row["model"], row["wh_per_million_output_tokens"], row["gpu"]) for row in rows[:3]] == [
        (1, "a", 277.78, "H100"),
        (2, "b", 555.56, "H100"),
        (2, "c", 555.56, "H100"),
    ]
    assert [(row["place"], row["model"], row["joules_per_video"], row["product"]) for row in rows[3:]] == [
        (1, "film", 600.0, "videos of 832 x 480, 81 frames at 15.0 fps"),
        (1, "movie", 600.0, "videos of 832 x 720, 81 frames at 15.0 fps"),
    ]


# --- output_length -------------------------------------------------------------------------------------


def test_percentiles_are_exact_to_a_bin(database):
    """Of 100 requests: 50 up to 10 tokens, 40 more up to 20, 9 more up to 30, the last up to 40."""
    key = add_run(database)
    for place, requests in enumerate((50, 40, 9, 1), 1):
        insert(
            database,
            "output_length_bin",
            configuration_key=key,
            bin=place,
            from_tokens=place * 10.0 - 10,
            to_tokens=place * 10.0,
            requests=requests,
        )

    (row,) = answer(database, "from output_length")

    figures = ("p50_output_tokens", "p90_output_tokens", "p99_output_tokens", "bin_tokens", "requests")
    assert [row[name] for name in figures] == [10.0, 20.0, 30.0, 10.0, 100]
    assert row["avg_output_tokens"] == 350


# --- data_quality of image and video runs --------------------------------------------------------------


@pytest.mark.parametrize(
    ("add", "values", "finding"),
    [
        (add_image_run, {"gpu_power_watts_total": 301.0}, ("gpu_power_watts_total", "300.0", "301.0")),
        (add_video_run, {"gpu_power_watts_total": 301.0}, ("gpu_power_watts_total", "300.0", "301.0")),
        (
            add_image_run,
            {"images_per_second": 0.6, "gpu_power_watts_total": 360.0},
            ("images_per_second", "0.5", "0.6"),
        ),
        (
            add_video_run,
            {"videos_per_second": 0.6, "gpu_power_watts_total": 360.0},
            ("videos_per_second", "0.5", "0.6"),
        ),
        (add_image_run, {"ulysses_degree": 2}, ("num_gpus", "ulysses_degree x ring_degree: 2 x 1", "1")),
        (add_video_run, {"ring_degree": 2}, ("num_gpus", "ulysses_degree x ring_degree: 1 x 2", "1")),
        (add_image_run, {}, None),
        (add_video_run, {"num_gpus": 4, "ulysses_degree": 2, "ring_degree": 2}, None),
    ],
)
def test_a_broken_rule_of_images_and_videos_is_found(database, add, values, finding):
    """J x rate = W, batch / latency = rate, ulysses x ring = num_gpus."""
    add(database, **values)

    rows = answer(database, "from data_quality")

    assert [(row["check_name"], row["expected"], row["found"]) for row in rows] == ([finding] if finding else [])
