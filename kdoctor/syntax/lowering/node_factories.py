"""Fast constructors of libcst's node classes, for ``building``.

Between tokens stands what people write mostly: no more than is needed to tell them apart.

A function is made when it is first asked for: a few files have no need of most of them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import libcst as cst

from kdoctor.syntax.lowering.lean_nodes import node_maker

LPAR: Final = cst.LeftParen()
RPAR: Final = cst.RightParen()
COMMA: Final = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
DOT: Final = cst.Dot()
NONE_THERE: Final = cst.MaybeSentinel.DEFAULT
EQUAL: Final = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
ASYNCHRONOUS: Final = cst.Asynchronous()
_Item = TypeVar("_Item")
SLASH: Final = cst.ParamSlash()


def with_commas(items: Sequence[_Item]) -> Iterable[tuple[_Item, object]]:
    """Return the items with commas, but for the last."""
    commas = [COMMA] * (len(items) - 1)
    return zip(items, [*commas, NONE_THERE], strict=False)  # of no items: nothing


_OPERATORS: Final[dict[type[ast.AST], type[cst.CSTNode]]] = {
    ast.Add: cst.Add, ast.Sub: cst.Subtract, ast.Mult: cst.Multiply, ast.Div: cst.Divide,
    ast.FloorDiv: cst.FloorDivide, ast.Mod: cst.Modulo, ast.Pow: cst.Power,
    ast.MatMult: cst.MatrixMultiply, ast.LShift: cst.LeftShift, ast.RShift: cst.RightShift,
    ast.BitOr: cst.BitOr, ast.BitAnd: cst.BitAnd, ast.BitXor: cst.BitXor,
    ast.And: cst.And, ast.Or: cst.Or,
    ast.Not: cst.Not, ast.USub: cst.Minus, ast.UAdd: cst.Plus, ast.Invert: cst.BitInvert,
    ast.Eq: cst.Equal, ast.NotEq: cst.NotEqual, ast.Lt: cst.LessThan,
    ast.LtE: cst.LessThanEqual, ast.Gt: cst.GreaterThan, ast.GtE: cst.GreaterThanEqual,
    ast.Is: cst.Is, ast.IsNot: cst.IsNot, ast.In: cst.In, ast.NotIn: cst.NotIn,
}  # fmt: skip
_ASSIGNING: Final[dict[type[ast.AST], type[cst.CSTNode]]] = {
    ast.Add: cst.AddAssign, ast.Sub: cst.SubtractAssign, ast.Mult: cst.MultiplyAssign,
    ast.Div: cst.DivideAssign, ast.FloorDiv: cst.FloorDivideAssign,
    ast.Mod: cst.ModuloAssign, ast.Pow: cst.PowerAssign,
    ast.MatMult: cst.MatrixMultiplyAssign, ast.LShift: cst.LeftShiftAssign,
    ast.RShift: cst.RightShiftAssign, ast.BitOr: cst.BitOrAssign,
    ast.BitAnd: cst.BitAndAssign, ast.BitXor: cst.BitXorAssign,
}  # fmt: skip
MAKERS: Final[dict[str, Callable[[], Callable[..., Any]]]] = {
    # Expressions
    "name": partial(node_maker, cst.Name, "value"),
    "integer": partial(node_maker, cst.Integer, "value"),
    "floating": partial(node_maker, cst.Float, "value"),
    "imaginary": partial(node_maker, cst.Imaginary, "value"),
    "ellipsis": partial(node_maker, cst.Ellipsis),
    "string": partial(node_maker, cst.SimpleString, "value"),
    "attribute": partial(node_maker, cst.Attribute, "value", "attr"),
    "call": partial(node_maker, cst.Call, "func", "args"),
    "argument": partial(node_maker, cst.Arg, "value", "comma", equal=NONE_THERE, keyword=None),
    "named_argument": partial(node_maker, cst.Arg, "keyword", "value", "comma", equal=EQUAL),
    "starred_argument": partial(
        node_maker, cst.Arg, "star", "value", "comma", equal=NONE_THERE, keyword=None
    ),
    "subscript": partial(node_maker, cst.Subscript, "value", "slice"),
    "subscript_element": partial(node_maker, cst.SubscriptElement, "slice", "comma"),
    "index": partial(node_maker, cst.Index, "value", star=None),
    "starred_index": partial(node_maker, cst.Index, "value", star="*"),
    "slice_": partial(node_maker, cst.Slice, "lower", "upper", "step"),
    "tuple_": partial(node_maker, cst.Tuple, "elements", lpar=(), rpar=()),
    "tuple_in_brackets": partial(node_maker, cst.Tuple, "elements", lpar=(LPAR,), rpar=(RPAR,)),
    "list_": partial(node_maker, cst.List, "elements"),
    "set_": partial(node_maker, cst.Set, "elements"),
    "element": partial(node_maker, cst.Element, "value", "comma"),
    "starred_element": partial(node_maker, cst.StarredElement, "value", "comma"),
    "dict_": partial(node_maker, cst.Dict, "elements"),
    "dict_element": partial(node_maker, cst.DictElement, "key", "value", "comma"),
    "starred_dict_element": partial(node_maker, cst.StarredDictElement, "value", "comma"),
    "generator": partial(node_maker, cst.GeneratorExp, "elt", "for_in", lpar=(), rpar=()),
    "generator_in_brackets": partial(
        node_maker, cst.GeneratorExp, "elt", "for_in", lpar=(LPAR,), rpar=(RPAR,)
    ),
    "list_comprehension": partial(node_maker, cst.ListComp, "elt", "for_in"),
    "set_comprehension": partial(node_maker, cst.SetComp, "elt", "for_in"),
    "dict_comprehension": partial(node_maker, cst.DictComp, "key", "value", "for_in"),
    "comp_for": partial(
        node_maker, cst.CompFor, "target", "iter", "ifs", "inner_for_in", "asynchronous"
    ),
    "comp_if": partial(node_maker, cst.CompIf, "test"),
    "if_expression": partial(node_maker, cst.IfExp, "test", "body", "orelse"),
    "lambda_": partial(node_maker, cst.Lambda, "params", "body"),
    "named_expression": partial(node_maker, cst.NamedExpr, "target", "value"),
    "boolean_operation": partial(node_maker, cst.BooleanOperation, "left", "operator", "right"),
    "binary_operation": partial(node_maker, cst.BinaryOperation, "left", "operator", "right"),
    "unary_operation": partial(node_maker, cst.UnaryOperation, "operator", "expression"),
    "comparison": partial(node_maker, cst.Comparison, "left", "comparisons"),
    "comparison_target": partial(node_maker, cst.ComparisonTarget, "operator", "comparator"),
    "await_": partial(node_maker, cst.Await, "expression"),
    "yield_": partial(node_maker, cst.Yield, "value"),
    "from_": partial(node_maker, cst.From, "item"),
    # Small statements
    "expression": partial(node_maker, cst.Expr, "value"),
    "assign": partial(node_maker, cst.Assign, "targets", "value"),
    "assign_target": partial(node_maker, cst.AssignTarget, "target"),
    "augmented_assign": partial(node_maker, cst.AugAssign, "target", "operator", "value"),
    "annotated_assign": partial(node_maker, cst.AnnAssign, "target", "annotation", "value"),
    "annotation": partial(node_maker, cst.Annotation, "annotation"),
    "return_": partial(node_maker, cst.Return, "value"),
    "delete": partial(node_maker, cst.Del, "target"),
    "raise_": partial(node_maker, cst.Raise, "exc", "cause"),
    "assertion": partial(node_maker, cst.Assert, "test", "msg"),
    "import_": partial(node_maker, cst.Import, "names"),
    "import_from": partial(
        node_maker, cst.ImportFrom, "module", "names", "relative", "lpar", "rpar"
    ),
    "import_star": partial(node_maker, cst.ImportStar),
    "import_alias": partial(node_maker, cst.ImportAlias, "name", "asname", "comma"),
    "as_name": partial(node_maker, cst.AsName, "name"),
    "global_": partial(node_maker, cst.Global, "names"),
    "nonlocal_": partial(node_maker, cst.Nonlocal, "names"),
    "name_item": partial(node_maker, cst.NameItem, "name", "comma"),
    "pass_": partial(node_maker, cst.Pass),
    "break_": partial(node_maker, cst.Break),
    "continue_": partial(node_maker, cst.Continue),
    # Statements with a body, and what they are made of
    "module": partial(
        node_maker,
        cst.Module,
        "body",
        "default_indent",
        "default_newline",
        "has_trailing_newline",
        header=(),
        footer=(),
        encoding="utf-8",
    ),
    "line": partial(node_maker, cst.SimpleStatementLine, "body"),
    "block": partial(node_maker, cst.IndentedBlock, "body", "indent"),
    "suite": partial(node_maker, cst.SimpleStatementSuite, "body"),
    "if_": partial(node_maker, cst.If, "test", "body", "orelse"),
    "else_": partial(node_maker, cst.Else, "body"),
    "for_": partial(node_maker, cst.For, "target", "iter", "body", "orelse", "asynchronous"),
    "while_": partial(node_maker, cst.While, "test", "body", "orelse"),
    "with_": partial(node_maker, cst.With, "items", "body", "asynchronous"),
    "with_item": partial(node_maker, cst.WithItem, "item", "asname", "comma"),
    "try_": partial(node_maker, cst.Try, "body", "handlers", "orelse", "finalbody"),
    "try_star": partial(node_maker, cst.TryStar, "body", "handlers", "orelse", "finalbody"),
    "handler": partial(node_maker, cst.ExceptHandler, "type", "name", "body"),
    "star_handler": partial(node_maker, cst.ExceptStarHandler, "type", "name", "body"),
    "finally_": partial(node_maker, cst.Finally, "body"),
    "function": partial(
        node_maker,
        cst.FunctionDef,
        "name",
        "params",
        "body",
        "decorators",
        "returns",
        "asynchronous",
    ),
    "class_": partial(node_maker, cst.ClassDef, "name", "bases", "keywords", "body", "decorators"),
    "decorator": partial(node_maker, cst.Decorator, "decorator"),
    "parameters": partial(
        node_maker,
        cst.Parameters,
        *("posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg"),
    ),
    "bare_star": partial(node_maker, cst.ParamStar),
    "parameter": partial(
        node_maker, cst.Param, "star", "name", "annotation", "equal", "default", "comma"
    ),
}


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in MAKERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = MAKERS[name]()
    return made


class _OnceMade(dict[type[ast.AST], cst.CSTNode]):
    """A node that has no parts is the same wherever it stands: made when first asked for."""

    def __init__(self, kinds: Mapping[type[ast.AST], type[cst.CSTNode]]) -> None:
        super().__init__()
        self._kinds = kinds

    def __missing__(self, kind: type[ast.AST]) -> cst.CSTNode:
        made: cst.CSTNode = node_maker(self._kinds[kind])()
        self[kind] = made
        return made


OPERATORS: Final = _OnceMade(_OPERATORS)
ASSIGNING: Final = _OnceMade(_ASSIGNING)
