"""A metric returns the result of `tf.py_function`, a tensor of unknown shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, passed, value_of
from kdoctor.analysis.dataflow.uses import names_of_variable
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files, references
from kdoctor.analysis.queries.conditions import identifier, word
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import own_nodes
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


def _runs_python(_: TargetFacts, name: str) -> bool:
    return name.partition(".")[0] == "tensorflow" and name.rpartition(".")[2] in _PYTHON


@rule(
    "KD521",
    severity=Severity.ERROR,
    since="3.0",
    only_alone=True,
    look_for=files(
        references(*_PYTHON, where=_runs_python),
        word("compile") | identifier(lambda name: name.lower().replace("_", "") == "ytrue"),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such result of a metric."""
    module = file.module
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
                yield _finding(file, value, call)


def _finding(file: File, value: cst.BaseExpression, call: cst.Call) -> Finding:
    fix: Fix | NoFix = NoFix("there is no name for TensorFlow here to call `reshape` on")
    if isinstance(call.func, cst.Attribute):
        place = file.module.outer_span(value)
        opening = f"{file.source(call.func.value).removesuffix('.compat.v1')}.reshape("
        edit = Edit(place, (opening, Hole(place), ", (-1,))"))
        fix = file.fix("Reshape it to one dimension", edit, proven_by=check.invalid)
    return file.finding(
        f"the result of `{file.source(call.func)}` has no known shape, but Keras 3 needs the rank "
        f"of a metric: {_UNKNOWN}",
        at=value,
        symbol="keras.Model.compile(metrics)",
        help="Write `tf.reshape(value, (-1,))`: Keras takes its mean, as Keras 2 did.",
        fix=fix,
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
    return isinstance(passed(call, "Tout", 2), cst.Attribute | cst.SimpleString)


def _is_metric(module: Module, function: Function, measured: frozenset[cst.CSTNode]) -> bool:
    """Say whether a function is one that Keras measures with."""
    if function in measured:
        return True
    if isinstance(function, cst.Lambda) or function.decorators or "compile" in module.words:
        return False
    if not isinstance(module.parent(module.parent(function) or function), cst.Module | None):
        return False  # a method, or a function within another
    is_named_once = len(names_of_variable(module, function.name)) == 1
    return is_named_once and module.context_of(function.body) is Context.LOSS_OR_METRIC


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
