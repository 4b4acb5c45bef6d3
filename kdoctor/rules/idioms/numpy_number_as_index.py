"""`model.output[:, np.argmax(p)]`: a symbolic tensor takes no NumPy number as an index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import has_builtin, hidden_builtin, value_of
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import word
from kdoctor.analysis.queries.imported_calls import imported
from kdoctor.analysis.tensors.constructors import INTS_OF_NUMPY
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES, SYMBOLIC, is_symbolic
from kdoctor.model import Edit, Finding, Hole, NoFix, Precedence, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module

_SAYS: Final = "ValueError: Unsupported key type for array slice"
_NUMBERS: Final = frozenset({
    *("argmax", "argmin", "count_nonzero", "int_", "intp", "nanargmax", "nanargmin"),
    *INTS_OF_NUMPY,
})  # fmt: skip
"""Of one argument and no axis they give one number, and that of NumPy's."""
_LISTS: Final = frozenset({"arange", "argsort"})
"""Each of their elements is of NumPy's."""
_MAKERS: Final = tuple(f"numpy.{each}" for each in sorted(_NUMBERS | _LISTS))
_MAX_STEPS: Final = 8  # from name to name, from element to list


@rule(
    "KD525",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(SYMBOLIC, word("numpy"), imported(*_MAKERS).even(hidden=True)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each index of a symbolic tensor that surely is a NumPy number."""
    module = file.module
    for read in module.nodes(cst.Subscript):
        for element in read.slice:
            index = element.slice.value if isinstance(element.slice, cst.Index) else None
            if (
                index is not None
                and _is_of_numpy(module, index)
                and is_symbolic(module, read.value)
                and module.context_of(read) not in RUN_WITH_VALUES
                and not module.is_guarded(read)
            ):
                yield _finding(file, index)


def _finding(file: File, index: cst.BaseExpression) -> Finding:
    is_int = has_builtin(file.module, index, "int")
    span = file.module.outer_span(index)
    edit = Edit(span, ("int(", Hole(span, Precedence.LAMBDA), ")"))
    return file.finding(
        f"the index `{file.source(index)}` of a symbolic tensor is a NumPy number: {_SAYS}",
        at=index,
        symbol="KerasTensor.__getitem__",
        help="Make it an `int`.",
        fix=file.fix("Write `int(…)`", edit) if is_int else NoFix(hidden_builtin("int")),
    )


def _is_of_numpy(module: Module, index: cst.BaseExpression) -> bool:
    """Say whether an index surely is no integer of Python's, but a number or array of NumPy's."""
    node = value_of(module, index)
    for _ in range(_MAX_STEPS):
        match node:
            case cst.Call(args=[cst.Arg(star="", keyword=None)]):
                package, _, name = (module.qualified(node.func) or "").rpartition(".")
                return package == "numpy" and name in _NUMBERS
            case cst.Subscript(value=owner, slice=keys):
                # A slice gives an array, which Keras 2 refused as well.
                is_one = all(isinstance(each.slice, cst.Index) for each in keys)
                return is_one and _is_element(module, owner)
            case cst.Name() if (value := value_of(module, node)) is not node:
                node = value
            case _:
                return False
    return False


def _is_element(module: Module, owner: cst.BaseExpression) -> bool:
    """Say whether what is taken out of ``owner`` by an index is of NumPy's."""
    for _ in range(_MAX_STEPS):
        match owner:
            case cst.Call(func=function):
                package, _, name = (module.qualified(function) or "").rpartition(".")
                return package == "numpy" and name in _LISTS
            case cst.Subscript():
                owner = owner.value
            case cst.Name() if (value := value_of(module, owner)) is not owner:
                owner = value
            case _:
                return False
    return False
