"""``model.reset_states()``: Keras 3 models leave it to their layers.

## What it does
Reports `.reset_states()` on a model.

## Why it breaks
Up to Keras 2 a model handed the call on to its stateful layers. Keras 3 models have no such method:
`AttributeError: 'Sequential' object has no attribute 'reset_states'`. Recurrent layers still have
it; metrics have `reset_state`.

## What to write instead
What the old method did:

    for layer in model.layers:
        if hasattr(layer, "reset_states"):
            layer.reset_states()

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with a stateful LSTM: before the call its state is not zero,
after it is, with the old code on Keras 2 and the new on Keras 3. The loop goes over the layers of
the model itself, like the old method.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.kinds import Kind
from kdoctor.model import Edit, Finding, Fix, Hole, Severity, Span
from kdoctor.rewrite import Refusal
from kdoctor.rewrite.source_lines import margin
from kdoctor.rules.facts import Facts
from kdoctor.rules.members._owners import attribute_error, symbol
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.triggers import member_of
from kdoctor.syntax import MemberUse, Module

_MEMBER = "reset_states"


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each use that the user's own model does not define."""
    for use in module.members:
        is_it = use.owner.kind is Kind.MODEL and use.member == _MEMBER
        if not is_it or use.owner_defines or module.is_guarded(use.node):
            continue
        attempt = _loop(module, facts, use)
        yield rule.finding(
            module.place(use.node),
            f"a model has no `{_MEMBER}` any more: {attribute_error(use.owner, _MEMBER)}",
            symbol=symbol(use.owner, _MEMBER),
            confidence=use.confidence,
            help="Reset the layers: `for layer in model.layers: if hasattr(layer, "
            "'reset_states'): layer.reset_states()`.",
            fix=attempt if isinstance(attempt, Fix) else None,
            no_fix_because=None if isinstance(attempt, Fix) else attempt.reason,
        )


def _loop(module: Module, facts: Facts, use: MemberUse) -> Fix | Refusal:
    """Write the loop that the method was."""
    call = use.called
    expression = module.parent(call) if call is not None else None
    line = module.parent(expression) if isinstance(expression, cst.Expr) else None
    if call is None or call.args or not isinstance(line, cst.SimpleStatementLine):
        return Refusal("it is not a statement of its own")
    if len(line.body) != 1:
        return Refusal("there are other statements on its line")
    span, receiver = module.span(call), module.outer_span(use.node.value)
    if "#" in module.text[span.start : span.end] or "\n" in module.text[span.start : span.end]:
        return Refusal("it goes over several lines")
    name = _free_name(module, call)
    indent = margin(module.text, span.start)
    step = module.tree.default_indent
    edit = Edit(
        Span(span.start, span.end),
        (
            f"for {name} in ",
            Hole(receiver),
            (
                f'.layers:\n{indent}{step}if hasattr({name}, "reset_states"):\n'
                f"{indent}{step}{step}{name}.reset_states()"
            ),
        ),
    )
    proof = facts.applicability(*(each for each in INVALID if each.after))
    return Fix("Reset the layers of the model one by one", (edit,), proof)


def _free_name(module: Module, node: cst.CSTNode) -> str:
    """Return a name that nothing here is called by."""
    scope = module.scope_of(node)
    candidates = ("layer", "each_layer", *(f"layer_{n}" for n in range(2, 100)))
    return next(each for each in candidates if scope.owner(each) is None)


rule = Rule(
    code="KD208",
    name="model-reset-states",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({Kind.MODEL}, _MEMBER),
    since="3.0",
)

VALID = [
    "import keras\nkeras.layers.LSTM(3, stateful=True).reset_states()",
    (
        "import keras\nmodel = keras.Sequential()\nfor layer in model.layers:\n"
        "    if hasattr(layer, 'reset_states'):\n        layer.reset_states()"
    ),
    "import tf_keras\ntf_keras.Sequential().reset_states()",
    "import keras\nagent.reset_states()",
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def reset_states(self):\n"
        "        pass\n\n\nMine().reset_states()"
    ),
    (
        "import keras\nmodel = keras.Sequential()\nif hasattr(model, 'reset_states'):\n"
        "    model.reset_states()"
    ),
]
_MODEL = (
    "import keras\n\nlstm = keras.layers.LSTM(3, stateful=True)\n"
    "model = keras.Sequential([keras.Input(batch_shape=(2, 4, 5)), lstm])\n"
    "model(keras.ops.ones((2, 4, 5)))\n"
)
_OLD = (
    "import keras\nimport tensorflow as tf\n\nlstm = keras.layers.LSTM(3, stateful=True)\n"
    "model = keras.Sequential([lstm])\nmodel(tf.ones((2, 4, 5)))\n"
    "before = float(tf.reduce_sum(tf.abs(lstm.states[0])))\n"
)
INVALID = [
    Example(
        before=f"{_OLD}model.reset_states()  # from the start\n"
        "after = float(tf.reduce_sum(tf.abs(lstm.states[0])))",
        after=f"{_OLD}for layer in model.layers:\n"
        '    if hasattr(layer, "reset_states"):\n'
        "        layer.reset_states()  # from the start\n"
        "after = float(tf.reduce_sum(tf.abs(lstm.states[0])))",
        raises="AttributeError: 'Sequential' object has no attribute 'reset_states'",
        check="assert before > 0 and after == 0",
        on_keras_2=True,
    ),
    Example(
        before=f"{_MODEL}layer = 3\nfor epoch in range(2):\n    if epoch:\n"
        "        model.reset_states()\n    print(layer)",
        after=f"{_MODEL}layer = 3\nfor epoch in range(2):\n    if epoch:\n"
        "        for each_layer in model.layers:\n"
        '            if hasattr(each_layer, "reset_states"):\n'
        "                each_layer.reset_states()\n    print(layer)",
        raises="AttributeError: 'Sequential' object has no attribute 'reset_states'",
    ),
    Example(
        before=f"{_MODEL}reset = model.reset_states",
        raises="AttributeError: 'Sequential' object has no attribute 'reset_states'",
    ),
]
