"""The name of an activation, constraint or regularizer of one's own, as text.

## What it does
Reports `activation="mine"` of Keras' layers, `kernel_constraint="mine"` and
`keras.activations.get("mine")`, where no release of Keras has such a name: what code has put into
`get_custom_objects()`. Layers of one's own that hand the argument on to Keras' count, too, and
names that pytest passes one after the other.

## Why it breaks
Keras 2 looked among the custom objects. Keras 3 looks only among its own where it is given text:
`ValueError: Could not interpret activation function identifier: mine`. Initializers and optimizers
are still looked for among the custom objects.

## What to write instead
The function or class itself, `activation=mine`; or, where only the name is known,
`keras.saving.get_custom_objects()["mine"]`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21, with functions and classes in `get_custom_objects()`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.keras_api import Presence, split_root
from kdoctor.kinds import Kind
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, Hole, Precedence, Severity
from kdoctor.rewrite.precedence import binds
from kdoctor.rules.arguments._callees import Callee, may_make_a_layer, passes
from kdoctor.rules.arguments._calls import keras_calls
from kdoctor.rules.arguments._handed_on import base_that_gets
from kdoctor.rules.arguments._short_names import CONSTRAINTS
from kdoctor.rules.calls import argument, is_keras_3, speller_at
from kdoctor.rules.facts import Facts
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.triggers import Trigger, attribute
from kdoctor.syntax import Module
from kdoctor.syntax.glimpse import Called, Glimpse
from kdoctor.syntax.parametrized import passed_by_pytest

_KINDS: Final = {
    "activations": "activation function",
    "constraints": "constraint",
    "regularizers": "regularizer",
}
_KERAS_2: Final = ("2.15.0", "2.2.5")
_RELEASES: Final = (None, *_KERAS_2)
_OF_LAYERS: Final = re.compile(r"(?:.+_)?(activation|constraint|regularizer)")
_KNOWN_ELSEWHERE: Final = frozenset({*CONSTRAINTS, "l1_l2"})  # KD305 tells of these


class _Given(Struct, frozen=True):
    """A name that is passed as text: to what, where it stands, and what texts it may be."""

    node: cst.BaseExpression
    module: str
    texts: tuple[str, ...]
    confidence: Confidence


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each such name."""
    given = (*_of_layers(module, facts), *_of_own(module, facts), *_looked_up(module, facts))
    for each in given:
        unknown = [text for text in each.texts if not _is_known(facts, each.module, text)]
        if unknown and not module.is_guarded(each.node) and not _may_fail(module, each.node):
            # Beside them, what no Keras 2 has was looked for among custom objects, too.
            is_all = not any(_is_known(facts, each.module, text, _KERAS_2) for text in each.texts)
            yield _finding(module, each, unknown[0], is_all=is_all)


def _may_be_unknown(facts: Facts, callee: Callee, called: Called) -> bool:
    if _looks_up(callee):
        return _is_unknown(facts, _parent(callee), called.argument("identifier", 0))
    return _is_unknown(facts, "activations", called.argument("activation", 0))


def _may_be_parametrized(_facts: Facts, _callee: Callee, called: Called) -> bool:
    """Say whether pytest may pass, one after the other, what is looked up."""
    return isinstance(called.argument("identifier", 0), ast.Name)


def _looks_up(callee: Callee) -> bool:
    """Say whether it is `activations.get` or the like."""
    return callee.leaf == "get" and _parent(callee) in _KINDS


def _parent(callee: Callee) -> str:
    return callee.name.removeprefix("keras.").rpartition(".")[0]


def _may_name_an_unknown(glimpse: Glimpse, facts: Facts) -> bool:
    return any(
        _is_unknown(facts, f"{kind[1]}s", called.argument(keyword))
        and may_make_a_layer(glimpse, facts, called)
        for keyword in glimpse.keywords
        if (kind := _OF_LAYERS.fullmatch(keyword)) is not None
        for called in glimpse.calls_with(keyword)
    )


def _is_unknown(facts: Facts, module: str, given: ast.expr | None) -> bool:
    text = given.value if isinstance(given, ast.Constant) else None
    return isinstance(text, str) and not _is_known(facts, module, text)


def _of_layers(module: Module, facts: Facts) -> Iterator[_Given]:
    for call in keras_calls(module, facts):
        if call.kind is not Kind.LAYER:
            continue
        given = {each.keyword.value: each for each in call.call.args if each.keyword is not None}
        if call.leaf == "Activation" and (first := argument(call.call, "activation", 0)):
            given["activation"] = first
        for keyword, each in given.items():
            kind = _OF_LAYERS.fullmatch(keyword)
            text = _text(each.value)
            if kind is not None and text is not None:
                yield _Given(each.value, f"{kind[1]}s", (text,), call.confidence)


def _of_own(module: Module, facts: Facts) -> Iterator[_Given]:
    """Yield what layers of the user's own are given and hand on."""
    for call in module.nodes(cst.Call):
        for each in call.args:
            keyword = "" if each.keyword is None else each.keyword.value
            kind, text = _OF_LAYERS.fullmatch(keyword), _text(each.value)
            if kind is None or text is None:
                continue
            base = base_that_gets(module, call.func, keyword)
            made = None if base is None else module.knowledge.class_type(base)
            if made is not None and made.kind is Kind.LAYER and is_keras_3(facts, base):
                yield _Given(each.value, f"{kind[1]}s", (text,), Confidence.LIKELY)


def _looked_up(module: Module, facts: Facts) -> Iterator[_Given]:
    for reference in module.references:
        split = split_root(reference.name)
        parent, _, leaf = split[1].rpartition(".") if split is not None else ("", "", "")
        if reference.call is None or leaf != "get" or parent not in _KINDS:
            continue
        given = argument(reference.call, "identifier", 0)
        if given is not None and is_keras_3(facts, reference.name):
            texts = _texts(module, given.value)
            yield _Given(given.value, parent, texts, reference.confidence)


def _may_fail(module: Module, node: cst.CSTNode) -> bool:
    """Say whether the failure is caught, or what a test is about."""
    ancestors = list(module.ancestors(node))
    return any(isinstance(each, cst.Try | cst.TryStar) for each in ancestors) or any(
        isinstance(item.item, cst.Call) and "raises" in module.source(item.item.func).lower()
        for each in ancestors
        if isinstance(each, cst.With)
        for item in each.items
    )


def _texts(module: Module, node: cst.BaseExpression) -> tuple[str, ...]:
    bound = module.bindings_at(node) if isinstance(node, cst.Name) else ()
    passed = passed_by_pytest(bound[0]) if len(bound) == 1 else (node,)
    texts = [_text(each) for each in passed]
    return tuple(each for each in texts if each is not None) if None not in texts else ()


def _text(node: cst.BaseExpression) -> str | None:
    return node.raw_value if isinstance(node, cst.SimpleString) and not node.prefix else None


@lru_cache(maxsize=4096)
def _is_known(
    facts: Facts, module: str, text: str, releases: Sequence[str | None] = _RELEASES
) -> bool:
    """Say whether any Keras has it, as a function or by the name of a class, also in snake case."""
    if not text.isidentifier() or text in _KNOWN_ELSEWHERE:
        return True
    camel = "".join(part.title() for part in text.split("_"))
    return any(
        facts.at_release(release).lookup(f"keras.{place}.{name}").presence is Presence.EXISTS
        for release in releases
        for place in (module, "layers")
        for name in {text, camel, text.upper()}
    )


def _finding(module: Module, given: _Given, unknown: str, *, is_all: bool) -> Finding:
    span = module.outer_span(given.node)
    spelled, need = speller_at(module, given.node).spell("keras.saving.get_custom_objects")
    written = Hole(span, Precedence.ANY, binds(given.node))
    edit = Edit(span, (f"{spelled}()[", written, "]"), Precedence.PRIMARY)
    fix = Fix(
        "Take it from the custom objects",
        (edit,),
        Applicability.UNSAFE,
        () if need is None else (need,),
        unsafe_because="it must be among them by then, and not only in a `custom_object_scope`",
    )
    return rule.finding(
        module.place(given.node),
        "Keras 3 does not look for it among custom objects: ValueError: Could not interpret "
        f"{_KINDS[given.module]} identifier: {unknown}",
        symbol=f"keras.{given.module}.{unknown}",
        confidence=given.confidence,
        help="Pass the function or class itself; or, where only its name is known, "
        f"`{spelled}()[name]`.",
        fix=fix if is_all else None,
        no_fix_because=None if is_all else "some of the names that it may have are of Keras",
    )


rule = Rule(
    code="KD313",
    name="own-name-as-text",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_name_an_unknown)
    | passes(_may_be_unknown, of=lambda each: each.leaf == "Activation" or _looks_up(each))
    | (attribute("parametrize") & passes(_may_be_parametrized, of=_looks_up)),
    since="3.0",
)

_HEAD = (
    "import keras\n\n\ndef mine(x):\n    return x * 2\n\n\n"
    "keras.utils.get_custom_objects()['mine'] = mine\n"
)
_ERROR = "ValueError: Could not interpret activation function identifier: mine"
_TEST = (
    "import keras\nimport pytest\n\n\n@pytest.mark.parametrize('name', [{}])\n"
    "def test(name):\n    assert keras.activations.get({})\n"
)

_OWN = (
    "import keras\n\n\nclass Mine(keras.layers.Dense):\n"
    "    def __init__(self, units, {0}=None, **kwargs):\n"
    "        super().__init__(units, {1}, **kwargs)\n\n\n"
)
_CLIP = (
    "class clip(keras.constraints.Constraint):\n    def __call__(self, w):\n"
    "        return keras.ops.clip(w, -1, 1)\n\n\n"
    "keras.utils.get_custom_objects()['clip'] = clip\n"
)
_HANDED_ON = _OWN.format("kernel_constraint", "kernel_constraint=kernel_constraint") + _CLIP

VALID = [
    "import keras\n\nkeras.layers.Dense(2, activation='relu', kernel_constraint='max_norm')",
    "import keras\n\nkeras.layers.Dense(2, activation='swish', kernel_constraint='NonNeg')",
    "import keras\nkeras.layers.Dense(2, kernel_regularizer='l2'), keras.layers.Activation('elu')",
    "import keras\n\nkeras.layers.LSTM(2, recurrent_activation='hard_sigmoid', activation='tanh')",
    "import keras\nkeras.layers.Dense(2, kernel_constraint='maxnorm', kernel_regularizer='l1_l2')",
    "import keras\n\nkeras.layers.Dense(2, kernel_initializer='mine')",
    "import keras\n\nkeras.layers.Dense(2, activation=name), keras.activations.get(name)",
    "from mine import Dense\nimport keras\nDense(2, activation='mine')",
    "import tf_keras as keras\n\nkeras.layers.Dense(2, activation='mine')",
    # A layer of one's own that makes something of it first, or keeps it.
    _OWN.format("activation", "activation=mine[activation]") + "Mine(2, activation='mine')",
    _OWN.replace(", {1}", "").format("activation") + "Mine(2, activation='mine')",
    _OWN.replace("keras\n", "tf_keras as keras\n", 1).format("activation", "activation=activation")
    + "Mine(2, activation='mine')",
    _TEST.format("'relu', 'elu'", "name"),
    "import keras, pytest\nwith pytest.raises(ValueError):\n    keras.activations.get('mine')",
    "import keras\n\ntry:\n    keras.activations.get('mine')\nexcept ValueError:\n    pass",
]
INVALID = [
    Example(
        before=_HEAD + "layer = keras.layers.Dense(2, activation='mine')\n",
        after=_HEAD
        + "layer = keras.layers.Dense(2, activation=keras.saving.get_custom_objects()['mine'])\n",
        raises=_ERROR,
        unsafe=True,
        check="assert layer.activation is mine",
        on_keras_2=True,
    ),
    Example(
        before=_HEAD + "layer = keras.layers.Activation('mine')\n",
        after=_HEAD
        + "layer = keras.layers.Activation(keras.saving.get_custom_objects()['mine'])\n",
        raises=_ERROR,
        unsafe=True,
        check="assert layer.activation is mine",
        on_keras_2=True,
    ),
    Example(
        before=_HEAD + "layer = keras.layers.Dense(2, kernel_constraint='mine')\n",
        after=_HEAD + "layer = keras.layers.Dense(2, "
        "kernel_constraint=keras.saving.get_custom_objects()['mine'])\n",
        raises="ValueError: Could not interpret constraint identifier: mine",
        unsafe=True,
        check="assert layer.kernel_constraint is mine",
    ),
    Example(
        before=_HEAD + "found = keras.regularizers.get('mine')\n",
        after=_HEAD + "found = keras.regularizers.get(keras.saving.get_custom_objects()['mine'])\n",
        raises="ValueError: Could not interpret regularizer identifier: mine",
        unsafe=True,
        check="assert found is mine",
    ),
    # By way of a layer of one's own.
    Example(
        before=_HANDED_ON + "layer = Mine(2, kernel_constraint='clip')\n",
        after=_HANDED_ON + "layer = Mine(2, "
        "kernel_constraint=keras.saving.get_custom_objects()['clip'])\n",
        raises="ValueError: Could not interpret constraint identifier: clip",
        unsafe=True,
        check="assert isinstance(layer.kernel_constraint, clip)",
        on_keras_2=True,
    ),
    # All that pytest passes.
    Example(
        before=_TEST.format("'mine'", "name"),
        after=_TEST.format("'mine'", "keras.saving.get_custom_objects()[name]"),
        unsafe=True,
        check="keras.saving.get_custom_objects()['mine'] = abs\n"
        "keras.activations.get(keras.saving.get_custom_objects()['mine'])",
    ),
    # Keras 3 has a `hard_tanh` of its own, which Keras 2 has not.
    Example(
        before=_TEST.format("'mine', 'hard_tanh'", "name"),
        after=_TEST.format("'mine', 'hard_tanh'", "keras.saving.get_custom_objects()[name]"),
        unsafe=True,
        check="assert keras.activations.hard_tanh",
    ),
    Example(before=_TEST.format("'mine', 'relu'", "name")),
]
