"""`python -m tests.benchmarks`: how fast energydb is, as ratios to other things on the same machine, in one run.

--json FILE      write the figures too
--readme         write the table into the README beside this
--without-peers  leave out other tools, which need PyPI
--quick          fewer documents and runs: to try the benchmark, not to quote it
"""

import argparse
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb

from energydb.paths import ROOT
from tests.benchmarks.corpus import RUNS_EACH, write_corpus
from tests.benchmarks.flat import compare, write_flat
from tests.benchmarks.measure import in_turn, peak_memory, seconds
from tests.benchmarks.peers import PEERS
from tests.readme import put_between

PYTHON = Path(sys.executable)
ENERGYDB = PYTHON.with_name("energydb")
PAGE = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- measured by `python -m tests.benchmarks --readme` -->", "<!-- measured so far -->"


class Row(NamedTuple):
    """One goal: what was measured against what, the ratio (or number) that is wanted, and the one found."""

    what: str
    against: str
    goal: str
    measured: float
    is_met: bool
    figures: str


def most(what: str, against: str, limit: float, measured: float, figures: str) -> Row:
    return Row(what, against, f"≤ {limit:g} x", measured, measured <= limit, figures)


def measure(folder: Path, sizes: tuple[int, int], times: int, with_peers: bool) -> Iterator[Row]:
    """Measure every goal; `sizes` are the documents in a middle and in a large corpus."""
    target = folder / "energy.duckdb"
    corpora = {size: folder / f"{size}-documents" for size in sizes}
    for size, corpus in corpora.items():
        write_corpus(corpus, size)
    middle, large = corpora.values()

    def load(*paths: Path) -> list[str | Path]:
        return [ENERGYDB, "load", *paths, "--database", target]

    def python(code: str) -> list[str | Path]:
        return [PYTHON, "-c", code]

    read_json = f"select count(*) from read_json('{large}/*.json')"
    floor = python(f"import duckdb; print(duckdb.sql({read_json!r}).fetchall())")
    pair = in_turn(load(large), floor, times)
    what = f"`energydb load` of {sizes[1]:,} documents, {sizes[1] * RUNS_EACH:,} runs"
    yield most(what, "DuckDB's count over `read_json` of the files", 2.0, pair.ratio, _pair(pair))
    size_of_large = target.stat().st_size
    flat = folder / "flat.parquet"
    write_flat(target, flat)
    answers = compare(target, flat, times)

    seeds = in_turn(load(), python("import duckdb, sqlalchemy, alembic"), 3 * times)
    of_middle = statistics.median(seconds(load(middle)) for _ in range(times))
    if with_peers:
        peer, of_peer = min(_peers(folder, middle), key=lambda one: one[1])
        ratio = of_peer / of_middle
        figures = f"{of_middle:.2f} s, {of_peer:.2f} s"
        what = f"`energydb load` of {sizes[0]:,} documents"
        yield Row(what, f"the fastest peer, {peer}", "≥ 10 x as fast", ratio, ratio >= 10, figures)

    of_run = [(total - seeds.first) / size for total, size in ((pair.first, sizes[1]), (of_middle, sizes[0]))]
    growth = 1 + math.log(of_run[0] / of_run[1]) / math.log(sizes[1] / sizes[0])
    what = f"growth of the time, {sizes[0]:,} to {sizes[1]:,} documents"
    figures = f"{of_middle:.2f} s, {pair.first:.2f} s, start-up {seeds.first:.2f} s"
    yield Row(what, "itself, beyond the load of the shipped documents", "exponent ≤ 1", growth, growth <= 1, figures)

    memory, memory_of_middle = peak_memory(load(large)), peak_memory(load(middle))
    figures = f"{memory / 1e6:.0f} MB, {memory_of_middle / 1e6:.0f} MB"
    what = f"peak memory of all processes, {sizes[1]:,} documents"
    yield most(what, f"{sizes[0]:,} documents", 1.5, memory / memory_of_middle, figures)
    yield Row(what, "(none)", "≤ 700 MB", memory / 1e6, memory <= 700e6, figures)

    yield most(
        "`energydb load` of the shipped documents",
        "importing duckdb, sqlalchemy and alembic",
        2.5,
        seeds.ratio,
        _pair(seeds),
    )
    helped = in_turn([ENERGYDB, "--help"], python("pass"), 3 * times)
    yield most("`energydb --help`", "`python -c pass`", 8, helped.ratio, _pair(helped))
    seconds(load())
    fetched = python(
        f"import duckdb; print(duckdb.connect({str(target)!r}, read_only=True).execute('from best_pick').fetchall())"
    )
    asked = in_turn([ENERGYDB, "query", "best_pick", "--database", target], fetched, 3 * times)
    yield most("`energydb query best_pick`", "duckdb alone, the same rows", 2.0, asked.ratio, _pair(asked))

    for answer in answers:
        figures = f"{answer.view * 1000:.0f} ms, {answer.by_hand * 1000:.0f} ms"
        by_hand = "SQL by hand over flat Parquet"
        yield most(f"`{answer.name}`", by_hand, 1.5, answer.view / answer.by_hand, figures)
    figures = f"{size_of_large / 1e6:.0f} MB, {flat.stat().st_size / 1e6:.0f} MB"
    yield most("the file's size", "zstd Parquet of the same runs", 2.0, size_of_large / flat.stat().st_size, figures)


def _pair(pair) -> str:
    return (
        f"{pair.first:.2f} s, {pair.second:.2f} s"
        if pair.first >= 1
        else f"{pair.first * 1000:.0f} ms, {pair.second * 1000:.0f} ms"
    )


def _peers(folder: Path, corpus: Path) -> Iterator[tuple[str, float]]:
    """Run each peer once, in an environment of its own: what it needs would slow energydb's own starts."""
    environment = folder / "peers"
    subprocess.run([PYTHON, "-m", "venv", environment], check=True)
    python = environment / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
    install = [python, "-m", "uv", "pip", "install", "--quiet", "--python", python, "--group", "benchmarks", "."]
    subprocess.run(install, cwd=ROOT, check=True)
    for name in PEERS:
        into = folder / name.replace(" ", "-")
        into.mkdir()
        command = [python, "-m", "tests.benchmarks.peers", name, corpus, into / "peer.db"]
        yield name, seconds(command)


def table(rows: list[Row]) -> str:
    """Put the rows as a Markdown table."""
    lines = ["| what | against | goal | measured | |", "|---|---|---|---|---|"]
    for row in rows:
        number = f"{row.measured:.2f}" if row.measured < 100 else f"{row.measured:.0f}"
        lines.append(
            f"| {row.what} | {row.against} | {row.goal} | {number}{', missed' * (not row.is_met)} | {row.figures} |"
        )
    return "\n".join(lines)


def machine() -> str:
    """Say what this was measured on."""
    model = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    processor = model[1].strip() if model else platform.processor()
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{len(os.sched_getaffinity(0))} cores of {processor}, {gigabytes:.0f} GiB,"
        f" Python {platform.python_version()}, DuckDB {duckdb.__version__}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="energydb-benchmark-"))
    sizes, times = ((500, 1000), 1) if options.quick else ((1000, 10000), 5)
    rows = []
    try:
        for row in measure(folder, sizes, times, not options.without_peers):
            print(f"{row.what}: {row.measured:.2f} ({row.goal}; {row.figures})", file=sys.stderr)
            rows.append(row)
    finally:
        shutil.rmtree(folder)
    print(f"{machine()}\n\n{table(rows)}")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "rows": [row._asdict() for row in rows]}, indent=2))
    if options.readme:
        put_between(PAGE, BEGIN, END, f"On {machine()}:\n\n{table(rows)}")


if __name__ == "__main__":
    main()
