"""Models that are known to get batches of different sequence lengths."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import binding_of, is_hidden, passed, value_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import own_nodes
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import Binding, BindingKind

_FED = {
    **dict.fromkeys(("fit", "predict", "train_on_batch", "predict_on_batch"), "x"),
    **dict.fromkeys(("fit_generator", "predict_generator"), "generator"),
}
_PADS = ".pad_sequences"
_DRAWN = frozenset({"numpy.random.randint", "random.randint", "random.randrange"})


def yields_several_lengths(module: Module, function: cst.FunctionDef) -> bool:
    """Say whether a generator yields inputs whose second size is another each time."""
    return any(_varies(module, each) for each in _yielded(module, function))


def gets_several_lengths(module: Module, model: str, at: cst.CSTNode) -> bool:
    """Say whether the model of this name is fed arrays whose second size is another each time.

    ``at`` stands where the name means the model.
    """
    scope = module.scope_of(at).owner(model)
    for use in module.members_named(*_FED):
        if use.called is None:
            continue
        owner = use.node.value
        if not isinstance(owner, cst.Name) or owner.value != model:
            continue
        if module.scope_of(owner).owner(model) is not scope:
            continue
        given = passed(use.called, _FED[use.member], 0)
        if given is not None and any(_varies(module, each) for each in _batches(module, given)):
            return True
    return False


def _batches(module: Module, given: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the inputs that are fed: the first of what a generator of the file yields."""
    value = value_of(module, given)
    function = (
        points_to_of(module).function_called(value.func) if isinstance(value, cst.Call) else None
    )
    if function is None:
        yield value
        return
    yield from _yielded(module, function)


def _yielded(module: Module, function: cst.FunctionDef) -> Iterator[cst.BaseExpression]:
    for node in own_nodes(function.body):
        match node:
            case cst.Yield(value=cst.Tuple(elements=[cst.Element(value=inputs), *_])):
                yield value_of(module, inputs)


def _varies(module: Module, array: cst.BaseExpression) -> bool:
    """Say whether its length is another each time.

    It is ``numpy.ones((32, n))``, with an ``n`` that a loop changes, or a batch that is padded to
    the longest of its own.
    """
    match array:
        case cst.Call(func=padding) if (module.qualified(padding) or "").endswith(_PADS):
            length = passed(array, "maxlen", 1)
            return not is_hidden(array) and (length is None or module.source(length) == "None")
        case cst.Call(
            func=maker,
            args=[cst.Arg(value=cst.Tuple(elements=[_, cst.Element(value=size), *_])), *_],
        ) if (module.qualified(maker) or "").startswith("numpy."):
            bound = binding_of(module, size)
            return bound is not None and _changes(module, bound)
    return False


def _changes(module: Module, bound: Binding) -> bool:
    if bound.path or bound.value is None:
        return False
    if bound.kind is BindingKind.LOOP:
        sizes = literal(value_of(module, bound.value))
        return isinstance(sizes, tuple | list) and len({*map(str, sizes)}) > 1
    is_drawn = (
        bound.kind is BindingKind.ASSIGN
        and isinstance(bound.value, cst.Call)
        and module.qualified(bound.value.func) in _DRAWN
    )
    return is_drawn and any(
        isinstance(each, cst.For | cst.While) for each in module.ancestors(bound.value)
    )
