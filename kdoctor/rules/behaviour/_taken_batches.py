"""Who takes batches of a generator or a `Sequence` by hand, and counts on their form."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.uses import attributes_named, reads_of
from kdoctor.analysis.training.generators import FED
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_TAKES = frozenset({
    "chain", "enumerate", "islice", "iter", "list", "map", "next", "reversed", "tuple", "zip",
})  # fmt: skip
_GETS = "__getitem__"
_TAKES_OF = frozenset({_GETS, "__next__", "send"})
_FEEDS = frozenset(FED)
_ASKS = frozenset({"bool", "hasattr", "id", "isinstance", "len", "print", "repr", "str", "type"})
_PREDICTING = frozenset({"predict", "predict_on_batch"})


def are_taken_by_hand(module: Module, maker: str) -> bool:
    """Say whether the file itself takes batches of what a function or class of that name makes."""
    points_to = points_to_of(module)

    def is_made(node: cst.BaseExpression) -> bool:
        # Also what a function is given: `def augmented(batches): for x, y in batches: …`.
        return any(_leaf(each.call.func) == maker for each in points_to.made_in_function(node))

    for call in module.nodes(cst.Call):
        taken = [each.value for each in call.args] if _may_take(module, call) else []
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in _TAKES_OF:
            taken = [call.func.value]
        if any(map(is_made, taken)):
            return True
    return (
        _is_asked_by_subclass(module)
        or any(
            is_made(each.iter) and not _only_predicts(module, each)
            for each in module.nodes(cst.For)
        )
        or any(is_made(each.iter) for each in module.nodes(cst.CompFor))
        or any(is_made(each.value) for each in module.nodes(cst.Subscript))
    )


def _is_asked_by_subclass(module: Module) -> bool:
    """Say whether `super().__getitem__(…)` gives a batch, here or in a file that imports this."""
    calls = (each.value for each in attributes_named(module, _GETS))
    return any(
        isinstance(each, cst.Call) and _leaf(each.func) == "super" for each in calls
    ) or module.is_written_by_importers(_GETS)


def _may_take(module: Module, call: cst.Call) -> bool:
    """Say whether who is called may take batches of what it is given, and is not seen to."""
    name = _leaf(call.func)
    if name in _TAKES:
        return True
    is_fed = isinstance(call.func, cst.Attribute) and name in _FEEDS
    return not (is_fed or name in _ASKS) and points_to_of(module).function_called(call.func) is None


def _only_predicts(module: Module, loop: cst.For) -> bool:
    """Say whether a model predicts from what a loop takes, and nothing else is done with it.

    It takes tuples and lists alike.
    """
    target = loop.target
    parts = [each.value for each in target.elements] if isinstance(target, cst.Tuple) else []
    return bool(parts) and all(
        isinstance(part, cst.Name)
        and all(_is_predicted_from(module, each) for each in reads_of(module, part))
        for part in parts
    )


def _is_predicted_from(module: Module, name: cst.Name) -> bool:
    passed = module.parent(name)
    call = module.parent(passed) if isinstance(passed, cst.Arg) and not passed.star else None
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return False
    owner = module.type_of(call.func.value)
    is_model = owner is not None and owner.kind is Kind.MODEL
    return is_model and call.func.attr.value in _PREDICTING


def _leaf(node: cst.BaseExpression) -> str:
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
    return ""


def is_imported_elsewhere(module: Module) -> bool:
    """Say whether another file may import a class or a function of this one.

    It need not be the one that makes the batches: a generator's `flow` gives a `Sequence`.
    """
    defined = (
        each for each in module.tree.body if isinstance(each, cst.ClassDef | cst.FunctionDef)
    )
    return any(module.name_may_be_imported_elsewhere(each.name.value) for each in defined)
