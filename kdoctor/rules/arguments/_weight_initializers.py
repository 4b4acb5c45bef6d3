"""By which initializers a layer's own weights can be given, in the order of its weights.

``tests/rules/test_layer_weights.py`` builds each of them in both releases, and compares.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument
from kdoctor.analysis.keras_calls import KerasCall
from kdoctor.syntax.literals import literal

# The initializer of each weight, and the flag without which there is no such weight ("": always).
_KERNEL: Final = (("kernel_initializer", ""), ("bias_initializer", "use_bias"))
_RECURRENT: Final = (
    ("kernel_initializer", ""),
    ("recurrent_initializer", ""),
    ("bias_initializer", "use_bias"),
)
_SEPARABLE: Final = (
    ("depthwise_initializer", ""),
    ("pointwise_initializer", ""),
    ("bias_initializer", "use_bias"),
)
_SCALE: Final = (("gamma_initializer", "scale"), ("beta_initializer", "center"))

INITIALIZERS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    **dict.fromkeys(("Dense", "Conv1D", "Conv2D", "Conv3D"), _KERNEL),
    **dict.fromkeys(("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"), _KERNEL),
    **dict.fromkeys(("SeparableConv1D", "SeparableConv2D"), _SEPARABLE),
    "DepthwiseConv2D": (("depthwise_initializer", ""), ("bias_initializer", "use_bias")),
    **dict.fromkeys(("SimpleRNN", "GRU", "LSTM"), _RECURRENT),
    "BatchNormalization": (
        *_SCALE,
        ("moving_mean_initializer", ""),
        ("moving_variance_initializer", ""),
    ),
    "LayerNormalization": _SCALE,
    "PReLU": (("alpha_initializer", ""),),
}
# What would change a weight after its initializer: `LSTM` puts ones in its bias.
CHANGES_A_WEIGHT: Final = {"LSTM": "unit_forget_bias"}


def initializers_of(call: KerasCall) -> tuple[str, ...] | None:
    """Return the keywords for the weights that the layer will have; None where that is not known.

    Not known is also where something is passed for one of them by position.
    """
    slots = INITIALIZERS.get(call.made)
    if slots is None or any(each.star for each in call.args):
        return None
    kept = []
    for keyword, flag in slots:
        if flag and (value := _flag(call, flag)) is not True:
            if value is not False:
                return None
            continue
        if call.keyword(keyword) is None and _passed(call, keyword) is not None:
            return None
        kept.append(keyword)
    return tuple(kept)


def _flag(call: KerasCall, name: str) -> object:
    given = _passed(call, name)
    if given is not None:
        return literal(given.value)
    parameter = call.new.parameter(name)
    return parameter is not None and parameter.default == "True"


def _passed(call: KerasCall, name: str) -> cst.Arg | None:
    names = [each.name for each in call.new.parameters if each.name != "self"]
    position = names.index(name) if name in names else None
    return argument(call.call, name, position)
