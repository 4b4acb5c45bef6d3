"""segmentation_models imported before it is told to use ``tf.keras``.

## What it does
Reports the first import of `segmentation_models` in a file that does not set the environment
variable `SM_FRAMEWORK` before it.

## Why it breaks
segmentation_models 1.0.1 (the last release) asks for the framework `keras` by default and then
imports `efficientnet.keras`, which reads `keras.utils.generic_utils`. That module is no longer
reachable: `AttributeError: module 'keras.utils' has no attribute 'generic_utils'`. The import
itself fails, so calling `sm.set_framework("tf.keras")` afterwards comes too late, and
`TF_USE_LEGACY_KERAS=1` does not help: it concerns `tf.keras` only.

## What to write instead
Set the variable before the import, in the program or in the shell that starts it:

    import os

    os.environ["SM_FRAMEWORK"] = "tf.keras"
    import segmentation_models as sm

The models are then `tf.keras` models, so use `tensorflow.keras` for what you put around them.

## How we know
Run with segmentation_models 1.0.1, efficientnet 1.0.0 and image-classifiers 1.0.0 on Keras 3.15.1:
the import fails as quoted, with the variable `Unet`, `FPN`, `Linknet` and `PSPNet` build, compile
and train. See https://github.com/qubvel/segmentation_models/issues/374 for the same error.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.keras_api import Presence
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, Severity, Span
from kdoctor.rules.environment._failures import failure_is_caught
from kdoctor.rules.facts import Facts
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import ImportBinding, Module

_LIBRARY = "segmentation_models"
_VARIABLE = "SM_FRAMEWORK"
_ERROR = "AttributeError: module 'keras.utils' has no attribute 'generic_utils'"


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report the first import of the library that runs before the variable is set."""
    if facts.lookup("keras.utils.generic_utils").presence is not Presence.MISSING:
        return
    binding = next(filter(_is_of_the_library, module.imports), None)
    if binding is None or failure_is_caught(module, binding.statement):
        return
    place = module.place(binding.statement)
    if _speaks_of_the_variable(module, Span(0, place.span.start)):
        return  # whatever is done with it there, it is not forgotten
    too_late = _VARIABLE in module.text or "set_framework" in module.text
    fix = _set_before(module, facts, binding)
    yield rule.finding(
        place,
        f"`{_LIBRARY}` is imported {'before' if too_late else 'without'} "
        f"{_VARIABLE} {'is set' if too_late else 'being set'}: {_ERROR}",
        symbol=_LIBRARY,
        confidence=Confidence.CERTAIN,
        help=f'Set `os.environ["{_VARIABLE}"] = "tf.keras"` before this import.',
        fix=fix,
        no_fix_because=None if fix else "the import shares its line with other statements",
    )


def _is_of_the_library(binding: ImportBinding) -> bool:
    return binding.imported.partition(".")[0] == _LIBRARY


def _speaks_of_the_variable(module: Module, within: Span) -> bool:
    magics = [
        part  # `%env SM_FRAMEWORK=tf.keras`
        for mask in module.unit.masks
        if within.covers(mask.span)
        for part in mask.parts
        if isinstance(part, str)
    ]
    return any(_VARIABLE in text for text in [module.text[within.start : within.end], *magics])


def _set_before(module: Module, facts: Facts, binding: ImportBinding) -> Fix | None:
    line = module.parent(binding.statement)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        return None
    span = module.span(binding.statement)
    indent = module.text[: span.start].rpartition("\n")[2].rpartition("\r")[2]
    os_name = _os_at_hand(module, binding)
    setting = f'{os_name or "os"}.environ["{_VARIABLE}"] = "tf.keras"\n{indent}'
    text = setting if os_name else f"import os\n\n{indent}{setting}"
    edit = Edit(span, (text, Hole(span)))
    return Fix(
        f'Set `os.environ["{_VARIABLE}"]` before the import',
        (edit,),
        facts.applicability(*INVALID),
    )


def _os_at_hand(module: Module, binding: ImportBinding) -> str | None:
    """Return the local name of an ``import os`` that surely ran before ``binding``."""
    before = module.span(binding.statement)
    for other in module.imports:
        if other.name != "os" or other.scope is not binding.scope:
            continue
        line = module.parent(other.statement)
        same_block = line is not None and module.parent(line) is module.parent(
            module.parent(binding.statement) or line
        )
        if same_block and module.span(other.statement) < before:
            return other.local
    return None


rule = Rule(
    code="KD701",
    name="segmentation-models-framework",
    family="environment",
    severity=Severity.ERROR,
    check=check,
    triggers={_LIBRARY},
)

VALID = [
    'import os\n\nos.environ["SM_FRAMEWORK"] = "tf.keras"\nimport segmentation_models as sm',
    'import os\nos.putenv("SM_FRAMEWORK", "tf.keras")\nfrom segmentation_models import Unet',
    "try:\n    import segmentation_models as sm\nexcept Exception:\n    sm = None",
    "import segmentation_models_pytorch as smp",
    "import my.segmentation_models",
]
INVALID = [
    Example(
        before="import segmentation_models as sm\n\nsm.framework()",
        after="import os\n\n"
        'os.environ["SM_FRAMEWORK"] = "tf.keras"\n'
        "import segmentation_models as sm\n\nsm.framework()",
        raises=_ERROR,
        needs=("segmentation_models==1.0.1",),
    ),
    Example(
        before="import os\nimport tensorflow as tf\nfrom segmentation_models import Unet\n\n"
        'model = Unet("resnet18", input_shape=(32, 32, 3), encoder_weights=None)\n',
        after="import os\nimport tensorflow as tf\n"
        'os.environ["SM_FRAMEWORK"] = "tf.keras"\n'
        "from segmentation_models import Unet\n\n"
        'model = Unet("resnet18", input_shape=(32, 32, 3), encoder_weights=None)\n',
        raises=_ERROR,
        check="assert model(tf.zeros((1, 32, 32, 3))).shape == (1, 32, 32, 1)",
        needs=("segmentation_models==1.0.1",),
    ),
    Example(
        before='import os\nimport segmentation_models as sm\n\nsm.set_framework("tf.keras")',
        after="import os\n"
        'os.environ["SM_FRAMEWORK"] = "tf.keras"\n'
        'import segmentation_models as sm\n\nsm.set_framework("tf.keras")',
        raises=_ERROR,
        needs=("segmentation_models==1.0.1",),
    ),
]
