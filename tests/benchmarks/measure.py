"""Measures whole processes: how long pairs of them take in turn, and how much memory a process and its own take."""

import contextlib
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

Command = Sequence[str | Path]

# Where Python may not keep its bytecode, each start takes two to three times as long.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("PYTHONDONTWRITEBYTECODE", "UV", "COLUMNS") and not name.startswith("ENERGYDB_")
}


class Pair(NamedTuple):
    """Two commands that were run in turn: the median of their seconds, and the median of their ratios."""

    first: float
    second: float
    ratio: float


def in_turn(first: Command, second: Command, times: int, before: Callable[[], None] = lambda: None) -> Pair:
    """Run two commands in turn, once unmeasured and then `times` times."""
    seconds(first, before)
    seconds(second, before)
    pairs = [(seconds(first, before), seconds(second, before)) for _ in range(times)]
    return Pair(
        statistics.median(one for one, _ in pairs),
        statistics.median(other for _, other in pairs),
        statistics.median(one / other for one, other in pairs),
    )


def seconds(command: Command, before: Callable[[], None] = lambda: None) -> float:
    """Run a command to its end: how long it takes, in seconds."""
    before()
    begun = time.perf_counter()
    subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return time.perf_counter() - begun


def peak_memory(command: Command) -> int:
    """Run a command: the most memory, in bytes, that it and its processes take at one time.

    Each page counts once, however many processes share it (Linux's proportional set size), and so do the pages of
    files that are mapped. Sampled 50 times a second.
    """
    peak = 0
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while process.poll() is None:
            peak = max(peak, sum(map(_proportional_set_size, with_children(process.pid))))
            time.sleep(0.02)
    assert process.returncode == 0
    return peak


def with_children(pid: int) -> list[int]:
    """Name a process and all that it started, directly or not."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):  # it ended meanwhile
            for children in Path(f"/proc/{parent}/task").glob("*/children"):
                found += map(int, children.read_text().split())
    return found


def _proportional_set_size(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0  # it ended meanwhile
    return 1024 * next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
