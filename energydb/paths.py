"""Where the things that come with energydb lie, in a checkout and in an installed wheel alike."""

import shlex
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

# A wheel carries these folders inside the package; in a checkout they lie beside it.
ROOT = _PACKAGE if (_PACKAGE / "alembic.ini").is_file() else _PACKAGE.parent

ALEMBIC_INI = ROOT / "alembic.ini"
DATA = ROOT / "data"
SCENARIOS = DATA / "scenarios.csv"
QUERIES = ROOT / "queries"

MIGRATIONS = ROOT / "migrations" / "versions"

DEFAULT_DATABASE = Path("energy.duckdb")
FETCHED = Path("leaderboard")


def known_revisions() -> tuple[str, ...]:
    """Return the revisions of the schema that this energydb knows, oldest first: migrations are named by them."""
    return tuple(sorted(path.name.partition("_")[0] for path in MIGRATIONS.glob("[0-9]*.py")))


def is_before_releases(revision: str | None) -> bool:
    """Tell a revision from before the first release, to which no migration leads; None is of no revision."""
    return revision is None or revision < known_revisions()[0]


def as_option(database: Path) -> str:
    """Return what names a database on the command line, after a blank; nothing for the default one."""
    return "" if database == DEFAULT_DATABASE else f" --database {shlex.quote(str(database))}"


def newest_revision() -> str:
    """Return the revision that migrations lead to: the one that this energydb reads and writes."""
    return known_revisions()[-1]
