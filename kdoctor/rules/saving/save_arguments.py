"""Arguments of saving and loading that Keras 3 refuses, or reads as something else.

## What it does
Reports `signatures=`, `options=` and `save_traces=` of `model.save` and `save_model`, `options=` of
`load_model`, `save_weights` and `load_weights`, and a third positional argument of `model.save`.

## Why it breaks
They belonged to TensorFlow's SavedModel: `ValueError: The following argument(s) are not supported:
['signatures']`, `TypeError: Model.save_weights() got an unexpected keyword argument 'options'`,
`ValueError: Invalid keyword arguments: {'options': None}`. The third parameter of `model.save` was
`include_optimizer` and is now `zipped`: `model.save("a.h5", True, False)` writes a folder.

## What to write instead
Leave them out for the `.keras` and `.h5` formats. Write a SavedModel with signatures with
`keras.export.ExportArchive`. Pass `include_optimizer` by keyword; `.keras` files ignore it.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Edit, Finding, NoFix, Severity, Span
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.saving._possible_endings import uses
from kdoctor.rules.saving._save_and_load_calls import PathUse, loads, method_uses, saves
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts

_ERRORS = {
    "save": "ValueError: The following argument(s) are not supported: ['{0}']",
    "load": "TypeError: load_model() got an unexpected keyword argument '{0}'",
    "save_weights": "TypeError: Model.save_weights() got an unexpected keyword argument '{0}'",
    "load_weights": "ValueError: Invalid keyword arguments: {{'{0}': ",
}
_GONE = {
    "save": ("signatures", "options", "save_traces"),
    "load": ("options",),
    "save_weights": ("options",),
    "load_weights": ("options",),
}
_INCLUDE_OPTIMIZER = 2  # self.save(filepath, overwrite, include_optimizer)


def _may_pass_one(_: QuickFacts, __: TargetFacts, called: QuickCall) -> bool:
    if called.leaf == "save" and called.places == _INCLUDE_OPTIMIZER + 1:
        return True
    return any(not called.keywords.isdisjoint(each) for each in _GONE.values())


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such argument."""
    for use in chain(
        saves(module), loads(module), method_uses(module, "save_weights", "load_weights")
    ):
        if module.is_guarded(use.call):
            continue
        for name in _GONE[use.what]:
            given = argument(use.call, name)
            if given is not None:
                yield _gone(module, use, given, name)
        yield from _shifted(module, use)


def _gone(module: Module, use: PathUse, given: cst.Arg, name: str) -> Finding:
    edits = remove_arguments(module, use.call, [given])
    plain = literal(given.value) in (None, True, False)
    fix = None
    if edits is not None:
        fix = rule.fix(
            f"Leave out `{name}=`",
            *edits,
            unsafe_because="" if plain else f"`{module.source(given.value)}` then has no effect",
        )
    return rule.finding(
        module.place(given),
        f"`{name}=` was removed with the SavedModel format: {_ERRORS[use.what].format(name)}",
        symbol=f"{use.symbol}({name})",
        confidence=use.confidence,
        help="Leave it out; write signatures with `keras.export.ExportArchive`."
        if name == "signatures"
        else "Leave it out.",
        fix=fix or NoFix("there is a comment next to it"),
    )


def _shifted(module: Module, use: PathUse) -> Iterator[Finding]:
    """Report the positional ``include_optimizer`` of ``model.save``."""
    if use.what != "save" or not isinstance(use.call.func, cst.Attribute) or is_hidden(use.call):
        return
    by_position = [each for each in use.call.args if each.keyword is None]
    if use.call.func.attr.value != "save" or len(by_position) != _INCLUDE_OPTIMIZER + 1:
        return
    given = by_position[_INCLUDE_OPTIMIZER]
    start = module.outer_span(given.value).start
    yield rule.finding(
        module.place(given),
        "the third parameter of `save` was `include_optimizer` and is `zipped` now",
        symbol=f"{use.symbol}(include_optimizer)",
        confidence=use.confidence,
        severity=Severity.CHANGE,
        help="Write `include_optimizer=`.",
        fix=rule.fix(
            "Write `include_optimizer=`", Edit(Span(start, start), ("include_optimizer=",))
        ),
    )


rule = Rule(
    code="KD605",
    name="save-arguments",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=uses(_may_pass_one, *_GONE, "save_model", "load_model"),
    since="3.0",
)

_MODEL = "import keras\n\nmodel = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n"

VALID = [
    _MODEL + "model.save('a.keras', overwrite=True)\nmodel.save('a.h5', True)",
    _MODEL + "model.save('a.h5', include_optimizer=False)",
    "import keras\nfrom mine import model\nmodel.save('a.keras', signatures=None)",
    "import tf_keras\ntf_keras.Sequential().save('a', signatures=None)",
    "import tf_keras\ntf_keras.models.load_model('a', options=None)",
]
INVALID = [
    Example(
        before=_MODEL + "model.save('a.keras', signatures=None, options=None)",
        after=_MODEL + "model.save('a.keras')",
        raises="ValueError: The following argument(s) are not supported: ['signatures'",
        findings=2,
        check="keras.models.load_model('a.keras')",
    ),
    Example(
        before=_MODEL + "model.save('a.keras')\nkeras.models.load_model('a.keras', options=None)",
        after=_MODEL + "model.save('a.keras')\nkeras.models.load_model('a.keras')",
        raises="TypeError: load_model() got an unexpected keyword argument 'options'",
    ),
    Example(
        before=_MODEL + "model.save_weights('a.weights.h5', options=None)",
        after=_MODEL + "model.save_weights('a.weights.h5')",
        raises="TypeError: Model.save_weights() got an unexpected keyword argument 'options'",
        check="model.load_weights('a.weights.h5')",
    ),
    Example(
        before=_MODEL + "model.compile('adam', 'mean_squared_error')\n"
        "model.save('a.h5', True, False)",
        after=_MODEL + "model.compile('adam', 'mean_squared_error')\n"
        "model.save('a.h5', True, include_optimizer=False)",
        on_keras_2=True,
        check="import os\nassert os.path.isfile('a.h5')",
        prelude="import keras\nkeras.Input = keras.layers.Input",
    ),
    Example(
        before=_MODEL + "chosen = object()\nmodel.save('a.keras', options=chosen)",
        after=_MODEL + "chosen = object()\nmodel.save('a.keras')",
        raises="ValueError: The following argument(s) are not supported: ['options']",
        unsafe=True,
    ),
]
