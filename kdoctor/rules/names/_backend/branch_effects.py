"""`K.in_train_phase(a(), b(), training)`: Python worked out both before Keras 2 took one of them.

Run on tf_keras 2.21 and keras 2.3.1: of functions (`a`, `lambda: …`) the one that is taken is
called and no other, as `a() if training else b()` does it, unless the phase is a tensor. Of values
both are there already: both layers are built, both variables updated, whichever is taken.
"""

from __future__ import annotations

from typing import Final

import libcst as cst
from msgspec.structs import replace

from kdoctor.keras_api import split_root
from kdoctor.model import Applicability, Fix
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

CHOOSING: Final = frozenset({"in_train_phase", "in_test_phase"})
_REASON: Final = (
    "Keras 2 evaluated both branches and chose one, here only the chosen one runs: check what {} "
    "may build or change"
)
# Functions of `keras.backend` that do more than give a value, or call what they are given.
_EFFECTS: Final = frozenset(
    {
        *("update", "update_add", "update_sub", "moving_average_update", "set_value"),
        *("batch_set_value", "print_tensor", "variable", "placeholder", "get_uid", "reset_uids"),
        *("clear_session", "function", "rnn", "map_fn", "foldl", "foldr", "switch", *CHOOSING),
        *("set_learning_phase", "set_floatx", "set_epsilon", "set_image_data_format"),
        *("normalize_batch_in_training", "manual_variable_initialization", "name_scope"),
    }
)
_MODULES: Final = ("backend", "ops")
_LIBRARIES: Final = ("tensorflow.math", "tensorflow.nn", "numpy")
_PLAIN: Final = (
    cst.Name | cst.BaseNumber | cst.BaseString | cst.Attribute | cst.Subscript
    | cst.BinaryOperation | cst.UnaryOperation | cst.Comparison | cst.BooleanOperation
    | cst.Tuple | cst.List | cst.IfExp | cst.Lambda
)  # fmt: skip


def with_one_branch(module: Module, leaf: str, call: cst.Call, fix: Fix) -> Fix:
    """Return the fix of a choice as it is, or unsafe where what is not chosen did something."""
    if leaf not in CHOOSING:
        return fix
    doing = [each.value for each in call.args if not _only_gives_a_value(module, each.value)]
    if not doing:
        return fix
    written = " and ".join(f"`{_short(module.source(each))}`" for each in doing)
    reasons = [each for each in (fix.unsafe_because, _REASON.format(written)) if each]
    return replace(fix, applicability=Applicability.UNSAFE, unsafe_because="; ".join(reasons))


def _only_gives_a_value(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether nobody can tell if an expression was worked out; a lambda does nothing yet."""
    if isinstance(node, cst.Lambda):
        return True
    calls = [each for each in descendants(node) if isinstance(each, cst.Call)]
    return isinstance(node, _PLAIN | cst.Call) and all(_is_quiet(module, each) for each in calls)


def _is_quiet(module: Module, call: cst.Call) -> bool:
    name = module.qualified(call.func) or ""
    split = split_root(name)
    parent, _, leaf = (split[1] if split else name).rpartition(".")
    if split is not None:
        return parent in _MODULES and leaf not in _EFFECTS
    return parent in _LIBRARIES


def _short(source: str) -> str:
    line = source.partition("\n")[0]
    return line if line == source else f"{line} …"
