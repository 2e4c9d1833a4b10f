"""Faults in queries/*.sql, by sqlglot's tree: the file is written anew from the tree with one node changed.

That writing it anew changes nothing by itself is held by a test.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import sqlglot
from sqlglot import exp

from tests.faults.drawn import Fault, copied

_BODY = re.compile(r"create or replace (?:view|macro) \w+(?:\([^;]*?\))? as(?: table)?\n(?P<body>.*?);\n", re.DOTALL)
_OTHERS: dict[type[exp.Expression], type[exp.Expression]] = {
    exp.LTE: exp.LT,
    exp.LT: exp.LTE,
    exp.GTE: exp.GT,
    exp.GT: exp.GTE,
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.NullSafeEQ: exp.NullSafeNEQ,
    exp.NullSafeNEQ: exp.NullSafeEQ,
    exp.Min: exp.Max,
    exp.Max: exp.Min,
    exp.Avg: exp.Max,
    exp.Sum: exp.Max,
    exp.ArgMin: exp.ArgMax,
    exp.ArgMax: exp.ArgMin,
    exp.Lag: exp.Lead,
    exp.Add: exp.Sub,
    exp.Sub: exp.Add,
    exp.Mul: exp.Div,
    exp.Div: exp.Mul,
    exp.And: exp.Or,
    exp.Or: exp.And,
}
# Columns that are like each other though their names end otherwise.
_TWINS = (("cite", "cite_url"), ("method", "selection"), ("source", "publisher"), ("licence", "version"))


def parts(text: str) -> tuple[str, str, str]:
    """Part a file of `queries/` into what stands before its query, the query, and what stands after."""
    match = _BODY.search(text)
    assert match is not None
    return text[: match.start("body")], match["body"], text[match.end("body") :]


def written_anew(text: str, change: Callable[[exp.Expression], None] = lambda _: None) -> str:
    """Write a file from its tree."""
    before, body, after = parts(text)
    tree = sqlglot.parse_one(body, dialect="duckdb")
    change(tree)
    return before + tree.sql(dialect="duckdb", pretty=True) + after


def sql_faults(root: Path) -> Iterator[Fault]:
    """Yield every fault that can be put into a view or macro."""
    for file in sorted((root / "queries").glob("*.sql")):
        path = file.relative_to(root).as_posix()
        text = copied(root, path)
        before, body, _ = parts(text)
        tree = sqlglot.parse_one(body, dialect="duckdb")
        for place, node in enumerate(tree.walk()):
            for kind, changed in _changes(node):
                was, now = (
                    "" if one is None else one.sql(dialect="duckdb", comments=False) for one in (node, changed)
                )
                line = text[: len(before) + max(body.find(was), 0)].count("\n") + 1
                faulty = partial(written_anew, text, partial(_change, place=place, changed=changed))
                yield Fault(path, line, place, kind, was, now, faulty)


def _change(tree: exp.Expression, place: int, changed: exp.Expression | None) -> None:
    node = next(node for number, node in enumerate(tree.walk()) if number == place)
    if changed is None:
        node.pop()
    else:
        node.replace(changed.copy())


def _changes(node: exp.Expression) -> Iterator[tuple[str, exp.Expression | None]]:
    """Yield what may stand in a node's place, None for nothing at all; the tree itself stays as it is."""
    call = node.find_ancestor(exp.Anonymous)
    if call is not None and call.name == "error":
        return  # words for a person
    yield from _changes_of_values(node)
    if other := _OTHERS.get(type(node)):
        changed = node.copy()
        yield "operator or function", other(**{name: changed.args.get(name) for name in other.arg_types})
    if isinstance(node, exp.And | exp.Or):
        yield "condition dropped", node.left
        yield "condition dropped", node.right
    if isinstance(node, exp.Not | exp.Abs | exp.Distinct) and node.this is not None:
        yield "not or abs dropped", node.this
    if isinstance(node, exp.Where | exp.Filter) and node.parent is not None:
        yield "filter dropped", node.this if isinstance(node, exp.Filter) else None
    if isinstance(node, exp.Coalesce):
        yield "default dropped", node.this
    if isinstance(node, exp.Greatest | exp.Least):
        swapped = exp.Least if isinstance(node, exp.Greatest) else exp.Greatest
        changed = node.copy()
        yield "operator or function", swapped(this=changed.this, expressions=changed.expressions)
    if isinstance(node, exp.Ordered):
        changed = node.copy()
        changed.set("desc", not changed.args.get("desc"))
        yield "direction turned", changed
    if isinstance(node, exp.Window) or (isinstance(node, exp.Order) and len(node.expressions) > 1):
        yield from _without_one_key(node)
    if isinstance(node, exp.If) and isinstance(node.parent, exp.Case) and len(node.parent.args["ifs"]) > 1:
        yield "branch dropped", None
    if isinstance(node, exp.Case) and node.args.get("default") is not None:
        changed = node.copy()
        changed.set("default", None)
        yield "branch dropped", changed
    if isinstance(node, exp.Join) and node.args.get("side") == "LEFT":
        changed = node.copy()
        changed.set("side", None)
        yield "join", changed
    if isinstance(node, exp.Union):
        yield "branch dropped", node.left
        yield "branch dropped", node.right


def _changes_of_values(node: exp.Expression) -> Iterator[tuple[str, exp.Expression]]:
    if isinstance(node, exp.Literal):
        is_type = isinstance(node.parent, exp.DataType | exp.Interval)
        if node.is_string:
            yield "text", exp.Literal.string(f"{node.this}x")
        elif not is_type and node.find_ancestor(exp.WindowSpec) is None:
            yield "number", exp.Literal.number(int(node.this) + 1 if node.this.isdigit() else float(node.this) * 10)
    if isinstance(node, exp.Boolean):
        yield "boolean", exp.Boolean(this=not node.this)
    if isinstance(node, exp.Column):
        select = node.find_ancestor(exp.Select)
        around = {other.name for other in select.find_all(exp.Column)} if select else set()
        for name in sorted(around - {node.name}):
            if _is_twin(node.name, name):
                other = node.copy()
                other.set("this", exp.to_identifier(name))
                # Where it is shown, it is shown by its old name.
                shown = isinstance(node.parent, exp.Select) and node in node.parent.expressions
                yield "column", exp.alias_(other, node.name) if shown else other


def _is_twin(one: str, other: str) -> bool:
    """Tell whether a column might stand where another does, and nobody would see it by its type or name."""
    return one.rpartition("_")[2] == other.rpartition("_")[2] or (one, other) in _TWINS or (other, one) in _TWINS


def _without_one_key(node: exp.Expression) -> Iterator[tuple[str, exp.Expression]]:
    name = "partition_by" if isinstance(node, exp.Window) else "expressions"
    keys = node.args.get(name) or []
    for place in range(len(keys)):
        changed = node.copy()
        changed.set(name, [key for number, key in enumerate(changed.args[name]) if number != place])
        yield "key dropped", changed
