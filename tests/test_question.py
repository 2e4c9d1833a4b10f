"""Questions by name: a macro's parameters and the filters, as options."""

import sys
from pathlib import Path

import pytest

from energydb.ask.question import sql_of
from energydb.errors import QueryError, UsageError
from energydb.store.sandbox import reading
from tests.conftest import add_model, add_run
from tests.readme import run


@pytest.fixture
def asked(everything_database):
    with reading(everything_database) as connection:
        yield connection


def sql(connection, name, *options, **filters):
    return sql_of(connection, name, options, filters)[1]


def test_a_name_alone(asked):
    assert sql_of(asked, "Best_Pick", [], {}) == ("best_pick", "from best_pick")
    assert sql(asked, "gpu") == "from gpu"
    assert sql(asked, "pick") == "from pick()"


def test_parameters_become_arguments(asked):
    """In either spelling, in any order; text is quoted, and truth is not."""
    assert sql(asked, "pick", "--max-num-gpus", "2", "--max-p99-itl-ms=100") == (
        "from pick(max_p99_itl_ms := 100.0, max_num_gpus := 2)"
    )
    assert sql(asked, "pick", "--only-precision", "it's") == "from pick(only_precision := 'it''s')"
    assert sql(asked, "pick", "--without-findings", "True") == "from pick(without_findings := true)"
    assert sql(asked, "energy_at", "--at-concurrency", "1e2") == "from energy_at(100.0)"
    assert sql(asked, "deployment_plan", "--under-scenario", "france", "--demand-tokens-per-second", "5") == (
        "from deployment_plan(5.0, under_scenario := 'france')"
    )


def test_a_part_of_a_name_suffices(asked):
    """Where it fits just one, of those that the other filters leave."""
    assert sql(asked, "best_pick", model="scout") == "from best_pick where model = 'llama-4-scout-17b-16e-instruct'"
    assert sql(asked, "best_pick", model="MIX", gpu="h1", task="arena") == (
        "from best_pick where task = 'lm-arena-chat' and gpu = 'H100' and model = 'mix-8b'"
    )
    # Of the three models only one has runs of this task.
    assert sql(asked, "best_pick", task="gpqa", model="l").endswith("model = 'small-1b'")


def test_a_model_may_be_named_as_people_write_it(asked):
    """By its name or its Hugging Face id; and where there are no rows, a name stands for itself."""
    expected = "from best_pick where model = 'llama-4-scout-17b-16e-instruct'"
    assert sql(asked, "best_pick", model="Llama 4 Scout 17B 16E Instruct") == expected
    assert sql(asked, "best_pick", model="meta-llama/Llama-4-Scout-17B-16E-Instruct") == expected
    assert sql(asked, "data_quality", model="scout") == "from data_quality where model = 'scout'"


def test_the_whole_name_wins_over_longer_ones(database):
    """A model in full precision is called as the beginning of the same in FP8: else it couldn't be asked for."""
    for key, slug in enumerate(("llama-3-1-405b-instruct", "llama-3-1-405b-instruct-fp8", "other"), 1):
        named = {"name": slug.title(), "model_id": f"org/{slug.title()}"}
        add_run(database, model_key=add_model(database, key, slug=slug, **named))

    expected = "from configuration_detail where model = 'llama-3-1-405b-instruct'"
    for given in ("llama-3-1-405b-instruct", "Llama-3-1-405B-Instruct", "org/Llama-3.1-405B-Instruct"):
        assert sql(database, "configuration_detail", model=given) == expected
    assert sql(database, "configuration_detail", model="405b-instruct-fp8") == f"{expected[:-1]}-fp8'"
    with pytest.raises(UsageError, match=r"got 405b-instruct, which fits llama-3-1-405b-instruct, llama-3-1-405b-"):
        sql(database, "configuration_detail", model="405b-instruct")


def test_case_points_dashes_underscores_and_blanks_are_alike(asked):
    """In whatever names something: a view, an option, a task, a model, a GPU, and text given to a macro."""
    assert sql_of(asked, "Best Pick", [], {})[0] == sql_of(asked, "best-pick", [], {})[0] == "best_pick"
    assert sql(asked, "pick", "--Max_P99-ITL_ms", "5") == "from pick(max_p99_itl_ms := 5.0)"
    assert sql(asked, "best_pick", task="LM arena chat").endswith("where task = 'lm-arena-chat'")
    assert sql(asked, "best_pick", model="LLAMA_3.1.70B").endswith("where model = 'llama-3-1-70b-instruct'")
    assert sql(asked, "best_pick", gpu="nvidia h100 80gb hbm3").endswith("where gpu = 'H100'")
    assert sql(asked, "footprint", scenario="FRANCE").count("scenario = '") == 1
    assert sql(asked, "pick", "--only-precision", "torch.bfloat16") == "from pick(only_precision := 'BF16')"


def test_a_view_may_be_called_with_blanks(energydb, everything_database):
    """Which SQL can't begin with: no SELECT is taken for a name."""
    plain = energydb("query", "best_pick", "--database", everything_database)
    spoken = energydb("query", "Best pick", "--database", everything_database)

    assert (spoken.returncode, spoken.stdout) == (0, plain.stdout)


def test_another_board_of_the_same_chip_is_another_gpu(database):
    """The one that is meant by a usual name is found, whatever else contains it."""
    model_key = add_model(database)
    for gpu in ("H100", "H100 PCIe", "GH200"):
        add_run(database, model_key=model_key, gpu=gpu)

    for given, gpu in (
        ("h100-sxm", "H100"),
        ("H100", "H100"),
        ("NVIDIA H100 PCIe", "H100 PCIe"),
        ("h100_pcie", "H100 PCIe"),
        ("NVIDIA GH200 480GB", "GH200"),
    ):
        assert sql(database, "configuration_detail", gpu=given) == f"from configuration_detail where gpu = '{gpu}'"
    with pytest.raises(UsageError, match="expected one of GH200, H100, H100 PCIe, got H100 NVL"):
        sql(database, "configuration_detail", gpu="H100 NVL")


def test_a_model_is_found_by_its_id_whatever_its_slug_is(database):
    """Two makers of one slug are told apart by what comes before it, and twice one slug by its number."""
    for key, slug, model_id in ((1, "short", "one/Some-Long.Name"), (2, "some-long", "two/Other"), (3, "x", "a/x")):
        add_run(database, model_key=add_model(database, key, slug=slug, name=slug, model_id=model_id))
    values = ["one/short", "three/short", "some-long", "some-long #2"]
    database.execute(f"create view shown as select unnest({values}) as model")

    def named(model):
        return sql(database, "shown", model=model).removeprefix("from shown where model = ")

    assert sql(database, "configuration_detail", model="One/some_long name").endswith("model = 'short'")
    assert named("one/some-long-name") == named("ONE/short") == "'one/short'"
    assert named("three/Short") == "'three/short'"
    assert named("Some_Long #2") == "'some-long #2'"
    assert named("two/other") == named("some long") == "'some-long'"
    with pytest.raises(UsageError, match="got short, which fits one/short, three/short"):
        named("short")


def test_text_given_to_a_macro_in_sql_is_alike_too(asked):
    """As where it is called in a shell, which no command line has looked at."""
    scenario = asked.execute("select name from scenario order by name limit 1").fetchone()[0]
    given = scenario.upper().replace("-", "_")
    plan = "select scenario from deployment_plan(5, under_scenario := ?) limit 1"

    assert asked.execute(plan, [given]).fetchone() == (scenario,)
    found = asked.execute("select count(*) filter (qualifies) from pick(only_precision := ' bf16 ')").fetchone()
    assert found == asked.execute("select count(*) filter (qualifies) from pick(only_precision := 'BF16')").fetchone()
    assert found > (0,)


def test_a_few_names_are_listed_and_of_many_the_near_ones(database):
    """Twenty fit a line or two; of hundreds nobody reads the list."""
    for key in range(1, 21):
        add_model(database, key, slug=f"model-{key:02}")
    with pytest.raises(UsageError, match=r"--model: expected one of model-01, model-02, .*, model-20, got zzz$"):
        sql(database, "model_detail", model="zzz")
    add_model(database, 21, slug="model-21")

    with pytest.raises(UsageError, match=r"--model: expected the name of a model, got zzz$"):
        sql(database, "model_detail", model="zzz")
    with pytest.raises(UsageError, match=r"--model: expected one of model-07(, model-\d\d){4}, got mdel-07$"):
        sql(database, "model_detail", model="mdel-07")


@pytest.mark.parametrize(
    ("name", "options", "filters", "said"),
    [
        ("pick", ["--max-p99-itl", "5"], {}, r"pick: no such option: --max-p99-itl; did you mean --max-p99-itl-ms\?"),
        ("pick", ["--max-p99-itl-ms", "five"], {}, "--max-p99-itl-ms: expected a number, got five"),
        ("pick", ["--max-p99-itl-ms", "nan"], {}, "--max-p99-itl-ms: expected a number, got nan"),
        ("pick", ["--max-p99-itl-ms"], {}, "--max-p99-itl-ms: expected a value, got none"),
        ("pick", ["--max-p99-itl-ms=1", "--max-p99-itl-ms=2"], {}, "expected it once, got it twice"),
        ("pick", ["--max-num-gpus", "2.5"], {}, "--max-num-gpus: expected a whole number, got 2.5"),
        ("pick", ["--without-findings", "1"], {}, "--without-findings: expected true or false, got 1"),
        ("pick", ["stray"], {}, "pick: no such option: stray; it takes --max-median-itl-ms, "),
        ("energy_at", [], {}, r"energy_at: expected --at-concurrency \(concurrency limit"),
        ("best_pick", ["--nope", "3"], {}, "best_pick: no such option: --nope"),
        ("gpu", ["--xyz", "3"], {}, "gpu: no such option: --xyz; it takes no parameters"),
        ("best_pick", [], {"model": "llama"}, "got llama, which fits llama-3-1-70b-instruct, llama-4-scout-17b"),
        ("best_pick", [], {"model": "smal-1b"}, "expected one of llama-3-1.*small-1b, got smal-1b"),
        ("best_pick", [], {"task": "gpqa", "model": "scout"}, "--model: expected one of small-1b, got scout"),
        ("best_pick", [], {"gpu": "X1"}, "--gpu: expected one of B200, H100, got X1"),
        ("contents", [], {"model": "x"}, "contents: --model: expected a view with a column model"),
    ],
)
def test_a_wrong_option_is_said(asked, name, options, filters, said):
    """With the near name where there is one."""
    with pytest.raises(UsageError, match=said):
        sql_of(asked, name, options, filters)


def test_an_unknown_name_is_said(asked):
    with pytest.raises(QueryError, match="did you mean pick"):
        sql(asked, "pik")


def test_limited_columns_are_seen_in_a_narrow_terminal(everything_database, tmp_path):
    """What was limited, and what a run missed that doesn't qualify."""
    command = f"energydb query pick --max-p99-itl-ms 24 --task lm-arena --database {everything_database}"
    shown = run(command, tmp_path, Path(sys.executable))

    header = "".join(line for line in shown.splitlines()[:6])
    assert "qualifies" in header
    assert "p99_" in header
    assert "max_p99_itl_ms" in shown


def test_the_command_asks_by_name(energydb, everything_database):
    """Options, filters, the SQL to paste, and no options for SQL."""

    def ask(*arguments):
        return energydb("query", *arguments, "--database", everything_database)

    done = ask("pick", "--max-median-itl-ms", "20.5", "--model", "small-1b", "--task", "lm-arena", "--format", "csv")
    assert done.returncode == 0
    header, row = (line.split(",") for line in done.stdout.splitlines())
    assert dict(zip(header, row, strict=False))["max_num_seqs"] == "8"
    shown = ask("pick", "--max-median-itl-ms", "20.5", "--gpu", "H100", "--sql")
    assert shown.stdout == "from pick(max_median_itl_ms := 20.5) where gpu = 'H100';\n"
    wrong = ask("select 1", "--gpu", "H100")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "options are for a question by name" in wrong.stderr


def test_a_citation_is_a_bibtex_entry_a_release(energydb, everything_database):
    done = energydb(
        "query", "provenance", "--model", "scout", "--format", "bibtex", "--database", everything_database
    )

    assert done.returncode == 0
    assert done.stdout.count("@misc{") == 1
    assert done.stdout.startswith("@misc{ml-energy-leaderboard-2026-09-27,\n  title = {{ML.ENERGY Leaderboard}},\n")
    assert "arXiv 2505.06371" in done.stdout
    wrong = energydb("query", "gpu", "--format", "bibtex", "--database", everything_database)
    assert (wrong.returncode, wrong.stderr.startswith("energydb: query: --format bibtex is for provenance")) == (
        1,
        True,
    )


def test_every_table_in_a_terminal_ends_with_what_it_rests_on(everything_database, tmp_path):
    """Boundary, source, when it was compiled and which data version: of the rows, or of the whole file."""

    python = Path(sys.executable)
    named = run(f"energydb query best_pick --model scout --database {everything_database}", tmp_path, python)
    asked = run(f"energydb query 'select 1 as one' --database {everything_database}", tmp_path, python)

    start = "boundary gpu_only (GPUs alone: a floor) | ML.ENERGY Leaderboard |"
    assert " ".join(named.split()).endswith(f"{start} compiled 2026-02-16, data version 2026-09-27")
    assert " ".join(asked.split()).endswith(
        f"{start} compiled 2025-12-01, 2026-02-16, data version 2025-12-01, 2026-02-16, 2026-09-27"
    )


def test_a_ranking_that_is_filtered_by_gpu_says_what_its_places_count(energydb, everything_database):
    """Place 2 without a place 1 would look like a ranking of that GPU alone."""
    asked = energydb("query", "task_ranking", "--gpu", "B200", "--format", "csv", "--database", everything_database)
    plain = energydb("query", "task_ranking", "--format", "csv", "--database", everything_database)

    assert "Places count over all GPUs" in asked.stderr
    assert "Places" not in asked.stdout
    assert "Places" not in plain.stderr
    assert (
        "--gpu: Places count over all GPUs"
        in energydb("views", "task_ranking", "--database", everything_database).stdout
    )
