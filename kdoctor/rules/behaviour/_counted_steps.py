"""Steps per epoch computed by floor division, as in ``len(x) // 32``."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import binding_of, is_builtin, value_of
from kdoctor.analysis.training.batch_sizes import fixed_text
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import BindingKind

_MAX_DEPTH: Final = 16  # steps from name to name
_DOWN: Final = frozenset({"math.floor", "numpy.floor"})
_COUNTS: Final = frozenset({"n", "samples"})  # of an iterator over images
_KEEP: Final = frozenset({"astype", "copy", "reshape"})
LOADED: Final = {
    **dict.fromkeys(("fashion_mnist", "mnist"), 60_000),
    **dict.fromkeys(("cifar10", "cifar100"), 50_000),
}
"""Modules of ``keras.datasets``: how many samples they have to train with."""


class Division(Struct, frozen=True):
    """A number of samples by a number in a batch, where what is left over does not count."""

    samples: cst.BaseExpression
    batch: cst.BaseExpression


def rounded_down(
    module: Module, node: cst.BaseExpression, *, is_down: bool = False, depth: int = 0
) -> Division | None:
    """Return ``n // 32``, or ``int(n / 32)``, that an expression is. ``is_down``: it is in one."""
    node = value_of(module, node)
    match node:
        case cst.BinaryOperation(operator=cst.FloorDivide()):
            return Division(node.left, node.right)
        case cst.BinaryOperation(operator=cst.Divide()) if is_down:
            return Division(node.left, node.right)
        case cst.Call(args=[cst.Arg(star="", keyword=None, value=inner)]) if depth < _MAX_DEPTH:
            is_int = (
                isinstance(node.func, cst.Name)
                and node.func.value == "int"
                and is_builtin(module, node.func)
            )
            if is_int or module.qualified(node.func) in _DOWN:
                return rounded_down(module, inner, is_down=True, depth=depth + 1)
    return None


def leaves_some(
    module: Module, division: Division, data: Collection[str], *, is_counted: bool
) -> bool:
    """Say whether there may be samples left over, where all of the data are counted.

    ``data`` are the texts of what is counted: the iterator itself, and what it is made of.
    ``is_counted``: a number that is written out is that of the files in a folder.
    """
    batch = literal(value_of(module, division.batch))
    samples = value_of(module, division.samples)
    number = literal(samples)
    if isinstance(number, int):
        return is_counted and isinstance(batch, int) and batch > 0 and number % batch > 0
    counted = _counted(module, samples)
    if counted is None or fixed_or_written(module, counted) not in data:
        return False
    known = _length(module, counted, 0)
    if known is None or not isinstance(batch, int) or batch <= 0:
        return True
    return known % batch > 0


def fixed_or_written(module: Module, node: cst.BaseExpression) -> str:
    """Return the text of an expression."""
    return fixed_text(module, node) or module.source(node)


def _counted(module: Module, samples: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return ``x`` of ``len(x)``, ``x.shape[0]``, ``x.samples``."""
    match samples:
        case cst.Call(func=cst.Name(value="len") as function, args=[cst.Arg(star="", value=x)]):
            return x if is_builtin(module, function) else None
        case cst.Subscript(
            value=cst.Attribute(value=x, attr=cst.Name(value="shape")),
            slice=[cst.SubscriptElement(slice=cst.Index(value=index))],
        ):
            return x if literal(index) == 0 else None
        case cst.Attribute(value=x, attr=cst.Name(value=name)) if name in _COUNTS:
            return x
    return None


def _length(module: Module, node: cst.BaseExpression, depth: int) -> int | None:
    """Return how many samples there are, of data that come with Keras."""
    if depth > _MAX_DEPTH:
        return None
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name))):
            return _length(module, owner, depth + 1) if name in _KEEP else None
        case cst.BinaryOperation():
            return _length(module, node.left, depth + 1)
    binding = binding_of(module, node)
    if binding is None:
        return None
    value = binding.value
    if binding.kind is BindingKind.AUGMENT and isinstance(binding.node, cst.Name):
        return _length(module, binding.node, depth + 1)
    if binding.kind is not BindingKind.ASSIGN or value is None:
        return None
    if not binding.path:
        return _length(module, value, depth + 1)
    is_data = isinstance(value, cst.Call) and binding.path == (0, 0)
    split = split_root(module.qualified(value.func) or "") if isinstance(value, cst.Call) else None
    parts = split[1].split(".") if split is not None and is_data else []
    is_loaded = len(parts) == 3 and parts[0] == "datasets" and parts[2] == "load_data"
    return LOADED.get(parts[1]) if is_loaded else None
