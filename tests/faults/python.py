"""Faults in energydb/**/*.py, by Python's own tree: the source of one node is replaced, all else stays as it is."""

import ast
import copy
from collections.abc import Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path

from tests.faults.drawn import Fault, copied

_OTHERS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}
# Calls whose texts are words for a person: that one reads otherwise is no fault.
_WORDS = (
    "Error",
    "Result",
    "unlike",
    "say",
    "fault",
    "Option",
    "Argument",
    "Typer",
    "mapped_column",
    "_key",
    "TypeVar",
)


def python_faults(root: Path) -> Iterator[Fault]:
    """Yield every fault that can be put into a module."""
    for file in sorted((root / "energydb").rglob("*.py")):
        path = file.relative_to(root).as_posix()
        source = copied(root, path).encode()
        starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
        for node in _nodes(ast.parse(source)):
            if not hasattr(node, "lineno"):
                continue
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            before = source[start:end].decode()
            for kind, after in _changes(node):
                if after != before:
                    faulty = partial(_replaced, source, start, end, node.col_offset, after)
                    yield Fault(path, node.lineno, start, kind, before, after, faulty)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what does something: no annotation, decorator, docstring, import, or words for a person."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.Import | ast.ImportFrom | ast.JoinedStr):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            if isinstance(child, ast.Assign | ast.AnnAssign) and "typer" in ast.unparse(child):
                continue
            if isinstance(node, ast.FunctionDef) and isinstance(child, ast.arguments):
                continue
            if isinstance(node, ast.ClassDef) and isinstance(child, ast.keyword):
                continue
            if isinstance(node, ast.Dict) and [*map(ast.unparse, filter(None, node.keys))] == ["'comment'"]:
                continue
            yield child
            if not (isinstance(child, ast.Call) and ast.unparse(child.func).endswith(_WORDS)):
                yield from _nodes(child)


def _changes(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OTHERS:
        yield "comparison", _with(node, ops=[_OTHERS[type(node.ops[0])]()])
    if isinstance(node, ast.BoolOp):
        yield "operator", f"({_with(node, op=_OTHERS[type(node.op)]())})"
        yield from (("condition dropped", ast.unparse(value)) for value in node.values)
    if isinstance(node, ast.BinOp) and type(node.op) in _OTHERS and not isinstance(node.left, ast.Constant):
        yield "operator", _with(node, op=_OTHERS[type(node.op)]())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not dropped", ast.unparse(node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "boolean", str(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield "number", repr(node.value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield "text", repr(f"{node.value}x")
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield "condition turned", ast.unparse(_copied(node, test=ast.UnaryOp(ast.Not(), node.test)))
    if isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield "nothing returned", "return None"
    if isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield "statement dropped", "pass"
    if isinstance(node, ast.Call):
        if len(node.args) == 2 and not any(isinstance(argument, ast.Starred) for argument in node.args):
            yield "arguments swapped", _with(node, args=node.args[::-1])
        for place, keyword in enumerate(node.keywords):
            if keyword.arg in ("key", "reverse", "default"):
                yield "keyword dropped", _with(node, keywords=node.keywords[:place] + node.keywords[place + 1 :])
    if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp) and node.generators[0].ifs:
        whole = copy.deepcopy(node)
        whole.generators[0].ifs = []
        yield "condition dropped", ast.unparse(whole)


def _copied(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return ast.fix_missing_locations(changed)


def _with(node: ast.AST, **fields: object) -> str:
    return ast.unparse(_copied(node, **fields))


def _replaced(source: bytes, start: int, end: int, indent: int, after: str) -> str:
    """Replace what stands between two places; further lines of a statement keep its indent."""
    return (source[:start] + after.replace("\n", "\n" + " " * indent).encode() + source[end:]).decode()
