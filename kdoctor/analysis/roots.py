"""Which Keras a module imports: the target's, or a Keras 2 beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, names
from kdoctor.keras_api import split_root
from kdoctor.keras_api.surface import PRIVATE_ROOT
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.value_types import Type

if TYPE_CHECKING:
    from kdoctor.syntax import ImportBinding, Module, Reference

# Modules of TensorFlow's private copy of Keras 2 that come without layers, models or tensors of it,
# and what the functions are called that make some all the same: `load_model_from_hdf5`.
_HELPERS: Final = (
    *("constraints.", "engine.input_spec.", "initializers.", "regularizers."),
    *("saving.hdf5_format.", "utils."),
)
_MAKERS: Final = pattern("model|deserialize")


def _is_of_keras_3(facts: TargetFacts, name: str) -> bool:
    split = split_root(name)
    return split is not None and facts.runs_keras_3(split[0])


USES_KERAS_3: Final[Trigger] = names(_is_of_keras_3)
"""Something of the target's Keras 3 is imported, or read through an import."""


def uses_keras_3(module: Module, facts: TargetFacts) -> bool:
    """Say whether a module imports or reads anything of the target's Keras 3."""
    return any(_is_of_keras_3(facts, each.name) for each in module.references)


def uses_another_keras(module: Module, facts: TargetFacts) -> bool:
    """Say whether a module imports a Keras 2 that stays one: ``tf_keras``.

    What is then true of a model depends on which of them made it, and inference does not know. So
    it is where ``tf_keras`` is the target and the module does not show what Keras it works with.
    Helpers of TensorFlow's copy (``tensorflow.python.keras.utils``) do not count: they make none.
    Nor does an import that the target never gets to, such as that for TensorFlow 1.
    Where a root is open, what is read from it may be of Keras 2.
    """
    if facts.open_roots and any(facts.is_open(each.name) for each in module.references):
        return True
    roots = _imported_roots(module)
    if facts.target.name == "tf_keras" and not roots and not _reads_keras(module):
        return True
    others = {root for root in roots if not facts.runs_keras_3(root)}
    return bool(others) and not others.isdisjoint(_reached_roots(module))


def is_of_keras_3(owner: Type, facts: TargetFacts) -> bool:
    """Say whether an object's class, or its nearest imported base, surely is one of Keras 3."""
    return owner.qualified is not None and _is_of_keras_3(facts, owner.qualified)


@once
def _reads_keras(module: Module) -> bool:
    """Say whether a module reads something of Keras through an import, as ``tf.keras.Model``."""
    return any(_root_of(each.name, module) is not None for each in module.references)


@once
def _imported_roots(module: Module) -> frozenset[str]:
    """Return the roots of Keras that a module imports from, helpers left out."""
    return _roots_of(module, module.imports, module.references)


@once
def _reached_roots(module: Module) -> frozenset[str]:
    """Return the same of the imports that the target gets to: dearer, for it reads conditions."""
    return _roots_of(
        module,
        [each for each in module.imports if not module.is_dead(each.statement)],
        [each for each in module.references if not module.is_dead(each.binding.statement)],
    )


def _roots_of(
    module: Module, imports: Iterable[ImportBinding], references: Iterable[Reference]
) -> frozenset[str]:
    names = {name for each in imports for name in (each.name, each.imported)}
    for each in references:
        if each.binding.imported.startswith(PRIVATE_ROOT):
            names.update(each.names)  # what is read of a module that is imported
    return frozenset(root for name in names if (root := _root_of(name, module)) is not None)


def _root_of(name: str, module: Module) -> str | None:
    """Return the root of a dotted name of Keras, None for one of a helper of the private copy."""
    root, rest = split_root(name) or (None, "")
    is_helper = root == PRIVATE_ROOT and f"{rest}.".startswith(_HELPERS)
    return None if is_helper and not _may_make_an_object(name, module) else root


def _may_make_an_object(name: str, module: Module) -> bool:
    known = module.oracle
    of_a_kind = known.class_type(name) or known.result_type(name)
    return of_a_kind is not None or _MAKERS.search(name) is not None
