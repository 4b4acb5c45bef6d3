"""A function for each class of libcst's nodes that makes one, for ``building``.

Between tokens stands what people write mostly: no more than is needed to tell them apart.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

import libcst as cst

from kdoctor.syntax.lean_nodes import maker

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
    """Return each item with what stands behind it: a comma, but for the last."""
    commas = [COMMA] * (len(items) - 1)
    return zip(items, [*commas, NONE_THERE], strict=False)  # of no items: nothing


# Expressions
name = maker(cst.Name, "value")
integer = maker(cst.Integer, "value")
floating = maker(cst.Float, "value")
imaginary = maker(cst.Imaginary, "value")
ellipsis = maker(cst.Ellipsis)
string = maker(cst.SimpleString, "value")
attribute = maker(cst.Attribute, "value", "attr")
call = maker(cst.Call, "func", "args")
argument = maker(cst.Arg, "value", "comma", equal=NONE_THERE, keyword=None)
named_argument = maker(cst.Arg, "keyword", "value", "comma", equal=EQUAL)
starred_argument = maker(cst.Arg, "star", "value", "comma", equal=NONE_THERE, keyword=None)
subscript = maker(cst.Subscript, "value", "slice")
subscript_element = maker(cst.SubscriptElement, "slice", "comma")
index = maker(cst.Index, "value", star=None)
starred_index = maker(cst.Index, "value", star="*")
slice_ = maker(cst.Slice, "lower", "upper", "step")
tuple_ = maker(cst.Tuple, "elements", lpar=(), rpar=())
tuple_in_brackets = maker(cst.Tuple, "elements", lpar=(LPAR,), rpar=(RPAR,))
list_ = maker(cst.List, "elements")
set_ = maker(cst.Set, "elements")
element = maker(cst.Element, "value", "comma")
starred_element = maker(cst.StarredElement, "value", "comma")
dict_ = maker(cst.Dict, "elements")
dict_element = maker(cst.DictElement, "key", "value", "comma")
starred_dict_element = maker(cst.StarredDictElement, "value", "comma")
generator = maker(cst.GeneratorExp, "elt", "for_in", lpar=(), rpar=())
generator_in_brackets = maker(cst.GeneratorExp, "elt", "for_in", lpar=(LPAR,), rpar=(RPAR,))
list_comprehension = maker(cst.ListComp, "elt", "for_in")
set_comprehension = maker(cst.SetComp, "elt", "for_in")
dict_comprehension = maker(cst.DictComp, "key", "value", "for_in")
comp_for = maker(cst.CompFor, "target", "iter", "ifs", "inner_for_in", "asynchronous")
comp_if = maker(cst.CompIf, "test")
if_expression = maker(cst.IfExp, "test", "body", "orelse")
lambda_ = maker(cst.Lambda, "params", "body")
named_expression = maker(cst.NamedExpr, "target", "value")
boolean_operation = maker(cst.BooleanOperation, "left", "operator", "right")
binary_operation = maker(cst.BinaryOperation, "left", "operator", "right")
unary_operation = maker(cst.UnaryOperation, "operator", "expression")
comparison = maker(cst.Comparison, "left", "comparisons")
comparison_target = maker(cst.ComparisonTarget, "operator", "comparator")
await_ = maker(cst.Await, "expression")
yield_ = maker(cst.Yield, "value")
from_ = maker(cst.From, "item")

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
OPERATORS: Final = {kind: maker(operator)() for kind, operator in _OPERATORS.items()}
ASSIGNING: Final = {kind: maker(operator)() for kind, operator in _ASSIGNING.items()}

# Small statements
expression = maker(cst.Expr, "value")
assign = maker(cst.Assign, "targets", "value")
assign_target = maker(cst.AssignTarget, "target")
augmented_assign = maker(cst.AugAssign, "target", "operator", "value")
annotated_assign = maker(cst.AnnAssign, "target", "annotation", "value")
annotation = maker(cst.Annotation, "annotation")
return_ = maker(cst.Return, "value")
delete = maker(cst.Del, "target")
raise_ = maker(cst.Raise, "exc", "cause")
assertion = maker(cst.Assert, "test", "msg")
import_ = maker(cst.Import, "names")
import_from = maker(cst.ImportFrom, "module", "names", "relative", "lpar", "rpar")
import_star = maker(cst.ImportStar)
import_alias = maker(cst.ImportAlias, "name", "asname", "comma")
as_name = maker(cst.AsName, "name")
global_ = maker(cst.Global, "names")
nonlocal_ = maker(cst.Nonlocal, "names")
name_item = maker(cst.NameItem, "name", "comma")
pass_ = maker(cst.Pass)
break_ = maker(cst.Break)
continue_ = maker(cst.Continue)

# Statements with a body, and what they are made of
module = maker(
    cst.Module, "body", "default_indent", "default_newline", "has_trailing_newline",
    header=(), footer=(), encoding="utf-8",
)  # fmt: skip
line = maker(cst.SimpleStatementLine, "body")
block = maker(cst.IndentedBlock, "body", "indent")
suite = maker(cst.SimpleStatementSuite, "body")
if_ = maker(cst.If, "test", "body", "orelse")
else_ = maker(cst.Else, "body")
for_ = maker(cst.For, "target", "iter", "body", "orelse", "asynchronous")
while_ = maker(cst.While, "test", "body", "orelse")
with_ = maker(cst.With, "items", "body", "asynchronous")
with_item = maker(cst.WithItem, "item", "asname", "comma")
try_ = maker(cst.Try, "body", "handlers", "orelse", "finalbody")
try_star = maker(cst.TryStar, "body", "handlers", "orelse", "finalbody")
handler = maker(cst.ExceptHandler, "type", "name", "body")
star_handler = maker(cst.ExceptStarHandler, "type", "name", "body")
finally_ = maker(cst.Finally, "body")
function = maker(cst.FunctionDef, "name", "params", "body", "decorators", "returns", "asynchronous")
class_ = maker(cst.ClassDef, "name", "bases", "keywords", "body", "decorators")
decorator = maker(cst.Decorator, "decorator")
parameters = maker(
    cst.Parameters,
    *("posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg"),
)
bare_star = maker(cst.ParamStar)
parameter = maker(cst.Param, "star", "name", "annotation", "equal", "default", "comma")
