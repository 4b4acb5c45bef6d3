"""A generator yields bare arrays to `predict`: Keras 3 requires tuples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import replace_expression
from kdoctor.analysis.dataflow.used_elsewhere import may_be_used_elsewhere
from kdoctor.analysis.dataflow.uses import names_of_variable, reads_of
from kdoctor.analysis.queries.forms import DictForm, Expression
from kdoctor.analysis.queries.generators import Generator, generators
from kdoctor.analysis.training.generators import PREDICTS
from kdoctor.model import Finding, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module

_ARRAYS: Final = frozenset(
    {
        *("arange", "array", "asarray", "ascontiguousarray", "clip", "concatenate", "empty"),
        *("expand_dims", "full", "hstack", "linspace", "load", "moveaxis", "ones", "ones_like"),
        *("pad", "random.normal", "random.rand", "random.randint", "random.randn"),
        *("random.random", "random.uniform", "repeat", "reshape", "rollaxis", "squeeze", "stack"),
        *("swapaxes", "tile", "transpose", "vstack", "zeros", "zeros_like"),
    }
)
# No tuple takes part in these.
_OF_NUMBERS: Final = (cst.Divide, cst.FloorDivide, cst.Power, cst.Subtract)
_MAX_DEPTH: Final = 4  # names and operations within each other


def _may_be_no_tuple(form: object) -> bool:
    return isinstance(form, DictForm) or (
        isinstance(form, Expression) and form.kind in {"BinOp", "Call", "DictComp", "Name"}
    )


@rule(
    "KD455",
    severity=Severity.ERROR,
    since="3.0",
    look_for=generators(*PREDICTS, yielding=_may_be_no_tuple),
)
def check(function: Generator) -> Iterator[Finding]:
    """Report each array that is yielded to `predict` by itself."""
    given = [each.value for each in function.yields]
    batches = [each for each in given if isinstance(each, cst.BaseExpression)]
    # One that gives tuples as well may be told when to, or asks for the version.
    if len(batches) < len(given) or not {*PREDICTS}.issuperset(function.feeds):
        return
    if not all(_is_no_tuple(function.module, each) for each in batches):
        return
    is_sure = _is_for_nothing_else(function) and not may_be_used_elsewhere(
        function.module, function.node
    )
    for batch in batches:
        yield function.finding(
            "a batch must be a tuple: ValueError: When passing a Python generator to a Keras "
            "model, the generator must return a tuple, either (input,) or (inputs, targets) or "
            "(inputs, targets, sample_weights).",
            at=batch,
            symbol="keras.Model.predict",
            help="Write `yield (x,)`.",
            fix=function.fix(
                "Yield a tuple",
                replace_expression(function.module, batch, f"({function.source(batch)},)"),
                unsafe_because=""
                if is_sure
                else "other consumers of the generator get a tuple too",
            ),
        )


def _is_for_nothing_else(generator: Generator) -> bool:
    """Say whether all that a generator function makes goes to `predict`, by whatever name."""
    module, function = generator.module, generator.node
    called = {each.func for each in generator.calls}
    for name in names_of_variable(module, function.name):
        if name is not function.name and not {name, module.parent(name)} & called:
            return False
    for call in generator.calls:
        target = module.parent(call)
        kept = target.targets[0].target if isinstance(target, cst.Assign) else None
        if isinstance(kept, cst.Name) and len(list(reads_of(module, kept))) > 1:
            return False
        if not isinstance(kept, cst.Name) and not isinstance(target, cst.Arg):
            return False
    return True


def _is_no_tuple(module: Module, node: cst.BaseExpression, depth: int = 0) -> bool:
    """Say whether a value is surely an array, a number, or a dict."""
    if depth > _MAX_DEPTH:
        return False
    if isinstance(node, cst.Dict | cst.DictComp):
        return True
    if isinstance(node, cst.Call):
        name = module.qualified(node.func) or ""
        return name.startswith("numpy.") and name.removeprefix("numpy.") in _ARRAYS
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, _OF_NUMBERS) or any(
            _is_no_tuple(module, each, depth + 1) for each in (node.left, node.right)
        )
    if not isinstance(node, cst.Name):
        return False
    bindings = module.bindings_at(node)
    return bool(bindings) and all(
        each.value is not None
        and not each.path
        and isinstance(module.parent(each.node), cst.AssignTarget | cst.AnnAssign)
        and _is_no_tuple(module, each.value, depth + 1)
        for each in bindings
    )
