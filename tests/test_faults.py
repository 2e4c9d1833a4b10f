"""The script that puts faults in: what it draws, and that it changes nothing but the fault."""

import shutil

import duckdb
import pytest

from energydb.paths import ROOT
from energydb.store.views import read_views
from tests.faults.__main__ import drawn
from tests.faults.python import python_faults
from tests.faults.sql import sql_faults, written_anew


@pytest.mark.sweep
def test_a_seed_draws_the_same_faults_of_both_kinds():
    """Half in the queries and half in the modules, each another, and each a change of its file."""
    faults = drawn(8, 7, None)
    identities = [fault.identity for fault in faults]

    assert identities == [fault.identity for fault in drawn(8, 7, None)]
    assert len(set(identities)) == 8
    assert sum(fault.path.startswith("queries/") for fault in faults) == 4
    assert sum(fault.path.startswith("energydb/") for fault in faults) == 4
    for fault in faults:
        assert fault.faulty() != (ROOT / fault.path).read_text()


@pytest.mark.sweep
def test_a_query_written_anew_answers_the_same(everything_database, tmp_path):
    """So that nothing but the fault is noticed."""
    path = tmp_path / "energy.duckdb"
    shutil.copyfile(everything_database, path)
    names = [view.name for view in read_views() if not view.is_macro] + ["pick()", "energy_at(12)"]
    with duckdb.connect(str(path)) as connection:
        before = {name: connection.execute(f"from {name}").fetchall() for name in names}
        for view in read_views():
            connection.execute(written_anew(view.sql))
        assert {name: connection.execute(f"from {name}").fetchall() for name in names} == before


@pytest.mark.sweep
def test_words_for_a_person_are_no_place_for_a_fault():
    """A message that reads otherwise is as right as it was; a column that is shown for another is not."""
    python = {(fault.kind, fault.before) for fault in python_faults(ROOT)}
    sql = {(fault.path, fault.kind, fault.before, fault.after) for fault in sql_faults(ROOT)}

    assert not any("no such file" in before for kind, before in python if kind == "text")
    assert not any("expected a number" in before for _, kind, before, _ in sql if kind == "text")
    assert ("queries/best_pick.sql", "column", "p90_itl_ms", "p95_itl_ms AS p90_itl_ms") in sql
    assert ("queries/gpu_power.sql", "filter dropped", "WHERE configuration_detail.is_current", "") in sql
