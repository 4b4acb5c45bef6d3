"""Translate a guard's text into conditions on the generated inputs of a proof.

A rewrite applies only if its guard holds, so it must be proven for all inputs that satisfy it, and
for no others. A guard that is not listed here makes a rewrite unprovable, and so never safe.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Collection
from dataclasses import dataclass, field

from kdoctor.verify.jobs import MODES

_IN_A_GRAPH = tuple(mode for mode in MODES if mode.startswith("function"))
_MODES_OF_CONTEXT = {
    "CALL": _IN_A_GRAPH,
    "LOSS_OR_METRIC": ("eager", *_IN_A_GRAPH),
    "EAGER": ("eager",),
    "FUNCTIONAL": ("symbolic", "symbolic_batch"),
}

# Differences between the sides that no program can observe, thanks to the guard.
ALLOWED = {
    "dtype_does_not_matter": "int64 becomes int32: the guard sees to it that the result goes "
    "into a function that takes either",
    "is_read_only": "a variable becomes a tensor: the guard sees to it that nothing is assigned",
    "not_negative": "the gradient at NaN: 0 in Keras 2, NaN in Keras 3",
    "indexed": "a size is a number where it is known, a tensor without axes where not",
    "as_a_shape": "a tuple of sizes instead of a tensor: the guard sees to it that it goes where "
    "functions take a shape",
    "taken_apart": "a tuple or a list: the guard sees to it that its parts are taken",
    "statement_position": "the result of the call, which nobody reads",
}

# Guards that exclude tensors.
_EXCLUDED_MODES = {"not_symbolic": "symbolic", "rank_is_known": "rank"}
# In code that Keras runs tensors have values: Keras 3 calls no layer with symbolic tensors of its
# own, and none with a tensor of unknown rank.
_MODES_OF_PLACE = {
    "once_made": ("eager",),
    "run_by_keras": ("eager", *(mode for mode in _IN_A_GRAPH if "rank" not in mode)),
}

_PLAIN = frozenset({"literal", "given", "not_given", "is_lambda", "display", *ALLOWED})
_OF_THE_PLACE = frozenset(
    {
        *("outside_of_classes", "calculated_with", "nothing_sparse", "rank_is_known"),
        "floatx_is_default",
        "no_halves",
        "run_by_keras",
        "once_made",
    }
)
_OF_THE_RESULT = frozenset({"made_a_number", "read_at_once"})
_OF_PARAMETERS = frozenset(
    {
        "not_none",
        "whole_numbers",
        "not_integer",
        "not_negative",
        "from_the_front",
        "none_below_zero",
        "same_shape",
        "is_tensor",
        "no_tensor",
        "is_variable",
        "no_variables",
        "no_variable",
        "never_variable",
        "no_raw_variable",
        "text",
        "is_scalar",
        "not_symbolic",
        "sizes",
        "plain_name",
        "plain_number",
        "no_plain_number",
        "no_array",
        "no_narrow_integers",
        "of_rank",
        "is_function",
        "is_no_function",
        "both_of_rank",
        "written_out",
        "window",
        "resize_method",
    }
)
_LISTED = _PLAIN | _OF_THE_PLACE | _OF_THE_RESULT | _OF_PARAMETERS


# TensorFlow's own functions are rewritten for symbolic tensors, and in code that Keras runs.
_RUNS = frozenset({"run_by_keras", "once_made"})
_OF_ANY_TENSOR = ("keras.", "tensorflow.keras.")


def takes_any_tensor(left: str, facts: Collection[str]) -> bool:
    """Say whether a rewrite with this left side is made for more than symbolic tensors."""
    return left.startswith(_OF_ANY_TENSOR) or not _RUNS.isdisjoint(facts)


class UnknownGuard(ValueError):
    """A guard without a translation to inputs."""


@dataclass(slots=True)
class Conditions:
    """Conditions on one case.

    ``values`` lists the allowed values of parameters, ``properties`` what is known of a parameter
    (``not_none``, ``is_tensor`` …), ``facts`` what is known of the code around the call.
    """

    values: dict[str, tuple[object, ...]] = field(default_factory=dict)
    properties: dict[str, set[str]] = field(default_factory=dict)
    facts: set[str] = field(default_factory=set)
    modes: tuple[str, ...] = MODES

    def keep_to_symbolic(self) -> None:
        """Drop conditions that no symbolic tensor meets: sparse by default, or of unknown rank."""
        self.facts |= {"nothing_sparse", "first_is_symbolic"}
        self.modes = tuple(m for m in self.modes if m not in ("function_sizes", "function_rank"))

    def known(self, parameter: str, what: str) -> bool:
        """Say whether a parameter has the property ``what``."""
        return what in self.properties.get(parameter, ())


def read(guard: str, rng: random.Random) -> Conditions:
    """Return the conditions for one case; pick one side of each ``|`` at random.

    Raises:
        UnknownGuard: a part of the guard has no translation here.
    """
    conditions = Conditions()
    if guard:
        _add(ast.parse(guard, mode="eval").body, conditions, rng)
    return conditions


def allowances(guard: str) -> tuple[str, ...]:
    """Return descriptions of the differences that a guard permits."""
    return tuple(text for name, text in ALLOWED.items() if f"{name}(" in guard)


def _add(node: ast.expr, conditions: Conditions, rng: random.Random) -> None:
    match node:
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            _add(left, conditions, rng)
            _add(right, conditions, rng)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            _add(rng.choice([left, right]), conditions, rng)
        case ast.Call(func=ast.Name(id="context"), args=args):
            modes = [_MODES_OF_CONTEXT.get(ast.unparse(arg).split(".")[-1], ()) for arg in args]
            known = {mode for each in modes for mode in each}
            conditions.modes = tuple(mode for mode in conditions.modes if mode in known)
        case ast.Call(func=ast.Name(id="equals" | "one_of"), args=[name, *choices]):
            parameter = ast.literal_eval(name)
            conditions.values[parameter] = tuple(map(ast.literal_eval, choices))
        case ast.Call(func=ast.Name(id=what), args=args) if what in _LISTED:
            conditions.facts.add(what)
            if what in _MODES_OF_PLACE:
                conditions.modes = _MODES_OF_PLACE[what]
            excluded = _EXCLUDED_MODES.get(what)
            if excluded is not None:
                conditions.modes = tuple(m for m in conditions.modes if excluded not in m)
            for arg in args:
                parameter = ast.literal_eval(arg)
                conditions.properties.setdefault(parameter, set()).add(what)
        case _:
            raise UnknownGuard(ast.unparse(node))
