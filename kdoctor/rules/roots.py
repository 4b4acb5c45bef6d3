"""Which Keras a module imports from: the one that the target has, or a Keras 2 beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kdoctor.keras_api import split_root
from kdoctor.kinds import Type
from kdoctor.once import once
from kdoctor.rules.facts import Facts
from kdoctor.rules.triggers import Trigger, names

if TYPE_CHECKING:
    from kdoctor.syntax import Module


def _is_of_keras_3(facts: Facts, name: str) -> bool:
    split = split_root(name)
    return split is not None and facts.runs_keras_3(split[0])


USES_KERAS_3: Final[Trigger] = names(_is_of_keras_3)
"""Something of the target's Keras 3 is imported, or read through an import."""


def uses_another_keras(module: Module, facts: Facts) -> bool:
    """Say whether a module imports a Keras 2 that stays one on the target: ``tf_keras``.

    What is then true of a model depends on which of them made it, and inference does not know. So
    it is where ``tf_keras`` is the target and the module does not show what Keras it works with.
    """
    roots = _imported_roots(module)
    if facts.target.name == "tf_keras" and not roots and not _reads_keras(module):
        return True
    return not all(facts.runs_keras_3(root) for root in roots)


def is_of_keras_3(owner: Type, facts: Facts) -> bool:
    """Say whether an object's class, or its nearest imported base, surely is one of Keras 3."""
    return owner.qualified is not None and _is_of_keras_3(facts, owner.qualified)


@once
def _reads_keras(module: Module) -> bool:
    """Say whether a module reads something of Keras through an import, as ``tf.keras.Model``."""
    return any(split_root(each.name) is not None for each in module.references)


@once
def _imported_roots(module: Module) -> frozenset[str]:
    """Return the roots of Keras that a module imports from."""
    names = {name for each in module.imports for name in (each.name, each.imported)}
    return frozenset(split[0] for name in names if (split := split_root(name)) is not None)
