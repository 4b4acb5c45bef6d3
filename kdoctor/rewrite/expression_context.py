"""The syntactic context of an expression, and what may replace it there."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable

import libcst as cst

from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, Span
from kdoctor.rewrite.refusal import Refused
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import STATEMENTS
from kdoctor.syntax.scopes import ScopeKind

_BRACKETED = (
    cst.List, cst.Set, cst.Dict, cst.ListComp, cst.SetComp, cst.DictComp, cst.SubscriptElement,
)  # fmt: skip
_FOR_TOOLS = pattern(
    r"#\s*(?:type:\s*ignore(?:\[[^\]#]*\])?|(?:pylint|pyright|isort|pragma):[^#]*|nosec)\s*"
)
_OPENING, _CLOSING = "([{", ")]}"


def breaks_lines_openly(source: str) -> bool:
    """Say whether an expression spans lines only thanks to enclosing brackets."""
    if "\n" not in source and "\r" not in source:
        return False
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(f"({source}\n)").readline):
        if token.type == tokenize.OP and token.string in _OPENING:
            depth += 1
        elif token.type == tokenize.OP and token.string in _CLOSING:
            depth -= 1
        elif token.type == tokenize.NL and depth == 1 and token.start[0] <= source.count("\n"):
            return True
    return False


def is_inside_brackets(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether lines may break at ``node`` whatever becomes of the calls around it.

    The parentheses of a call do not count: the call may itself be rewritten.
    """
    if node.lpar:
        return True
    return any(
        isinstance(each, _BRACKETED) or (isinstance(each, cst.BaseExpression) and bool(each.lpar))
        for each in module.ancestors(node)
    )


def span_for_a_call(module: Module, node: cst.CSTNode) -> Span:
    """Return what a call takes the place of: with the parentheses that it does not need.

    They stay where they hold lines or a comment together, or part a word from what it is about.
    """
    inner, outer = module.span(node), module.outer_span(node)
    text = module.text
    around = text[max(outer.start - 1, 0) : outer.start] + text[outer.end : outer.end + 1]
    whole = text[outer.start : outer.end]
    keeps = any(each in whole for each in "\r\n#") or any(c.isalnum() or c == "_" for c in around)
    return inner if keeps else outer


def runs_in_class_body(module: Module, node: cst.CSTNode) -> bool:
    """Say whether names at ``node`` are those of a class body, which inner scopes cannot see."""
    for each in module.ancestors(node):
        if isinstance(each, cst.FunctionDef | cst.Lambda):
            return False
        if isinstance(each, cst.ClassDef):
            return True
    return False


def may_bind_a_name(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether ``node`` may hold ``name := value``, and the name be one of a function or module.

    In a class body it would be one of the class, in annotations and in parts of comprehensions it
    is forbidden, and in an f-string it reads as a format.
    """
    if module.scope_of(node).kind not in {ScopeKind.FUNCTION, ScopeKind.MODULE}:
        return False
    for each in module.ancestors(node):
        if isinstance(each, (*STATEMENTS, cst.Lambda)):
            return True
        if isinstance(each, cst.CompFor | cst.BaseComp | cst.FormattedString | cst.Annotation):
            return False
    return True


def check_fits_f_strings(module: Module, node: cst.CSTNode, edits: Iterable[Edit]) -> None:
    """Refuse edits that would end an enclosing f-string before Python 3.12."""
    new = "".join(part for edit in edits for part in edit.parts if isinstance(part, str))
    for each in module.ancestors(node):
        if each.__class__ in STATEMENTS:
            return
        if isinstance(each, cst.FormattedString) and any(
            mark in new for mark in (each.quote[-1], "\\", "#", "\n", "{")
        ):
            raise Refused("the new expression does not fit into the f-string around it")


def comments_in(source: str) -> list[str]:
    """Return the comments in a piece of source that holds no strings."""
    return ["#" + line.partition("#")[2] for line in source.splitlines() if "#" in line]


def is_for_tools(comment: str) -> bool:
    """Say whether a comment only tells a tool what to pass over on its line: it goes with that."""
    return _FOR_TOOLS.fullmatch(comment) is not None
