"""Operator precedence of expressions, and what their context requires.

Two views of the same grammar: the user's source as libcst nodes, templates as ``ast`` nodes.
https://docs.python.org/3/reference/expressions.html#operator-precedence
"""

from __future__ import annotations

import ast

import libcst as cst

from kdoctor.model import Precedence

_BINARY: dict[type[cst.BaseBinaryOp], Precedence] = {
    cst.BitOr: Precedence.BIT_OR,
    cst.BitXor: Precedence.BIT_XOR,
    cst.BitAnd: Precedence.BIT_AND,
    cst.LeftShift: Precedence.SHIFT,
    cst.RightShift: Precedence.SHIFT,
    cst.Add: Precedence.SUM,
    cst.Subtract: Precedence.SUM,
    cst.Multiply: Precedence.PRODUCT,
    cst.Divide: Precedence.PRODUCT,
    cst.FloorDivide: Precedence.PRODUCT,
    cst.Modulo: Precedence.PRODUCT,
    cst.MatrixMultiply: Precedence.PRODUCT,
    cst.Power: Precedence.POWER,
}
_AST_BINARY: dict[type[ast.operator], Precedence] = {
    ast.BitOr: Precedence.BIT_OR,
    ast.BitXor: Precedence.BIT_XOR,
    ast.BitAnd: Precedence.BIT_AND,
    ast.LShift: Precedence.SHIFT,
    ast.RShift: Precedence.SHIFT,
    ast.Add: Precedence.SUM,
    ast.Sub: Precedence.SUM,
    ast.Mult: Precedence.PRODUCT,
    ast.Div: Precedence.PRODUCT,
    ast.FloorDiv: Precedence.PRODUCT,
    ast.Mod: Precedence.PRODUCT,
    ast.MatMult: Precedence.PRODUCT,
    ast.Pow: Precedence.POWER,
}
# `1.real` is no Python: a number wants parentheses before a dot, but nowhere else.
_NUMBER = Precedence.AWAIT

_OWN: dict[type[cst.BaseExpression], Precedence] = {
    cst.Integer: _NUMBER,
    cst.Float: _NUMBER,
    cst.Imaginary: _NUMBER,
    cst.Attribute: Precedence.PRIMARY,
    cst.Subscript: Precedence.PRIMARY,
    cst.Call: Precedence.PRIMARY,
    cst.Await: Precedence.AWAIT,
    cst.Comparison: Precedence.COMPARE,
    cst.IfExp: Precedence.CONDITIONAL,
    cst.Lambda: Precedence.LAMBDA,
    cst.NamedExpr: Precedence.ANY,
    cst.Yield: Precedence.ANY,
    cst.GeneratorExp: Precedence.ANY,  # one without parentheses: a call's sole argument
    cst.Tuple: Precedence.ANY,  # one without parentheses
}


def precedence_of(node: cst.BaseExpression) -> Precedence:
    """Return the precedence of an expression, with its own parentheses."""
    if node.lpar:
        return Precedence.ATOM
    if isinstance(node, cst.BinaryOperation):
        return _BINARY[type(node.operator)]
    if isinstance(node, cst.BooleanOperation):
        return Precedence.OR if isinstance(node.operator, cst.Or) else Precedence.AND
    if isinstance(node, cst.UnaryOperation):
        return Precedence.NOT if isinstance(node.operator, cst.Not) else Precedence.UNARY
    return _OWN.get(type(node), Precedence.ATOM)


def required_precedence(parent: cst.CSTNode | None, node: cst.BaseExpression) -> Precedence:
    """Return the least precedence that ``node``'s place requires."""
    if node.lpar:
        return Precedence.ANY
    match parent:
        case cst.Attribute() | cst.Subscript() | cst.Call() | cst.Await():
            return Precedence.PRIMARY
        case cst.UnaryOperation(operator=cst.Not()):
            return Precedence.NOT
        case cst.UnaryOperation():
            return Precedence.UNARY
        case cst.BinaryOperation(operator=cst.Power()):
            return Precedence.AWAIT if parent.left is node else Precedence.UNARY
        case cst.BinaryOperation():
            level = _BINARY[type(parent.operator)]
            return level if parent.left is node else Precedence(level + 1)
        case cst.BooleanOperation():
            level = precedence_of(parent.with_changes(lpar=()))
            return level if parent.left is node else Precedence(level + 1)
        case cst.Comparison() | cst.ComparisonTarget() | cst.StarredElement():
            return Precedence.BIT_OR
        case cst.IfExp():
            return Precedence.LAMBDA if parent.orelse is node else Precedence.OR
        case cst.CompFor() | cst.CompIf():
            return Precedence.OR
        case cst.FormattedStringExpression():
            return Precedence.CONDITIONAL  # a lambda's colon would start the format
        case cst.Expr():
            return Precedence.ANY
        case (
            cst.Arg() | cst.Element() | cst.DictElement() | cst.StarredDictElement() | cst.Index()
            | cst.Slice() | cst.Lambda() | cst.Param() | cst.NamedExpr() | cst.Yield() | cst.From()
            | cst.ListComp() | cst.SetComp() | cst.DictComp() | cst.GeneratorExp()
            | cst.Assign() | cst.AnnAssign() | cst.AugAssign() | cst.Annotation() | cst.Return()
            | cst.Raise() | cst.Assert() | cst.If() | cst.While() | cst.For() | cst.WithItem()
            | cst.Decorator() | cst.ExceptHandler() | cst.ExceptStarHandler() | cst.Match()
            | cst.MatchCase()
        ):  # fmt: skip
            return Precedence.LAMBDA
        case _:
            return Precedence.ATOM


def template_precedence_of(node: ast.expr) -> Precedence:
    """Return the precedence of a template's expression."""
    match node:
        case ast.BinOp():
            return _AST_BINARY[type(node.op)]
        case ast.BoolOp():
            return Precedence.OR if isinstance(node.op, ast.Or) else Precedence.AND
        case ast.UnaryOp():
            return Precedence.NOT if isinstance(node.op, ast.Not) else Precedence.UNARY
        case ast.Constant(value=int() | float() | complex()) if not isinstance(node.value, bool):
            return _NUMBER
        case ast.Attribute() | ast.Subscript() | ast.Call():
            return Precedence.PRIMARY
        case ast.Await():
            return Precedence.AWAIT
        case ast.Compare():
            return Precedence.COMPARE
        case ast.IfExp():
            return Precedence.CONDITIONAL
        case ast.Lambda():
            return Precedence.LAMBDA
        case _:
            return Precedence.ATOM


def template_required_precedence(parent: ast.AST, child: ast.expr) -> Precedence:
    """Return the least precedence for a ``child`` of a template's node."""
    match parent:
        case ast.Attribute() | ast.Await():
            return Precedence.PRIMARY
        case ast.Subscript():
            return Precedence.PRIMARY if parent.value is child else Precedence.LAMBDA
        case ast.Call():
            return Precedence.PRIMARY if parent.func is child else Precedence.LAMBDA
        case ast.UnaryOp():
            return Precedence.NOT if isinstance(parent.op, ast.Not) else Precedence.UNARY
        case ast.BinOp(op=ast.Pow()):
            return Precedence.AWAIT if parent.left is child else Precedence.UNARY
        case ast.BinOp():
            level = _AST_BINARY[type(parent.op)]
            return level if parent.left is child else Precedence(level + 1)
        case ast.BoolOp():
            return Precedence(template_precedence_of(parent) + 1)
        case ast.Compare() | ast.Starred():
            return Precedence.BIT_OR
        case ast.IfExp():
            return Precedence.LAMBDA if parent.orelse is child else Precedence.OR
        case ast.comprehension():
            return Precedence.OR
        case ast.FormattedValue():
            return Precedence.CONDITIONAL
        case _:
            return Precedence.LAMBDA
