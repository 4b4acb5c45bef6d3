"""A function decorated with `@tf.function` is called with a symbolic tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import named
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES, SYMBOLIC, holds_symbolic
from kdoctor.analysis.tensors.tensorflow_calls import may_get_a_tensor
from kdoctor.analysis.triggers import Trigger
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts

_NAME = "tensorflow.function"
_DECORATORS = ways_also_by_1(_NAME)
_ERROR = "ValueError: A KerasTensor is symbolic: it's a placeholder for a shape an a dtype."
_WITH_SIGNATURE = "TypeError: Binding inputs to tf.function failed"


def _may_be_called_with_one(quick: QuickFacts, facts: TargetFacts) -> bool:
    decorated = {
        function.name
        for function in quick.nodes.get(ast.FunctionDef, ())
        for each in function.decorator_list
        if _DECORATORS & quick.meant_by(each.func if isinstance(each, ast.Call) else each)
    }
    return any(
        isinstance(called.node.func, ast.Name) and may_get_a_tensor(quick, facts, called)
        for name in decorated
        for called in quick.calls_by_leaf.get(name, ())
    )


@rule(
    "KD508",
    severity=Severity.ERROR,
    since="3.0",
    # A `tf.function` and a model are in every file with a training loop of its own.
    look_for=files(named(*_DECORATORS), SYMBOLIC, Trigger(_may_be_called_with_one)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each call."""
    module = file.module
    for call in module.nodes(cst.Call):
        if not isinstance(call.func, cst.Name):
            continue
        error = _error(module, call.func)
        if error is None or not any(holds_symbolic(module, each.value) for each in call.args):
            continue
        if module.context_of(call) in RUN_WITH_VALUES or module.is_guarded(call):
            continue
        yield file.finding(
            f"the `tf.function` `{call.func.value}` is called with a symbolic tensor: {error}",
            at=call.func,
            symbol=_NAME,
            help="Remove `@tf.function`, or call it in the `call` of a layer: `kdoctor explain "
            "KD508` shows one.",
            fix=NoFix("which of the two works depends on the body of the function"),
        )


def _error(module: Module, name: cst.Name) -> str | None:
    bindings = module.scope_of(name).bindings_of(name.value)
    if len(bindings) != 1 or not isinstance(bindings[0].node, cst.FunctionDef):
        return None
    decorators = [each.decorator for each in bindings[0].node.decorators]
    if len(decorators) != 1:
        return None
    made = decorators[0]
    if isinstance(made, cst.Call) and module.qualified(made.func) in _DECORATORS:
        keywords = {each.keyword.value for each in made.args if each.keyword}
        return _WITH_SIGNATURE if "input_signature" in keywords else _ERROR
    return _ERROR if module.qualified(made) in _DECORATORS else None
