"""Code that asks which backend Keras has: whoever wrote it knew what it runs on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.models.user_classes import class_around
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.blocks import early_exits
from kdoctor.syntax.fallback_helpers import conditions
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal

_NAMES: Final = frozenset({"tensorflow", "jax", "torch", "numpy", "openvino", "mlx"})
_WORD: Final = "backend"
# Functions that say whether the code runs on TensorFlow now: `in_tf_function()`, `in_tf_graph()`.
_ON_TENSORFLOW: Final = pattern(
    r"^_?(?:is|in|on|using|running_in)_(?:\w+_)?(?:tf|tensorflow)(?:_|$)"
)


def asks_for_the_backend(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a line runs on some backends only, by what the code itself asks.

    That is under `if keras.backend.backend() == "tensorflow":`, in its `else`, and behind
    `if backend() != "tensorflow": raise …`, also at the top of the file. What is tested may have
    been kept in a name. So does all of a file that others import behind such a test alone.
    """
    if _is_for_one(module):
        return True
    if not _speaks_of_backends(module):
        return False
    return _asks_above(module, node) or any(
        _is_called_for_some(module, each)
        for each in module.ancestors(node)
        if isinstance(each, cst.FunctionDef)
    )


@once
def _is_called_for_some(module: Module, function: cst.FunctionDef) -> bool:
    """Say whether a method is called where code asked for the backend, and nowhere else.

    ``if backend() == "jax": return self._jax_step(*args)``.
    """
    if class_around(module, function) is None or not function.name.value.startswith("_"):
        return False
    calls = [each for each in module.attributes if each.attr.value == function.name.value]
    return bool(calls) and all(_asks_above(module, each) for each in calls)


def _asks_above(module: Module, node: cst.CSTNode) -> bool:
    child = node
    for parent in module.ancestors(node):
        if any(_is_about_backends(module, test) for test, _ in conditions(parent, child, _none)):
            return True
        if isinstance(parent, cst.MatchCase) and _is_case_of_a_backend(module, parent):
            return True
        if isinstance(parent, cst.IndentedBlock | cst.Module):
            place = next(at for at, each in enumerate(parent.body) if each is child)
            if any(at < place for at in _exits(module, parent)):
                return True
        child = parent
    return False


@once
def _is_for_one(module: Module) -> bool:
    return module.package is not None and module.package.is_for_a_backend(module.path)


@once
def _speaks_of_backends(module: Module) -> bool:
    return any(_WORD in each.lower() or _ON_TENSORFLOW.match(each) for each in module.words)


def _none(_: cst.Name) -> None:
    return None


@once
def _exits(module: Module, block: cst.IndentedBlock | cst.Module) -> tuple[int, ...]:
    """Return where a block is left on some backends."""
    return tuple(at for at, test in early_exits(block) if _is_about_backends(module, test))


@once
def _is_about_backends(module: Module, test: cst.BaseExpression) -> bool:
    parts = [each for node in _with_kept(module, test) for each in (node, *descendants(node))]
    return any(
        (isinstance(each, cst.Comparison) and _compares(each))
        or (isinstance(each, cst.Call) and _asks_for_tensorflow(each))
        for each in parts
    )


def _asks_for_tensorflow(call: cst.Call) -> bool:
    leaf = (dotted_name(call.func) or "").rpartition(".")[2]
    return _ON_TENSORFLOW.match(leaf) is not None


@once
def _is_case_of_a_backend(module: Module, case: cst.MatchCase) -> bool:
    """Say whether it is a case of ``match keras.backend.backend():``."""
    match = module.parent(case)
    if not isinstance(match, cst.Match):
        return False
    named = {
        str(literal(each))
        for other in match.cases
        for each in descendants(other.pattern)
        if isinstance(each, cst.SimpleString)
    }
    return not named.isdisjoint(_NAMES) and any(
        _is_a_backend(each)
        for each in _with_kept(module, match.subject)
        if isinstance(each, cst.BaseExpression)
    )


def _with_kept(module: Module, test: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """Yield a test, and what the names in it stand for where that is one value."""
    yield test
    for each in descendants(test):
        if isinstance(each, cst.Name):
            bound = module.bindings_at(each)
            if len(bound) == 1 and bound[0].value is not None:
                yield bound[0].value


def _compares(comparison: cst.Comparison) -> bool:
    """Say whether something that is called a backend is compared with the name of one."""
    sides = [comparison.left, *(each.comparator for each in comparison.comparisons)]
    texts = {each for side in sides for each in _texts(side)}
    return not texts.isdisjoint(_NAMES) and any(_is_a_backend(side) for side in sides)


def _texts(side: cst.BaseExpression) -> Iterator[str]:
    elements = side.elements if isinstance(side, cst.List | cst.Tuple | cst.Set) else ()
    for each in (side, *(element.value for element in elements)):
        if isinstance(each, cst.SimpleString):
            yield str(literal(each))


def _is_a_backend(side: cst.BaseExpression) -> bool:
    named = side.func if isinstance(side, cst.Call) else side
    return _WORD in (dotted_name(named) or "").lower()
