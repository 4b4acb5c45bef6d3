"""`model.fit(zip(images, masks))`: generators are the only iterators that Keras 3 accepts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_builtin, value_of
from kdoctor.analysis.dataflow.points_to import Allocation, Path, points_to_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import class_named, methods_in
from kdoctor.analysis.training.generators import FED, generators_of, may_feed_calls
from kdoctor.analysis.triggers import Trigger, attribute, method_of, word
from kdoctor.keras_api.tensorflow_aliases import FIRST, SECOND
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import own_nodes
from kdoctor.syntax.quick_facts import QuickFacts

# `iter(x)` may be a generator, of a class whose `__iter__` yields; `enumerate` gives no batches.
_BUILTINS: Final = frozenset({"filter", "map", "reversed", "zip"})
_MADE_BY: Final = "itertools."
_OF_A_DATASET: Final = "as_numpy_iterator"
_DATASETS: Final = tuple(f"{way}data." for way in ("tensorflow.", *FIRST, *SECOND))
_MAX_DEPTH: Final = 24  # calls one upon the other: `Dataset.range(3).map(…).batch(2)`


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such iterator where it is given to a model."""
    for _, given in generators_of(module):
        made = points_to_of(module).of(given)
        if not made or not all(_is_iterator(module, each) for each in made):
            continue
        sort = min(module.source(each.call.func) for each in made)
        place = module.outer_span(given)
        hole = Hole(place, Precedence.LAMBDA, precedence_of(given))
        edit = Edit(place, ("(batch for batch in ", hole, ")"))
        yield rule.finding(
            module.place(given),
            f"`{sort}` returns an iterator that is not a generator, which Keras 3 does not "
            "accept: ValueError: Unrecognized data type",
            symbol="keras.Model.fit",
            confidence=Confidence.LIKELY,
            help=f"Write `(batch for batch in {module.source(given)})`; instead of the iterator "
            "of a `Dataset`, pass the dataset itself to iterate over it in every epoch.",
            fix=Fix("Wrap it in a generator", (edit,), facts.applicability(*rule.invalid)),
        )


def _is_iterator(module: Module, made: Allocation, depth: int = 0) -> bool:
    """Say whether a call, or a function of the file that it calls, gives such an iterator."""
    function = points_to_of(module).function_called(made.call.func)
    if function is None or function.name.value == "__init__" or function.decorators:
        return not made.part and _gives_one(module, made.call)
    if depth > _MAX_DEPTH or any(isinstance(each, cst.Yield) for each in own_nodes(function.body)):
        return False
    for value in points_to_of(module).returned_by(made.call):
        part = _part(value, made.part)
        inside = frozenset() if part is None else points_to_of(module).made_in_function(part)
        if not inside or not all(_is_iterator(module, each, depth + 1) for each in inside):
            return False
    return bool(points_to_of(module).returned_by(made.call))


def _part(value: cst.BaseExpression, path: Path) -> cst.BaseExpression | None:
    """Return a part of what is written out."""
    for index in path:
        if not isinstance(value, cst.Tuple | cst.List) or not isinstance(index, int):
            return None
        if index >= len(value.elements) or not all(
            isinstance(each, cst.Element) for each in value.elements
        ):
            return None
        value = value.elements[index].value
    return value


def _gives_one(module: Module, call: cst.Call) -> bool:
    """Say whether a call surely gives an iterator that is no generator."""
    function = call.func
    name = module.qualified(function)
    if name is not None:
        return name.startswith(_MADE_BY)
    if isinstance(function, cst.Attribute) and function.attr.value == _OF_A_DATASET:
        return True
    if isinstance(function, cst.Name) and is_builtin(module, function):
        return function.value in _BUILTINS or (
            function.value == "iter" and len(call.args) == 1
            and _is_a_dataset(module, call.args[0].value)
        )  # fmt: skip
    return _has_next(module, call) or _is_wrapped(module, call)


def _is_a_dataset(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is what `tf.data` gives, and what its methods make of that."""
    for _ in range(_MAX_DEPTH):
        node = value_of(module, node)
        if not isinstance(node, cst.Call):
            return False
        name = module.qualified(node.func)
        if name is not None:
            return name.startswith(_DATASETS)
        if not isinstance(node.func, cst.Attribute):
            return False
        node = node.func.value
    return False


def _has_next(module: Module, call: cst.Call) -> bool:
    """Say whether a call makes an object of a class of the file that is an iterator."""
    made = class_named(module, call.func)
    if made is None or made.decorators or made.keywords:
        return False
    if any(not _is_object(module, each.value) for each in made.bases):
        return False
    return methods_in(made).keys() >= {"__iter__", "__next__"}


def _is_object(module: Module, base: cst.BaseExpression) -> bool:
    return isinstance(base, cst.Name) and base.value == "object" and is_builtin(module, base)


def _is_wrapped(module: Module, call: cst.Call) -> bool:
    """Say whether a function of the file has one decorator, which makes such an object of it."""
    called = points_to_of(module).function_called(call.func)
    if called is None or len(called.decorators) != 1:
        return False
    decorator = called.decorators[0].decorator
    wraps = points_to_of(module).function_called(decorator)
    if wraps is None or wraps.decorators:
        return False
    inner = [each for each in wraps.body.body if isinstance(each, cst.FunctionDef)]
    if len(inner) != 1 or not all(
        isinstance(each, cst.Name) and each.value == inner[0].name.value for each in _given(wraps)
    ):
        return False
    given = _given(inner[0])
    return bool(given) and all(
        isinstance(each, cst.Call) and _has_next(module, each) for each in given
    )


def _given(function: cst.FunctionDef) -> list[cst.BaseExpression | None]:
    """Return what a function returns."""
    return [each.value for each in own_nodes(function.body) if isinstance(each, cst.Return)]


def _may_make_one(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether an iterator is made that may be given to a model."""
    has_next = {
        each.name
        for each in quick.nodes.get(ast.ClassDef, ())
        if method_of(each, "__next__") is not None
    }
    makes = {*_BUILTINS, _OF_A_DATASET, *has_next}
    if has_next:  # what decorates a function may make one of it
        makes.update(each.name for each in quick.nodes[ast.FunctionDef] if each.decorator_list)
    if any(each.startswith(_DATASETS) for each in quick.names):
        makes.add("iter")
    made = {called.node for leaf in makes for called in quick.calls_by_leaf.get(leaf, ())}
    for name, calls in quick.calls_by_meaning.items():
        if name.startswith(_MADE_BY):
            made.update(called.node for called in calls)
    return bool(made) and not made.isdisjoint(may_feed_calls(quick))


rule = Rule(
    code="KD459",
    name="iterator-as-data",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word(
        *_BUILTINS, "iter", "itertools", "__next__", _OF_A_DATASET
    ) & attribute(*FED) & Trigger(_may_make_one),
    since="3.0",
)  # fmt: skip
