"""Since 3.15 `MultiHeadAttention` and `EinsumDense` draw their kernels from another range."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import add_keyword, argument, speller_at, value_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.queries import Call, functions
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.literals import literal

_ATTENTION: Final = ("layers.MultiHeadAttention", "layers.GroupQueryAttention")
_EINSUM: Final = "layers.EinsumDense"
_PARAMETER: Final = "kernel_initializer"
_DEFAULT: Final = "glorot_uniform"  # of the three layers, in Keras 2 and 3
_INITIALIZERS: Final = "initializers."
_FAN_IN: Final = "fan_in"  # what `VarianceScaling` scales by unless told otherwise
_FANS: Final = {"glorot": "fan_avg", "he": _FAN_IN, "lecun": _FAN_IN}
_AXES_OF_HEADS: Final = 3  # of the kernels of query, key and value: features, heads, parts of each
_UNSAFE: Final = (
    "a model that loads its weights needs no old range, a new one may train better as it is, and "
    "Keras before 3.15 knows no `input_axes`"
)


class _Axes(Struct, frozen=True):
    """The axes of a kernel by whose sizes its values are scaled."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    def __str__(self) -> str:
        """Return the arguments that say so."""
        return f"input_axes={list(self.inputs)}, output_axes={list(self.outputs)}"

    def scaled_by(self, fans: str, ones: Collection[int]) -> object:
        """Return what decides the scale; ``ones`` are axes of size 1."""
        inputs, outputs = (
            tuple(each for each in axes if each not in ones) for axes in (self.inputs, self.outputs)
        )
        parts = {_FAN_IN: (inputs,), "fan_out": (outputs,)}
        return frozenset(parts.get(fans, (inputs, outputs)))


class _Initializer(Struct, frozen=True):
    """What draws a kernel: a class of Keras that scales by the sizes of the kernel."""

    name: str  # below ``keras.initializers``
    fans: str  # "fan_in", "fan_out" or "fan_avg"; "" if not known
    given: cst.BaseExpression | None = None  # None where the layer's default is left
    made: cst.Call | None = None  # the call that makes it; None of a string


@rule("KD495", severity=Severity.CHANGE, since="3.15.0", look_for=functions(*_ATTENTION, _EINSUM))
def check(call: Call) -> Finding | None:
    """Report each layer whose kernels get another deviation."""
    split = split_root(call.name)
    initializer = _initializer(call)
    axes = None if split is None or initializer is None else _axes(call, split[1])
    if initializer is None or axes is None:
        return None
    former, now, ones = axes
    if former.scaled_by(initializer.fans, ones) == now.scaled_by(initializer.fans, ones):
        return None
    return call.finding(
        f"`{call.leaf}` starts with other weights since Keras 3.15: the scale of a kernel comes "
        "from the axes that are summed over, and came from its last two times all before them",
        help=f"To start as before, pass `{_PARAMETER}=keras.initializers.{initializer.name}"
        f"({former})`.",
        fix=_fix(call, initializer, former),
    )


def _initializer(call: Call) -> _Initializer | None:
    """Return what draws the kernels, if it scales by axes and none are named."""
    given = call.given(_PARAMETER)
    if given is None:
        return None if call.is_hidden else _by_name(call, _DEFAULT)
    name = literal(value_of(call.module, given.value))
    if isinstance(name, str):
        return _by_name(call, name, given.value)
    made = points_to_of(call.module).creation_of(given.value)
    split = None if made is None else split_root(call.module.qualified(made.func) or "")
    if made is None or split is None or not split[1].startswith(_INITIALIZERS):
        return None
    found = Call(call.module, call.facts, made)
    names_axes = found.argument("input_axes") or found.argument("output_axes")
    return (
        None
        if found.is_hidden or names_axes
        else _scaling(call, split[1].removeprefix(_INITIALIZERS), given.value, made)
    )


def _by_name(call: Call, name: str, given: cst.BaseExpression | None = None) -> _Initializer | None:
    """Return the initializer that a string stands for: ``"he_normal"`` is ``HeNormal``."""
    words = [each[:1].upper() + each[1:] for each in name.split("_")]
    return _scaling(call, "".join(words), given)


def _scaling(
    call: Call, name: str, given: cst.BaseExpression | None, made: cst.Call | None = None
) -> _Initializer | None:
    signature = call.facts.signature(f"keras.{_INITIALIZERS}{name}")
    if signature is None or signature.parameter("input_axes") is None:
        return None
    known = next((fans for each, fans in _FANS.items() if name.lower().startswith(each)), None)
    mode = None if made is None else argument(made, "mode", 1)
    told = _FAN_IN if mode is None else literal(value_of(call.module, mode.value))
    fans = known or (told if isinstance(told, str) else "")
    return _Initializer(name, fans, given, made)


def _axes(call: Call, name: str) -> tuple[_Axes, _Axes, Collection[int]] | None:
    """Return the axes that scaled a kernel and those that do, and which of them are of size 1."""
    if name in _ATTENTION:
        has_one = literal(call.value("num_heads", 0)) == 1
        return _former(_AXES_OF_HEADS), _Axes((0,), (1, 2)), (1,) if has_one else ()
    equation = literal(call.value("equation", 0))
    if not isinstance(equation, str):
        return None
    operands, arrow, result = equation.partition("->")
    kernel = operands.partition(",")[2].strip()
    if not arrow or len(kernel) < 2 or "." in kernel:
        return None
    summed = tuple(at for at, letter in enumerate(kernel) if letter not in result)
    kept = tuple(at for at, letter in enumerate(kernel) if letter in result)
    return _former(len(kernel)), _Axes(summed, kept), ()


def _former(rank: int) -> _Axes:
    """Return what scaled a kernel: each of the last two axes, times all before them."""
    before = tuple(range(rank - 2))
    return _Axes((*before, rank - 2), (*before, rank - 1))


def _fix(call: Call, initializer: _Initializer, axes: _Axes) -> Fix | NoFix:
    if not _has_kernels_of_one_rank(call):
        return NoFix("the kernel of its result may have more axes than those of query and key")
    title = "Draw the kernels from the old range"
    if initializer.made is not None:
        if initializer.made is not initializer.given:
            return NoFix("the initializer may also be used for other weights")
        edit = add_keyword(call.module, initializer.made, str(axes))
        return call.fix(title, edit, unsafe_because=_UNSAFE)
    name = f"keras.{_INITIALIZERS}{initializer.name}"
    spelled, need = speller_at(call.module, call.call).spell(name)
    text = f"{spelled}({axes})"
    edit = (
        add_keyword(call.module, call.call, f"{_PARAMETER}={text}")
        if initializer.given is None
        else Edit(call.module.span(initializer.given), (text,))
    )
    return call.fix(title, edit, imports=(need,), unsafe_because=_UNSAFE)


def _has_kernels_of_one_rank(call: Call) -> bool:
    """Say whether an attention gives back one axis of features, not several."""
    given = None if call.takes("equation") else call.given("output_shape")
    value = None if given is None else value_of(call.module, given.value)
    elements = elements_of(value)
    if elements is not None:
        return len(elements) == 1
    return value is None or isinstance(literal(value), int | None)
