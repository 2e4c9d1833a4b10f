"""Puts faults into the code, one at a time, and tells which of them no test notices.

`python -m tests.faults --number 100 --seed 1` draws half of them from the queries, half from the modules. Each goes
into a copy of the checkout, where the tests run until one fails: first those of the file, then the ordinary suite,
then the sweeps. What a person found to be no fault at all is listed in equivalent.txt, each with its reason.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from queue import SimpleQueue

import duckdb

from energydb.paths import ROOT
from tests.faults.drawn import Fault, draw
from tests.faults.python import python_faults
from tests.faults.sql import sql_faults

_EQUIVALENT = Path(__file__).with_name("equivalent.txt")
_TIMEOUT_S = 900
_STAGES = ("first", "ordinary", "sweep")


def is_runnable(fault: Fault) -> bool:
    """Tell a fault from what the language itself refuses."""
    text = fault.faulty()
    if fault.path.endswith(".py"):
        return bool(compile(text, fault.path, "exec"))
    try:
        with duckdb.connect(str(_laid_out()), config={"threads": 1}) as connection:
            connection.execute("begin").execute(text).execute("rollback")
    except duckdb.Error:
        return False
    return True


def _laid_out() -> Path:
    """Lay an empty file out, once."""
    path = Path(_FOLDER.name) / "empty.duckdb"
    if not path.exists():
        from energydb.store.database import writing
        from energydb.store.schema import create_macros, lay_out

        with writing(path) as connection:
            lay_out(connection)
            create_macros(connection)
    return path


def drawn(number: int, seed: int, only: str | None) -> list[Fault]:
    """Draw the faults of a seed: always the same, for the same code."""
    chance = random.Random(seed)
    pools = {"sql": sql_faults(ROOT), "python": python_faults(ROOT)}
    wanted = [only] if only else ["sql", "python"]
    each = -(-number // len(wanted))
    return list(chain.from_iterable(draw(pools[kind], each, chance, is_runnable) for kind in wanted))[:number]


def noticed_by(fault: Fault, copy: Path, stages: tuple[str, ...]) -> str | None:
    """Return the stage and the test that notice a fault in a copy of the checkout; None where none does."""
    file = copy / fault.path
    sound = file.read_bytes()
    try:
        file.write_text(fault.faulty(), encoding="utf-8")
        for stage in stages:
            if failed := _failed(copy, stage, fault.path):
                return f"{stage}: {failed}"
        return None
    finally:
        file.write_bytes(sound)
        for stale in file.parent.glob(f"__pycache__/{file.stem}.*"):
            stale.unlink()  # told from the source by size and second alone


def _failed(copy: Path, stage: str, path: str) -> str | None:
    """Run the tests of a stage in a copy until one fails, and name it."""
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "-n", "0", "--no-header", "--tb=no"]
    arguments += ["--ignore=tests/test_faults.py"]  # that the code is another is no news
    if stage == "first":
        likely = [f"tests/test_{Path(path).stem}.py"] + ["tests/test_recomputed.py"] * path.endswith(".sql")
        files = [file for file in likely if (copy / file).exists()]
        if not files:
            return None
        arguments += files
    if stage == "sweep":
        arguments += ["-m", "sweep"]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "no end"
    if done.returncode == 0:
        return None
    said = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return said[0].split(" ")[1] if said else f"exit code {done.returncode}"


def equivalents() -> dict[tuple[str, str, str], str]:
    """Read what was found to be no fault: file, what stood there and what stands there, with the reason."""
    listed = [line.split(" | ") for line in _EQUIVALENT.read_text(encoding="utf-8").splitlines() if " | " in line]
    return {(path, before, after): reason for path, before, after, reason in listed}


def on_a_line(text: str) -> str:
    """Write a piece of code on one line, short enough to read in a list."""
    line = " ".join(text.split())
    return line if len(line) <= 160 else f"{line[:157]}..."


def _results(
    faults: list[Fault], jobs: int, stages: tuple[str, ...], kept: Path | None
) -> Iterator[dict[str, object]]:
    """Yield what became of each fault, as it is known; what `kept` holds already isn't run again."""
    before = [json.loads(line) for line in kept.read_text().splitlines()] if kept and kept.exists() else []
    known = {tuple(result["fault"]): result for result in before}
    copies: SimpleQueue[Path] = SimpleQueue()
    for job in range(jobs):
        copy = Path(_FOLDER.name) / f"copy-{job}"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv", ".git", "__pycache__", "*.duckdb"))
        copies.put(copy)

    def run(fault: Fault) -> dict[str, object]:
        if fault.identity in known:
            return known[fault.identity]
        copy = copies.get()
        try:
            result = {"fault": fault.identity, "noticed": noticed_by(fault, copy, stages)}
        finally:
            copies.put(copy)
        if kept:
            with kept.open("a") as file:
                file.write(json.dumps(result) + "\n")
        return result

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(run, faults)


def main() -> None:
    """Draw, put in, run, and tell."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=100, help="how many faults (100)")
    parser.add_argument("--seed", type=int, default=1, help="what they are drawn by (1)")
    parser.add_argument("--only", choices=["sql", "python"], help="of the queries or of the modules alone")
    parser.add_argument("--suite", choices=["ordinary", "full"], default="full", help="with or without the sweeps")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once (2)")
    parser.add_argument("--results", type=Path, help="a file to keep results in, and to go on from")
    parser.add_argument("--list", action="store_true", help="tell what is drawn, and run nothing")
    given = parser.parse_args()
    faults = drawn(given.number, given.seed, given.only)
    if given.list:
        for fault in faults:
            print(f"{fault.path}:{fault.line}: {fault.kind}: {on_a_line(fault.before)} -> {on_a_line(fault.after)}")
        return
    stages = _STAGES if given.suite == "full" else _STAGES[:-1]
    same = equivalents()
    table: Counter[tuple[str, str]] = Counter()
    for fault, result in zip(faults, _results(faults, given.jobs, stages, given.results), strict=True):
        place = f"{fault.path}:{fault.line}: {fault.kind}"
        change = (on_a_line(fault.before), on_a_line(fault.after))
        outcome = str(result["noticed"]).partition(":")[0] if result["noticed"] else "missed"
        if outcome == "missed" and (fault.path, *change) in same:
            outcome = "equivalent"
        table[fault.path.rpartition(".")[2], outcome] += 1
        print(f"{outcome:10}  {place}: {change[0]} -> {change[1]}  {result['noticed'] or ''}", flush=True)
    print(f"\n| put into | number | first files | ordinary suite | sweeps | equivalent | missed |\n{'|---' * 7}|")
    for kind in sorted({kind for kind, _ in table}):
        counts = [table[kind, outcome] for outcome in (*_STAGES, "equivalent", "missed")]
        print(f"| {kind} | {sum(counts)} | " + " | ".join(map(str, counts)) + " |")


_FOLDER = tempfile.TemporaryDirectory(prefix="energydb-faults-")

if __name__ == "__main__":
    main()
