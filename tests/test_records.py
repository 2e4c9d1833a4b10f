"""Runs field by field: what tells some from others."""

import pytest

from energydb.sources.records import ImageRun, Run, Runs
from tests.documents import run


@pytest.mark.parametrize("other", [{"num_gpus": 2}, {"joules_per_output_token": 1.5}, {"p95_itl_ms": None}], ids=str)
def test_runs_are_equal_only_in_every_field(other):
    """Documents are compared by them."""
    some = Runs(Run, {field: [value, value] for field, value in run().items()})
    same = Runs(Run, {field: [value, value] for field, value in run().items()})
    others = Runs(Run, {field: [value, other.get(field, value)] for field, value in run().items()})

    assert some == same
    assert some != others
    assert some != Runs(ImageRun, some.columns)
    assert some != some.columns
