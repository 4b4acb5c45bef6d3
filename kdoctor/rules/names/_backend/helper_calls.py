"""What is asked of the calls of `keras.backend` that become calls of a function of the file."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.syntax import Module, ReferenceKind


def calls_of_backend(module: Module, function: str) -> list[cst.Call]:
    """Return the calls of ``keras.backend.<function>``, under any root, in source order."""
    found = (
        each.call
        for each in module.references
        if each.kind is ReferenceKind.LOAD and each.name.endswith(f"backend.{function}")
    )
    return [each for each in found if each is not None]


def are_in_order(arguments: Sequence[cst.Arg], names: Sequence[str]) -> bool:
    """Say whether arguments are passed by position, or by these names, in this order."""
    return len(arguments) == len(names) and all(
        each.keyword is None or each.keyword.value == name
        for each, name in zip(arguments, names, strict=True)
    )
