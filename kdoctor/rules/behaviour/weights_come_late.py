"""A layer with `compute_output_shape` whose `build` does not build its inner layers."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.models.sublayers import (
    UNLESS_TOLD,
    WITH_WEIGHTS,
    attributes_read,
    layers_built,
    weighted_layers_assigned,
)
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.analysis.queries import Class, classes
from kdoctor.analysis.queries.bodies import Body
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_METHODS = ("build", "call", "compute_output_shape")


def _may_leave_one(methods: Mapping[str, Body]) -> bool:
    """Say whether ``call`` reads a layer that is made in ``__init__`` or ``build``, not built."""
    making = [methods[each] for each in ("__init__", "build") if each in methods]
    made = {
        each.target.rpartition(".")[2]
        for method in making
        for each in method.assigned
        if any(name.rpartition(".")[2] in WITH_WEIGHTS | UNLESS_TOLD for name in each.called)
    }
    return not made.isdisjoint(methods["call"].read - methods["build"].read)


@rule(
    "KD444",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=classes(Kind.LAYER, defining=_METHODS, bodies=_may_leave_one),
)
def check(layer: Class) -> Finding | None:
    """Report each such class."""
    module, methods = layer.module, layer.methods
    build, init = methods["build"], methods.get("__init__")
    if not _is_direct(layer) or _builds_by_others(build, methods):
        return None
    if init is not None and _builds_by_others(init, {}):
        return None
    made = [*weighted_layers_assigned(module, init), *weighted_layers_assigned(module, build)]
    called, read = attributes_read(methods["call"]), attributes_read(build) | layers_built(init)
    late = [each for each in dict.fromkeys(made) if each in called and each not in read]
    return _finding(layer, build, late) if late else None


def _is_direct(layer: Class) -> bool:
    """Say whether the one base is Keras' ``Layer``, so that nothing else builds or is asked."""
    module, base = layer.module, only_base(layer.module, layer.node)
    name = module.qualified(base) if base is not None else None
    made = module.oracle.class_type(name) if name else None
    return made is not None and made.cls == "Layer" and is_keras_3(layer.facts, name)


def _builds_by_others(build: cst.FunctionDef, methods: dict[str, cst.FunctionDef]) -> bool:
    """Say whether ``build`` may build by a method of the class, in a loop, or by a name."""
    for each in descendants(build.body):
        if not isinstance(each, cst.Call) or not isinstance(each.func, cst.Attribute):
            continue
        owner, name = each.func.value, each.func.attr.value
        if isinstance(owner, cst.Name) and (name in methods or name == "build"):
            return True
        if isinstance(owner, cst.Subscript) and name == "build":
            return True
    return False


def _finding(layer: Class, build: cst.FunctionDef, late: list[str]) -> Finding:
    shown = ", ".join(f"`self.{each}`" for each in late)
    return layer.finding(
        f"the weights of {shown} are not created until the first batch: Keras 3 uses "
        "`compute_output_shape` instead of running `call`; `load_weights` and `set_weights` of a "
        "new model fail",
        at=build.name,
        symbol=f"{layer.symbol}.build",
        help=f"Build it here, `self.{late[0]}.build(shape)` (each layer of a list), or remove "
        "`compute_output_shape`.",
        fix=NoFix("kdoctor cannot tell which shape it is called with"),
    )
