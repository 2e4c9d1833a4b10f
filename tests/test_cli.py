"""The command line, as processes of its own: words, rows and exit codes."""

import csv
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import duckdb
import pytest

import energydb as package
from energydb.cli.commands import load as load_command
from energydb.paths import DATA, newest_revision
from tests.conftest import heed_signals, swept
from tests.documents import SCOUT, document, run, write
from tests.readme import run as run_in_terminal

ENERGYDB = Path(sys.executable).with_name("energydb")  # a start of its own; the others are forked, by `energydb`


@pytest.fixture
def seeds_here(seed_database, tmp_path):
    """The shipped documents, loaded, as the database of the folder."""
    return Path(shutil.copy(seed_database, tmp_path / "energy.duckdb"))


@pytest.mark.sweep
def test_a_forked_command_is_as_one_that_is_started(energydb, seed_database, tmp_path):
    """The other tests rest on it: the same rows, words and exit codes, in the same folder and environment."""
    for words in (["query", "best_pick"], ["query", "nothing", "--output", "x"], ["load", "none.json"]):
        environment = {**os.environ, "ENERGYDB_DATABASE": str(seed_database)}
        environment = {name: value for name, value in environment.items() if name not in ("UV", "COLUMNS")}
        started = subprocess.run(
            [ENERGYDB, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        forked = energydb(*words, ENERGYDB_DATABASE=str(seed_database))
        expected = (started.returncode, started.stdout, started.stderr)

        assert (forked.returncode, forked.stdout, forked.stderr) == expected


def test_load_says_what_it_holds_and_what_to_type_next(energydb, tmp_path):
    """Rows on stdout, words on stderr."""
    done = energydb("load")

    assert done.returncode == 0
    assert "lm-arena-chat" in done.stdout
    assert "42" in done.stdout.split()
    assert done.stderr.splitlines() == [
        "data_quality: no findings",
        "energy.duckdb is built. Ask it:",
        "  energydb query best_pick",
        "  energydb views",
        '  duckdb -readonly energy.duckdb "from best_pick"   (pip install duckdb-cli)',
        "These are 2 of the publisher's 46 models: energydb fetch brings them all",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["energy.duckdb"]


@pytest.mark.slow
def test_what_more_there_is_is_said_of_the_shipped_documents_alone(energydb):
    """Whoever names documents has others in mind; under `uv run`, energydb is called so again."""
    more = "These are 2 of the publisher's 46 models: uv run energydb fetch brings them all\n"

    assert energydb("load", UV="/bin/uv").stderr.endswith(f"\n{more}")
    assert "publisher" not in energydb("load", DATA).stderr


@pytest.mark.slow
def test_another_database_by_option_and_by_environment(energydb, tmp_path):
    """Names with blanks and quotes are only names."""
    odd = 'it\'s a "file" ?x=1#y%20.duckdb'

    assert energydb("load", "--database", odd).returncode == 0
    assert (tmp_path / odd).is_file()
    assert energydb("query", "select 1 as one", ENERGYDB_DATABASE=odd).stdout.split() == ["one", "─" * 3, "1"]


def test_a_fault_is_one_line_and_no_traceback(energydb, tmp_path):
    """After it what became of the file, and what can be done."""
    write(tmp_path / "bad.json", document(unit="J"))

    done = energydb("load", "bad.json")
    checked = energydb("check", "bad.json")

    fault = 'energydb: bad.json: $.unit: expected "Wh per million output tokens", got "J"\n'
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"{fault}energydb: energy.duckdb: not built, and there is none: 1 fault in 1 file\n"
        "energydb: mend that and load again\n"
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (1, "", fault)


@pytest.mark.slow
def test_faults_of_one_kind_are_one_line(energydb, tmp_path):
    """The first of them, how many more there are, and in which files; what was there stays."""
    assert energydb("load").returncode == 0
    before = (tmp_path / "energy.duckdb").read_bytes()
    for name in "abcde":
        runs = [run(max_num_seqs=size) | {"p90_itl_ms": -size} for size in (8, 16)]
        write(tmp_path / f"{name}.json", document(*runs, run(max_num_seqs=4), slug=name, best={}))

    done = energydb("load", *(f"{name}.json" for name in "abcde"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "energydb: a.json: $.configurations[0].p90_itl_ms: expected a number > 0, got -8",
        "energydb: and 9 more like it, in a.json, b.json, c.json and 2 more files",
        "energydb: energy.duckdb: not built, and what was there is as it was: 10 faults in 5 files",
        "energydb: mend that and load again; or leave out what isn't sound: the same command with --keep-going",
    ]
    assert (tmp_path / "energy.duckdb").read_bytes() == before


@pytest.mark.slow
def test_findings_are_said_and_counted(energydb, tmp_path):
    """Load publishes them, --strict and check don't pass them."""
    write(tmp_path / "odd.json", document(run(p90_itl_ms=19.0), run(max_num_seqs=16, repeat=2)))

    loaded = energydb("load", "odd.json")
    strict = energydb("load", "odd.json", "--strict")
    checked = energydb("check", "odd.json")

    assert (loaded.returncode, strict.returncode, checked.returncode) == (0, 1, 1)
    assert "energydb: odd.json: small/H100/1/16 (repeat 2): repeat: expected a run of" in loaded.stderr
    assert "data_quality: 2 findings" in loaded.stderr
    assert "more" not in loaded.stderr
    assert strict.stderr.endswith(
        "energydb: energy.duckdb: not built, as strict refuses findings; what was there is unchanged\n"
    )


@pytest.mark.slow
def test_where_findings_are_many_the_rest_is_a_question_away(energydb, tmp_path):
    """The line works as it stands, whatever the database's name."""
    write(tmp_path / "bad.json", document(*(run(max_num_seqs=size, p90_itl_ms=19.0) for size in range(8, 31))))

    loaded = energydb("load", "bad.json", "--database", "my lab.duckdb")
    checked = energydb("check", "bad.json")

    assert loaded.stderr.count("itl_order") == checked.stderr.count("itl_order") == 20
    assert "\nand 3 more: energydb query data_quality --database 'my lab.duckdb'\ndata_quality: 23 findings\n" in (
        loaded.stderr
    )
    assert "\nand 3 more\ndata_quality: 23 findings\n" in checked.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["query", "select 1", "--database", "none.duckdb"], 2, "none.duckdb: no such file; `energydb load`"),
        (["load", "none.json"], 2, "none.json: no such file or folder"),
        (["query", "select 1", "--format", "xml"], 2, "'xml' is not one of"),
        (["query"], 2, "query: expected a name or SQL, got nothing"),
        (["nonsense"], 2, "No such command"),
        (["load", "--database", "none/energy.duckdb"], 3, "can't write into its folder: No such file"),
    ],
)
def test_exit_codes(energydb, arguments, code, said):
    """2: the command line is at fault; 3: the machine is."""
    done = energydb(*arguments)

    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_query_says_what_is_wrong_with_sql(energydb, seed_database):
    done = energydb("query", "select nothing from best_pick", "--database", seed_database)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith('energydb: query: Binder Error: Referenced column "nothing" not found')
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_every_format_gives_the_same_figures(energydb, seed_database, tmp_path):
    """Exact in all but the table; to stdout or to a file."""
    expected = [("B200", 0.1886745), ("H100", 0.373142), ("H100", 0.3361983)]
    sql = "select gpu, joules_per_output_token from best_pick"

    def ask(*options):
        return energydb("query", sql, "--database", seed_database, *options)

    read = list(csv.DictReader(StringIO(ask("--format", "csv").stdout)))
    assert [(row["gpu"], float(row["joules_per_output_token"])) for row in read] == expected
    read = json.loads(ask("--format", "json").stdout)
    assert [tuple(row.values()) for row in read] == expected
    assert "| B200 | 0.1886745 |" in ask("--format", "markdown").stdout
    assert "B200  0.1886745" in ask().stdout
    for format in ("csv", "json", "parquet"):
        done = ask("--output", f"out.{format}")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert duckdb.sql(f"from '{tmp_path}/out.{format}'").fetchall() == expected
    assert ask("--output", "out.md").returncode == 0
    assert (tmp_path / "out.md").read_text() == ask("--format", "markdown").stdout
    assert ask("--output", "out.txt").returncode == 0
    unknown = ask("--output", "out.xlsx")
    assert unknown.returncode == 2
    assert unknown.stderr.startswith("energydb: out.xlsx: expected a name that ends in .txt, .csv, .json, .md, ")
    assert (tmp_path / "out.txt").read_text() == ask().stdout
    assert ask("--format", "parquet").returncode == 2


def test_output_never_replaces_the_database(energydb, seeds_here):
    before = seeds_here.read_bytes()

    assert energydb("query", "best_pick", "--format", "csv", "--output", "./energy.duckdb").returncode == 2
    assert seeds_here.read_bytes() == before


def test_a_failed_query_leaves_the_output_as_it_was(energydb, seed_database, tmp_path):
    """No half file, and the old one stays."""
    (tmp_path / "out.csv").write_text("old")

    done = energydb(
        "query",
        "select cast(slug as integer) from model",
        "--database",
        seed_database,
        "--format",
        "csv",
        "--output",
        "out.csv",
    )

    assert done.returncode == 1
    assert (tmp_path / "out.csv").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_the_figure_is_seen_in_80_columns(seed_database, tmp_path, programs):
    """A named view leaves out what is the same in every row, then its last columns, and says so."""
    shown = run_in_terminal(f"energydb query best_pick --database {seed_database}", tmp_path, programs / "energydb")

    assert max(map(len, shown.splitlines())) <= 80
    assert "  52.41 " in shown
    assert "\nin every row: task lm-arena-chat; precision BF16;" in shown
    assert "\nleft out for width: p95_itl_ms, " in shown


def test_rows_of_sql_turn_upright_in_80_columns(seed_database, tmp_path, programs):
    """Every figure that was asked for is shown."""
    shown = run_in_terminal(
        f"energydb query 'select * from best_pick' --database {seed_database}", tmp_path, programs / "energydb"
    )

    assert "wh_per_million_output_tokens  52.41\n" in shown
    assert shown.count("\nlicence ") == 3


def test_an_empty_answer_says_so(seed_database, energydb, tmp_path, programs):
    """No rows is an answer too."""
    named = energydb("query", "data_quality", "--database", seed_database)
    upright = run_in_terminal(
        f"energydb query 'select * from data_quality' --database {seed_database}", tmp_path, programs / "energydb"
    )

    assert {"task", "model", "gpu"} <= set(named.stdout.split())
    assert named.stderr == "no rows\n"
    assert upright.startswith("task\nmodel\ngpu\n")
    assert "\nmodel_key\nno rows\n" in upright


def test_a_pipe_gets_every_column(energydb, seed_database):
    """Where nobody looks, nothing is left out."""
    done = energydb("query", "best_pick", "--database", seed_database, COLUMNS="80")

    assert done.stderr == ""
    assert done.stdout.count("Apache-2.0") == 3


def end_of(program, words, how, folder):
    """Run a line of the shell, and return the program's exit code and what it said."""
    command = f"{shlex.join([str(program), *words])} {how}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


COMMANDS = [["query", "build"], ["load"], ["views"], ["check", "energy.duckdb"]]


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_stdout_that_takes_nothing(programs, seeds_here, words):
    """Full, or a pipe that nobody reads: no traceback, and the command's own work is done."""
    code, said = end_of(programs / "energydb", words, "| true", seeds_here.parent)
    assert (code, "Traceback" in said) == (0, False)
    code, said = end_of(programs / "energydb", words, ">/dev/full", seeds_here.parent)
    assert (code, "No space left on device" in said, "Traceback" in said) == (3, True, False)


@pytest.mark.parametrize("words", [COMMANDS[0], *map(swept, COMMANDS[1:])], ids=lambda words: words[0])
def test_streams_that_were_closed(seeds_here, words):
    """As a scheduler may start it, so started anew here: the command's own work is done."""
    for how in (">&-", "2>&- >/dev/null") if words[0] == "query" else (">&- 2>&-",):
        assert end_of(ENERGYDB, words, how, seeds_here.parent) == (0, "")


LONG = "select count(*) from range(300000) a, range(3000000) b where hash(a.range + b.range) = 1"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, swept(signal.SIGTERM), swept(signal.SIGHUP)])
def test_a_signal_stops_a_long_query(seed_database, tmp_path, number):
    """At once, and not when the query would be over."""
    command = [ENERGYDB, "query", LONG, "--database", seed_database]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals
    ) as process:
        wait_until_it_computes(process)
        process.send_signal(number)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()

    assert process.returncode == 128 + number
    assert "Traceback" not in said


def wait_until_it_computes(process: subprocess.Popen) -> None:
    """Wait until it has taken 2 s of processor time, of which its start takes less than one."""
    while process.poll() is None:
        shown = subprocess.run(
            ["ps", "-o", "time=", "-p", str(process.pid)], capture_output=True, text=True, check=False
        )
        if shown.stdout and int(shown.stdout.strip()[-2:]) >= 2:
            return
        time.sleep(0.1)


@pytest.mark.sweep
def test_a_signal_that_was_to_be_ignored_is(tmp_path):
    """As `nohup` has it: the terminal goes, and the load goes on."""
    ignoring = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    with subprocess.Popen([ENERGYDB, "load"], cwd=tmp_path, stdout=-3, stderr=-3, **ignoring) as process:
        while process.poll() is None:
            process.send_signal(signal.SIGHUP)
            time.sleep(0.02)

    assert process.returncode == 0


def test_two_columns_of_one_name_are_not_one(energydb, seed_database):
    """JSON would keep the last alone."""
    done = energydb("query", "select 1 as a, 2 as a", "--database", seed_database, "--format", "json")

    assert (done.returncode, done.stdout) == (1, "")
    assert "needs a name of its own for each column" in done.stderr


def test_output_keeps_links_and_modes_and_spares_devices(energydb, seed_database, tmp_path):
    """As load does."""

    def ask(output, sql="select 1 as one"):
        return energydb("query", sql, "--database", seed_database, "--format", "csv", "--output", output)

    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "real.csv").chmod(0o600)
    (tmp_path / "link.csv").symlink_to("real.csv")
    os.mkfifo(tmp_path / "pipe")

    assert ask("link.csv").returncode == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "one\n1\n"
    assert (tmp_path / "real.csv").stat().st_mode & 0o777 == 0o600
    assert ask("pipe").returncode == 1
    assert (tmp_path / "pipe").is_fifo()
    assert ask(f"{seed_database}.wal").returncode == 2
    assert ask("x.parquet", "select interval 3 day as i").returncode == 0
    failed = energydb("query", "select interval 3 day as i", "--database", seed_database, "--output", "i.parquet")
    assert (failed.returncode, len(failed.stderr.splitlines())) == (1, 1)


def test_a_reader_that_closes_early_is_no_fault(energydb, seed_database):
    """As in `energydb query … | head -1`."""
    command = shlex.quote(str(Path(sys.executable).with_name("energydb")))
    done = subprocess.run(
        f"{command} query configuration_detail --database {seed_database} --format csv | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.startswith("task,model,gpu")
    assert done.stderr == ""


def test_views_lists_the_questions(energydb):
    """A line each, without a database."""
    lines = energydb("views").stdout.splitlines()

    assert lines[0] == "Picks"
    assert max(map(len, lines)) <= 80
    assert "  best_pick                   Which run needs the least energy in time?" in lines
    assert "  pick                        Which run needs the least energy within my limits?" in lines


def test_views_shows_a_page(energydb, seed_database):
    """Of a view or a table: question, key, columns with type and unit."""
    page = energydb("views", "best_pick", "--database", seed_database).stdout
    table = energydb("views", "gpu", "--database", seed_database).stdout

    assert page.startswith("best_pick: Which run needs the least energy in time?")
    assert "\none row: task, model and GPU\nkey: task, model, gpu, boundary, source\n" in page
    assert "\nexample: energydb query best_pick --task lm-arena-chat\n" in page
    assert "  103.65" in page.partition("example:")[2]
    assert "median_itl_ms (DOUBLE): Median inter-token latency, ms." in page
    assert table.startswith("table gpu: A GPU model, with what its vendor states;")
    assert "rated_watts (DOUBLE): Rated power of one GPU, W (vendor)." in table
    assert energydb("views", "best_pik", "--database", seed_database).returncode == 1


def test_check_of_a_database(energydb, seeds_here):
    """A line for each promise; 1 where one is broken."""
    whole = energydb("check", "energy.duckdb")
    with duckdb.connect(str(seeds_here)) as connection:
        connection.execute("drop view best_pick")
    broken = energydb("check", "energy.duckdb")

    assert whole.returncode == 0
    assert "ok     table configuration: 42 rows" in whole.stdout.splitlines()
    assert "ok     view best_pick: 3 rows" in whole.stdout.splitlines()
    assert broken.returncode == 1
    faults = sorted(line for line in broken.stdout.splitlines() if line.startswith("FAULT"))
    assert [line.split(":")[0] for line in faults] == [
        "FAULT  view architecture_comparison",  # like others below, it reads best_pick
        "FAULT  view best_pick",
        "FAULT  view best_pick",
        "FAULT  view footprint",
        "FAULT  view precision_comparison",
        "FAULT  view request_energy",
        "FAULT  view task_ranking",
    ]


@pytest.mark.slow
def test_check_tells_a_database_by_its_bytes(energydb, seeds_here, tmp_path):
    """Not by its name; and a name in the way of a database is no document."""
    seeds_here.rename(tmp_path / "backup.json")

    assert energydb("check", "backup.json").stdout.startswith(f"ok     backup.json: schema: {newest_revision()}\n")


@pytest.mark.slow
def test_check_of_documents_writes_nothing(energydb, tmp_path):
    done = energydb("check", SCOUT)

    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_version_and_help(energydb):
    """Help that teaches: the first commands, and what the figures don't count."""
    assert energydb("--version").stdout == f"{package.__version__}\n"
    help_text = energydb("--help").stdout
    assert "energydb query best_pick" in help_text
    assert "a floor" in help_text
    assert energydb().stdout == help_text
    named = energydb("query", "pick", "--help").stdout
    assert "Options of pick:" in named
    assert "  --max-p99-itl-ms             ceiling on its 99th percentile, ms (DOUBLE)" in named
    assert max(map(len, named.splitlines())) <= 80
    for command in ("load", "check", "views", "query", "fetch", "upgrade"):
        assert "Example" in energydb(command, "--help").stdout


def test_help_imports_nothing_heavy():
    """Help is there at once: none of the four is needed to print it."""
    script = (
        "import sys\n"
        "from energydb.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'duckdb', 'sqlalchemy', 'alembic', 'pyarrow'} & sys.modules.keys()))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_what_to_type_next_can_be_typed(tmp_path, monkeypatch, capsys):
    """A name with blanks and quotes is one word to a shell; and under `uv run`, energydb is called so again."""
    odd = tmp_path / 'it\'s "mine" $x.duckdb'
    monkeypatch.setenv("UV", "/bin/uv")
    load_command([SCOUT], database=odd, strict=False, force=False, scenarios=None)
    lines = [shlex.split(line.partition("   (")[0]) for line in capsys.readouterr().err.splitlines()[-3:]]

    assert lines == [
        ["uv", "run", "energydb", "query", "best_pick", "--database", str(odd)],
        ["uv", "run", "energydb", "views"],
        ["duckdb", "-readonly", str(odd), "from best_pick"],
    ]
