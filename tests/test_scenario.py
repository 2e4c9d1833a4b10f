"""Scenarios: a file that users edit, so every slip is named by line and column."""

import pytest

from energydb.errors import DocumentErrors
from energydb.paths import SCENARIOS
from energydb.sources.scenario import COLUMNS, read_scenarios

GOOD = "here,1.2,meter,0.2,EUR,bill,100,grid,2,meter"


def write(path, *lines):
    path.write_text("\n".join([",".join(COLUMNS), *lines]) + "\n")
    return path


def test_the_shipped_scenarios_are_read():
    """Each figure with its source; unknown is None, not zero."""
    read = {scenario.name: scenario for scenario in read_scenarios(SCENARIOS)}

    assert list(read) == ["france", "us-average", "us-virginia-cloud"]
    france = read["france"]
    assert (france.pue, france.gco2e_per_kwh, france.price_per_kwh, france.currency) == (1.58, 32.0, None, None)
    assert all(scenario.pue_source for scenario in read.values())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("here,0.9,meter,,,,,,,", "line 2: pue: expected a number >= 1, got 0.9"),
        ("here,,meter,,,,,,,", "line 2: pue: expected a number >= 1, got nothing"),
        ("here,nan,meter,,,,,,,", "line 2: pue: expected a number >= 1, got nan"),
        ("here,inf,meter,,,,,,,", "line 2: pue: expected a number >= 1, got inf"),
        ("here,1.2,,,,,,,,", "line 2: pue_source: expected text, as pue is given, got nothing"),
        ("here,1.2,meter,-0.1,EUR,bill,,,,", "line 2: price_per_kwh: expected a number >= 0, got -0.1"),
        ("here,1.2,meter,0.1,,bill,,,,", "line 2: currency: expected text, as price_per_kwh is given, got nothing"),
        ("here,1.2,meter,,EUR,,,,,", "line 2: currency: expected nothing where price_per_kwh is nothing, got EUR"),
        ("here,1.2,meter,,,,-1,grid,,", "line 2: gco2e_per_kwh: expected a number >= 0, got -1"),
        ("here,1.2,meter,,,,x,grid,,", "line 2: gco2e_per_kwh: expected a number >= 0, got x"),
        ("here,1.2,meter,,,,,,-2,meter", "line 2: litres_per_kwh: expected a number >= 0, got -2"),
        (",1.2,meter,,,,,,,", "line 2: name: expected a name, got nothing"),
        ("here,1.2", "line 2: expected 10 columns, got 2"),
        (f"{GOOD}\n{GOOD}", "line 3: name: expected each name once, got here again"),
        ('here,"1.2', "line 2: expected CSV, got unexpected end of data"),
    ],
)
def test_nonsense_is_refused_by_its_line(tmp_path, line, said):
    path = write(tmp_path / "scenarios.csv", line)

    with pytest.raises(DocumentErrors) as refused:
        read_scenarios(path)
    assert refused.value.lines == (f"{path}: {said}",)


def test_other_columns_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("name,pue\nhere,1\n")
    (tmp_path / "b.csv").write_text("")
    write(tmp_path / "c.csv")
    (tmp_path / "d.csv").write_bytes(b"\xff")

    for name, said in (
        ("a", "line 1: expected the columns name,pue,pue_source"),
        ("b", "line 1: expected the columns"),
        ("c", "expected at least one scenario, got none"),
        ("d", "expected UTF-8"),
        ("e", "expected a file, got none"),
    ):
        with pytest.raises(DocumentErrors, match=said):
            read_scenarios(tmp_path / f"{name}.csv")


@pytest.mark.slow
def test_load_takes_a_file_of_ones_own(energydb, tmp_path):
    """And refuses it whole; the database stays as it was."""
    write(tmp_path / "mine.csv", GOOD, "there,1.0,plan,,,,,,,")
    write(tmp_path / "bad.csv", "here,0.5,meter,,,,,,,")

    assert energydb("load", "--scenarios", "mine.csv").returncode == 0
    before = (tmp_path / "energy.duckdb").read_bytes()
    refused = energydb("load", "--scenarios", "bad.csv")

    assert (refused.returncode, refused.stderr) == (
        1,
        "energydb: bad.csv: line 2: pue: expected a number >= 1, got 0.5\n",
    )
    assert (tmp_path / "energy.duckdb").read_bytes() == before
    names = energydb("query", "select name from scenario order by name", "--format", "csv").stdout.split()
    assert names == ["name", "here", "there"]


def test_the_least_figures_are_taken(tmp_path):
    """No overhead, no price, no emissions and no water are figures; blanks around them are none."""
    (read,) = read_scenarios(write(tmp_path / "a.csv", " here , 1 ,plan,0,EUR,bill,0.0,grid,0,meter"))

    assert (read.name, read.pue, read.price_per_kwh, read.gco2e_per_kwh, read.litres_per_kwh) == ("here", 1, 0, 0, 0)


def test_scenarios_come_by_name(tmp_path):
    """Whatever their order in the file; each keeps its own figures."""
    read = read_scenarios(write(tmp_path / "a.csv", "b,2,x,,,,,,,", "a,1,y,,,,,,,", "c,3,z,,,,,,,"))

    assert [(scenario.name, scenario.pue, scenario.pue_source) for scenario in read] == [
        ("a", 1.0, "y"),
        ("b", 2.0, "x"),
        ("c", 3.0, "z"),
    ]


def test_every_faulty_line_is_named(tmp_path):
    """One look is enough to mend the file."""
    path = write(tmp_path / "a.csv", "a,0.5,x,,,,,,,", GOOD, "c,1,,,,,-1,,,")
    with pytest.raises(DocumentErrors) as refused:
        read_scenarios(path)

    assert [line.split(": ")[1:3] for line in refused.value.lines] == [
        ["line 2", "pue"],
        ["line 4", "pue_source"],
        ["line 4", "gco2e_per_kwh"],
        ["line 4", "gco2e_source"],
    ]
