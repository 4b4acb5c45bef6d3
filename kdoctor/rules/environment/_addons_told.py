"""What to do instead of names of `tensorflow_addons` that nothing stands for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kdoctor.rules.names._definitions.dead_packages import ADDONS, PACKAGE
from kdoctor.syntax import Module

_KERNELS: Final = (
    "it chose whether operations of the package ran in C++; what stands for them here is made of "
    "Keras' and TensorFlow's own: delete the call"
)
TOLD: Final = {
    "register_all": (
        "it made the package's classes known to `load_model`; a class that kdoctor writes out "
        "registers itself by the same name, `Addons>` and its own: import the module that has it, "
        "and delete the call"
    ),
    "options.disable_custom_kernel": _KERNELS,
    "options.enable_custom_kernel": _KERNELS,
    "options.is_custom_kernel_disabled": (
        "what stands for the package's operations has no kernels of its own: it would be `True`"
    ),
    "options.warn_fallback": (
        "it told that an operation ran without a kernel of the package, as all do now: delete it"
    ),
    "optimizers.KerasLegacyOptimizer": (
        "it was `Optimizer` of Keras 2 by another name; derive from `keras.optimizers.Optimizer`, "
        "whose method is `update_step` (`kdoctor explain KD512`)"
    ),
}
"""By the name below the package."""


def told(module: Module) -> Iterator[str]:
    """Yield what to do instead of each name that a file reads, and that nothing stands for."""
    names = dict.fromkeys(each.name for each in module.references)
    for name in names:
        for end in _known(name):
            yield f"Of `{PACKAGE}.{end}`: {TOLD[end]}."


def _known(name: str) -> Iterator[str]:
    if not name.startswith(f"{PACKAGE}."):
        return
    rest = name.removeprefix(f"{PACKAGE}.")
    for each in TOLD:
        file, leaf = ADDONS.recorded.names[each].file, each.rpartition(".")[2]
        if any(f"{rest}.".startswith(f"{path}.") for path in (each, f"{file}.{leaf}")):
            yield each
