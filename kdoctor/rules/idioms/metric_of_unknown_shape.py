"""A metric returns the result of `tf.py_function`, a tensor of unknown shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.dataflow.uses import names_with_spelling
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import own_nodes
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Context

Function = cst.FunctionDef | cst.Lambda

_PYTHON: Final = frozenset({"numpy_function", "py_func", "py_function"})
_KEEP_IT: Final = frozenset({"cast", "convert_to_tensor", "identity", "stop_gradient"})
# They say what the shape is; or nothing is traced.
_SHAPED: Final = frozenset({"ensure_shape", "set_shape"})
_EAGER: Final = frozenset({
    "enable_eager_execution", "experimental_run_functions_eagerly", "run_eagerly",
    "run_functions_eagerly",
})  # fmt: skip
_MAX_DEPTH: Final = 6
_UNKNOWN: Final = "ValueError: Cannot take the length of shape with unknown rank."


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such result of a metric."""
    if not module.words.isdisjoint(_EAGER | _SHAPED):
        return
    measured = _measured(module)
    functions: list[Function] = [*module.nodes(cst.FunctionDef), *module.nodes(cst.Lambda)]
    for function in functions:
        given = [(each, _from_python(module, each)) for each in _given(function)]
        found = [(each, call) for each, call in given if call is not None]
        if not found or not _is_metric(module, function, measured):
            continue
        for value, call in found:
            if not module.is_guarded(value):
                yield _finding(module, facts, value, call)


def _finding(
    module: Module, facts: TargetFacts, value: cst.BaseExpression, call: cst.Call
) -> Finding:
    called = module.source(call.func)
    fix = None
    if isinstance(call.func, cst.Attribute):
        place = module.outer_span(value)
        opening = f"{module.source(call.func.value).removesuffix('.compat.v1')}.reshape("
        edit = Edit(place, (opening, Hole(place), ", (-1,))"))
        fix = Fix("Reshape it to one dimension", (edit,), facts.applicability(*rule.invalid))
    return rule.finding(
        module.place(value),
        f"the result of `{called}` has no known shape, but Keras 3 needs the rank of a metric: "
        f"{_UNKNOWN}",
        symbol="keras.Model.compile(metrics)",
        confidence=Confidence.LIKELY,
        help="Write `tf.reshape(value, (-1,))`: Keras takes its mean, as Keras 2 did.",
        fix=fix or NoFix("there is no name for TensorFlow here to call `reshape` on"),
    )


def _given(function: Function) -> list[cst.BaseExpression]:
    """Return what a function gives."""
    if isinstance(function, cst.Lambda):
        return [function.body]
    returned = [each.value for each in own_nodes(function.body) if isinstance(each, cst.Return)]
    return [each for each in returned if each is not None]


def _from_python(module: Module, node: cst.BaseExpression, depth: int = 0) -> cst.Call | None:
    """Return the call of `tf.py_function` whose result an expression has the shape of."""
    if depth > _MAX_DEPTH:
        return None
    node = value_of(module, node)
    match node:
        case cst.Call(func=function):
            name = module.qualified(function) or ""
            package, _, leaf = name.rpartition(".")
            if package.partition(".")[0] != "tensorflow":
                return None
            if leaf in _PYTHON:
                return node if _gives_one_tensor(node) else None
            if leaf in _KEEP_IT and node.args and node.args[0].keyword is None:
                return _from_python(module, node.args[0].value, depth + 1)
        case cst.BinaryOperation(left=cst.BaseNumber(), right=value):
            return _from_python(module, value, depth + 1)
        case cst.BinaryOperation(left=value, right=cst.BaseNumber()):
            return _from_python(module, value, depth + 1)
        case cst.UnaryOperation(expression=value, operator=cst.Minus()):
            return _from_python(module, value, depth + 1)
    return None


def _gives_one_tensor(call: cst.Call) -> bool:
    """Say whether one type is asked for: of a list of them comes a list."""
    asked = argument(call, "Tout", 2)
    return asked is not None and isinstance(asked.value, cst.Attribute | cst.SimpleString)


def _is_metric(module: Module, function: Function, measured: frozenset[cst.CSTNode]) -> bool:
    """Say whether a function is one that Keras measures with."""
    if function in measured:
        return True
    if isinstance(function, cst.Lambda) or function.decorators or "compile" in module.words:
        return False
    if not isinstance(module.parent(module.parent(function) or function), cst.Module | None):
        return False  # a method, or a function within another
    is_spelled_once = len(names_with_spelling(module, function.name.value)) == 1
    return is_spelled_once and module.context_of(function.body) is Context.LOSS_OR_METRIC


def _measured(module: Module) -> frozenset[cst.CSTNode]:
    """Return the functions of the file that `compile` is given as metrics."""
    found: set[cst.CSTNode] = set()
    for call in module.nodes(cst.Call):
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "compile":
            continue
        if module.qualified(call.func) is not None or module.is_guarded(call):
            continue
        for given in (argument(call, "metrics", 2), argument(call, "weighted_metrics", 4)):
            if given is not None:
                found.update(_functions(module, value_of(module, given.value)))
    return frozenset(found)


def _functions(module: Module, given: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """Yield what stands in a list or a dict of metrics: lambdas, and functions by their names."""
    if isinstance(given, cst.List | cst.Tuple | cst.Dict):
        for each in given.elements:
            if isinstance(each, cst.Element | cst.DictElement):
                yield from _functions(module, each.value)
    elif isinstance(given, cst.Lambda):
        yield given
    elif isinstance(given, cst.Name):
        bindings = module.bindings_at(given)
        if len(bindings) == 1:
            yield bindings[0].node
            if isinstance(bindings[0].value, cst.Lambda) and not bindings[0].path:
                yield bindings[0].value


def _may_give_one(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether a function of TensorFlow is called that runs Python's."""
    return any(
        name.partition(".")[0] == "tensorflow" and name.rpartition(".")[2] in _PYTHON
        for name in quick.calls_by_meaning
    ) and ("compile" in quick.written or _has_targets(quick))


def _has_targets(quick: QuickFacts) -> bool:
    """Say whether a function has parameters as a loss or a metric has them."""
    return any(
        len(each.args.args) > 1 and each.args.args[0].arg.lower().replace("_", "") == "ytrue"
        for each in quick.nodes.get(ast.FunctionDef, ())
    )


rule = Rule(
    code="KD521",
    name="metric-of-unknown-shape",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=word(*_PYTHON) & Trigger(_may_give_one),
    since="3.0",
    only_alone=True,
)
