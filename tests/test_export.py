"""Documents written back out: byte for byte what was loaded, or what the publisher's documents would be."""

import json
import os
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energydb.ask.export import model_documents
from energydb.errors import DataError, UsageError
from energydb.load import load
from tests.conftest import add_model, add_release, add_run, insert
from tests.documents import LLAMA, SCOUT, document, older_release, run, write
from tests.leaderboards import text_row, write_leaderboard

TABLES = ["source", "task", "release", "licence_evidence", "model", "gpu", "configuration", "published_pick"]


def contents(path: Path) -> dict[str, list[tuple]]:
    """Return every row of every table, but for file names and hashes."""
    with duckdb.connect(str(path), read_only=True) as connection:
        found = {table: connection.execute(f"from {table} order by all").fetchall() for table in TABLES}
        found["file"] = connection.execute("select file_key, release_key from file").fetchall()
    return found


def export(database: Path, folder: Path, task: str = "lm-arena-chat", **options) -> Path:
    folder.mkdir()
    for name, data in model_documents(database, task, **options):
        (folder / name).write_bytes(data)
    return folder


def test_loaded_documents_come_back_byte_for_byte(seed_database):
    """Both shipped documents are in canonical form."""
    exported = dict(model_documents(seed_database, "lm-arena-chat"))

    assert exported == {path.name: path.read_bytes() for path in (LLAMA, SCOUT)}


def test_other_forms_come_back_value_for_value(tmp_path):
    """Blanks, key order and 16 for 16.0 are form; late fields that are absent stay so."""
    late = ("avg_running_batch", "p95_itl_ms")
    runs = [run(), run(median_itl_ms=16, max_num_seqs=16)]
    early = [{name: value for name, value in made.items() if name not in late} for made in runs]
    made = document(*early, name="Modèle ∑")
    shuffled = dict(reversed(made.items()))
    (tmp_path / "odd.json").write_text(json.dumps(shuffled, indent=None, ensure_ascii=False), encoding="utf-8")
    load([tmp_path / "odd.json"], tmp_path / "energy.duckdb", strict=True)

    ((name, data),) = model_documents(tmp_path / "energy.duckdb", "lm-arena-chat")

    assert name == "small.json"
    assert json.loads(data) == made
    assert list(json.loads(data)) == list(json.loads(SCOUT.read_text()))
    assert data.isascii()


FLOATS = st.floats(min_value=1e-9, max_value=1e9, allow_nan=False)
COUNTS = st.integers(min_value=1, max_value=2**31 - 1)
RUNS = st.builds(
    run,
    gpu=st.sampled_from(["B200", "H100", "X\u00b9"]),
    num_gpus=st.integers(1, 16),
    max_num_seqs=st.integers(1, 4),
    joules_per_output_token=FLOATS,
    wh_per_million_output_tokens=FLOATS,
    median_itl_ms=FLOATS,
    tokens_per_second=FLOATS,
    gpu_power_watts_total=COUNTS,
    avg_output_tokens=COUNTS,
    under_itl_deadline=st.booleans(),
    precision=st.text(min_size=1, max_size=5).filter(lambda text: text.strip() and "\0" not in text),
    repeat=st.integers(1, 3),
)
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1).filter(str.strip)
DOCUMENTS = st.builds(
    lambda runs, texts, params, deadline: document(
        *{(run["gpu"], run["num_gpus"], run["max_num_seqs"], run["repeat"]): run for run in runs}.values(),
        name=texts[0],
        caveat=texts[1],
        architecture=texts[2],
        params_b=params,
        source={"licence": texts[3], "method": texts[4], "licence_evidence": texts},
        itl_deadline_ms=deadline,
    ),
    st.lists(RUNS, min_size=1, max_size=6),
    st.lists(TEXTS, min_size=5, max_size=5),
    FLOATS,
    COUNTS,
)


@settings(max_examples=2, deadline=None)
@given(made=DOCUMENTS)
def test_load_export_load_gives_the_same_rows(made, tmp_path_factory):
    """Whatever a document says, the way there and back changes no value in any table."""
    go_round(made, tmp_path_factory.mktemp("round"))


@pytest.mark.sweep
@settings(max_examples=int(os.environ.get("ENERGYDB_EXAMPLES", "15")), deadline=None)
@given(made=DOCUMENTS)
def test_load_export_load_gives_the_same_rows_of_many(made, tmp_path_factory):
    go_round(made, tmp_path_factory.mktemp("round"))


def go_round(made, folder: Path) -> None:
    load([write(folder / "made.json", made)], folder / "first.duckdb", strict=False)
    exported = export(folder / "first.duckdb", folder / "out")
    load([exported], folder / "second.duckdb", strict=False)

    assert contents(folder / "first.duckdb") == contents(folder / "second.duckdb")
    assert json.loads((exported / "small.json").read_text()) == made


@pytest.mark.slow
def test_every_kind_of_parallelism_goes_round(tmp_path):
    """Pipelines, other degrees and what isn't known of a run: the same rows, and the same figures in the document."""
    degrees = [
        {},
        {"pipeline_parallel": 2},
        {"ring_degree": 4, "context_parallel": 2},
        {"context_parallel": 2.5, "pipeline_parallel": 3},
        {"other_parallel": "two by two"},
        {"max_num_seqs": None},
        {"p90_itl_ms": None, "p99_itl_ms": None},
    ]
    runs = [run(max_num_seqs=2**number) | further for number, further in enumerate(degrees)]
    made = document(*runs, best={"H100": runs[2]})

    go_round(made, tmp_path)

    with duckdb.connect(str(tmp_path / "second.duckdb"), read_only=True) as connection:
        rows = connection.execute(
            "select pipeline_parallel, other_parallel from configuration order by configuration_key"
        ).fetchall()
    assert rows == [
        (1, None),
        (2, None),
        (1, "context_parallel 2, ring_degree 4"),
        (3, "context_parallel 2.5"),
        (1, "two by two"),
        (1, None),
        (1, None),
    ]


@pytest.mark.slow
def test_a_degree_of_1_and_4_0_are_written_as_what_they_mean(tmp_path):
    """Nothing, and a whole number: the rows are the same."""
    made = document(run(context_parallel=1, ring_degree=4.0, pipeline_parallel=2.0, num_gpus=8.0))
    load([write(tmp_path / "made.json", made)], tmp_path / "first.duckdb", strict=False)
    exported = export(tmp_path / "first.duckdb", tmp_path / "out")
    load([exported], tmp_path / "second.duckdb", strict=False)

    (written,) = json.loads((exported / "small.json").read_text())["configurations"]
    assert contents(tmp_path / "first.duckdb") == contents(tmp_path / "second.duckdb")
    assert "context_parallel" not in written
    assert [json.dumps(written[name]) for name in ("ring_degree", "pipeline_parallel", "num_gpus")] == ["4", "2", "8"]


@pytest.mark.slow
def test_a_leaderboard_is_rounded_as_the_publisher_rounds(tmp_path):
    """From a made row, by hand: 0.5123456789 J is 142.32 Wh, and the pick is of the unrounded figures."""
    rows = [
        text_row("org/Small-1B", max_num_seqs=8),
        # Over the deadline by less than rounding shows, and cheaper: it must not be picked.
        text_row(
            "org/Small-1B",
            max_num_seqs=16,
            median_itl_ms=500.04,
            energy_per_token_joules=0.1,
            p90_itl_ms=501.0,
            p95_itl_ms=502.0,
            p99_itl_ms=503.0,
        ),
        # Equal when rounded to 7 places: the unrounded one is less.
        text_row("org/Small-1B", max_num_seqs=32, energy_per_token_joules=0.51234567888),
    ]
    load([write_leaderboard(tmp_path / "data", {"lm-arena-chat": rows})], tmp_path / "e.duckdb", strict=False)

    ((name, data),) = model_documents(tmp_path / "e.duckdb", "lm-arena-chat", like=SCOUT)
    made = json.loads(data)

    assert name == "small-1b.json"
    assert made["configurations"][0] == {
        "gpu": "H100",
        "num_gpus": 1,
        "tensor_parallel": 1,
        "data_parallel": 1,
        "expert_parallel": 1,
        "precision": "BF16",
        "max_num_seqs": 8,
        "avg_requests_in_flight": 7.9,
        "wh_per_million_output_tokens": 142.32,
        "joules_per_output_token": 0.5123457,
        "median_itl_ms": 20.1,
        "p90_itl_ms": 21.5,
        "p99_itl_ms": 23.5,
        "tokens_per_second": 390.2,
        "gpu_power_watts_total": 200,
        "avg_output_tokens": 100,
        "under_itl_deadline": True,
        "avg_running_batch": 7.9,
        "p95_itl_ms": 22.5,
        "row_id": "small-1b/H100/1/8",
        "repeat": 1,
    }
    assert made["configurations"][1]["median_itl_ms"] == 500.0
    assert made["configurations"][1]["under_itl_deadline"] is False
    assert made["best"]["H100"]["max_num_seqs"] == 32
    assert made["source"] == json.loads(SCOUT.read_text())["source"]


@pytest.mark.slow
def test_the_release_is_chosen(tmp_path):
    """The newest, or the one that is named."""
    older = write(tmp_path / "a.json", document(name="Old", **older_release()))
    load([older, write(tmp_path / "b.json", document(name="New"))], tmp_path / "energy.duckdb", strict=True)

    def exported(**options):
        ((_, data),) = model_documents(tmp_path / "energy.duckdb", "lm-arena-chat", **options)
        return json.loads(data)["name"]

    assert exported() == "New"
    assert exported(data_version="2025-12-01") == "Old"
    with pytest.raises(UsageError, match="one of the releases 2026-09-27, 2025-12-01, got 2024-01-01"):
        exported(data_version="2024-01-01")


def test_what_cannot_be_exported_is_said(everything_database, seed_database, tmp_path):
    def export_from(database, task, **options):
        return list(model_documents(database, task, **options))

    with pytest.raises(UsageError, match="expected one of the tasks lm-arena-chat, got gpqa"):
        export_from(seed_database, "gpqa")
    with pytest.raises(UsageError, match="only documents are loaded"):
        export_from(seed_database, "lm-arena-chat", like=SCOUT)
    with pytest.raises(UsageError, match="name one with --like"):
        export_from(everything_database, "gpqa")
    with pytest.raises(UsageError, match="expected a document of the task gpqa, got one of lm-arena-chat"):
        export_from(everything_database, "gpqa", like=SCOUT)
    with pytest.raises(UsageError, match="this task makes images"):
        export_from(everything_database, "text-to-image", like=SCOUT)


@pytest.mark.slow
def test_a_slug_that_names_no_file_is_refused(tmp_path):
    """It could lead out of the folder."""
    made = document(run(row_id="../small/H100/1/8"), slug="../small")
    load([write(tmp_path / "a.json", made)], tmp_path / "energy.duckdb", strict=True)

    with pytest.raises(DataError, match="expected a slug that can name a file"):
        list(model_documents(tmp_path / "energy.duckdb", "lm-arena-chat"))


def test_the_command_writes_a_file_a_model(energydb, seed_database, tmp_path):
    """Whole files, in a folder that is made; a second run writes the same."""
    for _ in range(2):
        done = energydb("export", "documents", "out/chat", "--task", "lm-arena-chat", "--database", seed_database)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == "out/chat: 2 documents of lm-arena-chat\n"
    written = sorted((tmp_path / "out" / "chat").iterdir())
    assert [path.name for path in written] == [LLAMA.name, SCOUT.name]
    assert [path.read_bytes() for path in written] == [LLAMA.read_bytes(), SCOUT.read_bytes()]


# What the head of a model document must say.
HEAD = {
    **dict.fromkeys(("document_version", "unit", "data_url", "version", "compiled_evidence", "method"), "said"),
    **dict.fromkeys(("selection", "used_for", "configurations_note"), "said"),
    **dict.fromkeys(("updated", "released", "retrieved"), "2026-01-01"),
}


def file_of_documents(database, tmp_path, **models: dict) -> Path:
    """Close a made file of model documents, a task with one model each, and return its path."""
    for key, (task, values) in enumerate(models.items(), 1):
        release = add_release(database, key, task=task, **HEAD)
        model = add_model(database, key, release_key=release, slug=values.pop("slug", "small"))
        add_run(database, model_key=model, **values)
    database.commit()
    database.close()
    return tmp_path / "made.duckdb"


def test_only_a_slug_that_names_a_file_is_one(database, tmp_path):
    """It could lead out of the folder, or hide in it; letters, digits and some marks are as publishers write them."""
    slugs = (".small", "a/b", "a b", "modèle", "a\n", "a_b", "A.b-9", "-a")
    tasks = {f"task-{place}": {"slug": slug} for place, slug in enumerate(slugs)}
    path = file_of_documents(database, tmp_path, **tasks)
    refused, taken = [], []
    for task in tasks:
        try:
            ((name, data),) = model_documents(path, task)
            taken.append((name, json.loads(data)["slug"]))
        except DataError as error:
            refused.append(str(error))

    assert refused == [f"{slug!r}: expected a slug that can name a file" for slug in slugs[:5]]
    assert taken == [(f"{slug}.json", slug) for slug in slugs[5:]]


def test_a_run_without_max_num_seqs_says_so(database, tmp_path):
    """As null: to leave it out would be a fault of the document."""
    path = file_of_documents(database, tmp_path, chat={"max_num_seqs": None})

    ((_, data),) = model_documents(path, "chat")
    assert [made["max_num_seqs"] for made in json.loads(data)["configurations"]] == [None]


def test_gpus_and_precisions_are_written_as_they_were_published(database, tmp_path):
    """Their one name is the database's; the way back gives the publisher's, also to the picks."""
    named = {"gpu_as_published": "NVIDIA H100 80GB HBM3", "precision_as_published": "bfloat16"}
    add_release(database, 1, **HEAD)
    add_model(database, 1, release_key=1)
    add_run(database, model_key=1, **named)
    add_run(database, model_key=1, gpu="B200")
    insert(database, "published_pick", model_key=1, gpu="H100", configuration_key=1)
    database.commit()
    database.close()

    ((_, data),) = model_documents(tmp_path / "made.duckdb", "chat")
    made = json.loads(data)
    assert made["gpus"] == ["B200", "NVIDIA H100 80GB HBM3"]
    assert [(run["gpu"], run["precision"]) for run in made["configurations"]] == [
        ("NVIDIA H100 80GB HBM3", "bfloat16"),
        ("B200", "BF16"),
    ]
    assert made["best"] == {"NVIDIA H100 80GB HBM3": made["configurations"][0]}


def test_percentiles_that_are_not_published_are_null(database, tmp_path):
    """Those that every run has; what came late is left absent. The others stay."""
    lacking = {"p90_itl_ms": None, "p95_itl_ms": None, "p99_itl_ms": None, "median_itl_ms": 20.25}
    path = file_of_documents(database, tmp_path, chat={**lacking})
    ((_, data),) = model_documents(path, "chat")
    (written,) = json.loads(data)["configurations"]

    assert written["median_itl_ms"] == 20.25
    assert (written["p90_itl_ms"], written["p99_itl_ms"]) == (None, None)
    assert [name for name, value in written.items() if value is None] == ["p90_itl_ms", "p99_itl_ms"]
    assert "p95_itl_ms" not in written


def test_percentiles_that_a_leaderboard_lacks_are_null(database, tmp_path):
    """Rounding what isn't there made a traceback."""
    add_release(database, 1, task="lm-arena-chat", format="leaderboard", data_version="2026-01-01")
    add_model(database, 1, release_key=1)
    add_run(database, model_key=1, p90_itl_ms=None, p95_itl_ms=None, p99_itl_ms=None, median_itl_ms=20.26)
    add_model(database, 2, release_key=1, slug="lost")  # all of its runs were left out
    database.commit()
    database.close()

    ((name, data),) = model_documents(tmp_path / "made.duckdb", "lm-arena-chat", like=SCOUT)
    (written,) = json.loads(data)["configurations"]
    assert (name, written["median_itl_ms"]) == ("small.json", 20.3)
    assert (written["p90_itl_ms"], written["p99_itl_ms"]) == (None, None)
    assert "p95_itl_ms" not in written


def test_what_was_never_kept_is_said(energydb, database, tmp_path):
    """In one line: the fields that energydb doesn't know, and what load left out, of that release alone."""
    insert(database, "task", id="other", kind="text")
    field = {"type": "number", "objects": 3, "example": "1"}
    path = file_of_documents(database, tmp_path, chat={}, code={})
    with duckdb.connect(str(path)) as made:
        for key, place in ((1, "$.clock"), (1, "$.configurations[*].clock"), (1, "$.a"), (2, "$.b")):
            insert(made, "unknown_field", release_key=key, place=place, field=place.rpartition(".")[2], **field)
        lost = {"file_name": "x.json", "place": "$", "fault": "expected a number, got text"}
        for key, (release, task, runs) in enumerate(((1, "chat", 3), (None, "chat", None), (None, "other", 9)), 1):
            insert(made, "left_out", left_out_key=key, release_key=release, task=task, runs=runs, **lost)

    done = energydb("export", "documents", "out", "--task", "chat", "--database", path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "chat: what was never kept is in no document: the fields a, clock (energydb query notice),"
        " and 3 runs and more left out at load (energydb query left_out)\n"
        "out: 1 document of chat\n"
    )
    done = energydb("export", "documents", "out", "--task", "code", "--database", path)
    assert done.stderr == (
        "code: what was never kept is in no document: the field b (energydb query notice)\nout: 1 document of code\n"
    )


def test_a_task_is_named_as_people_write_it(seed_database, everything_database):
    """And where it is wrong those are listed that are there in the form that is asked for."""
    spoken = list(model_documents(seed_database, "LM arena_chat"))
    assert spoken == list(model_documents(seed_database, "lm-arena-chat"))
    with pytest.raises(UsageError, match="expected one of the tasks lm-arena-chat, got nope"):
        list(model_documents(everything_database, "nope"))
    with pytest.raises(UsageError, match="expected one of the tasks gpqa, lm-arena-chat, got nope"):
        list(model_documents(everything_database, "nope", like=SCOUT))
