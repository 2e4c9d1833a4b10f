"""The README's console blocks: each command with the output that is shown under it.

`uv run python -m tests.readme` runs the commands and writes their outputs into the page.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from energydb.paths import ROOT

README = ROOT / "README.md"
FIRST = "pip install uv && uv run energydb load"
_BLOCK = re.compile(r"^```console\n\$ (?P<command>.+)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)


class Block(NamedTuple):
    """One command, and the output shown."""

    command: str
    output: str


def blocks() -> list[Block]:
    """Read the console blocks, in order."""
    return [Block(match["command"], match["output"]) for match in _BLOCK.finditer(README.read_text())]


def run(command: str, folder: Path, *programs: Path) -> str:
    """Run a command in 80 columns, its programs found beside `programs`: stdout and stderr as they come."""
    path = os.pathsep.join([*(str(program.parent) for program in programs), os.environ["PATH"]])
    done = subprocess.run(
        command.removeprefix("pip install uv && ").removeprefix("uv run "),
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return done.stdout


def prepare(folder: Path) -> None:
    """Make a folder look as the README finds it: the data beside the database, as after the first command."""
    (folder / "data").symlink_to(ROOT / "data")
    run(FIRST, folder, Path(sys.executable))


def _rewrite(folder: Path) -> None:
    def output(match: re.Match[str]) -> str:
        command = match["command"]
        if "energydb" not in command and not command.startswith("duckdb "):
            return match[0]
        return f"```console\n$ {command}\n{run(command, folder, Path(sys.executable))}```"

    README.write_text(_BLOCK.sub(output, README.read_text()))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        _rewrite(Path(name))
