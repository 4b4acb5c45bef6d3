"""Restrict a module that imports Keras 2 and 3 to what surely is Keras 3.

`from tensorflow.python.keras.layers.convolutional import Conv` in a file of `tf.keras` makes some
objects Keras 2's. Which those are, inference does not always know: what a model is by the methods
that are called on it, it may be of either. So here it is told of Keras 3 alone, and guesses at
nothing: what comes from the other Keras is an object that nobody knows.
"""

from __future__ import annotations

from collections.abc import Sequence

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import split_root
from kdoctor.keras_api.keras_oracle import KerasOracle
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.value_types import Context, Type


@once
def only_keras_3(module: Module, facts: TargetFacts) -> Module:
    """Return the module with only the target's Keras 3 known."""
    known = _OnlyKeras3(facts)
    seen = module.with_oracle(known)
    told = tuple(each for each in seen.references if not known.is_another(each.name))
    seen.references = told
    return seen


class _OnlyKeras3(KerasOracle):
    """What names mean, but for those of another Keras, and for what may be of either."""

    def __init__(self, facts: TargetFacts) -> None:
        super().__init__(facts.target)
        self._facts = facts

    def is_another(self, qualified: str) -> bool:
        """Say whether a name is of a Keras that is not the target's Keras 3."""
        split = split_root(qualified)
        return split is not None and not self._facts.runs_keras_3(split[0])

    def class_type(self, qualified: str) -> Type | None:
        """Return what an instance of the class ``qualified`` is."""
        return None if self.is_another(qualified) else super().class_type(qualified)

    def result_type(self, qualified: str) -> Type | None:
        """Return what calling the function ``qualified`` gives."""
        return None if self.is_another(qualified) else super().result_type(qualified)

    def applied_type(self, qualified: str, tensor: Type) -> Type | None:
        """Return what a function gives when a tensor goes in."""
        return None if self.is_another(qualified) else super().applied_type(qualified, tensor)

    def may_be_known(self, qualified: str) -> bool:  # noqa: ARG002
        """Let nothing be told by what is done with it: both are used alike."""
        return False

    def argument_context(self, callee: str, argument: int | str) -> Context | None:
        """Return the context of a function that is passed; a bare method may be of either."""
        if split_root(callee) is None or self.is_another(callee):
            return None
        return super().argument_context(callee, argument)

    def function_context(self, parameters: Sequence[str]) -> Context | None:  # noqa: ARG002
        """Say nothing of a function by its parameters: it may be called by either."""
        return None

    def block_context(self, qualified: str) -> Context | None:
        """Return the context of the body of ``with qualified():``."""
        return None if self.is_another(qualified) else super().block_context(qualified)
