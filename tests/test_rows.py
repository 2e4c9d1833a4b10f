"""From documents to rows: keys that depend on content alone."""

import msgspec

from energydb import RELEASED
from energydb.errors import DocumentError
from energydb.sources.agreement import disagreements
from energydb.sources.document import read_document
from energydb.sources.leaderboard import read_leaderboard
from energydb.sources.records import Fault
from energydb.store.columns import batch_of
from energydb.store.rows import table_rows
from tests.documents import document, older_release, run, write
from tests.leaderboards import change, change_run, small_tasks, text_row, write_leaderboard


def rows_of(*batches):
    """Return the rows of every table, as they are handed to the database."""
    return {
        made.table.__tablename__: [tuple(row.values()) for row in made.stream.read_all().to_pylist()]
        for made in table_rows([batch_of(documents) for documents in batches], (), ("0.0.0", RELEASED, "none"))
    }


def read_whole(path):
    """Read a document that is sound."""
    (document,) = read_document(path).documents
    return document


def made(folder, name, slug, *runs, **values):
    """Read a document of one model, from a file of that name."""
    runs = [{**one, "row_id": one["row_id"].replace("small", slug)} for one in runs or [run()]]
    return read_whole(write(folder / name, document(*runs, slug=slug, **values)))


def test_keys_follow_slugs_and_not_file_names(tmp_path):
    """A file that is renamed, moved or named first changes no key: not of models, runs, picks or documents."""
    runs = {"a": [run(gpu="B200")], "b": [run(), run(max_num_seqs=16)], "c": [run(max_num_seqs=32)]}
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    straight = [made(one, f"{slug}.json", slug, *runs[slug]) for slug in "abc"]
    crossed = [made(two, f"{3 - place}.json", slug, *runs[slug]) for place, slug in enumerate("abc")]
    first = rows_of(straight)

    assert [(row[0], row[3]) for row in first["model"]] == [(1, "a"), (2, "b"), (3, "c")]
    assert [row[:3] for row in first["configuration"]] == [
        (1, 1, "B200"),
        (2, 2, "H100"),
        (3, 2, "H100"),
        (4, 3, "H100"),
    ]
    assert first["published_pick"] == [(1, "B200", 1), (2, "H100", 2), (3, "H100", 4)]
    assert [row[2] for row in first["file"]] == ["a.json", "b.json", "c.json"]
    one, two, three = crossed
    for batches in ([[three, two, one]], [[one, two, three]], [[three], [two], [one]], [[one], [three, two]]):
        other = rows_of(*batches)
        assert [row[2] for row in other.pop("file")] == ["3.json", "2.json", "1.json"]
        assert other == {table: rows for table, rows in first.items() if table != "file"}


def test_models_of_a_leaderboard_are_numbered_by_slug(tmp_path):
    """Upstream order is another, and may change; a model's bins stay with its runs."""
    rows = [
        text_row("org/Small-1B", max_num_seqs=8),
        text_row("org/Mix-8B", max_num_seqs=4),
        text_row("org/Mix-8B", max_num_seqs=2),
        text_row("org/Small-1B", max_num_seqs=16),
    ]
    found = rows_of(read_leaderboard(write_leaderboard(tmp_path / "data", {"gpqa": rows})).documents)

    assert [(row[0], row[3]) for row in found["model"]] == [(1, "mix-8b"), (2, "small-1b")]
    assert [(row[0], row[1], row[9]) for row in found["configuration"]] == [
        (1, 1, 4),
        (2, 1, 2),
        (3, 2, 8),
        (4, 2, 16),
    ]
    # The made folder counts 1, 5, 4 requests of a model's first run, and 2, 5, 4 of its second.
    counts = {1: (1, 5, 4), 2: (2, 5, 4), 3: (1, 5, 4), 4: (2, 5, 4)}
    edges = [(1.0, 50.5), (50.5, 100.5), (100.5, 200.0)]
    assert found["output_length_bin"] == [
        (key, place, *edges[place - 1], counts[key][place - 1]) for key in counts for place in (1, 2, 3)
    ]


def test_every_file_says_how_many_rows_it_came_with(tmp_path):
    """Models, runs, picks and bins, by the first of its files: what is lost later shows."""
    data = write_leaderboard(tmp_path / "data")
    own = made(tmp_path, "own.json", "small", run(), run(gpu="B200"), run(gpu="B200", max_num_seqs=16))
    found = rows_of([*read_leaderboard(data).documents, own])
    named = {key: name for key, _, name, _ in found["file"]}

    counted = {(named[key], table): rows for table, key, rows in found["loaded"] if key is not None}
    names = ("model", "configuration", "image_configuration", "video_configuration", "published_pick")
    assert {
        name: tuple(counted.get((name, table), 0) for table in (*names, "output_length_bin"))
        for name in {name for name, _ in counted}
    } == {
        "own.json": (1, 3, 0, 0, 2, 0),
        "lm-arena-chat.json": (2, 5, 0, 0, 0, 15),
        "gpqa.json": (1, 1, 0, 0, 0, 3),
        "text-to-image.json": (1, 0, 3, 0, 0, 0),
        "text-to-video.json": (1, 0, 0, 3, 0, 0),
    }
    totals = {table: rows for table, key, rows in found["loaded"] if key is None}
    assert totals == {name: len(found[name]) for name in totals}
    assert sorted(named) == list(range(1, 1 + len(named)))


def test_releases_and_sources_are_numbered_in_order(tmp_path):
    """By source, task and data version, whenever compiled; runs keep to their own release."""
    newer = made(tmp_path, "a.json", "small", run(joules_per_output_token=2.0))
    older = made(
        tmp_path, "b.json", "small", run(joules_per_output_token=3.0), **older_release(compiled="2027-01-01")
    )
    another = made(tmp_path, "c.json", "small", run(joules_per_output_token=4.0), source={"name": "Another Lab"})
    found = rows_of([newer], [older, another])

    assert [row[:2] for row in found["source"]] == [(1, "Another Lab"), (2, "ML.ENERGY Leaderboard")]
    assert [(*row[:2], str(row[4])) for row in found["release"]] == [
        (1, 1, "2026-09-27"),
        (2, 2, "2025-12-01"),
        (3, 2, "2026-09-27"),
    ]
    assert [row[:3] for row in found["model"]] == [(1, 1, 1), (2, 2, 2), (3, 3, 3)]
    assert [(row[1], row[12]) for row in found["configuration"]] == [(1, 4.0), (2, 3.0), (3, 2.0)]


def test_evidence_keeps_its_order(tmp_path):
    """As the publisher gives it, counted from 1."""
    document = made(tmp_path, "a.json", "small", source={"licence_evidence": ["z", "a"]})

    assert rows_of([document])["licence_evidence"] == [(1, 1, "z"), (1, 2, "a")]


def test_the_head_that_most_documents_have_is_the_right_one(tmp_path):
    """The one that differs is at fault, even where it comes first."""
    odd = made(tmp_path, "a.json", "a", itl_deadline_ms=400)
    usual = [made(tmp_path, f"{slug}.json", slug) for slug in "bc"]

    assert [str(fault) for fault in disagreements([odd, *usual])] == [
        f'{tmp_path}/a.json: $.itl_deadline_ms: expected "500" as in b.json, of the same release, got "400"'
    ]


def test_of_two_heads_the_right_one_is_not_told_by_names(tmp_path):
    """Where a release has as many of one as of the other: so files may lie and be called as they like."""
    late, early = (
        made(tmp_path, "a.json", "a", itl_deadline_ms=500),
        made(tmp_path, "b.json", "b", itl_deadline_ms=400),
    )
    renamed = msgspec.structs.replace(late, path="c.json")

    for documents in ([late, early], [early, late], [early, renamed]):
        (fault,) = disagreements(documents)
        assert (fault.problem.partition(" as in ")[0], fault.problem.rpartition(", got ")[2]) == (
            'expected "400"',
            '"500"',
        )


def test_picks_are_told_by_the_keys_of_their_runs(tmp_path):
    """Not by their place in a document; GPUs in order, however a document lists them."""
    runs = [run(gpu="H100"), run(gpu="H100", max_num_seqs=16), run(gpu="B200"), run(gpu="B200", max_num_seqs=16)]
    best = {"H100": runs[1], "B200": runs[3]}
    first = read_whole(write(tmp_path / "a.json", document(*runs, best=best)))
    second = made(tmp_path, "b.json", "zzz", run(), run(gpu="B200"))

    assert rows_of([second, first])["published_pick"] == [
        (1, "B200", 4),
        (1, "H100", 2),
        (2, "B200", 6),
        (2, "H100", 5),
    ]


def test_a_slug_may_come_twice_in_a_release(tmp_path):
    """Makers may share a name: two models, in the order of their ids; one id that comes twice is left to be found."""
    two, one = (made(tmp_path, f"{name}.json", "small", model_id=f"org/{name}") for name in "ba")
    older = made(tmp_path, "c.json", "small", **older_release())
    again = made(tmp_path, "d.json", "small", model_id="ORG/a ")

    assert list(disagreements([one, two, older, again])) == []
    assert [row[:5] + row[6:7] for row in rows_of([two, again], [older, one])["model"]] == [
        (1, 1, 1, "small", "Small", "org/small"),
        (2, 2, 2, "small", "Small", "org/a"),
        (3, 2, 3, "small", "Small", "org/a"),
        (4, 2, 4, "small", "Small", "org/b"),
    ]


def lost_rows(*documents, faults=()):
    """Return the rows of left_out, and the keys of releases and models that they may name."""
    found = {
        rows.table.__tablename__: [tuple(row.values()) for row in rows.stream.read_all().to_pylist()]
        for rows in table_rows([batch_of(documents)], (), ("0.0.0", RELEASED, "none"), faults)
    }
    keys = {(release, model_id): key for key, release, _, _, _, model_id, *_ in found["model"]}
    return found["left_out"], keys, {row[0]: row[2] for row in found["release"]}


def test_what_was_left_out_is_a_row_each(tmp_path):
    """By release, and of it by model where some of that is there; what is of none comes last, by file and place."""
    tasks = small_tasks()
    folder = write_leaderboard(tmp_path / "data", {task: tasks[task] for task in ("lm-arena-chat", "gpqa")})
    change_run(folder / "tasks/lm-arena-chat.json", 2, num_gpus="1")
    change(folder / "models/org__Mix-8B__lm-arena-chat.json", task="gpqa")
    faults = [
        Fault(error=DocumentError(f"{at}/{name}", "$", "expected JSON"), task=task)
        for at, name, task in (("z", "a.json", "gpqa"), ("a", "b.json", None), ("b", "b.json", "code"))
    ]
    rows, keys, tasks_of = lost_rows(*read_leaderboard(folder).documents, faults=faults)

    (chat,) = (key for key, task in tasks_of.items() if task == "lm-arena-chat")
    number = 'expected a whole number, got "1"'
    another = 'expected "lm-arena-chat", as the file is named, got "gpqa"'
    small, mix = "org/Small-1B", "org/Mix-8B"
    of_small = (1, number, "$.configurations[2].num_gpus", "lm-arena-chat.json", small)
    of_mix = (1, another, "$.task", "org__Mix-8B__lm-arena-chat.json", mix)
    assert rows == [
        (1, "lm-arena-chat", *of_small, chat, keys[chat, small], "org/small-1b"),
        (2, "lm-arena-chat", *of_mix, chat, None, "org/mix-8b"),
        (3, "gpqa", None, "expected JSON", "$", "a.json", None, None, None, None),
        (4, None, None, "expected JSON", "$", "b.json", None, None, None, None),
        (5, "code", None, "expected JSON", "$", "b.json", None, None, None, None),
    ]
    assert lost_rows(*read_leaderboard(folder).documents, faults=faults[::-1])[0] == rows


def test_fields_that_are_not_known_are_a_row_a_place(tmp_path):
    """Of all documents of a release together: every type, all that have it, and the first value."""
    fields = {"a": 1.5, "b": "x", "c": None}
    documents = [made(tmp_path, f"{slug}.json", slug, run() | {"clock": value}) for slug, value in fields.items()]
    older = made(tmp_path, "o.json", "a", run() | {"clock": 2}, **older_release())
    place = "$.configurations[*].clock"

    for batches in ([[*documents, older]], [[older, documents[2]], documents[1::-1]]):
        assert [row for row in rows_of(*batches)["unknown_field"] if row[1] == place] == [
            (1, place, "clock", "a whole number", 1, "2"),
            (2, place, "clock", "a number, text, null", 3, "1.5"),
        ]
