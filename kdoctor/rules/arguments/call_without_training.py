"""`call(self, x, training)` without a default: Keras 3 no longer fills in `training`."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.models.user_classes import class_of
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.signatures import FormalSignature
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_TRAINING = "training"
_FILLED_IN = frozenset({_TRAINING, "mask"})
_MISSING = "TypeError: missing a required argument: 'training'"
_REFUSED = (
    "ValueError: Layers added to a Sequential model can only have a single required positional "
    "argument, the input tensor."
)


def _requires_training(call: FormalSignature) -> bool:
    training = call.parameter(_TRAINING)
    return training is not None and not training.has_default and not call.is_decorated


@rule(
    "KD319",
    severity=Severity.ERROR,
    since="3.0",
    look_for=methods("call", of=Kind.LAYER, where=_requires_training, guarded=True)
    | methods("call", of=Kind.MODEL, where=_requires_training, guarded=True),
)
def check(method: Method) -> Finding | None:
    """Report each such parameter, once."""
    parameter = _training_of(method.node)
    if parameter is None or "__call__" in method.owner.methods:
        return None
    module = method.module
    for call in module.nodes(cst.Call):
        used, error = _used(module, call)
        made = module.type_of(used)
        if made is None or class_of(module, made) is not method.owner.node:
            continue
        if module.is_guarded(call) or not is_keras_3(method.facts, made.qualified):
            continue
        if used is not call.func or not _passes(call, method.node):
            return _finding(method, parameter, module.source(call), error)
    return None


def _training_of(call: cst.FunctionDef) -> cst.Param | None:
    given = (*call.params.params[2:], *call.params.kwonly_params)
    return next((each for each in given if each.name.value == _TRAINING), None)


def _used(module: Module, call: cst.Call) -> tuple[cst.BaseExpression, str]:
    """Return the layer that a call uses, by calling it or by putting it into a ``Sequential``."""
    around = module.parent(call)
    if isinstance(around, cst.Element):
        around = module.parent(module.parent(around) or around)
    holder = module.parent(around) if isinstance(around, cst.Arg) else None
    if isinstance(holder, cst.Call) and _makes_or_adds(module, holder):
        return call, _REFUSED
    return call.func, _MISSING


def _makes_or_adds(module: Module, call: cst.Call) -> bool:
    """Say whether a call makes a ``Sequential``, or adds to one."""
    if (module.qualified(call.func) or "").endswith(".Sequential"):
        return True
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value="add")):
            made = module.type_of(owner)
            return made is not None and made.kind is Kind.MODEL and made.cls == "Sequential"
    return False


def _passes(call: cst.Call, method: cst.FunctionDef) -> bool:
    """Say whether a call may pass ``training``."""
    if any(each.star or (each.keyword and each.keyword.value == _TRAINING) for each in call.args):
        return True
    by_position = [each for each in call.args if each.keyword is None]
    names = [each.name.value for each in method.params.params[1:]]
    return _TRAINING in names[: len(by_position)]


def _finding(method: Method, parameter: cst.Param, used: str, error: str) -> Finding:
    if parameter in method.node.params.kwonly_params:
        error = _MISSING  # a `Sequential` asks for parameters by position alone
    return method.finding(
        f"`{_short(used)}` omits `training`, and Keras 3 does not fill it in: {error}",
        at=parameter.name,
        help="Write `training=None`: Keras then fills it in.",
        fix=_with_default(method, parameter),
    )


def _short(code: str) -> str:
    first, *more = code.split("\n")
    return f"{first.strip()} …" if more else first


def _with_default(method: Method, parameter: cst.Param) -> Fix | NoFix:
    named = method.node.params.params
    behind: Sequence[cst.Param] = ()
    if parameter in named:
        behind = [each for each in named[named.index(parameter) + 1 :] if each.default is None]
    if any(each.name.value not in _FILLED_IN for each in behind):
        return NoFix("a later parameter has no default, and Keras does not fill it in")
    edits = []
    for each in (parameter, *behind):
        last = each.annotation.annotation if each.annotation else each.name
        end = method.module.outer_span(last).end
        text = " = None" if each.annotation else "=None"
        edits.append(Edit(Span(end, end), (text,)))
    return method.fix("Give `training` a default of None", *edits)
