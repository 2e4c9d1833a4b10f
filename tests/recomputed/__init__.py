"""Recomputes every view and macro in plain Python, from the meaning that its header gives: nothing here is SQL.

`rows_of(world, "best_pick")` and `rows_of(world, "energy_at", at_concurrency=100)` are what the database should say.
"""

from tests.recomputed import curves, doubts, history, notices, picks, plans, points, quality, runs, worlds
from tests.recomputed.declared import DECLARED, rows_of

__all__ = [
    "DECLARED",
    "curves",
    "doubts",
    "history",
    "notices",
    "picks",
    "plans",
    "points",
    "quality",
    "rows_of",
    "runs",
    "worlds",
]
