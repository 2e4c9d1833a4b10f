"""Answers in a form to read: nothing hidden, nothing that a terminal would act on."""

import csv
import datetime
import json
from decimal import Decimal
from io import StringIO

import pytest
from rich.cells import cell_len

from energydb.ask.render import bibtex_entries, csv_lines, draw_table, json_lines, markdown_lines, printable


def test_a_table_that_fits():
    """Figures to the right, text to the left, headers broken at underscores."""
    drawing = draw_table(
        ("model", "max_num_seqs", "is_current"), [("small", 2048, True), ("x", None, False)], 40, may_leave_out=False
    )

    assert drawing.text.splitlines() == [
        "       max_",
        "       num_  is_",
        "model  seqs  current",
        "────────────────────",
        "small  2048  true",
        "x      NULL  false",
    ]
    assert drawing.left_out == ()


def test_columns_that_say_the_same_go_first():
    """They are named beside the table, unless they are prose."""
    columns = ("a", "b", "c", "d", "e", "f")
    rows = [(["same" * 2, *("x" * 5 for _ in range(4)), "y" * 41]), (["same" * 2, *"zzzz", "y" * 41])]
    drawing = draw_table(columns, rows, 30, may_leave_out=True)

    assert drawing.in_every_row == {"a": "samesame"}
    assert drawing.left_out == ("f",)
    assert drawing.text.split()[:4] == ["b", "c", "d", "e"]


def test_columns_that_do_not_fit_are_named():
    """What is left out of a named view is said, so that it can be asked for."""
    columns = ("a", "b", "c", "d", "e", "f")
    drawing = draw_table(columns, [["x" * 5] * 6, ["y" * 5] * 6], 35, may_leave_out=True)

    assert drawing.in_every_row == {}
    assert drawing.left_out == ("f",)
    assert max(map(len, drawing.text.splitlines())) <= 35
    assert drawing.text.count("xxxxx") == 5


def test_a_single_row_turns_upright():
    """All of it is then seen, however narrow the terminal."""
    drawing = draw_table(("a", "b", "c", "d", "e", "f"), [["x" * 5] * 6], 35, may_leave_out=True)

    assert drawing.text.splitlines()[:2] == ["a  xxxxx", "b  xxxxx"]
    assert drawing.left_out == ()


@pytest.mark.parametrize("may_leave_out", [True, False])
def test_rows_turn_upright_where_too_little_would_be_seen(may_leave_out):
    """Every figure that was asked for is shown."""
    drawing = draw_table(("a", "wanted"), [("x" * 30, 1.5), ("y", 2.5)], 20, may_leave_out=may_leave_out)

    assert drawing.text == f"a       {'x' * 30}\nwanted  1.5\n\na       y\nwanted  2.5\n"
    assert drawing.left_out == ()


def test_many_rows_are_drawn_part_by_part():
    """The first show at once, and columns that can't be seen are not put in words, row by row."""
    told = 0

    class Value:
        def __str__(self) -> str:
            nonlocal told
            told += 1
            return f"{told:010}"

    rows = [(f"{place:04}", *("abc" if place % 2 else "xyz"), f"too wide {place}", Value()) for place in range(2_000)]
    drawing = draw_table(("row", "a", "b", "c", "wide", "unseen"), rows, 20, may_leave_out=True)
    parts = drawing.parts()
    first = next(parts)

    assert first.splitlines()[:3] == ["row   a  b  c", "─" * 13, "0000  x  y  z"]
    assert 20 < len(first.splitlines()) < 1_000
    assert [line[:4] for line in (first + "".join(parts)).splitlines()[2:]] == [row[0] for row in rows]
    assert told < 10


def test_an_empty_answer_still_shows_its_columns():
    assert draw_table(("model", "gpu"), [], 80, may_leave_out=True).text.split()[:2] == ["model", "gpu"]
    assert draw_table(("model", "gpu"), [], 5, may_leave_out=False).text == "model\ngpu\n"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (52.41, "52.41"),
        (0.1886745, "0.1886745"),
        (0.18867451234, "0.1886745"),
        (10107.8, "10107.8"),
        (1234567.89, "1234568"),
        (123456789.25, "123456789"),
        (1907.0, "1907.0"),
        (0.000001, "1e-06"),
        (0.0, "0.0"),
        (float("nan"), "nan"),
        (None, "NULL"),
        (datetime.date(2026, 2, 16), "2026-02-16"),
        ("a\x1b[31mb\nc\u202e", "a\\x1b[31mb\\nc\\u202e"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
    ],
)
def test_a_cell(value, shown):
    """Rounded to 7 significant digits; markup and control characters are only text."""
    assert draw_table(("v",), [(value,)], None, may_leave_out=False).text.splitlines()[-1].strip() == shown


def test_wide_characters_keep_their_columns():
    lines = draw_table(("m", "n"), [("模型", 1), ("Σ", 2)], 40, may_leave_out=False).text.splitlines()

    assert lines[-2:] == ["模型  1", "Σ     2"]


ROWS = [('a,"b"|\n', 1.5, None, datetime.date(2026, 2, 16), True), ("Σ", 0.18867451234, 7, None, False)]
COLUMNS = ("text", "figure", "absent", "day", "flag")


def test_csv_reads_back():
    """NULL is empty, numbers are exact."""
    read = list(csv.reader(StringIO("".join(csv_lines(COLUMNS, ROWS)))))

    assert read == [
        list(COLUMNS),
        ['a,"b"|\n', "1.5", "", "2026-02-16", "true"],
        ["Σ", "0.18867451234", "7", "", "false"],
    ]


@pytest.mark.parametrize("text", ["a\rb", "a\nb", "a\r\nb", "a\n", "\r", '"', "a,b", " a ", ""])
def test_csv_keeps_a_text_in_its_field(text):
    """A carriage return alone ends a line too, to those who read CSV."""
    lines = "".join(csv_lines(("a", "b"), [(text, 1)]))

    assert list(csv.reader(StringIO(lines, newline="")))[1:] == [[text if text != "\r" else "'\r", "1"]]
    assert lines.endswith("1\n")
    assert not lines.endswith("\r\n")


def test_json_reads_back():
    """One object a row; NULL is null."""
    read = json.loads("".join(json_lines(COLUMNS, ROWS)))

    assert read == [
        {"text": 'a,"b"|\n', "figure": 1.5, "absent": None, "day": "2026-02-16", "flag": True},
        {"text": "Σ", "figure": 0.18867451234, "absent": 7, "day": None, "flag": False},
    ]
    assert json.loads("".join(json_lines(COLUMNS, []))) == []


def test_json_has_no_nan():
    """What JSON can't say is null; decimals are numbers with all their digits, and other types text."""
    row = (float("nan"), Decimal("1.10"), [1, float("inf")], {"a": None}, datetime.time(1, 2))
    lines = "".join(json_lines("abcde", [row]))

    assert lines == '[\n  {"a": null, "b": 1.10, "c": [1, null], "d": {"a": null}, "e": "01:02:00"}\n]\n'
    assert json.loads(lines) == [{"a": None, "b": 1.1, "c": [1, None], "d": {"a": None}, "e": "01:02:00"}]


def test_markdown_keeps_its_columns():
    """A bar or a line's end in a text would break the table."""
    assert list(markdown_lines(("model", "max_num_seqs"), [("a|b\n<i>", None)])) == [
        "| model | max_num_seqs |\n",
        "| --- | --- |\n",
        "| a\\|b \\<i\\> |  |\n",
    ]


def test_printable_leaves_text_alone():
    assert printable("PixArt-Σ, naïve 模型") == "PixArt-Σ, naïve 模型"


def test_csv_starts_no_formula():
    """A document's text must not run in a spreadsheet; numbers below zero are numbers."""
    texts = ["=cmd()", "+1", "-1", "@x", "\tx", "\rx", "plain", -1.5]
    (_, line) = csv_lines("abcdefgh", [texts])

    read = next(csv.reader(StringIO(line, newline="")))
    assert read == ["'=cmd()", "'+1", "'-1", "'@x", "'\tx", "'\rx", "plain", "-1.5"]


def test_figures_stand_to_the_right_and_text_to_the_left():
    """So that digits of one weight stand below each other; a column of both is text, and so are true and false."""
    rows = [(1, "a", 1, True, None), (2048, "bcde", "x", False, Decimal("1.25"))]
    drawing = draw_table(("n", "t", "m", "b", "d"), rows, None, may_leave_out=False)

    assert drawing.text.splitlines()[2:] == ["   1  a     1  true   NULL", "2048  bcde  x  false  1.25"]
    (one, *_) = draw_table(("n",), [(1.5,), (None,)], None, may_leave_out=False).text.splitlines()[2:]
    assert one == " 1.5"


def test_a_header_is_broken_only_where_it_must_be():
    """As many of its words on a line as the column is wide."""
    (first, second, _, cell) = draw_table(("a_b_c",), [("xxxx",)], None, may_leave_out=False).text.splitlines()

    assert (first, second, cell) == ("a_b_", "c", "xxxx")


@pytest.mark.parametrize(("length", "beside"), [(40, True), (41, False)])
def test_prose_that_is_the_same_in_every_row_is_not_named_beside_the_table(length, beside):
    """It would take more room there than it saves."""
    rows = [("s" * length, *"wxyz", "q" * 5), ("s" * length, *"zyxw", "q" * 4)]
    drawing = draw_table(("a", "b", "c", "d", "e", "f"), rows, 40, may_leave_out=True)

    assert ("a" in drawing.in_every_row) is beside


@pytest.mark.parametrize(("width", "left_out"), [(16, ()), (15, ("f",)), (14, ("f",)), (12, ("e", "f"))])
def test_a_table_is_as_wide_as_its_terminal_at_the_most(width, left_out):
    """Six columns of one character with two blanks between take sixteen; just as wide is wide enough."""
    drawing = draw_table("abcdef", ["123456", "234567"], width, may_leave_out=True)

    assert drawing.left_out == left_out
    assert max(map(cell_len, drawing.text.splitlines())) <= width


def test_a_citation_has_no_mark_that_tex_would_act_on():
    """Each is led by a backslash; what can't be printed is an escape."""
    cited = ("A & B", "The 50% Lab", "https://lab.example/a_b#c", "Lab {2026} $x$", "u", DAY, "2026-01-01", "CC0")
    (entry,) = bibtex_entries([cited])

    assert entry.startswith("@misc{a-b-2026-01-01,\n")
    assert " title = {" in entry
    for text in (
        "A \\& B}",
        "The 50\\% Lab}",
        "https://lab.example/a\\_b\\#c}",
        "Lab \\{2026\\} \\$x\\$, u}",
        "{2026}",
    ):
        assert text in entry
    assert "Compiled 2026-02-16; data version 2026-01-01; licence: CC0." in entry


DAY = datetime.date(2026, 2, 16)
