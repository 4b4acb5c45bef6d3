"""A fix that is not safe says what may differ: no advice for other cases, and nothing empty."""

from __future__ import annotations

import re

import pytest

from kdoctor.analysis.facts import TargetFacts
from kdoctor.engine import scan
from kdoctor.keras_api import newest_target
from kdoctor.rules import all_rules
from kdoctor.rules.idioms import _tensorflow
from kdoctor.rules.idioms._tensorflow.differences import DIFFERENCES as OF_TENSORFLOW
from kdoctor.rules.names._backend import REWRITES
from kdoctor.rules.names._backend.differences import DIFFERENCES as OF_KERAS

FACTS = TargetFacts(newest_target())
# What says what to write, or where to read on, says nothing of what may differ here.
NO_REASON = re.compile(r"^$|^write |^use |kdoctor rules|^the functions of keras\.backend")
# Of these the page of the rule has more to say than a sentence.
TOLD_BY_HAND = {"ctc_batch_cost", "batch_dot", "map_fn", "mean"}


def is_unsafe(row):
    return FACTS.applicability(row) != "safe"


def test_each_function_of_the_backend_that_no_proof_calls_safe_has_a_reason():
    # Where only the rank is not known, the guard that asks for it says what differs.
    ranked = {(row.left, row.right) for row in REWRITES if "rank_is_known" in row.id}
    rows = [row for row in REWRITES if is_unsafe(row) and (row.left, row.right) not in ranked]
    unsafe = {row.left.partition("(")[0].rpartition(".")[2] for row in rows}
    assert unsafe - OF_KERAS.keys() - TOLD_BY_HAND == set()


def test_each_function_of_tensorflow_that_no_proof_calls_safe_has_a_reason():
    rows = [
        row
        for table in vars(_tensorflow).values()
        if isinstance(table, tuple)
        for row in table
        if hasattr(row, "left")
    ]
    unsafe = {row.left.partition("(")[0].rpartition(".")[2] for row in rows if is_unsafe(row)}
    assert unsafe
    assert unsafe - OF_TENSORFLOW.keys() - {"shape"} == set()


def unsafe_fixes(source, **options):
    found = scan(["-"], stdin=source.encode(), **options).findings
    return [each.fix for each in found if each.fix and each.fix.applicability == "unsafe"]


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_no_reason_is_advice(rule):
    for example in rule.invalid:
        if not example.unsafe:
            continue
        options = {"target": example.on} if example.on else {}
        options |= {"namespace": example.namespace} if example.namespace else {}
        options |= {"backend": rule.backend}
        for each in unsafe_fixes(example.before, select=[rule.code], **options):
            assert not NO_REASON.search(each.unsafe_because), each.unsafe_because


SESSION = (
    "import tensorflow as tf\n{}\n\nconfig = tf.compat.v1.ConfigProto()\n"
    "config.gpu_options.per_process_gpu_memory_fraction = 0.3\n"
    "{}(tf.compat.v1.Session(config=config))\n"
)


@pytest.mark.parametrize(
    ("imported", "called"),
    [
        ("from keras import backend as K", "K.set_session"),
        ("from keras.backend import set_session", "set_session"),
        ("from keras.backend.tensorflow_backend import set_session", "set_session"),
        ("import keras.backend.tensorflow_backend as KTF", "KTF.set_session"),
    ],
)
def test_a_share_of_the_memory_that_becomes_growth_is_told(imported, called):
    [told] = unsafe_fixes(SESSION.format(imported, called), select=["KD101"])
    assert "a fraction of the GPU's memory can no longer be set" in told.unsafe_because
