"""Names that the target's Keras does not have: moved, removed, or never there.

## What it does
Looks up every dotted name that the file imports from Keras, or reads through such an import, in
the API of the target's release, and reports the first part of it that is not there. The functions
of `keras.backend` have a rule of their own (KD101).

## Why it breaks
Keras 3 has only the names that its public API lists. Up to 2.12 every file of the package could
be imported, so `keras.layers.core`, `keras.engine.topology` and `keras.utils.np_utils` worked by
accident. The error comes at the import, before anything else runs:
`ModuleNotFoundError: No module named 'keras.layers.core'`.

The root decides. `tensorflow.keras.preprocessing.image.ImageDataGenerator` is still there on
Keras 3, `keras.preprocessing.image.ImageDataGenerator` is not.

## What to write instead
The public name of the same object: `from keras.layers import Dense`, `from keras import Input`,
`keras.utils.to_categorical`. An import inside `try: … except ImportError: …` whose other branch
works on the target is left alone.

## How we know
The names of every release are read from its wheel. A name counts as moved only where some release
had the very same object under both names. The fix is safe where each call in the file binds the
same parameters, with the same defaults, by the signature of the last release that had the old
name and by the target's; otherwise it asks for `--unsafe`. Two renamed
parameters count as the same, and were run: `to_categorical(y)`, now `x`, and `LeakyReLU(alpha)`,
now `negative_slope`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import libcst as cst

from kdoctor.keras_api import Lookup, Presence, error_text, error_type, split_root
from kdoctor.model import Applicability, Finding, Fix, Place, Severity
from kdoctor.rewrite import Refusal, Rewrite, RewriteTable, rewrite
from kdoctor.rules.facts import Facts
from kdoctor.rules.names._calls import mean_the_same
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module, Reference, ReferenceKind

_CALLS_CHANGE = "a parameter or a default that its calls rest on is another one now"


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each missing name once: at its import, else where it is read."""
    missing = {
        reference: found
        for reference in module.references
        if reference.kind in (ReferenceKind.IMPORT, ReferenceKind.LOAD)
        and _is_imported_here(reference)
        and (found := facts.lookup(reference.name)).presence is Presence.MISSING
        and not _is_of_the_backend(found)
        and not module.is_guarded(reference.node)
    }
    imports = [each for each in missing if each.kind is ReferenceKind.IMPORT]
    moves = _Moves(module, facts, missing)
    for reference, found in missing.items():
        attempt = moves.attempt(reference)
        if reference.kind is ReferenceKind.LOAD:
            imported = next((each for each in imports if _reads(reference, each)), None)
            if imported is not None:
                if reference.name == imported.name or isinstance(attempt, Fix):
                    continue  # the finding at the import is about this use, too
            elif _is_missing_before_the_name(reference, found):
                continue  # `L = keras.layers.core`, then `L.Dense`: reported where `L` is bound
        yield _finding(module, facts, reference, found, attempt)


class _Moves:
    """The moves that release data proves for this file's missing names."""

    def __init__(self, module: Module, facts: Facts, missing: dict[Reference, Lookup]) -> None:
        self._module = module
        self._facts = facts
        self._uses: dict[str, list[Reference]] = {}
        rows: dict[str, Rewrite] = {}
        for reference, found in missing.items():
            if found.moved_to:
                row = rewrite(_under_keras(found.qualified), _under_keras(found.moved_to[0]))
                rows[row.left] = row
                self._uses.setdefault(row.left, []).append(reference)
        self._table = RewriteTable(rows.values(), facts.signature)

    def attempt(self, reference: Reference) -> Fix | Refusal:
        """Return the fix of one name, or why there is none."""
        if isinstance(reference.node, cst.ImportStar):
            return Refusal("a star import does not say which names it was to bring in")
        attempt = self._table.attempt(self._module, reference, self._applicability)
        if isinstance(attempt, Fix) and not attempt.unsafe_because:
            return replace(attempt, unsafe_because=_CALLS_CHANGE)
        return attempt

    def _applicability(self, row: Rewrite) -> Applicability:
        proven = self._facts.applicability(*(each for each in INVALID if each.after))
        fits = all(self._means_the_same(use) for use in self._uses[row.left])
        return proven if fits else Applicability.UNSAFE

    def _means_the_same(self, use: Reference) -> bool:
        found = self._facts.lookup(use.name)
        # Of some releases (2.4, which only passed TensorFlow's on) the signatures are not known.
        before = self._facts.at_release(found.until).signature(use.name) or self._facts.at_release(
            found.since
        ).signature(use.name)
        return mean_the_same([use.call], before, self._facts.signature(found.moved_to[0]))


def _finding(
    module: Module, facts: Facts, reference: Reference, found: Lookup, attempt: Fix | Refusal
) -> Finding:
    assert found.missing_prefix is not None
    form = _form(reference)
    error = error_type(found.qualified, facts.target, form)
    text = error_text(found.qualified, facts.target, form)
    return rule.finding(
        _place(module, reference, found),
        f"`{found.qualified}` {_history(found)}: {error}: {text}",
        symbol=found.qualified,
        confidence=reference.confidence,
        help=_help(found, attempt),
        fix=attempt if isinstance(attempt, Fix) else None,
        no_fix_because=None if isinstance(attempt, Fix) else _reason(found, attempt),
    )


def _form(reference: Reference) -> Literal["attribute", "from-import", "import"]:
    if reference.kind is not ReferenceKind.IMPORT:
        return "attribute"
    names_a_member = isinstance(reference.node, cst.ImportAlias) and isinstance(
        reference.binding.statement, cst.ImportFrom
    )
    return "from-import" if names_a_member else "import"


def _history(found: Lookup) -> str:
    if not found.periods:
        return "does not exist"
    return f"is gone (last in {found.root} {found.periods[-1][1]})"


def _help(found: Lookup, attempt: Fix | Refusal) -> str:
    if found.moved_to:
        return f"It is now `{found.moved_to[0]}`."
    if found.suggestions and isinstance(attempt, Refusal):
        return f"Did you mean {' or '.join(f'`{each}`' for each in found.suggestions)}?"
    if found.elsewhere:
        old = " (Keras 2)" if found.elsewhere[0].startswith("tf_keras") else ""
        return f"It is still there as `{found.elsewhere[0]}`{old}."
    return ""


def _reason(found: Lookup, refusal: Refusal) -> str:
    if found.moved_to:
        return refusal.reason
    return "no release had the same object under a name that the target has"


def _place(module: Module, reference: Reference, found: Lookup) -> Place:
    """Return where the missing part stands: the import's alias, or the name up to that part."""
    node: cst.CSTNode = reference.node
    if reference.kind is ReferenceKind.LOAD and found.missing_prefix is not None:
        behind = found.qualified.count(".") - found.missing_prefix.count(".")
        for _ in range(behind):
            if isinstance(node, cst.Attribute):
                node = node.value
    return module.place(node)


def _is_missing_before_the_name(reference: Reference, found: Lookup) -> bool:
    """Say whether what is missing is not written here, but where the first name was bound."""
    written, node = 1, reference.node
    while isinstance(node, cst.Attribute):
        written, node = written + 1, node.value
    bound = found.qualified.count(".") + 2 - written
    return found.missing_prefix is not None and found.missing_prefix.count(".") + 1 <= bound


def _reads(use: Reference, imported: Reference) -> bool:
    same = use.name == imported.name or use.name.startswith(f"{imported.name}.")
    return same and use.binding is imported.binding


def _is_imported_here(reference: Reference) -> bool:
    """Say whether this file itself imports it: through a module of the tree it is missing there."""
    return reference.binding.imported.partition(".")[0] == reference.name.partition(".")[0]


def _is_of_the_backend(found: Lookup) -> bool:
    split = split_root(found.missing_prefix or "")
    return split is not None and split[1].startswith("backend.") and split[1].count(".") == 1


def _under_keras(name: str) -> str:
    split = split_root(name)
    return f"keras.{split[1]}" if split else name


rule = Rule(
    code="KD102",
    name="missing-name",
    family="names",
    severity=Severity.ERROR,
    check=check,
)

VALID = [
    "from keras.layers import Dense, Input\nfrom keras.utils import to_categorical",
    # The root decides.
    "from tensorflow.keras.preprocessing.image import ImageDataGenerator",
    "import tensorflow as tf\ntf.keras.losses.mse",
    # A fallback that works.
    (
        "try:\n    from keras.engine.topology import Layer\nexcept ImportError:\n"
        "    from keras.layers import Layer"
    ),
    # Not Keras' names.
    "from mykeras.layers.core import Dense\nfrom keras_contrib.layers import InstanceNormalization",
    "from keras.src.layers.core import dense",
    "from tensorflow.python.keras.layers import Dense",
    # What a name is bound to later is not Keras.
    "import keras\nkeras = object()\nkeras.engine",
    # KD101 speaks of these.
    "from keras import backend as K\nK.sum",
]
INVALID = [
    Example(
        before="from keras.models import Input\n\nInput(shape=(4,))",
        after="from keras import Input\n\nInput(shape=(4,))",
        raises="ImportError: cannot import name 'Input' from 'keras.models'",
    ),
    Example(
        before="from keras.models import Model, Input as I\n\nx = I((4,))\nModel(x, x)",
        after="from keras.models import Model\nfrom keras import Input as I\n\n"
        "x = I((4,))\nModel(x, x)",
        raises="ImportError: cannot import name 'Input' from 'keras.models'",
    ),
    Example(
        before="from keras.utils import np_utils\n\ny = np_utils.to_categorical([0, 1], 2)",
        after="from keras import utils\n\ny = utils.to_categorical([0, 1], 2)",
        raises="ImportError: cannot import name 'np_utils' from 'keras.utils'",
        check="assert y.tolist() == [[1, 0], [0, 1]]",
    ),
    Example(
        before="import keras.utils.np_utils as u\n\nu.to_categorical([0, 1])",
        after="from keras import utils\n\nutils.to_categorical([0, 1])",
        raises="ModuleNotFoundError: No module named 'keras.utils.np_utils'",
    ),
    Example(
        before="import keras\n\nkeras.layers.core.Dense(3)",
        after="import keras\n\nkeras.layers.Dense(3)",
        raises="AttributeError: module 'keras.layers' has no attribute 'core'",
    ),
    Example(
        before="from keras.layers.core import Dense\n\nDense(3)",
        after="from keras.layers import Dense\n\nDense(3)",
        raises="ModuleNotFoundError: No module named 'keras.layers.core'",
    ),
    Example(
        before="from keras.layers.advanced_activations import LeakyReLU\n\nlayer = LeakyReLU(0.5)",
        after="from keras.layers import LeakyReLU\n\nlayer = LeakyReLU(0.5)",
        raises="ModuleNotFoundError: No module named 'keras.layers.advanced_activations'",
        check="import keras\nassert float(layer(-4 * keras.ops.ones((1,)))[0]) == -2.0",
    ),
    Example(
        before="from keras.layers import CuDNNLSTM\n\nCuDNNLSTM(3)",
        raises="ImportError: cannot import name 'CuDNNLSTM' from 'keras.layers'",
    ),
]
