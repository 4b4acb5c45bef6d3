"""``model.backend``: no Keras model ever had it.

## What it does
Reports `.backend` on a model, whether it was built here, loaded, or created by a library that uses
Keras.

## Why it breaks
`backend` is a module of Keras, not an attribute of models: `AttributeError: 'Functional' object has
no attribute 'backend'`. This is true for Keras 1, 2 and 3, and for the models of
segmentation_models as for any other.

## What to write instead
Call the function itself: `keras.ops.sum(x)` for `model.backend.sum(x)`, `keras.config.floatx()` for
`model.backend.floatx()`, `keras.backend.backend()` for the name of the backend.

## How we know
Run on Keras 3.15.1 with `Sequential`, functional, subclassed and application models. The fix uses
the rewrites of KD101, each proven on its own; other functions are left to you.
"""

from __future__ import annotations

from functools import lru_cache

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Read, reads
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite import RewriteTable, rewrite
from kdoctor.rules.members._error_owner import attribute_error, symbol
from kdoctor.rules.names import _backend
from kdoctor.rules.names._backend.generators import with_generator
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import ImportBinding, MemberUse, Module, Reference, ReferenceKind
from kdoctor.value_types import Kind

# The settings that Keras 3 still has in `keras.backend`; their home is `keras.config`.
REWRITES = tuple(
    rewrite(f"keras.backend.{name}()", f"keras.config.{name}()")
    for name in ("epsilon", "floatx", "image_data_format")
)


@rule("KD201", severity=Severity.ERROR, look_for=reads("backend", on=Kind.MODEL))
def check(read: Read) -> Finding:
    """Report each use of the attribute that the user's own class does not define."""
    return read.finding(
        f"a model has no `backend`: {attribute_error(read.owner, 'backend')}",
        symbol=symbol(read.owner, "backend"),
        help="Call the function itself, from `keras.ops` or `keras.config`.",
        fix=_call_the_operation(read.module, read.facts, read.use),
    )


def _call_the_operation(module: Module, facts: TargetFacts, use: MemberUse) -> Fix | NoFix:
    """Rewrite ``model.backend.sum(x)`` like ``keras.backend.sum(x)``."""
    function = module.parent(use.node)
    if not isinstance(function, cst.Attribute) or function.value is not use.node:
        return NoFix("kdoctor cannot tell what it is used for")
    binding = _some_import_of_keras(module)
    if binding is None:
        return NoFix("this file has no Keras import whose style a fix could follow")
    name = f"keras.backend.{function.attr.value}"
    call = module.parent(function)
    reference = Reference(
        node=function,
        name=name,
        binding=binding,
        kind=ReferenceKind.LOAD,
        call=call if isinstance(call, cst.Call) and call.func is function else None,
        confidence=use.confidence,
        names=(name,),
    )
    attempt = _table(facts).attempt(module, reference, facts.applicability)
    if isinstance(attempt, Fix):
        attempt = with_generator(module, reference, function.attr.value, attempt)
    if isinstance(attempt, NoFix) and facts.lookup(name).presence is Presence.MISSING:
        return NoFix(f"{attempt.reason} (`{name}` was removed as well)")
    return attempt


@lru_cache(maxsize=8)
def _table(facts: TargetFacts) -> RewriteTable:
    return RewriteTable((*_backend.REWRITES, *REWRITES), facts.signature)


def _some_import_of_keras(module: Module) -> ImportBinding | None:
    return next((each for each in module.imports if split_root(each.name)), None)


VALID = [
    "from keras import backend as K\nK.backend()",
    "import keras\nmodel = keras.Sequential()\nkeras.backend.backend()",
    # The user's own attribute.
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def __init__(self):\n"
        "        super().__init__()\n        self.backend = 'mine'\n\n\nMine().backend"
    ),
    "import keras\nmodel = keras.Sequential()\nif hasattr(model, 'backend'):\n    model.backend",
    "import keras\nmodel = read_somewhere()\nmodel.backend",
]
INVALID = [
    Example(
        before="import keras\n\nmodel = keras.Sequential()\nx = keras.ops.ones((2, 3))\n"
        "print(model.backend.sum(x))",
        after="import keras\n\nmodel = keras.Sequential()\nx = keras.ops.ones((2, 3))\n"
        "print(keras.ops.sum(x))",
        raises="AttributeError: 'Sequential' object has no attribute 'backend'",
    ),
    Example(
        before="import keras\n\nx = keras.Input((4,))\nmodel = keras.Model(x, x)\n"
        "model.backend.floatx()",
        after="import keras\n\nx = keras.Input((4,))\nmodel = keras.Model(x, x)\n"
        "keras.config.floatx()",
        raises="AttributeError: 'Functional' object has no attribute 'backend'",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential()\nK = model.backend",
        raises="AttributeError: 'Sequential' object has no attribute 'backend'",
    ),
]
