"""Tell from ``call`` whether a layer is known to take several inputs."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.models.user_classes import holds_original_argument, methods_in
from kdoctor.syntax import Module
from kdoctor.syntax.blocks import last_statement
from kdoctor.syntax.libcst_walk import descendants

_MAX_DEPTH = 8  # classes that inherit from each other


def takes_several_inputs(module: Module, node: cst.ClassDef) -> bool:
    """Say whether ``call`` always takes its inputs apart: ``x, a = inputs``.

    The method may be inherited; of a class that leaves it to its subclasses, it is theirs.
    """
    call = _inherited(module, node)
    calls = [call] if call is not None else list(_of_subclasses(module, node))
    return bool(calls) and all(_takes_apart(module, each) for each in calls)


def _inherited(module: Module, node: cst.ClassDef) -> cst.FunctionDef | None:
    own: cst.ClassDef | None = node
    for _ in range(_MAX_DEPTH):
        if own is None:
            break
        if (call := methods_in(own).get("call")) is not None:
            return call
        bases = (class_named(module, each.value) for each in own.bases)
        own = next((each for each in bases if each is not None), None)
    return None


def _of_subclasses(module: Module, node: cst.ClassDef, depth: int = 0) -> Iterator[cst.FunctionDef]:
    for each in module.nodes(cst.ClassDef) if depth < _MAX_DEPTH else ():
        if not any(class_named(module, base.value) is node for base in each.bases):
            continue
        methods = methods_in(each)
        if "call" in methods:
            yield methods["call"]
        else:
            yield from _of_subclasses(module, each, depth + 1)


def _takes_apart(module: Module, call: cst.FunctionDef) -> bool:
    parameters = call.params.params
    return len(parameters) > 1 and _always(module, call.body, parameters[1])


def _always(module: Module, block: cst.BaseSuite, inputs: cst.Param) -> bool:
    """Say whether each way through a block takes the inputs apart, or raises."""
    read: set[int] = set()
    for statement in block.body:
        if isinstance(statement, cst.If):
            if _each_branch(module, statement, inputs):
                return True
        elif isinstance(statement, cst.With):
            if _always(module, statement.body, inputs):
                return True
        elif isinstance(statement, cst.SimpleStatementLine):
            read |= _read(module, statement, inputs)
            if read >= {0, 1}:
                return True
        if any(isinstance(each, cst.Return) for each in (statement, *descendants(statement))):
            return False
    return False


def _each_branch(module: Module, statement: cst.If, inputs: cst.Param) -> bool:
    otherwise = statement.orelse
    if isinstance(otherwise, cst.If):
        rest = _each_branch(module, otherwise, inputs)
    else:
        rest = otherwise is not None and _takes_or_raises(module, otherwise.body, inputs)
    return rest and _takes_or_raises(module, statement.body, inputs)


def _takes_or_raises(module: Module, block: cst.BaseSuite, inputs: cst.Param) -> bool:
    return isinstance(last_statement(block), cst.Raise) or _always(module, block, inputs)


def _read(module: Module, line: cst.SimpleStatementLine, inputs: cst.Param) -> set[int]:
    """Return which of the inputs a line reads: both of ``x, a = inputs``."""
    found: set[int] = set()
    for each in descendants(line):
        match each:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() | cst.List() as parts)]):
                if holds_original_argument(module, each.value, inputs):
                    found |= set(range(len(parts.elements)))
            case cst.Subscript(
                slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value=at)))]
            ) if holds_original_argument(module, each.value, inputs):
                if not _may_be_skipped(module, each):
                    found.add(int(at, 0))
    return found


def _may_be_skipped(module: Module, node: cst.CSTNode) -> bool:
    for above in module.ancestors(node):
        if isinstance(above, cst.IfExp | cst.BooleanOperation | cst.Lambda | cst.CompFor):
            return True
        if isinstance(above, cst.SimpleStatementLine):
            return False
    return False
