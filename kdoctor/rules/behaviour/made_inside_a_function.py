"""`@tf.function` on `call`: weights of layers that are built inside it are not trained."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.sublayers import (
    attributes_read,
    layers_built,
    weighted_layers_assigned,
)
from kdoctor.analysis.models.unbuilt_weights import inits_of
from kdoctor.analysis.models.user_classes import (
    class_named,
    decorated_by,
    lineage_with_keras_3_base,
    methods_in,
)
from kdoctor.analysis.models.user_models import methods_of
from kdoctor.analysis.triggers import classes, defines, word
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rewrite.source_lines import whole_line
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.symbol_table import FUNCTIONS

_GRAPHS: Final = ways_also_by_1("tensorflow.function")
_TRACED_ANEW: Final = "training"
_OF_PYTHON: Final = frozenset({
    *("abstractmethod", "cached_property", "classmethod", "override", "property", "staticmethod"),
})  # fmt: skip


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such decorator."""
    for node in module.nodes(cst.ClassDef):
        line, base = lineage_with_keras_3_base(module, facts, node)
        if base is None or base.cls not in {"Layer", "Functional"}:
            continue
        methods = methods_of(line)
        call = methods.get("call")
        if call is None or methods.keys() & {"build", "__call__", "__getattr__"}:
            continue
        late = _late(module, line)
        if not late or _is_called(module, node):
            continue
        used = attributes_read(call)
        for name, method in methods_in(node).items():
            inside = [each for each in late if each in attributes_read(method)]
            decorator = _decorator(module, method)
            if decorator is None or not inside or not (method is call or name in used):
                continue
            if not _is_traced_anew(method) and not module.is_guarded(decorator):
                yield _finding(module, facts, decorator, inside[0])


def _late(module: Module, line: list[cst.ClassDef]) -> list[str]:
    """Return the layers with weights that are made in ``__init__`` and not built there."""
    inits = inits_of(line)
    built = {each for init in inits for each in layers_built(init)}
    return [
        each
        for init in inits
        for each in weighted_layers_assigned(module, init)
        if each not in built
    ]


def _is_called(module: Module, node: cst.ClassDef) -> bool:
    """Say whether an object of a class is called by its name: it may have its weights by then."""
    return any(
        isinstance(each.func, cst.Name)
        and isinstance(made := value_of(module, each.func), cst.Call)
        and class_named(module, made.func) is node
        for each in module.nodes(cst.Call)
    )


def _decorator(module: Module, method: cst.FunctionDef) -> cst.Decorator | None:
    names = decorated_by(module, method)
    return next(
        (each for each, name in zip(method.decorators, names, strict=True) if name in _GRAPHS), None
    )


def _is_traced_anew(method: cst.FunctionDef) -> bool:
    params = method.params
    named = [*params.posonly_params, *params.params, *params.kwonly_params]
    return params.star_kwarg is not None or any(p.name.value == _TRACED_ANEW for p in named)


def _finding(module: Module, facts: TargetFacts, decorator: cst.Decorator, layer: str) -> Finding:
    edit = _left_out(module, decorator)
    return rule.finding(
        module.place(decorator.decorator),
        f"`self.{layer}` creates its weights inside this function, where Keras 3 treats them as "
        "constants: they are not trained",
        symbol="tensorflow.function",
        confidence=Confidence.LIKELY,
        help="Remove the decorator: `fit` compiles the whole step.",
        fix=NoFix("there is a comment next to it")
        if edit is None
        else Fix(
            "Remove the decorator",
            (edit,),
            facts.applicability(*(each for each in rule.invalid if each.after)),
        ),
    )


def _left_out(module: Module, decorator: cst.Decorator) -> Edit | None:
    lines = whole_line(module, module.span(decorator))
    return None if lines is None or "#" in module.source(decorator) else Edit(lines, ())


def _may_be_in_a_function(_facts: TargetFacts, node: ast.ClassDef, _names: frozenset[str]) -> bool:
    return any(
        isinstance(each, FUNCTIONS)
        and any(map(_may_trace, each.decorator_list))
        and not _has_training(each)
        for each in node.body
    )


def _may_trace(decorator: ast.expr) -> bool:
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    if isinstance(decorator, ast.Attribute):
        return decorator.attr == "function"
    return isinstance(decorator, ast.Name) and decorator.id not in _OF_PYTHON


def _has_training(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    given = method.args
    return given.kwarg is not None or any(
        each.arg == _TRACED_ANEW for each in (*given.args, *given.kwonlyargs)
    )


rule = Rule(
    code="KD473",
    name="made-inside-a-function",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=defines("call") & classes(_may_be_in_a_function) & word("function"),
    since="3.0",
)
