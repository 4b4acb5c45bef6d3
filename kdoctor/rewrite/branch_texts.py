"""Texts of branches and tests: comments, negation, dedenting."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator

from kdoctor import parse_ast
from kdoctor.rewrite.expression_context import is_for_tools

_OPPOSITES: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
# Of two texts or versions one is less, or is not.
_IN_ORDER: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", ">="),
    ast.LtE: ("<=", ">"),
    ast.Gt: (">", "<="),
    ast.GtE: (">=", "<"),
}
_VERSIONS = frozenset({"LooseVersion", "StrictVersion", "Version", "parse_version"})


def comments_of(text: str) -> list[str]:
    """Return the comments of a piece of code, tool directives aside."""
    found = (each.string for each in _tokens(text) if each.type == tokenize.COMMENT)
    return [each for each in found if not is_for_tools(each)]


def dedented(block: str, indent: str) -> str:
    """Return a block's lines dedented by one level, strings unchanged."""
    own = next((line for line in block.split("\n") if line.strip() and not _says(line)), "")
    before = own[: len(own) - len(own.lstrip(" \t"))]
    inside = {
        line
        for each in _tokens(block)
        if each.type == tokenize.STRING
        for line in range(each.start[0] + 1, each.end[0] + 1)
    }
    return "\n".join(
        line
        if number in inside
        else indent + (line.removeprefix(before) if line.startswith(before) else line.lstrip(" \t"))
        if line.strip()
        else line
        for number, line in enumerate(block.split("\n"), start=1)
    )


def negated_test(test: str) -> str:
    """Return the negation of a test.

    >>> inverted("a == 1"), inverted("not a"), inverted("a or b"), inverted("v < '2'")
    ('a != 1', 'a', 'not (a or b)', "v >= '2'")
    """
    try:
        node = parse_ast.parse(test, mode="eval").body
    except (SyntaxError, ValueError):
        return f"not ({test})"
    if "\n" in test:
        return f"not ({test})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return test[_offset(test, node.operand.col_offset) :] if test[0] != "(" else f"not {test}"
    turned = _negated(test, node) if isinstance(node, ast.Compare) else None
    if turned is not None:
        return turned
    loose = ast.BoolOp | ast.IfExp | ast.Lambda | ast.NamedExpr
    return f"not ({test})" if isinstance(node, loose) and test[0] != "(" else f"not {test}"


def _negated(test: str, node: ast.Compare) -> str | None:
    if len(node.ops) != 1 or test[0] == "(":
        return None
    kind = type(node.ops[0])
    sides = (node.left, node.comparators[0])
    signs = _OPPOSITES.get(kind) or (_IN_ORDER.get(kind) if any(map(_is_ordered, sides)) else None)
    if signs is None:
        return None
    start = _offset(test, node.left.end_col_offset or 0)
    end = _offset(test, node.comparators[0].col_offset)
    between = test[start:end]
    if " ".join(between.split()) != signs[0]:
        return None
    return f"{test[:start]} {signs[1]} {test[end:]}"


def _is_ordered(node: ast.expr) -> bool:
    """Say whether what a value is compared with has a total order: no number, for NaN has none."""
    match node:
        case ast.Constant(value=str()):
            return True
        case ast.Tuple(elts=elements):
            return all(isinstance(each, ast.Constant) for each in elements)
        # A `parse` that is imported alone may give numbers.
        case ast.Call(
            func=ast.Attribute(
                value=ast.Name(id="version") | ast.Attribute(attr="version"), attr="parse"
            )
        ):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _VERSIONS
    return False


def _offset(text: str, column: int) -> int:
    """Return the place of a column that Python counts in bytes."""
    return len(text.encode()[:column].decode())


def _says(line: str) -> bool:
    return line.lstrip().startswith("#")


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError):  # an indented piece of a file: all is read by then
        return
