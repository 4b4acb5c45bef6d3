"""`call(self, inputs)` in a subclass of `LSTM`, `GRU` or `RNN`: Keras 3 expects `sequences`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import libcst as cst

from kdoctor.analysis.calls import is_call_of_super, is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.analysis.triggers import classes, word
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

RECURRENT = frozenset({
    "Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "LSTM", "RNN", "SimpleRNN",
})  # fmt: skip
"""The layers whose ``build`` asks for the shape of ``sequences``."""
_NEW, _STATE = "sequences", "initial_state"
_ERROR = (
    "ValueError: For a `{}()` method with more than one argument, all arguments should have a "
    "`_shape` suffix and match an argument from `call()`."
)
_OF_THE_CLASS = "ValueError: Exception encountered when calling {}.call()."
_BUILD, _SHAPE, _SPEC = "build", "compute_output_shape", "compute_output_spec"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such parameter."""
    for node in module.nodes(cst.ClassDef):
        only = only_base(module, node)
        base = module.qualified(only) if only is not None else None
        split = split_root(base) if base and is_keras_3(facts, base) else None
        parent, _, leaf = split[1].rpartition(".") if split else ("", "", "")
        if base is None or parent != "layers" or leaf not in RECURRENT or module.is_guarded(node):
            continue
        methods = {e.name.value: e for e in node.body.body if isinstance(e, cst.FunctionDef)}
        call = methods.get("call")
        asking = _asking(methods)
        if call is None or asking is None or len(call.params.params) < 2:
            continue
        if call.params.params[1].name.value != _NEW or not _takes(call, _STATE):
            yield _finding(module, facts, call, base, asking)


def _asking(methods: Mapping[str, cst.FunctionDef]) -> str | None:
    """Return which method of the recurrent layer asks for the shape of ``sequences``."""
    build = methods.get(_BUILD)
    if build is None:
        return _BUILD
    # With several, the names of its own parameters count, too.
    is_plain = len(build.params.params) == 2 and not {_SHAPE, _SPEC} & set(methods)
    return _SHAPE if is_plain else None


def _takes(call: cst.FunctionDef, name: str) -> bool:
    named = (*call.params.params, *call.params.kwonly_params)
    return any(each.name.value == name for each in named)


def _finding(
    module: Module, facts: TargetFacts, call: cst.FunctionDef, base: str, asking: str
) -> Finding:
    parameter = call.params.params[1]
    edits = _edits(module, call, parameter)
    old = parameter.name.value
    said = _ERROR.format(asking)
    if asking == _SHAPE:  # what Keras says of the layer comes first
        said = f"{_OF_THE_CLASS.format(_name(module, call))} {said.removeprefix('ValueError: ')}"
    wanted, has = (_NEW, f"has `{old}`") if old != _NEW else (_STATE, "has none")
    return rule.finding(
        module.place(parameter.name),
        f"`{asking}` of `{base.rpartition('.')[2]}` looks for `{wanted}` among the parameters of "
        f"`call`, which {has}: {said}",
        symbol=f"{base}.call({old})",
        confidence=Confidence.CERTAIN,
        help=f"Rename the first parameter to `{_NEW}`, and add `{_STATE}=None`.",
        fix=Fix(
            f"Rename the parameter to `{_NEW}`" if old != _NEW else f"Accept `{_STATE}`",
            edits,
            facts.applicability(*(each for each in rule.invalid if each.after)),
        )
        if edits
        else NoFix(
            "the method needs a manual change: it uses the name for something else, or takes "
            "arbitrary arguments"
        ),
    )


def _edits(module: Module, call: cst.FunctionDef, parameter: cst.Param) -> tuple[Edit, ...] | None:
    renamed = () if parameter.name.value == _NEW else _renamed(module, call, parameter)
    if renamed is None or _takes(call, _STATE):
        return renamed
    if call.params.star_kwarg is not None or isinstance(call.params.star_arg, cst.Param):
        return None  # the state is among them, and may be handed on
    if any(isinstance(each, cst.Name) and each.value == _STATE for each in descendants(call.body)):
        return None
    last = call.params.params[-1]
    annotation = last.annotation.annotation if last.annotation else last.name
    end = module.outer_span(last.default or annotation).end
    text = f", {_STATE}=None"
    kept = tuple(each for each in renamed if each.span.end != end)
    if len(kept) < len(renamed):  # one edit where both are at one place
        return (*kept, Edit(module.span(parameter.name), (f"{_NEW}{text}",)))
    return (*renamed, Edit(Span(end, end), (text,)))


def _name(module: Module, call: cst.FunctionDef) -> str:
    around = next(each for each in module.ancestors(call) if isinstance(each, cst.ClassDef))
    return around.name.value


def _renamed(
    module: Module, call: cst.FunctionDef, parameter: cst.Param
) -> tuple[Edit, ...] | None:
    old = parameter.name.value
    nodes: list[cst.CSTNode] = [parameter.name]
    for each in descendants(call.body):
        match each:
            case cst.Name(value=name) if name == _NEW:
                return None
            case cst.FunctionDef() | cst.Lambda() if _binds(each, old):
                return None
            case cst.Arg(keyword=cst.Name() as keyword) if keyword.value == old:
                if not is_call_of_super(module.parent(each), "call"):
                    continue
                nodes.append(keyword)
            case cst.Name(value=name) if name == old and _is_variable(module, each):
                nodes.append(each)
    return tuple(Edit(module.span(node), (_NEW,)) for node in nodes)


def _binds(function: cst.FunctionDef | cst.Lambda, name: str) -> bool:
    return any(each.name.value == name for each in descendants(function.params)
               if isinstance(each, cst.Param))  # fmt: skip


def _is_variable(module: Module, name: cst.Name) -> bool:
    parent = module.parent(name)
    if isinstance(parent, cst.Attribute):
        return parent.value is name
    return not (isinstance(parent, cst.Arg) and parent.keyword is name)


def _may_be_recurrent(_: TargetFacts, __: ast.ClassDef, bases: frozenset[str]) -> bool:
    return any(each.rpartition(".")[2] in RECURRENT for each in bases)


rule = Rule(
    code="KD226",
    name="call-of-recurrent-layer",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=word("call") & classes(_may_be_recurrent),
    since="3.0",
)
