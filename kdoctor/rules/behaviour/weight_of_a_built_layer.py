"""`self.layer.build(shape)`, then `self.layer.add_weight(…)`: a built layer takes no weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_call_of_super
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.models.user_classes import receiver
from kdoctor.analysis.queries import File, classes, files
from kdoctor.analysis.queries.conditions import member, read_of_attribute
from kdoctor.model import Confidence, Edit, Finding, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_ADD: Final = "add_weight"
_ERROR: Final = (
    "ValueError: You cannot add new elements of state (variables or sub-layers) to a layer that "
    "is already built."
)


@rule(
    "KD496",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(read_of_attribute(_ADD), member("build"), classes(of=Kind.LAYER)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each weight that is added to an inner layer in `build`, below what builds it."""
    module, points_to = file.module, points_to_of(file.module)
    for call in module.nodes(cst.Call):
        inner = _inner_layer(call, _ADD)
        function = None if inner is None else points_to.function_around(call)
        if inner is None or function is None or module.is_guarded(call):
            continue
        itself = receiver(function)
        if function.name.value != "build" or not _is_of(itself, inner) or itself is None:
            continue
        bases = _layers_derived_from(module, function)
        if not bases or not _is_built_above(module, call, inner, bases):
            continue
        yield file.finding(
            f"this layer is built above, and takes no more weights: {_ERROR}",
            at=call,
            symbol=f"Layer.{_ADD}",
            confidence=Confidence.LIKELY,
            help=f"Create the weight in the layer around it: `{itself}.{_ADD}(…)`.",
            fix=file.fix(
                "Create the weight in the layer around it",
                Edit(module.span(inner), (itself,)),
                unsafe_because="it comes before the weights of the inner layer in `get_weights()`",
            ),
        )


def _inner_layer(call: cst.Call, method: str) -> cst.Attribute | None:
    """Return ``self.layer`` of ``self.layer.add_weight(…)``."""
    match call.func:
        case cst.Attribute(
            value=cst.Attribute(value=cst.Name()) as inner, attr=cst.Name(value=called)
        ) if called == method:
            return inner
    return None


def _is_of(itself: str | None, inner: cst.Attribute) -> bool:
    return isinstance(inner.value, cst.Name) and inner.value.value == itself


def _layers_derived_from(module: Module, build: cst.FunctionDef) -> set[str | None]:
    """Return the classes of Keras' layers that the class of a method is derived from."""
    cls = points_to_of(module).class_around(build)
    bases = [] if cls is None else [module.qualified(each.value) for each in cls.bases]
    known = (module.oracle.class_type(each) for each in bases if each)
    return {each.cls for each in known if each is not None and each.kind is Kind.LAYER}


def _is_built_above(
    module: Module, add: cst.Call, inner: cst.Attribute, bases: set[str | None]
) -> bool:
    """Say whether the same method builds that layer before, or lets `Wrapper` build it."""
    points_to, start = points_to_of(module), module.span(add).start
    function = points_to.function_around(add)
    is_wrapped = inner.attr.value == "layer" and "Wrapper" in bases
    return any(
        module.span(each).start < start and points_to.function_around(each) is function
        for each in module.nodes(cst.Call)
        if ((built := _inner_layer(each, "build")) is not None and built.deep_equals(inner))
        or (is_wrapped and is_call_of_super(each, "build"))
    )
