"""``efficientnet.keras`` fails on Keras 3; ``efficientnet.tfkeras`` still works.

## What it does
Reports imports of `efficientnet.keras`.

## Why it breaks
efficientnet 1.0.0 registers its custom objects through `keras.utils.generic_utils`, which Keras no
longer exposes: `AttributeError: module 'keras.utils' has no attribute 'generic_utils'`. The import
itself fails.

## What to write instead
`import efficientnet.tfkeras as efn`: the same models, built from `tf.keras`. Keras itself has
`keras.applications.EfficientNetB0` and its variants, with other pretrained weights.

## How we know
Run with efficientnet 1.0.0 on Keras 3.15.1: `import efficientnet.keras` fails as quoted,
`import efficientnet.tfkeras` works and its models build. The pretrained weights were not loaded.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import package
from kdoctor.keras_api import Presence
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.environment._documentation_pages import NOT_IN_A_TEXT, is_a_text
from kdoctor.rules.environment._import_failures import failure_is_caught
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import ImportBinding, Module

_LIBRARY = "efficientnet"
_MODULE = f"{_LIBRARY}.keras"
_ERROR = "AttributeError: module 'keras.utils' has no attribute 'generic_utils'"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each import of the module or from it."""
    if facts.lookup("keras.utils.generic_utils").presence is not Presence.MISSING:
        return
    if module.is_project_module(_LIBRARY):
        return  # what fails in a copy in the project is told there
    for binding in module.imports:
        is_it = binding.imported == _MODULE or binding.imported.startswith(f"{_MODULE}.")
        if not is_it or failure_is_caught(module, binding.statement):
            continue
        fix = None if is_a_text(module) else _import_the_twin(module, binding)
        yield rule.finding(
            module.place(binding.alias or binding.statement),
            f"`{_MODULE}` cannot be imported: {_ERROR}",
            symbol=_MODULE,
            confidence=Confidence.CERTAIN,
            help="Import `efficientnet.tfkeras`.",
            fix=fix or NoFix(_why_not(module)),
        )


def _import_the_twin(module: Module, binding: ImportBinding) -> Fix | None:
    """Return the change of the module's name, where no use depends on it."""
    name = _last_part(binding)
    if name is None or name.value != "keras":
        return None
    edit = Edit(module.span(name), ("tfkeras",))
    return rule.fix("Import `efficientnet.tfkeras`", edit)


def _why_not(module: Module) -> str:
    return NOT_IN_A_TEXT if is_a_text(module) else "its uses write out the module's name"


def _last_part(binding: ImportBinding) -> cst.Name | None:
    """Return where ``keras`` of ``efficientnet.keras`` is written, if no use writes it, too."""
    statement, alias = binding.statement, binding.alias
    dotted: cst.BaseExpression | None = None
    if isinstance(statement, cst.ImportFrom) and isinstance(statement.module, cst.Attribute):
        dotted = statement.module  # from efficientnet.keras import …
    elif alias is not None and alias.asname is not None:
        dotted = alias.name  # import efficientnet.keras as …, from efficientnet import keras as …
    last = dotted.attr if isinstance(dotted, cst.Attribute) else dotted
    return last if isinstance(last, cst.Name) else None


rule = Rule(
    code="KD702",
    name="efficientnet-framework",
    family="environment",
    severity=Severity.ERROR,
    check=check,
    triggers=package(_MODULE),
)

VALID = [
    "import efficientnet.tfkeras as efn",
    "import efficientnet",
    "from keras.applications import efficientnet",
    (
        "try:\n    import efficientnet.keras as efn\nexcept Exception:\n"
        "    import efficientnet.tfkeras as efn"
    ),
]
INVALID = [
    Example(
        before="import efficientnet.keras as efn\n\nefn.EfficientNetB0(weights=None)",
        after="import efficientnet.tfkeras as efn\n\nefn.EfficientNetB0(weights=None)",
        raises=_ERROR,
        needs=("efficientnet==1.0.0",),
    ),
    Example(
        before="from efficientnet.keras import EfficientNetB0, preprocess_input as prepare\n",
        after="from efficientnet.tfkeras import EfficientNetB0, preprocess_input as prepare\n",
        raises=_ERROR,
        findings=2,
        needs=("efficientnet==1.0.0",),
    ),
]
