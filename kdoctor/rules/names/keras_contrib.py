"""Names of `keras_contrib`, which was abandoned before Keras 3."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import package
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rewrite import RewriteTable, one_of, rewrite
from kdoctor.rules.names._deduplicate import of_package
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module, Reference

_PACKAGE = "keras_contrib"
_EPSILON = "epsilon was added to the standard deviation, and is now added under the square root"
# What an import of these modules raises on Keras 3.
_BROKEN = {
    "keras_contrib.applications": "No module named 'keras.utils.layer_utils'",
    "keras_contrib.utils.save_load_utils": "No module named 'keras.engine'",
}
_REST = (
    "center=True, scale=True, beta_initializer='zeros', gamma_initializer='ones', "
    "beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None"
)
_PASSED = ", ".join(
    f"{name}={name}" for name in ("epsilon", *(e.partition("=")[0] for e in _REST.split(", ")))
)
_ROWS = (
    rewrite(
        f"keras_contrib.layers.InstanceNormalization(axis=None, epsilon=1e-3, {_REST}, **kwargs)",
        f"keras.layers.GroupNormalization(groups=-1, axis=axis, {_PASSED}, **kwargs)",
        one_of("axis", -1, 1, 2, 3, 4),
    ),
    rewrite(
        f"keras_contrib.layers.GroupNormalization(groups=32, axis=-1, epsilon=1e-5, {_REST}, "
        "**kwargs)",
        f"keras.layers.GroupNormalization(groups=groups, axis=axis, {_PASSED}, **kwargs)",
    ),
)
_BY_HAND = {
    "InstanceNormalization": "With an axis write keras.layers.GroupNormalization(groups=-1, "
    "axis=…); without one it normalized over all axes of a sample: "
    "keras.layers.GroupNormalization(groups=1).",
    "CRF": "Copy the layer into your project, or use tf-keras with tensorflow-addons.",
    "CyclicLR": "Write a keras.optimizers.schedules.LearningRateSchedule, or copy the callback.",
    "DSSIMObjective": "Write 1 - tf.image.ssim(y_true, y_pred, 1.0), halved.",
    "Swish": "Write keras.layers.Activation('swish').",
    "jaccard_distance": "Write it with keras.ops, or use keras.losses.Dice or "
    "keras.metrics.BinaryIoU.",
}


@rule("KD106", severity=Severity.LEGACY, since="3.0", look_for=files(package(_PACKAGE)))
def check(file: File) -> Iterator[Finding]:
    """Report each import from `keras_contrib` once, else each name that is read off it."""
    table = RewriteTable(_ROWS, file.facts.signature)
    for reference in of_package(file.module, _PACKAGE):
        yield _finding(file, reference, _attempt(file.module, table, reference))


def _attempt(module: Module, table: RewriteTable, reference: Reference) -> Fix | NoFix:
    if isinstance(reference.node, cst.ImportStar) or not _has_rows(module, table, reference):
        return NoFix("no single Keras name replaces it")
    attempt = table.attempt(module, reference, lambda _: Applicability.UNSAFE)
    if isinstance(attempt, Fix) and not attempt.unsafe_because:
        return replace(attempt, unsafe_because=_EPSILON)
    return attempt


def _has_rows(module: Module, table: RewriteTable, reference: Reference) -> bool:
    return any(
        table.rows_for(each.name) for each in module.references if each.binding is reference.binding
    )


def _finding(file: File, reference: Reference, attempt: Fix | NoFix) -> Finding:
    error = next(
        (text for name, text in _BROKEN.items() if f"{reference.name}.".startswith(f"{name}.")), ""
    )
    why = f"ModuleNotFoundError: {error}" if error else "most of it raises on Keras 3"
    leaf = reference.name.rpartition(".")[2]
    return file.finding(
        f"`{reference.name}`: keras-contrib was abandoned in 2019: {why}",
        at=reference.node,
        symbol=reference.name,
        confidence=reference.confidence,
        severity=Severity.ERROR if error else Severity.LEGACY,
        help=f"{attempt.title}." if isinstance(attempt, Fix) else _BY_HAND.get(leaf, ""),
        fix=attempt,
    )
