"""Arguments that only TensorFlow 1 accepted: `tf.reduce_sum(x, keep_dims=True)`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.queries import Call, imported_calls
from kdoctor.analysis.roots import USES_KERAS_3, uses_keras_3
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.idioms._tensorflow import all_old_keywords, old_keywords
from kdoctor.rules.idioms.tf_op_on_symbolic_tensor import error_of_symbolic
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module, Reference, ReferenceKind
from kdoctor.syntax.fallback_helpers import catches

_NOT_COMPARED = "the new result has not been compared with the old one"
_FAILURE = ("TypeError",)
_BY_HAND = {
    "keep_prob": "Use `rate=`, the fraction that is dropped: 1 minus the fraction that was kept.",
    "align_corners": "Remove it: TensorFlow 2 treats pixels as squares, not as points.",
    "data": "Remove it, and describe the problem in `message=`.",
}


@rule(
    "KD509",
    severity=Severity.ERROR,
    since="3.0",
    look_for=imported_calls(lambda _, name: bool(old_keywords(name)))
    .even(hidden=True)
    .passing(*all_old_keywords())
    .beside(USES_KERAS_3),
)
def check(call: Call) -> Iterator[Finding]:
    """Report each such argument."""
    module, reference = call.module, call.reference
    assert reference is not None
    found = [*_old_arguments(reference)]
    if not found or _is_tried(module, reference.node) or not uses_keras_3(module, call.facts):
        return
    if not error_of_symbolic(module, reference):
        for argument, name in found:
            yield _finding(call, argument, name.value)


def _old_arguments(reference: Reference) -> Iterator[tuple[cst.Arg, cst.Name]]:
    """Yield the arguments of a call that its function refuses, each with its keyword."""
    if reference.kind is not ReferenceKind.LOAD or reference.call is None:
        return
    refused = [old_keywords(name) for name in reference.names or (reference.name,)]
    for each in reference.call.args if all(refused) else ():
        if each.keyword is not None and all(each.keyword.value in known for known in refused):
            yield each, each.keyword


def _is_tried(module: Module, node: cst.CSTNode) -> bool:
    """Say whether the call, or what it stands in for, is tried for whether it takes its arguments.

    ``try: tf.reduce_sum(x, keep_dims=True)``, and ``except TypeError:`` with ``keepdims=True``,
    or the other way round.
    """
    for each in module.ancestors(node):
        if isinstance(each, cst.FunctionDef | cst.Lambda | cst.ClassDef):
            return False
        if isinstance(each, cst.Try) and any(catches(one, _FAILURE) for one in each.handlers):
            return True
    return False


def _finding(call: Call, argument: cst.Arg, old: str) -> Finding:
    name = by_the_short_way(call.name).removeprefix("tensorflow.")
    fix = _fix(call, argument, name, old)
    return call.finding(
        f"`{old}=` is an argument of TensorFlow 1: TypeError: Got an unexpected keyword argument "
        f"'{old}'",
        at=argument,
        symbol=f"tensorflow.{name}({old})",
        help=_BY_HAND.get(old, f"Remove it, or use `tf.compat.v1.{name}`, which accepts it.")
        if isinstance(fix, NoFix)
        else f"{fix.title}.",
        fix=fix,
    )


def _fix(call: Call, argument: cst.Arg, name: str, old: str) -> Fix | NoFix:
    assert argument.keyword is not None
    new = old_keywords(f"tensorflow.{name}")[old]
    if not new or call.argument(new) is not None:
        return NoFix("there is no replacement argument")
    return call.fix(
        f"Write `{new}=`",
        Edit(call.module.span(argument.keyword), (new,)),
        unsafe_because="" if (name, old) in _COMPARED else _NOT_COMPARED,
        proven_by=(check.group("renamed")[0],),
    )


# Functions, and what they are called with: the new names stand in, the old ones are looked up.
_CALLS = (
    *((f"reduce_{each}", "x, axis=1, keepdims=True") for each in ("max", "min", "prod")),
    *((f"reduce_{each}", "x, keepdims=True, axis=[0]") for each in ("mean", "sum", "logsumexp")),
    *((f"math.reduce_{each}", "x, axis=0") for each in ("max", "mean", "min", "sum")),
    *((f"reduce_{each}", "x > 1, axis=0, keepdims=False") for each in ("all", "any")),
    *((name, "x, axis=0") for name in ("argmax", "argmin", "expand_dims", "math.argmax")),
    *((name, "x, axis=0") for name in ("nn.log_softmax", "nn.softmax", "math.softmax")),
    *((name, "x, 2, 1, keepdims=True") for name in ("norm", "linalg.norm")),
    ("math.count_nonzero", "x, axis=1, keepdims=True"),
    ("nn.moments", "x, [1], keepdims=True"),
    ("squeeze", "x[:1], axis=[0]"),
    ("reverse_sequence", "x, [1, 2], seq_axis=1, batch_axis=0"),
    ("zeros_like", "input=x, dtype=None"),
    ("ones_like", "input=x, dtype=None"),
    ("nn.max_pool", "input=image, ksize=2, strides=2, padding='SAME'"),
    ("nn.avg_pool", "input=image, ksize=2, strides=2, padding='SAME'"),
    ("nn.conv2d", "image, filters=keras.ops.ones((2, 2, 1, 3)), strides=1, padding='SAME'"),
)


def _renames(name: str, given: str) -> dict[str, str]:
    known = old_keywords(f"tensorflow.{name}").items()
    return {old: new for old, new in known if new and f"{new}=" in given}


_COMPARED = {(name, old) for name, given in _CALLS for old in _renames(name, given)}
