"""A copy of energydb as it may be later: with one more measured column, and the migration that adds it.

The files that it changes are those that any such column takes.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from energydb.paths import ROOT, newest_revision

LATER = f"{int(newest_revision()) + 1:04}"
_MIGRATION = f'''"""Add a measured column."""

import sqlalchemy as sa
from alembic import op

from energydb.store.upgrade import refuse_downgrade

revision = "{LATER}"
down_revision = "{newest_revision()}"
branch_labels = None
depends_on = None

downgrade = refuse_downgrade


def upgrade() -> None:
    op.add_column("configuration", sa.Column("time_to_first_token_ms", sa.Double()))
'''
# In each file, before which line the column is told, and how.
_TOLD = {
    "energydb/store/tables.py": (
        "    row_id: Mapped[str]",
        '    time_to_first_token_ms: Mapped[float | None] = mapped_column(comment="Time to the first token, ms.")\n',
    ),
    "energydb/sources/records.py": ("    parallel_notes: str", "    time_to_first_token_ms: float | None = None\n"),
    "energydb/sources/leaderboard_form.py": (
        "    energy_per_request_joules: Positive",
        "    time_to_first_token_ms: Positive = _ABSENT\n",
    ),
    "queries/configuration_detail.sql": (
        "    configuration.tokens_per_second,",
        "    configuration.time_to_first_token_ms,\n",
    ),
}


def make(folder: Path) -> None:
    """Copy energydb, and tell it of the column."""
    for name in ("energydb", "migrations", "queries", "data"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "alembic.ini", folder)
    (folder / "migrations" / "versions" / f"{LATER}_add_time_to_first_token.py").write_text(_MIGRATION)
    for name, (before, told) in _TOLD.items():
        text = (folder / name).read_text()
        assert text.count(before) == 1, (name, before)
        (folder / name).write_text(text.replace(before, told + before))


def run(folder: Path, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the copy's command."""
    script = "from energydb.cli import main; main()"
    environment = {name: value for name, value in os.environ.items() if name not in ("UV", "ENERGYDB_DATABASE")}
    environment["PYTHONPATH"] = str(folder)
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
