"""What vendors state of GPUs: each figure as its data sheet has it."""

from energydb.store.facts import VENDOR_FACTS


def test_each_figure_is_the_data_sheets():
    """A share of rated power is only as right as the rating: H100 SXM5, and one of the eight B200 of an HGX."""
    figures = {gpu: (facts.memory_gb, facts.rated_watts) for gpu, facts in VENDOR_FACTS.items()}

    assert figures == {"H100": (80, 700), "B200": (1440 / 8, 1000)}


def test_a_database_holds_them(seeds):
    """By name, each with where it is stated."""
    rows = seeds.execute("select name, memory_gb, rated_watts, facts_source from gpu order by name").fetchall()

    assert [row[:3] for row in rows] == [("B200", 180.0, 1000.0), ("H100", 80.0, 700.0)]
    assert ["B200" in rows[0][3], "H100" in rows[1][3]] == [True, True]
