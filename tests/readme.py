"""The README's console blocks: each command with the output that is shown under it.

`uv run python -m tests.readme` runs the commands and writes their outputs into the page.
"""

import contextlib
import fcntl
import os
import re
import struct
import subprocess
import sys
import tempfile
import termios
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
    """Run a command in a terminal of 80 columns, its programs found beside `programs`: what it shows."""
    path = os.pathsep.join([*(str(program.parent) for program in programs), os.environ["PATH"]])
    inner, outer = os.openpty()
    fcntl.ioctl(outer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    hidden = ("COLUMNS", "ENERGYDB_DATABASE", "UV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden} | {"PATH": path}
    if "uv run " in command:
        environment["UV"] = "uv"
    with subprocess.Popen(
        command.removeprefix("pip install uv && ").removeprefix("uv run "),
        shell=True,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=outer,
        stderr=outer,
    ) as process:
        os.close(outer)
        shown = b""
        with contextlib.suppress(OSError):  # Linux ends a terminal that nobody holds any more with EIO
            while piece := os.read(inner, 65536):
                shown += piece
        os.close(inner)
    assert process.returncode == 0, shown.decode()
    return shown.decode().replace("\r\n", "\n")


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
