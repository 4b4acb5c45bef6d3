"""`Dense(3, kernel_initializer=drawn)`: an initializer function must accept `dtype`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.queries import Call, File, constructs, files
from kdoctor.analysis.queries.functions_given import GivenFunction, functions_given
from kdoctor.analysis.queries.signatures import FormalSignature
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

ALWAYS_CALLED: Final = (
    *("kernel_initializer", "embeddings_initializer", "recurrent_initializer"),
    *("depthwise_initializer", "pointwise_initializer", "alpha_initializer"),
)
"""Arguments of Keras' layers of which every layer that is built makes a weight."""
_BIAS = "bias_initializer"  # a weight is made of it, too, unless `use_bias` says otherwise
_BEFORE_USE_BIAS = 2  # arguments by position: in `Dense` the third is `use_bias`
_DTYPE = "dtype"
_NAME = "name"
_NAMED = "Keras 1 passed a name; now it is None"


def _takes_no_dtype(function: FormalSignature) -> bool:
    # Without a parameter by position it makes the initializer, and is none.
    by_position = any(
        each.kind == inspect.Parameter.POSITIONAL_OR_KEYWORD for each in function.parameters
    )
    return by_position and not function.var_keyword and function.parameter(_DTYPE) is None


_GIVEN: Final = functions_given(
    constructs(Kind.LAYER).even(hidden=True), *ALWAYS_CALLED, _BIAS, where=_takes_no_dtype
)


@rule("KD316", severity=Severity.ERROR, since="3.0", look_for=files(_GIVEN))
def check(file: File) -> Iterator[Finding]:
    """Report each such function once."""
    seen: set[cst.CSTNode] = set()
    for given in _GIVEN.find(file.module, file.facts):
        if given.function in seen or (given.keyword == _BIAS and not _has_bias(given)):
            continue
        seen.add(given.function)
        yield _finding(file, given)


def _has_bias(call: Call) -> bool:
    by_position = sum(each.keyword is None for each in call.call.args)
    return call.argument("use_bias") is None and by_position <= _BEFORE_USE_BIAS


def _finding(file: File, given: GivenFunction) -> Finding:
    function = given.function
    if isinstance(function, cst.FunctionDef):
        place: cst.CSTNode = function.name
        shown = said = function.name.value
    else:
        place, shown, said = function, "lambda", "<lambda>"
    return file.finding(
        f"`{shown}` is used as `{given.keyword}`, and Keras calls it with `dtype`: "
        f"TypeError: {said}() got an unexpected keyword argument 'dtype'",
        at=place,
        symbol=given.keyword,
        help="Add a parameter `dtype=None`.",
        fix=_with_dtype(file, function),
    )


def _with_dtype(file: File, function: cst.FunctionDef | cst.Lambda) -> Fix | NoFix:
    parameters = function.params
    _, *others = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    wanted = [each for each in others if each.default is None]
    if [each.name.value for each in wanted] not in ([], [_NAME]):
        return NoFix("it has more required parameters than the shape")
    last = parameters.params[-1]
    ends = [_end(file.module, each) for each in (*wanted, last)]
    # One edit where both are put at one place.
    named = "" if not wanted else " = None" if wanted[0].annotation else "=None"
    texts = [*([named] if wanted else []), f", {_DTYPE}=None"]
    if len(set(ends)) < len(ends):
        ends, texts = ends[:1], ["".join(texts)]
    return file.fix(
        "Add a `dtype` parameter",
        *(Edit(Span(end, end), (text,)) for end, text in zip(ends, texts, strict=True)),
        unsafe_because=_NAMED if wanted else "",
    )


def _end(module: Module, parameter: cst.Param) -> int:
    annotation = parameter.annotation.annotation if parameter.annotation else parameter.name
    return module.outer_span(parameter.default or annotation).end
