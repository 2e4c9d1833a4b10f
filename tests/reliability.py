"""The table of promises in this folder's README: each row's cases and outcome are what its test counted.

`uv run pytest --write-reliability` puts the outcomes of that run into the page.
"""

import re
from pathlib import Path

PAGE = Path(__file__).with_name("README.md")
_HEAD = "| promise | test | cases | the last run gave |\n|---|---|---|---|\n"


def rows() -> list[list[str]]:
    """Read the table, cell by cell."""
    table = PAGE.read_text().partition(_HEAD)[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]


def write(gave: dict[str, str]) -> None:
    """Put outcomes into the rows whose promises begin so."""
    page = PAGE.read_text()
    for promise, outcome in gave.items():
        row = re.compile(rf"^(\| {re.escape(promise)}.* \| )[^|]* \|$", re.MULTILINE)
        page, found = row.subn(lambda match, outcome=outcome: f"{match[1]}{outcome} |", page)
        assert found == 1, promise
    PAGE.write_text(page)
