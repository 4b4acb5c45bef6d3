"""A layer reads `training` from `**kwargs`, but Keras 3 never passes it there.

## What it does
Reports `kwargs.get("training")`, `kwargs.pop("training", None)` and `kwargs["training"]` in the
`call` of a subclass of `Layer` without a `training` parameter.

## Why it breaks
Keras 2 passed `training` to each `call` that could accept it, even in `**kwargs`. Keras 3 passes it
only to a parameter of that name. So `kwargs.get("training")` is None even in `fit`, and the layer
behaves as in `predict`; nothing raises. `kwargs["training"]` raises `KeyError`.

## What to write instead
`def call(self, inputs, training=None, **kwargs):`, and `training`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: a layer that adds one in training.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import holds_original_argument, kind_of_class
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import evaluated
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_TRAINING = "training"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each place that looks for it."""
    if not (facts.runs_keras_3("keras") or facts.runs_keras_3("tf.keras")):
        return
    for node in module.nodes(cst.ClassDef):
        call = next(filter(_is_call, node.body.body), None)
        if not isinstance(call, cst.FunctionDef) or kind_of_class(module, node) is not Kind.LAYER:
            continue
        others = call.params.star_kwarg
        if others is None:
            continue
        reads = [*_reads(module, call, others)]
        fix = _fix(module, call, others, reads)
        for each in reads:
            if not module.is_guarded(each):
                yield rule.finding(
                    module.place(each),
                    f"Keras 3 never passes `training` in `**kwargs`: `{node.name.value}` behaves "
                    "as in inference even in `fit`",
                    symbol="Layer.call(training)",
                    confidence=Confidence.LIKELY,
                    help="Add a parameter `training=None` to `call`, and read that.",
                    fix=fix or NoFix(f"`{others.name.value}` is used for more than `training`"),
                )


def _is_call(node: cst.CSTNode) -> bool:
    """Say whether it is a ``call`` with ``**kwargs`` that has no parameter ``training``."""
    if not isinstance(node, cst.FunctionDef) or node.name.value != "call" or node.decorators:
        return False
    parameters = node.params
    named = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    return parameters.star_kwarg is not None and _TRAINING not in {e.name.value for e in named}


def _reads(
    module: Module, call: cst.FunctionDef, others: cst.Param
) -> Iterator[cst.Call | cst.Subscript]:
    for each in descendants(call.body):
        match each:
            case cst.Call(
                func=cst.Attribute(value=owner, attr=cst.Name(value="get" | "pop")),
                args=[cst.Arg(value=cst.SimpleString() as key), *_],
            ):
                pass
            case cst.Subscript(
                value=owner,
                slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))],
            ) if not isinstance(module.parent(each), cst.AssignTarget | cst.Del):
                pass
            case _:
                continue
        if evaluated(key) == _TRAINING and holds_original_argument(module, owner, others):
            yield each


def _fix(
    module: Module,
    call: cst.FunctionDef,
    others: cst.Param,
    reads: list[cst.Call | cst.Subscript],
) -> Fix | None:
    """Return the fix of all reads at once, where nothing else is done with the keywords."""
    names = [each.value for each in descendants(call.body) if isinstance(each, cst.Name)]
    if names.count(others.name.value) != len(reads) or _TRAINING in names:
        return None
    if any(isinstance(each, cst.Call) and not _has_no_default(each) for each in reads):
        return None
    stars = module.text.rfind("**", 0, module.span(others.name).start)
    edits = [Edit(module.span(each), (_TRAINING,)) for each in reads]
    return rule.fix(
        "Add a `training` parameter to `call`",
        Edit(Span(stars, stars), (f"{_TRAINING}=None, ",)),
        *edits,
    )


def _has_no_default(read: cst.Call) -> bool:
    match read.args:
        case [_]:
            return read.func.attr.value == "get" if isinstance(read.func, cst.Attribute) else False
        case [_, cst.Arg(value=cst.Name(value="None"))]:
            return True
    return False


def _may_look(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        isinstance(each, ast.Constant) and each.value == _TRAINING
        for node in quick.nodes.get(ast.FunctionDef, ())
        if node.name == "call" and node.args.kwarg is not None
        for statement in node.body
        for each in ast.walk(statement)
    )


rule = Rule(
    code="KD436",
    name="training-among-keywords",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word(_TRAINING) & Trigger(_may_look),
    since="3.0",
)

_HEAD = "import keras\nimport numpy as np\n\n\n"
_LAYER = _HEAD + (
    "class More(keras.layers.Layer):\n    def call(self, x, {}):\n"
    "        return x + 1.0 if {} else x\n"
)
_CHECK = (
    "\n\nmodel = keras.Sequential([keras.Input((2,)), More()])\n"
    "zero = np.zeros((1, 2), 'float32')\n"
    "assert np.sum(model(zero, training=True)) == 2.0\n"
    "assert np.sum(model(zero, training=False)) == 0.0\n"
)

VALID = [
    _LAYER.format("training=None, **kwargs", "training"),
    _LAYER.format("training=None, **kwargs", "kwargs.get('training')"),
    _LAYER.format("**kwargs", "kwargs.get('trained')"),
    _LAYER.format("**kwargs", "x.get('training')"),
    _LAYER.format("**kwargs", "kwargs.update(training=1)"),
    _LAYER.format("**kwargs", "kwargs.get('training')").replace("def call", "def apply"),
    _LAYER.format("**kwargs", "kwargs.get('training')").replace("keras.layers.Layer", "Mine"),
    "import tf_keras as "
    + _LAYER.format("**kwargs", "kwargs.get('training')").removeprefix("import "),
]
INVALID = [
    Example(
        before=_LAYER.format("**kwargs", "kwargs.get('training')"),
        after=_LAYER.format("training=None, **kwargs", "training"),
        check=_CHECK,
        on_keras_2=True,
    ),
    Example(
        before=_LAYER.format("*args, **others", 'others.pop("training", None)'),
        after=_LAYER.format("*args, training=None, **others", "training"),
        check=_CHECK,
        on_keras_2=True,
    ),
    # The keywords are handed on; another default.
    Example(
        before=_LAYER.format("**kwargs", "kwargs.get('training') and len(kwargs)"),
        check=_CHECK,
        on_keras_2=True,
    ),
    Example(
        before=_LAYER.format("**kwargs", "kwargs.get('training', False)"),
        check=_CHECK,
        on_keras_2=True,
    ),
]
