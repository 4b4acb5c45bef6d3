"""The model that Keras passes to `set_model` of a callback."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.syntax.classes import UserClasses
from kdoctor.syntax.scopes import Binding
from kdoctor.value_types import Kind

SET_MODEL: Final = "set_model"


def is_model_of_a_callback(classes: UserClasses, binding: Binding) -> bool:
    """Say whether a parameter is what ``set_model`` of a callback of the user's gets."""
    function = binding.scope.node
    if not isinstance(function, cst.FunctionDef) or function.name.value != SET_MODEL:
        return False
    own = classes.around(function)
    is_callback = own is not None and own.type is not None and own.type.kind is Kind.CALLBACK
    return is_callback and [*function.params.params][1:2] == [binding.node]
