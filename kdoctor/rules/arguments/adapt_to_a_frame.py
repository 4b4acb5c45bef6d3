"""`adapt` treats a DataFrame or a list of numbers as an iterable of batches."""

from __future__ import annotations

from typing import Final

from packaging.version import Version

from kdoctor.analysis.calls import is_keras_3, keras_version, speller_at
from kdoctor.analysis.queries import Argument, Instance, calls
from kdoctor.analysis.queries.conditions import package
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.tensors.constructors import ArrayForm
from kdoctor.analysis.tensors.elements import numbers_in_list
from kdoctor.analysis.tensors.rank import ranks_of
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_METHOD: Final = "adapt"
_STRICT: Final = "Normalization"
_REFUSED: Final = (
    "TypeError: adapt() expects an iterable that yields arrays or tensors with a `.shape` attribute"
)
_OF_A_FRAME: Final = {
    _STRICT: f"{_REFUSED} … Got an element of type str",
    "Discretization": "ValueError: could not convert string to float",
    "IntegerLookup": "TypeError: Cannot convert … to EagerTensor of dtype int64",
    "StringLookup": "",
    "TextVectorization": "",
}
"""What each layer says of the names of the columns; nothing where it learns them."""
_WHAT: Final = {
    ArrayForm.FRAME: "a DataFrame",
    ArrayForm.COLUMN: "a column",
    None: "a list of numbers",
}
_ITERATES: Final = Version("3.14")
"""Since then all layers go through what they do not know."""


def _is_list(form: object) -> bool:
    is_made = isinstance(form, Expression) and form.kind in {"ListComp", "BinOp"}
    return is_made or isinstance(form, list)


_ADAPT: Final = calls(_METHOD, on=[Instance(Kind.LAYER, cls) for cls in _OF_A_FRAME]).even(
    hidden=True
)


@rule(
    "KD323",
    severity=Severity.ERROR,
    since="3.0",
    look_for=_ADAPT.argument("data", 0).beside(
        package("pandas") | _ADAPT.passing("data", place=0, where=_is_list).trigger
    ),
)
def check(data: Argument) -> Finding | None:
    """Report each layer that is adapted to what is no array."""
    assert data.owner is not None
    if not is_keras_3(data.facts, data.owner.qualified):
        return None
    is_strict = data.cls == _STRICT
    if not is_strict and keras_version(data.facts) < _ITERATES:
        return None
    found = ranks_of(data.module).of(data.node)
    form = None if found is None else found.form
    if form is ArrayForm.FRAME or (form is ArrayForm.COLUMN and is_strict):
        return _finding(data, form)
    if form is None and is_strict and numbers_in_list(data.module, data.node) is not None:
        return _finding(data, form)
    return None


def _finding(data: Argument, form: ArrayForm | None) -> Finding:
    error = _OF_A_FRAME[data.cls] if form is ArrayForm.FRAME else _REFUSED
    array = "np.array([…])" if form is None else f"{data.source(data.node)}.to_numpy()"
    return data.finding(
        f"`adapt` treats {_WHAT[form]} as an iterable of batches: "
        f"{error or f'`{data.cls}` learns the names of its columns'}",
        symbol=f"{data.cls}.{_METHOD}",
        severity=Severity.ERROR if error else Severity.CHANGE,
        help=f"Pass an array: `{array}`." if len(array) < 60 else "Pass an array.",
        fix=_as_array(data, form),
    )


def _as_array(data: Argument, form: ArrayForm | None) -> Fix | NoFix:
    place = data.module.outer_span(data.node)
    if form is None:
        spelled, need = speller_at(data.module, data.call.func).spell("numpy.array")
        edit = Edit(place, (f"{spelled}(", Hole(place), ")"))
        return data.fix("Pass an array", edit, imports=() if need is None else (need,))
    hole = Hole(place, Precedence.PRIMARY, precedence_of(data.node))
    return data.fix("Pass an array", Edit(place, (hole, ".to_numpy()")))
