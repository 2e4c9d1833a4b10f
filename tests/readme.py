"""The READMEs' console blocks: each command with the output that is shown under it; and the table of views.

`uv run python -m tests.readme` runs the commands and writes their outputs into the pages, and the table anew.
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

from energydb.paths import QUERIES, ROOT
from energydb.store.views import TOPICS, read_views

README = ROOT / "README.md"
PAGES = (README, *sorted(ROOT.glob("[!.]*/**/README.md")))
VIEWS = QUERIES / "README.md"
BEGIN, END = "<!-- written by `python -m tests.readme`, from the heads of the files -->", "<!-- written so far -->"
FIRST = "pip install uv && uv run energydb load"
_BLOCK = re.compile(r"^```console\n\$ (?P<command>.+)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)


class Block(NamedTuple):
    """One command, and the output shown on its page."""

    page: Path
    command: str
    output: str


def blocks() -> list[Block]:
    """Read the console blocks of every page, the first README's first, in order."""
    return [
        Block(page, match["command"], match["output"])
        for page in PAGES
        for match in _BLOCK.finditer(page.read_text())
    ]


def table_of_views() -> str:
    """Put the heads of the views and macros as a Markdown table, topic by topic, as `energydb views` lists them."""
    lines = ["| view or macro | one row per | key | question |", "|---|---|---|---|"]
    for view in sorted(read_views(), key=lambda view: (TOPICS.index(view.topic), view.name)):
        name = f"{view.name}(…)" if view.is_macro else view.name
        key = ", ".join(f"`{column}`" for column in view.key)
        grain = view.grain.removeprefix("one row per ")
        lines.append(f"| [`{name}`]({view.name}.sql) | {grain} | {key} | {view.title} |")
    return "\n".join(lines)


def put_between(page: Path, begin: str, end: str, text: str) -> None:
    """Put a text on a page in the place of what stands between two of its lines."""
    before, _, rest = page.read_text().partition(f"{begin}\n")
    _, found, after = rest.partition(end)
    assert found, f"{page}: expected {begin} … {end}"
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")


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
    """Make a folder look as the READMEs find it: the data beside the database, as after the first command."""
    (folder / "data").symlink_to(ROOT / "data")
    run(FIRST, folder, Path(sys.executable))


def _rewrite(page: Path, folder: Path) -> None:
    def output(match: re.Match[str]) -> str:
        command = match["command"]
        if "energydb" not in command and not command.startswith("duckdb "):
            return match[0]
        return f"```console\n$ {command}\n{run(command, folder, Path(sys.executable))}```"

    page.write_text(_BLOCK.sub(output, page.read_text()))


if __name__ == "__main__":
    put_between(VIEWS, BEGIN, END, table_of_views())
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        for page in PAGES:
            _rewrite(page, Path(name))
