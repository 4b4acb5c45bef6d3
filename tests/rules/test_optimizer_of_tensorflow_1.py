"""KD327 knows the parameters of the optimizers that it replaces."""

from __future__ import annotations

from inspect import Parameter, signature

import pytest

from kdoctor.rules.arguments.optimizer_of_tensorflow_1 import OTHERS, SUCCESSORS
from tests.frameworks import keras, tf

pytestmark = pytest.mark.frameworks
WRAPPERS = {"Optimizer", "SyncReplicasOptimizer"}  # the base class, and what wraps another


def _defaults(cls: type) -> dict[str, object]:
    return {each.name: each.default for each in signature(cls).parameters.values()}


def test_each_optimizer_of_tensorflow_1_has_a_successor_or_a_reason() -> None:
    there = {each for each in dir(tf.compat.v1.train) if each.endswith("Optimizer")}
    assert there - WRAPPERS == {*SUCCESSORS, *OTHERS}


@pytest.mark.parametrize("cls", SUCCESSORS)
def test_by_position_both_optimizers_take_the_same(cls: str) -> None:
    successor = SUCCESSORS[cls]
    old = [*_defaults(getattr(tf.compat.v1.train, cls))][: successor.by_position]
    new = [*_defaults(getattr(keras.optimizers, successor.name))][: successor.by_position]
    assert [successor.parameters[each] for each in old] == new


@pytest.mark.parametrize("cls", SUCCESSORS)
def test_what_is_not_passed_is_the_same_in_both(cls: str) -> None:
    successor = SUCCESSORS[cls]
    old = _defaults(getattr(tf.compat.v1.train, cls))
    new = _defaults(getattr(keras.optimizers, successor.name))
    required = {each for each, default in old.items() if default is Parameter.empty}
    for theirs, ours in successor.parameters.items():
        if theirs == "name" or theirs in required:
            continue
        if theirs == "epsilon":
            assert float(successor.epsilon) == old[theirs]
        else:
            assert old[theirs] == new[ours]
