"""Where targets and predictions meet in a metric: in their own shapes, or in their own dtypes."""

from __future__ import annotations

import libcst as cst
import pytest

from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.documents import Document
from kdoctor.keras_api import newest_target, oracle
from kdoctor.rules.behaviour._elementwise_operands import Pair, first_meetings
from kdoctor.syntax import Module

KNOWLEDGE = oracle(newest_target())
HEAD = "import keras\nimport tensorflow as tf\nfrom keras import backend as K, ops\n\n\n"
BY_ELEMENT, MIXES = "by element", "mixes"


def meetings(source):
    """Return what meets in the first function: the code, and what is so of it."""
    unit = Document.parse((HEAD + source).encode(), "code.py").units[0]
    module = Module.parse(unit, KNOWLEDGE)
    function = min(module.nodes(cst.FunctionDef), key=module.span)
    targets, predictions = function.params.params[:2]
    pair = Pair(function, targets, predictions)
    return {
        (module.source(each.node), *([BY_ELEMENT] * each.by_element), *([MIXES] * each.mixes))
        for each in first_meetings(module, points_to_of(module), pair)
    }


def body(*lines):
    return "def f(t, p, smooth=1):\n" + "".join(f"    {each}\n" for each in lines)


BOTH = (BY_ELEMENT, MIXES)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["return t * p"], {("t * p", *BOTH)}),
        (["return 1 - t - p"], {("1 - t - p", *BOTH)}),
        (["return K.mean((1 - t) * K.round(K.clip(p, 0, 1)))"],
         {("(1 - t) * K.round(K.clip(p, 0, 1))", *BOTH)}),
        (["d = K.log(p + 1.) - K.log(t + 1.)", "return d"],
         {("K.log(p + 1.) - K.log(t + 1.)", *BOTH)}),
        (["return -t * (p + K.epsilon())"], {("-t * (p + K.epsilon())", *BOTH)}),
        (["return t == K.round(p)"], {("t == K.round(p)", *BOTH)}),
        (["return tf.multiply(t, p)"], {("tf.multiply(t, p)", *BOTH)}),
        (["return tf.math.squared_difference(t, p)"],
         {("tf.math.squared_difference(t, p)", *BOTH)}),
        # Keras' functions make one dtype of both, and so does a cast.
        (["return K.equal(t, K.round(p))"], {("K.equal(t, K.round(p))", BY_ELEMENT)}),
        (["return ops.maximum(t, p)"], {("ops.maximum(t, p)", BY_ELEMENT)}),
        (["t = K.cast(t, 'float32')", "return t * p"], {("t * p", BY_ELEMENT)}),
        (["return tf.cast(t, p.dtype) * p"], {("tf.cast(t, p.dtype) * p", BY_ELEMENT)}),
        (["return t * K.cast(p > smooth, 'int32')"],
         {("t * K.cast(p > smooth, 'int32')", BY_ELEMENT)}),
        (["return (t > 0) == (p > 0.5)"], {("(t > 0) == (p > 0.5)", BY_ELEMENT)}),
        # Predictions are floats whether or not they are made so again.
        (["return t * K.cast(p > 0.5, K.floatx())"],
         {("t * K.cast(p > 0.5, K.floatx())", *BOTH)}),
        # In another shape they are still in their own dtype.
        (["return K.flatten(t) * K.flatten(p)"], {("K.flatten(t) * K.flatten(p)", MIXES)}),
        (["a = K.batch_flatten(t)", "b = tf.reshape(p, [-1])", "return K.sum(a * b)"],
         {("a * b", MIXES)}),
        (["return t[..., 0] * p[..., 0]"], {("t[..., 0] * p[..., 0]", MIXES)}),
        # The first of each.
        (["a = K.flatten(t) * K.flatten(p)", "b = t * p", "return t - p"],
         {("K.flatten(t) * K.flatten(p)", MIXES), ("t * p", *BOTH)}),
    ],
)  # fmt: skip
def test_where_both_meet(lines, found):
    assert meetings(body(*lines)) == found


@pytest.mark.parametrize(
    "lines",
    [
        ["return K.sum(t) / K.sum(p)"],
        ["return K.mean(t) * p"],
        ["return t @ p"],
        ["return K.dot(t, p)"],
        ["return keras.losses.mean_squared_error(t, p)"],
        ["return weights * t - p"],
        ["return K.argmax(t, -1) == K.argmax(p, -1)"],
        ["t = K.flatten(K.cast(t, 'float32'))", "return t * K.flatten(p)"],
        ["t = made(t)", "return t * p"],
        ["p = K.sum(p) if smooth else p", "return t * p"],
        ["t = p", "return t * p"],
    ],
)
def test_where_they_do_not(lines):
    assert meetings(body(*lines)) == set()


def test_what_another_function_is_handed_is_looked_at_there():
    source = (
        "def f(t, p):\n    return g(p=p, labels=t) + h(t, K.round(p))\n\n\n"
        "def g(p, labels, by=2):\n    return labels * p\n\n\n"
        "def h(t, p):\n    return t - p\n"
    )
    assert meetings(source) == {("labels * p", *BOTH)}
