"""Functions of `keras.backend` that Keras 3 removed, or that never existed.

## What it does
Reports each use of a function that the target's `keras.backend` lacks, and rewrites it where the
arguments, the context and what is known about the tensors allow it. On Keras 3, `tf.keras.backend`
still has most of these functions; only the missing ones are reported there.

## Why it breaks
`keras.backend` had 148 public functions in Keras 2 and has 14 in Keras 3:
`AttributeError: module 'keras.backend' has no attribute 'sum'`. Some names were public by accident
(`unique_object_name`); others are used although no Keras ever had them (`K.multiply`).

## What to write instead
Usually the function of the same name in `keras.ops`. These differ silently:

- `K.sqrt` treats negative numbers as 0, `keras.ops.sqrt` returns NaN for them.
- `K.argmax`, `K.concatenate` and `K.softmax` default to the last axis, `K.cumsum` to the first;
  `keras.ops` has other defaults. `K.argmax` returns int64, `keras.ops.argmax` int32.
- `K.constant([1, 2])` makes floats, `keras.ops.convert_to_tensor([1, 2])` integers.
- `K.repeat` adds an axis, `keras.ops.repeat` does not; `keras.ops.in_top_k` takes targets first.
- `K.hard_sigmoid` is `clip(0.2 * x + 0.5, 0, 1)`, `keras.ops.hard_sigmoid` is `relu6(x + 3) / 6`.
- `K.mean` truncates the mean of integers to an integer, `keras.ops.mean` returns a float. The fix
  is safe where the tensor certainly holds floats or bools: it is computed from such values, or from
  `y_pred`, as in every loss.
- `K.switch` aligns a condition of lower rank with the first axes, `keras.ops.where` with the last.
  The fix is safe where condition and branches are computed elementwise from the same tensors. A
  parameter whose default is a number (`delta=1.0`) counts as a number.
- `K.get_value` of a scalar tensor returned a number, which `*=` cannot change in place;
  `keras.ops.convert_to_numpy` returns an array, from which `[()]` extracts the number.
  `K.get_value` returned Python numbers and NumPy arrays unchanged.
- `K.identity(variable)` is a copy, as `keras.ops.copy(variable)` is. `K.cast` of a variable that
  already had the dtype returned the variable itself.
- In a `tf.function` the rank may be unknown: `K.concatenate` along axis -1 then used the first
  axis, and `K.squeeze`, `K.expand_dims` and others worked. `keras.ops` uses the last axis, or
  raises. The fix is safe where nothing in the file makes such tensors (sparse sums, a `TensorSpec`,
  `tf.py_function` …), and while a functional model is built.
- `keras.ops.shape(x)` is a tuple, and contains None while a functional model is built.

Code that used to build a graph now runs eagerly. `K.function([model.input], [layer.output])` made a
model of both and returned NumPy arrays; `keras.Function` returns tensors, and accepts only the
exact structure of its inputs. Instead of feeding the learning phase, call a model:
`keras.Model(model.input, layer.output)(x, training=True)`. `K.in_train_phase(a, b)` is
`a if training else b`, with `training` as an argument of `call`. `K.gradients(loss, x)` is

    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = loss_of(model(x))
    gradients = tape.gradient(loss, x)

`K.batch_dot(x, y, axes=(2, 2))` of two batches of matrices is
`keras.ops.einsum("bij,bkj->bik", x, y)`, of other tensors `keras.layers.dot([x, y], axes=(2, 2))`;
`K.ctc_batch_cost` is `keras.ops.ctc_loss`; its blank is `mask_index`, which was the last class in
Keras 2.

## How we know
`make prove` runs both sides of every rewrite: the left on tf_keras (Keras 2), the right on Keras 3,
on the same TensorFlow, eagerly, in `tf.function` and on symbolic tensors, with a fixed and an
unknown batch size, and in `tf.function` also with all sizes unknown and with the rank unknown. It
compares the kind of object, dtype, shape, values and gradients, and whether the result shares
memory with an argument: both are changed in place and read again. Inputs have 0 to 4 axes and are
float16, bfloat16, float32, float64, int32, int64 and bool; with zeros, negatives, NaN, infinities,
without elements, broadcast against each other; as tensors, sparse tensors, variables and NumPy
arrays. Where Keras 2 raises there is nothing to compare. A rewrite is safe only if it holds in
every case that its guard lets through. Names that Keras never had are compared with the TensorFlow
or NumPy function of that name. The record says for each rewrite what it was compared with, and
where it differs.
"""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files, references
from kdoctor.analysis.queries.conditions import word
from kdoctor.keras_api import Presence
from kdoctor.model import Finding, Fix, Severity
from kdoctor.rewrite import RewriteTable
from kdoctor.rules.names._backend import REWRITES as ROWS
from kdoctor.rules.names._backend.examples import BROKEN, FINE
from kdoctor.rules.names._backend.rewrite_call import (
    attempted,
    function,
    help_for,
    reason_for,
    table,
)
from kdoctor.rules.names._deduplicate import (
    is_read_of_guarded_import,
    is_read_of_guarded_value,
    told_once,
)
from kdoctor.rules.names._missing_names import (
    another_star_may_bind_it,
    error_of,
    is_closed,
    is_given,
)
from kdoctor.rules.rule import rule
from kdoctor.syntax import Reference, ReferenceKind


def _is_gone(facts: TargetFacts, dotted: str) -> bool:
    return function(dotted) is not None and facts.lookup(dotted).presence is Presence.MISSING


_GONE = references(where=_is_gone)


@rule("KD101", severity=Severity.ERROR, since="3.0", look_for=files(word("backend"), _GONE))
def check(file: File) -> Iterator[Finding]:
    """Report each missing function once: where it is read, or at an import that nothing reads."""
    module = file.module
    missing = [
        each.reference
        for each in _GONE.find(module, file.facts)
        if each.reference.kind in (ReferenceKind.IMPORT, ReferenceKind.LOAD)
        and not is_read_of_guarded_import(module, each.reference)
        and not is_read_of_guarded_value(module, each.reference)
        and not is_closed(each.reference)
        and not another_star_may_bind_it(module, each.reference)
        and not is_given(module, each.reference)
    ]
    rows = table(file.facts)
    for reference in told_once(missing):
        yield _finding(file, reference, rows)


def _finding(file: File, reference: Reference, rows: RewriteTable) -> Finding:
    name = function(reference.name)
    assert name is not None
    fix = attempted(file.module, file.facts, reference, rows, name)
    found = file.facts.lookup(reference.name)
    last = found.periods[-1][1] if found.periods else None
    history = f"is gone (last in {found.root} {last})" if last else "does not exist"
    return file.finding(
        f"`{found.missing_prefix}` {history}: {error_of(reference, found)}",
        at=reference.node,
        symbol=reference.name,
        confidence=reference.confidence,
        help=help_for(name, fix, found),
        fix=fix if isinstance(fix, Fix) else reason_for(name, fix, rows, found),
    )


REWRITES = ROWS
VALID = FINE
INVALID = BROKEN
