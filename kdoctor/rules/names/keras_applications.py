"""Names of `keras_applications`, a package that moved into Keras.

## What it does
Reports imports from `keras_applications`, and names that are read from it.

## Why it breaks
The package was abandoned in 2020. It does not import Keras itself: each of its functions needs
`backend`, `layers`, `models` and `utils` as arguments, and fails without them
(`AttributeError: 'NoneType' object has no attribute 'image_data_format'`). With those of Keras 3,
`VGG16` and `ResNet50` still build; `DenseNet121` does not, because Keras 3 rejects `/` in a layer's
name.

## What to write instead
The same model from `keras.applications`, without those four arguments:
`from keras.applications.vgg16 import VGG16`.

## How we know
keras-applications 1.0.8 was run on Keras 3.15. Whether a name is in `keras.applications` of the
target is looked up in the API of its release.
"""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import package
from kdoctor.keras_api import Presence
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.names._deduplicate import of_package
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module, Reference

_PACKAGE = "keras_applications"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each import from `keras_applications` once, else each name that is read off it."""
    for reference in of_package(module, _PACKAGE):
        yield _finding(module, facts, reference)


def _finding(module: Module, facts: TargetFacts, reference: Reference) -> Finding:
    new = f"keras.applications{reference.name.removeprefix(_PACKAGE)}"
    is_there = facts.lookup(new).presence is Presence.EXISTS
    return rule.finding(
        module.place(reference.node),
        f"`{reference.name}`: keras-applications was abandoned in 2020, and does not support Keras "
        "3",
        symbol=reference.name,
        confidence=reference.confidence,
        help=f"Write `{new}`, without backend=, layers=, models= and utils=."
        if is_there
        else "keras.applications has the models, but not this name: copy it into your project.",
        fix=NoFix("its functions are called with arguments that those of Keras do not accept"),
    )


rule = Rule(
    code="KD107",
    name="keras-applications",
    family="names",
    severity=Severity.LEGACY,
    check=check,
    triggers=package(_PACKAGE),
    since="3.0",
)

VALID = [
    "from keras.applications.vgg16 import VGG16\nfrom keras import applications",
    "import my_keras_applications\nmy_keras_applications.vgg16",
    (
        "try:\n    from keras_applications import vgg16\nexcept ImportError:\n"
        "    from keras.applications import vgg16"
    ),
]
_FAILS = """
try:
    {call}
except {error}:
    pass
else:
    raise AssertionError("it works")
"""
_GIVEN = (
    "weights=None, include_top=False, input_shape=(64, 64, 3), backend=keras.backend, "
    "layers=keras.layers, models=keras.models, utils=keras.utils"
)
INVALID = [
    Example(
        before="from keras_applications.vgg16 import VGG16\n\nmake = VGG16\n",
        check=_FAILS.format(call="make(weights=None)", error="AttributeError")
        + f"import keras\nassert make({_GIVEN}).output_shape == (None, 2, 2, 512)",
        needs=("keras-applications==1.0.8",),
    ),
    Example(
        before="import keras_applications as ka\n\nmake = ka.densenet.DenseNet121\n",
        check="import keras\n" + _FAILS.format(call=f"make({_GIVEN})", error="ValueError"),
        needs=("keras-applications==1.0.8",),
    ),
]
