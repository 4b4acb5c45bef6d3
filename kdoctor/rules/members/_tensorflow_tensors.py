"""Which names stand for TensorFlow's own tensors, by what is done with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import Binding, BindingKind

OF_RAGGED_TENSORS: Final = frozenset(
    {"bounding_shape", "merge_dims", "nested_row_lengths", "row_lengths", "to_sparse", "to_tensor"}
)
_WEIGHTS: Final = frozenset({
    *("non_trainable_variables", "non_trainable_weights", "trainable_variables"),
    *("trainable_weights", "variables", "weights"),
})  # fmt: skip
# What only a dataset of `tf.data` has; what it gives are TensorFlow's tensors.
_OF_DATASETS: Final = frozenset({"batch", "prefetch", "shuffle", "skip", "take", "unbatch"})
_READS_FOLDERS: Final = "_dataset_from_directory"
_HANDS_ON: Final = frozenset({"enumerate", "iter", "list", "next", "reversed", "sorted", "tuple"})
_TAKES_A_KEY: Final = frozenset({"filter", "map", "max", "min", "sort", "sorted"})
_MAX_DEPTH = 8


def seems_tensorflows(module: Module, name: cst.Name) -> bool:
    """Say whether a name of this scope is used as no Keras tensor can be."""
    scope = module.scope_of(name)
    return any(
        each.value == name.value and module.scope_of(each) is scope
        for call in module.nodes(cst.Call)
        for each in _used_as_tensorflows(module, call)
    )


def _used_as_tensorflows(module: Module, call: cst.Call) -> Iterator[cst.Name]:
    """Yield the names that stand for TensorFlow's own tensors, if the call works.

    Its functions give those and take no Keras tensor; some methods only its ragged tensors have.
    """
    function = call.func
    if isinstance(function, cst.Attribute) and function.attr.value in OF_RAGGED_TENSORS:
        if isinstance(function.value, cst.Name):
            yield function.value
        return
    if not is_of_tensorflow(module, function):
        return
    assign = module.parent(call)
    targets = [each.target for each in assign.targets] if isinstance(assign, cst.Assign) else []
    for each in (*targets, *(argument.value for argument in call.args)):
        if isinstance(each, cst.Name):
            yield each


def is_of_tensorflow(module: Module, function: cst.BaseExpression) -> bool:
    """Say whether a function is TensorFlow's own: also by a `tf` that another module imported."""
    dotted = module.qualified(function)
    if dotted is None:
        written = module.source(function)
        return written.startswith("tf.") and not written.startswith("tf.keras.")
    _, is_handed_on, rest = dotted.partition(".tf.")
    if is_handed_on:
        return not rest.startswith("keras.")
    return dotted.startswith("tensorflow.") and split_root(dotted) is None


def is_given_by_tensorflow(module: Module, name: cst.Name) -> bool:
    """Say whether a name is a weight, or part of a batch, in a loop over such.

    On the TensorFlow backend the shape of a weight is a `TensorShape`; of `tf.data`, always.
    """
    bound = module.bindings_at(name)
    return bool(bound) and all(_gives_tensorflows(module, _run_over(module, e)) for e in bound)


def _run_over(module: Module, binding: Binding) -> cst.BaseExpression | None:
    """Return what a loop, or a function that is called with each, takes a name from."""
    if binding.kind is BindingKind.LOOP:
        return binding.value
    value = binding.value
    if binding.kind is BindingKind.ASSIGN and isinstance(value, cst.Call):
        is_next = isinstance(value.func, cst.Name) and value.func.value == "next"
        return value.args[0].value if is_next and value.args else None
    if binding.kind is not BindingKind.PARAMETER:
        return None
    for above in module.ancestors(binding.node):
        if isinstance(above, cst.Lambda):
            argument = module.parent(above)
            call = None if argument is None else module.parent(argument)
            return _of_keyed(call) if isinstance(call, cst.Call) else None
    return None


def _of_keyed(call: cst.Call) -> cst.BaseExpression | None:
    """Return the ``weights`` of ``sorted(weights, key=…)``, ``map(…, weights)``."""
    name = call.func.value if isinstance(call.func, cst.Name) else ""
    plain = [each.value for each in call.args if each.keyword is None]
    others = [each for each in plain if not isinstance(each, cst.Lambda)]
    return others[0] if name in _TAKES_A_KEY and len(others) == 1 else None


def _gives_tensorflows(module: Module, node: cst.BaseExpression | None, depth: int = 0) -> bool:
    """Say whether a loop over an expression gives tensors of TensorFlow's own."""
    if node is None or depth > _MAX_DEPTH:
        return False
    node = value_of(module, node)
    match node:
        case cst.Attribute(attr=cst.Name(value=member)):
            return member in _WEIGHTS
        case cst.Name():
            values = [each.value for each in module.bindings_at(node)]
            return bool(values) and all(
                _gives_tensorflows(module, each, depth + 1) for each in values
            )
        case cst.Call(func=cst.Name(value=name), args=[first, *_]) if name in _HANDS_ON:
            return _gives_tensorflows(module, first.value, depth + 1)
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=method)) as function):
            if module.qualified(function) is None:
                is_one = method in _OF_DATASETS or _gives_tensorflows(module, owner, depth + 1)
                return method != "as_numpy_iterator" and is_one
    if not isinstance(node, cst.Call):
        return False
    dotted = module.qualified(node.func) or ""
    return dotted.endswith(_READS_FOLDERS) or dotted.startswith("tensorflow.data.")
