"""Names with a slash, which Keras 3 refuses: written out, or put together of texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.calls import argument, is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Confidence, Edit
from kdoctor.rules.arguments._forwarded_keywords import base_that_gets
from kdoctor.rules.arguments._keras_calls import KerasCall
from kdoctor.rules.arguments._layer_name_parts import Functions, slashes
from kdoctor.rules.arguments._refused_value import Refused
from kdoctor.rules.rule import Example
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_ERROR = "ValueError: Argument `name` must be a string and cannot contain character `/`."

_NAMED = (Kind.LAYER, Kind.MODEL, Kind.OPTIMIZER, Kind.VARIABLE)
_NAMING = ("add_weight", "add_variable")


def is_named(call: KerasCall) -> bool:
    """Say whether Keras 3 looks at the name that is passed."""
    makes_a_weight = call.owner is not None and call.leaf in _NAMING
    # `keras.layers.concatenate(…, **kwargs)`: they go to the layer that the function makes.
    hands_on = call.kind is None and call.new.takes_any_keyword
    makes_a_layer = call.leaf == "Input" or (hands_on and call.name.startswith("keras.layers."))
    return call.kind in _NAMED or makes_a_layer or makes_a_weight


def slashed_name(module: Module, functions: Functions, given: cst.Arg | None) -> Iterator[Refused]:
    """Yield the name that is passed, where a slash surely is in it."""
    if given is None:
        return
    found = slashes(module, given.value)
    texts = found.texts
    if not texts:
        return
    whole = texts[0] is given.value and isinstance(texts[0], cst.SimpleString)
    error = f"{_ERROR} Received: name={texts[0].raw_value}" if whole else _ERROR  # type: ignore[union-attr]
    advice = "Replace the slash wherever the name is used."
    others = (each.value for each in found.through if not functions.is_only_a_name(each))
    elsewhere = next(others, None)
    if elsewhere is not None:
        because = f"`{elsewhere}` is also used for something else"
        yield Refused(given, error, advice, no_fix_because=because)
        return
    edits = [Edit(module.span(each), (each.value.replace("/", "_"),)) for each in texts]
    yield Refused(
        given,
        error,
        advice,
        tuple(edits),
        f"Write {edits[0].parts[0]}" if whole else "Write `_` instead of `/`",
        unsafe_because="`get_layer` and saved weights may use the old name",
    )


def of_own(
    module: Module, facts: TargetFacts, functions: Functions
) -> Iterator[tuple[KerasCall, Refused]]:
    """Yield such names that layers, models and functions of the user's own hand on to Keras."""
    for call in module.nodes(cst.Call):
        for each, taken in functions.given(call):
            name = module.source(call.func)
            found = KerasCall(call, name, taken.kind, taken.new, Confidence.LIKELY)
            told = f"`{name}` passes it to `{taken.leaf}`."
            for one in slashed_name(module, functions, each):
                yield found, replace(one, help=f"{told} {one.help}")
        refused = [*slashed_name(module, functions, argument(call, "name"))]
        base = base_that_gets(module, call.func, "name") if refused else None
        made = None if base is None else module.oracle.class_type(base)
        new = None if base is None else facts.signature(_as_it_is_now(facts, base))
        if base is None or made is None or new is None or not is_keras_3(facts, base):
            continue
        if made.kind in {Kind.LAYER, Kind.MODEL}:
            name = module.qualified(call.func) or module.source(call.func)
            found = KerasCall(call, name, made.kind, new, Confidence.LIKELY)
            yield from ((found, each) for each in refused)


def _as_it_is_now(facts: TargetFacts, base: str) -> str:
    """Return where the target has the class: `keras.layers.core.Layer` is at home elsewhere."""
    found = facts.lookup(base)
    return found.moved_to[0] if found.moved_to else base


_OWN = (
    "import keras\n\n\nclass Own(keras.layers.Layer):\n"
    "    def __init__(self, n, {}):\n        super().__init__({})\n\n"
    "    def build(self, input_shape):\n"
    "        self.scale = self.add_weight(name={}, shape=(3,))\n\n\n"
    "layer = Own(3, name={})\nlayer.build(None)\n"
)
_BLOCK = (
    "import keras\n\n\ndef block(x, n, name):\n{}"
    "    return keras.layers.Dense(n, name=f'{{name}}_dense')(x)\n\n\n"
    "y = block(keras.Input((3,)), 2, {})\n"
)
_HELD = "import keras\n\nstage = 1\nprefix = 'stage%d{}' % stage\n{}"
_MERGED = "import keras\n\nx = keras.Input((3,))\ny = {}"
UNSLASHED: Final = (
    _MERGED.format("keras.ops.concatenate([x, x])\nkeras.layers.concatenate([x, x], name='a_b')"),
    _BLOCK.format("    name = name.replace('/', '_')\n", "'a/b'"),
    _BLOCK.format("    if not n:\n        return keras.layers.ReLU(name=name)(x)\n", "'a_b'"),
    _HELD.format("/", "if stage:\n    prefix = 'first'\nkeras.layers.Dense(3, name=prefix)"),
    _HELD.format("/", "keras.layers.Dense(3, name=prefix.split('/')[0])"),
    "import keras\nkeras.layers.Dense(3, name='a_b'), keras.metrics.Mean(name='a/b')",
    "import keras\nkeras.layers.Dense(3, name=path.split('/')[0] + '_' + path.replace('/', '_'))",
    _OWN.format("name", "", "'scale'", "'a/b'"),
    _OWN.format("name", "name=name.replace('/', '_')", "'scale'", "'a/b'"),
    "import tensorflow as tf\ntf.Variable(1.0, name='a/b'), tf.keras.losses.Huber(name='a/b')",
)
SLASHED: Final = (
    # By a variable, in which the text stays if it is used for anything else.
    Example(
        before=_HELD.format("/", "layer = keras.layers.Dense(3, name=prefix + 'dense')\n"),
        after=_HELD.format("_", "layer = keras.layers.Dense(3, name=prefix + 'dense')\n"),
        raises="ValueError: Argument `name` must be a string and cannot contain character `/`.",
        unsafe=True,
        check="assert layer.name == 'stage1_dense'",
    ),
    Example(
        before=_HELD.format(
            "/a",
            "layer = keras.layers.Dense(3, name='{}_b'.format(prefix))\nprint(prefix + '.h5')\n",
        ),
        raises="ValueError: Argument `name` must be a string and cannot contain character `/`.",
    ),
    # By a function that makes a name of it.
    Example(
        before=_BLOCK.format("", "'top/block'"),
        after=_BLOCK.format("", "'top_block'"),
        raises="ValueError: Argument `name` must be a string and cannot contain character `/`.",
        unsafe=True,
    ),
    Example(
        before="import keras\n\nat = 'left'\n"
        "layer = keras.layers.Dense(3, name=at + f'/{at}_%d/x' % 1)",
        after="import keras\n\nat = 'left'\n"
        "layer = keras.layers.Dense(3, name=at + f'_{at}_%d_x' % 1)",
        raises="ValueError: Argument `name` must be a string and cannot contain character `/`.",
        unsafe=True,
        check="assert layer.name == 'left_left_1_x'",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(3, name='block1/dense')",
        after="import keras\n\nlayer = keras.layers.Dense(3, name='block1_dense')",
        raises="ValueError: Argument `name` must be a string and cannot contain character `/`. "
        "Received: name=block1/dense",
        unsafe=True,
    ),
    Example(
        before=_OWN.format("name", "name=name", "'scale'", "'a/b'"),
        after=_OWN.format("name", "name=name", "'scale'", "'a_b'"),
        raises="ValueError: Argument `name` must be a string and cannot contain character `/`. "
        "Received: name=a/b",
        unsafe=True,
        check="assert layer.name == 'a_b'",
    ),
    Example(
        before=_OWN.format("**rest", "**rest", "'scale'", "'a/b'"),
        after=_OWN.format("**rest", "**rest", "'scale'", "'a_b'"),
        raises="ValueError: Argument `name` must be a string and cannot contain character `/`. "
        "Received: name=a/b",
        unsafe=True,
        check="assert layer.name == 'a_b'",
    ),
    Example(
        before=_OWN.format("**rest", "**rest", "f'{self.name}/scale'", "'a'"),
        after=_OWN.format("**rest", "**rest", "f'{self.name}_scale'", "'a'"),
        raises="ValueError: Argument `name` must be a string and cannot contain character `/`.",
        unsafe=True,
        check="assert layer.scale.name == 'a_scale'",
    ),
    Example(
        before=_MERGED.format("keras.layers.concatenate([x, x], name='a/b')"),
        after=_MERGED.format("keras.layers.concatenate([x, x], name='a_b')"),
        raises="ValueError: Argument `name` must be a string and cannot contain character `/`. "
        "Received: name=a/b",
        unsafe=True,
    ),
    Example(
        before="import keras\n\nscale = keras.Variable([1.0], name='norm/scale')",
        after="import keras\n\nscale = keras.Variable([1.0], name='norm_scale')",
        raises="ValueError: Argument `name` must be a string and cannot contain character `/`.",
        unsafe=True,
        check="assert scale.name == 'norm_scale'",
    ),
)
