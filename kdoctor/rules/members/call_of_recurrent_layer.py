"""`call(self, inputs)` in a subclass of `LSTM`, `GRU` or `RNN`: Keras 3 expects `sequences`."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from kdoctor.analysis.calls import is_call_of_super, is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Subclass, subclasses
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Edit, Finding, NoFix, Severity, Span
from kdoctor.rules.rule import rule
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


def _is_recurrent(facts: TargetFacts, base: str) -> bool:
    split = split_root(base)
    parent, _, leaf = split[1].rpartition(".") if split else ("", "", "")
    return parent == "layers" and leaf in RECURRENT and is_keras_3(facts, base)


@rule(
    "KD226",
    severity=Severity.ERROR,
    since="3.0",
    look_for=subclasses(_is_recurrent, defining="call"),
)
def check(cls: Subclass) -> Finding | None:
    """Report each such parameter."""
    call, asking = cls.methods["call"], _asking(cls.methods)
    if asking is None or len(call.params.params) < 2:
        return None
    if call.params.params[1].name.value == _NEW and _takes(call, _STATE):
        return None
    return _finding(cls, call, asking)


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


def _finding(cls: Subclass, call: cst.FunctionDef, asking: str) -> Finding:
    parameter = call.params.params[1]
    edits = _edits(cls.module, call, parameter)
    old = parameter.name.value
    said = _ERROR.format(asking)
    if asking == _SHAPE:  # what Keras says of the layer comes first
        said = f"{_OF_THE_CLASS.format(cls.symbol)} {said.removeprefix('ValueError: ')}"
    wanted, has = (_NEW, f"has `{old}`") if old != _NEW else (_STATE, "has none")
    return cls.finding(
        f"`{asking}` of `{cls.base.rpartition('.')[2]}` looks for `{wanted}` among the parameters "
        f"of `call`, which {has}: {said}",
        at=parameter.name,
        symbol=f"{cls.base}.call({old})",
        confidence=Confidence.CERTAIN,
        help=f"Rename the first parameter to `{_NEW}`, and add `{_STATE}=None`.",
        fix=cls.fix(
            f"Rename the parameter to `{_NEW}`" if old != _NEW else f"Accept `{_STATE}`",
            *edits,
            unsafe_because=f"other code passes `{old}` by this name"
            if old != _NEW and _is_passed_by_name(cls.module, call, old)
            else "",
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


def _is_passed_by_name(module: Module, method: cst.FunctionDef, name: str) -> bool:
    """Say whether a call outside of the method gives what may be the layer a value by name."""
    inside = module.span(method)
    return any(
        each.keyword is not None
        and each.keyword.value == name
        and not inside.covers(module.span(each))
        and isinstance(call := module.parent(each), cst.Call)
        and module.qualified(call.func) is None  # what is imported is no object of this class
        for each in module.nodes(cst.Arg)
    )


def _binds(function: cst.FunctionDef | cst.Lambda, name: str) -> bool:
    return any(each.name.value == name for each in descendants(function.params)
               if isinstance(each, cst.Param))  # fmt: skip


def _is_variable(module: Module, name: cst.Name) -> bool:
    parent = module.parent(name)
    if isinstance(parent, cst.Attribute):
        return parent.value is name
    return not (isinstance(parent, cst.Arg) and parent.keyword is name)
