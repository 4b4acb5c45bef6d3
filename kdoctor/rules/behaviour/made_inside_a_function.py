"""`@tf.function` on `call`: weights of layers that are built inside it are not trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.models.sublayers import (
    attributes_read,
    layers_built,
    weighted_layers_assigned,
)
from kdoctor.analysis.models.unbuilt_weights import inits_of
from kdoctor.analysis.models.user_classes import decorated_by, lineage_with_keras_3_base
from kdoctor.analysis.models.user_models import methods_of
from kdoctor.analysis.queries import Class, classes
from kdoctor.analysis.queries.signatures import signature_of
from kdoctor.analysis.tensors.control_flow import may_need_autograph
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Edit, Finding, NoFix, Severity
from kdoctor.rewrite.source_lines import whole_line
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_AUTOGRAPH: Final = (
    "a branch or loop in it may depend on a tensor: without the decorator Keras 3 runs it as Python"
)
_GRAPHS: Final = ways_also_by_1("tensorflow.function")


@rule(
    "KD473",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=classes(Kind.LAYER, decorated_by=_GRAPHS) | classes(Kind.MODEL, decorated_by=_GRAPHS),
)
def check(owner: Class) -> Iterator[Finding]:
    """Report each such decorator."""
    module = owner.module
    line, base = lineage_with_keras_3_base(module, owner.facts, owner.node)
    if base is None or base.cls not in {"Layer", "Functional"}:
        return
    methods = methods_of(line)
    call = methods.get("call")
    if call is None or methods.keys() & {"build", "__call__", "__getattr__"}:
        return
    late = _late(module, line)
    if not late or _is_called(module, owner.node):
        return
    used = attributes_read(call)
    for name, method in owner.methods.items():
        inside = [each for each in late if each in attributes_read(method)]
        decorator = _decorator(module, method)
        if decorator is None or not inside or not (method is call or name in used):
            continue
        if not _is_traced_anew(method):
            yield _finding(owner, method, decorator, inside[0])


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
    found = signature_of(method)
    return bool(found.var_keyword) or found.parameter("training") is not None


def _finding(
    owner: Class, method: cst.FunctionDef, decorator: cst.Decorator, layer: str
) -> Finding:
    return owner.finding(
        f"`self.{layer}` creates its weights inside this function, where Keras 3 treats them as "
        "constants: they are not trained",
        symbol="tensorflow.function",
        at=decorator.decorator,
        help="Remove the decorator: `fit` compiles the whole step.",
        fix=owner.fix(
            "Remove the decorator",
            _left_out(owner.module, decorator),
            unsafe_because=_AUTOGRAPH if may_need_autograph(owner.module, method) else "",
        ),
    )


def _left_out(module: Module, decorator: cst.Decorator) -> Edit | NoFix:
    lines = whole_line(module, module.span(decorator))
    if lines is None or "#" in module.source(decorator):
        return NoFix("there is a comment next to it")
    return Edit(lines, ())
