"""What asks for the learning phase, where the parameter ``training`` of ``call`` answers."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.model import Applicability, Edit, Fix, Hole, Precedence, Span
from kdoctor.rewrite.precedence import precedence_of, required_precedence
from kdoctor.rewrite.source_lines import lines_around
from kdoctor.rules.names._backend.value_facts import ValueFacts, inference_of
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_PARAMETER = "training"
_NO_PHASE = (
    "Keras 2 read the learning phase, which K.set_learning_phase sets; Keras 3 passes `training` "
    "only in fit, evaluate and predict"
)
_NO_FUNCTION = "kdoctor assumes that an unknown argument is a tensor, not a function to call"
_NEVER_SET = (
    "on TensorFlow 2 it was 0, in `fit` as well, unless K.set_learning_phase had set it; older "
    "Keras gave 1 in `fit`"
)
_SETTERS = frozenset({"learning_phase_scope", "set_learning_phase"})
_OUT_OF_FIT = "a call without `training` outside of fit used the phase that was set"
_CHOICES = {"in_train_phase": (0, 1), "in_test_phase": (1, 0)}
_DECORATORS = ("symbolic", "eager")
_ARGUMENTS = 2
_CALLED = (Kind.LAYER, Kind.MODEL)


def phase_fix(module: Module, name: str, call: cst.Call) -> Fix | None:
    """Return the fix of a call that asks for the phase; None where nothing answers.

    Never a safe one: Keras 2 had one phase for all of a program.
    """
    if name == "learning_phase" and not call.args:
        return _asked(module, call)
    if name in _CHOICES:
        return _chosen(module, call, *_CHOICES[name])
    return None


def decorator_fix(
    module: Module, name: str, node: cst.CSTNode, proven: Applicability
) -> Fix | None:
    """Return the fix that takes ``@K.symbolic`` away, with its line."""
    decorator = module.parent(node)
    if name not in _DECORATORS or not isinstance(decorator, cst.Decorator):
        return None
    lines = lines_around(module, module.span(node))
    if module.text[lines.start : lines.end].strip() != f"@{module.source(node)}":
        return None
    return Fix("Remove the decorator", (Edit(lines, ()),), proven)


def _asked(module: Module, call: cst.Call) -> Fix | None:
    function = _function_with_training(module, call)
    if function is None:
        method = _call_around(module, call)
        added = () if method is None else _parameter_added(module, method)
        return _by_parameter(module, call, added) if added else _never_set(module, call)
    if function.name.value != "call":
        return _never_set(module, call)
    return _by_parameter(module, call)


def _by_parameter(module: Module, call: cst.Call, added: tuple[Edit, ...] = ()) -> Fix:
    match module.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value="training"))]):
            text, why = "False", _OUT_OF_FIT
        case _:
            text, why = _PARAMETER, _NO_PHASE
    return Fix(
        f"Write `{text}`",
        (Edit(module.span(call), (text,)), *added),
        Applicability.UNSAFE,
        unsafe_because=why,
    )


def _never_set(module: Module, call: cst.Call) -> Fix | None:
    """Return the fix of a phase that nothing in the file sets; None where it may be an input."""
    is_input = isinstance(
        module.parent(call), (cst.DictElement, cst.Element, cst.Subscript, cst.StarredElement)
    )
    in_layer = any(
        isinstance(each, cst.ClassDef) and kind_of_class(module, each) in _CALLED
        for each in module.ancestors(call)
    )
    if is_input or in_layer or not _SETTERS.isdisjoint(module.words):
        return None
    edit = Edit(module.span(call), ("0",))
    return Fix("Write `0`", (edit,), Applicability.UNSAFE, unsafe_because=_NEVER_SET)


def _chosen(module: Module, call: cst.Call, then: int, other: int) -> Fix | None:
    passed = [each.value for each in call.args if each.keyword is None]
    training, why = _training(module, call, passed)
    parameter: tuple[Edit, ...] = ()
    if training is None and len(passed) == len(call.args) == _ARGUMENTS:
        method = _call_around(module, call)
        parameter = () if method is None else _parameter_added(module, method)
        training, why = (_PARAMETER, _NO_PHASE) if parameter else (None, "")
    text = module.source(call)
    if training is None or any(each.star for each in call.args) or "#" in text:
        return None
    inference = inference_of(module)
    branches = [_branch(module, inference, passed[each]) for each in (then, other)]
    opening, closing = ("(", ")") if "\n" in text else ("", "")
    parts = (opening, *branches[0], " if ", training, " else ", *branches[1], closing)
    required = Precedence.ANY if opening else required_precedence(module.parent(call), call)
    own = Precedence.ATOM if opening else Precedence.CONDITIONAL
    edit = Edit(module.span(call), tuple(each for each in parts if each), own, required)
    return Fix(
        "Write `… if training else …`",
        (edit, *parameter),
        Applicability.UNSAFE,
        unsafe_because=why,
    )


def _training(
    module: Module, call: cst.Call, passed: list[cst.BaseExpression]
) -> tuple[str | Hole | None, str]:
    """Return what says whether the model trains, and why the fix is not safe."""
    keywords = {each.keyword.value: each.value for each in call.args if each.keyword}
    given = keywords.pop(_PARAMETER, None)
    if keywords or not _ARGUMENTS <= len(passed) <= _ARGUMENTS + (given is None):
        return None, ""
    given = passed[_ARGUMENTS] if len(passed) > _ARGUMENTS else given
    if given is not None and module.source(given) != "None":
        hole = Hole(module.outer_span(given), Precedence.OR, precedence_of(given))
        return hole, _NO_FUNCTION
    return (_PARAMETER, _NO_PHASE) if _function_with_training(module, call) else (None, "")


def _branch(
    module: Module, inference: ValueFacts, node: cst.BaseExpression
) -> tuple[Hole | str, ...]:
    if isinstance(node, cst.Lambda):
        span, precedence = module.outer_span(node.body), Precedence.OR
        if not [*node.params.params, *node.params.posonly_params, *node.params.kwonly_params]:
            return (Hole(span, precedence, precedence_of(node.body)),)
    if isinstance(node, cst.Lambda) or inference.is_function(node):
        return (Hole(module.outer_span(node), Precedence.PRIMARY, precedence_of(node)), "()")
    return (Hole(module.outer_span(node), Precedence.OR, precedence_of(node)),)


def _function_with_training(module: Module, node: cst.CSTNode) -> cst.FunctionDef | None:
    """Return the function around it, at whatever depth, that has a parameter ``training``."""
    for each in module.ancestors(node):
        if isinstance(each, cst.ClassDef):
            return None
        if isinstance(each, cst.FunctionDef) and any(
            parameter.name.value == _PARAMETER
            for parameter in (*each.params.params, *each.params.kwonly_params)
        ):
            return each
    return None


def _call_around(module: Module, node: cst.CSTNode) -> cst.FunctionDef | None:
    """Return the method `call` of a layer or a model around it."""
    inside: list[cst.CSTNode] = []
    for each in module.ancestors(node):
        if isinstance(each, cst.ClassDef):
            method = inside[-2] if len(inside) > 1 else None
            if not isinstance(method, cst.FunctionDef) or method.name.value != "call":
                return None
            return method if kind_of_class(module, each) in _CALLED else None
        inside.append(each)
    return None


def _parameter_added(module: Module, method: cst.FunctionDef) -> tuple[Edit, ...]:
    """Return the edit that gives a method a parameter ``training``, none where it has another way.

    Keras 2 looked up what the caller had passed; Keras 3 passes it.
    """
    params = method.params
    if isinstance(params.star_arg, cst.Param) or _PARAMETER in module.source(method):
        return ()
    end = module.span((*params.posonly_params, *params.params)[-1]).end
    return (Edit(Span(end, end), (f", {_PARAMETER}=None",)),)
