"""Detect Python 2's ``except E, e:``, which Python 3.14 accepts as two exceptions.

libcst takes it, as the newest Python does (PEP 758). Two exceptions are meant where the file knows
the second name; else it is what Python 2 bound the exception to.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator

import libcst as cst

from kdoctor.lazy_regex import pattern
from kdoctor.syntax.libcst_walk import descendants

_SHAPE = pattern(r"^[ \t]*except[ \t]+[^\s:(#][^:#\n]*,[ \t]*([^\W\d]\w*)[ \t]*:", re.MULTILINE)


def python_2_handler_offset(text: str, tree: cst.Module) -> int | None:
    """Return the offset of a Python 2 handler, None if there is none."""
    shapes = {each[1]: each.start() for each in _SHAPE.finditer(text)}
    if not shapes:
        return None
    nodes = list(descendants(tree))
    asked = {name for each in nodes for name in _last_names(each) if name in shapes}
    asked = {name for name in asked if not hasattr(builtins, name)}
    if not asked or any(isinstance(each, cst.ImportStar) for each in nodes):
        return None
    unknown = asked - {name for each in nodes for name in _bound(each)}
    return min((shapes[name] for name in unknown), default=None)


def _last_names(node: cst.CSTNode) -> Iterator[str]:
    """Yield the last name of a handler whose exceptions stand in no parentheses."""
    match node:
        case cst.ExceptHandler(type=cst.Tuple(lpar=[], elements=[*_, cst.Element(cst.Name(name))])):
            yield name


def _bound(node: cst.CSTNode) -> Iterator[str]:
    match node:
        case cst.ClassDef(name=cst.Name(name)) | cst.FunctionDef(name=cst.Name(name)):
            yield name
        case cst.Param(name=cst.Name(name)) | cst.AsName(name=cst.Name(name)):
            yield name
        case cst.AssignTarget(target=target) | cst.AnnAssign(target=target):
            yield from (each.value for each in descendants(target) if isinstance(each, cst.Name))
            if isinstance(target, cst.Name):
                yield target.value
        case cst.For(target=cst.Name(name)):
            yield name
        case cst.ImportAlias(name=cst.Name(name)):
            yield name
