"""What energydb doesn't know yet: each kind of it, told apart from findings."""

import pytest

from tests.conftest import add_image_run, add_model, add_release, add_run, insert


@pytest.fixture
def known(database):
    """A file in which the task of release 1 and the GPU of most runs are known."""
    add_release(database, task="lm-arena-chat")
    insert(database, "gpu", name="H100", memory_gb=80.0, rated_watts=700.0, facts_source="a sheet")
    return database


def noticed(database):
    return database.execute("select kind, name, runs, task, model, type, example from notice").fetchall()


def test_shipped_data_holds_nothing_new(everything):
    assert noticed(everything) == []


def test_each_kind_of_new_thing_is_one_row(known):
    """With in how many runs it is, of which task, and a model for example; known ones are none."""
    plain = add_model(known, 1, slug="plain")
    other = add_model(known, 2, slug="other", architecture="State Space")
    for model in (plain, other, other):
        add_run(known, model_key=model)
    add_run(known, model_key=plain, precision="NVFP4")
    add_run(known, model_key=plain, gpu="X9000")
    add_run(known, model_key=other, other_parallel="context_parallel 2", p95_itl_ms=None, max_num_seqs=None)
    add_run(known, model_key=other, p90_itl_ms=None, p99_itl_ms=None)

    chat = "lm-arena-chat"
    assert noticed(known) == [
        ("architecture", "State Space", 4, chat, "other", None, None),
        ("gpu", "X9000", 1, chat, "plain", None, None),
        ("no value", "max_num_seqs", 1, chat, "other", None, None),
        ("no value", "p90_itl_ms", 1, chat, "other", None, None),
        ("no value", "p95_itl_ms", 1, chat, "other", None, None),
        ("no value", "p99_itl_ms", 1, chat, "other", None, None),
        ("parallelism", "context_parallel 2", 1, chat, "other", None, None),
        ("precision", "NVFP4", 1, chat, "plain", None, None),
    ]
    (about,) = known.execute("select distinct source, cast(data_version as varchar), place from notice").fetchall()
    assert about == ("Lab", "2026-01-01", "")


def test_a_new_task_and_runs_of_every_kind(known):
    """Images and videos too; a release is a row of its own."""
    images = add_release(known, 2, task="text-to-image", kind="image")
    model = {"slug": "small", "architecture": None}
    add_image_run(known, model_key=add_model(known, 2, release_key=images, **model), precision="INT4")
    assert noticed(known) == [("precision", "INT4", 1, "text-to-image", "small", None, None)]

    release = add_release(known, 3, task="haiku")
    add_run(known, model_key=add_model(known, 7, release_key=release))
    add_run(known, model_key=7, precision="INT4")
    assert noticed(known) == [
        ("precision", "INT4", 1, "haiku", "small", None, None),
        ("precision", "INT4", 1, "text-to-image", "small", None, None),
        ("task", "haiku", 2, "haiku", "small", None, None),
    ]


def test_a_field_that_was_not_kept_is_a_row_for_each_place(known):
    """Two fields of one name at two places are two."""
    said = {"release_key": 1, "field": "clock", "type": "number", "objects": 5, "example": "1980"}
    insert(known, "unknown_field", **said, place="$.configurations[*].clock")
    insert(known, "unknown_field", **{**said, "type": "text", "objects": 1, "example": '"x"'}, place="$.clock")

    assert noticed(known) == [
        ("field", "clock", 1, "lm-arena-chat", None, "text", '"x"'),
        ("field", "clock", 5, "lm-arena-chat", None, "number", "1980"),
    ]
