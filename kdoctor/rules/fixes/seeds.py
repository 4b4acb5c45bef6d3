"""The seed of all that Keras 3 draws, written where a program seeds less."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.model import Applicability, Edit, Fix
from kdoctor.syntax import Module


def seeds_all(module: Module, function: cst.BaseExpression, *, title: str, because: str) -> Fix:
    """Return the fix that calls ``keras.utils.set_random_seed`` instead of a function.

    ``title`` has a ``{}`` for how the file spells it; ``because`` says why it is unsafe.
    """
    text, need = speller_at(module, function).spell("keras.utils.set_random_seed")
    return Fix(
        title.format(text),
        (Edit(module.span(function), (text,)),),
        Applicability.UNSAFE,
        imports=(need,) if need else (),
        unsafe_because=because,
    )
