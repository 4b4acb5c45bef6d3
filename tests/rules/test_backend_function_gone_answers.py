"""Every function that ``keras.backend`` ever had has an answer.

``data/backend_functions.csv`` has the names of keras 2.0.8, 2.2.4, 2.3.1, 2.10.0 and tf_keras 2.21,
and of what kind the replacement of each is on Keras 3.15.1: measured for this project on values,
gradients, under ``tf.function`` and on symbolic tensors.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from kdoctor.engine import fix
from kdoctor.keras_api import Presence, lookup, newest_target
from kdoctor.rules.names._backend import BY_HAND, REWRITES

FACTS = Path(__file__).with_name("data") / "backend_functions.csv"


def facts():
    with FACTS.open(encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert len(found) == 176
    return found


def rewritten():
    return {row.pattern.name.removeprefix("keras.backend.") for row in REWRITES}


def still_there(name):
    return lookup(f"keras.backend.{name}", newest_target()).presence is Presence.EXISTS


def test_each_of_the_names_is_rewritten_or_explained_or_still_there():
    unanswered = [
        name
        for name in (fact["name"] for fact in facts())
        if name not in rewritten() | BY_HAND.keys() and not still_there(name)
    ]
    assert unanswered == []


def test_each_exact_counterpart_is_a_rewrite():
    # These take statements or other code than an expression.
    not_expressions = {"batch_set_value", "to_dense", "is_sparse", "tf"}
    exact = {fact["name"] for fact in facts() if fact["kind"].startswith(("exact", "near-exact"))}
    missing = {name for name in exact - rewritten() - not_expressions if not still_there(name)}
    assert missing == set()


def test_what_a_guard_may_refuse_is_explained():
    rows: dict[str, list[bool]] = {}
    for row in REWRITES:
        name = row.pattern.name.removeprefix("keras.backend.")
        rows.setdefault(name, []).append(str(row.when) in ("None", "somewhere()"))
    unexplained = [name for name, free in rows.items() if not any(free) and name not in BY_HAND]
    assert unexplained == []


def test_every_row_can_be_read():
    for row in REWRITES:
        assert row.pattern.name.startswith("keras.backend.")
        assert row.replacement.code.node


def test_no_two_rows_are_the_same():
    ids = [row.id for row in REWRITES]
    assert len(ids) == len(set(ids))


def test_a_row_that_always_holds_comes_last_for_its_name():
    done: set[str] = set()
    for row in REWRITES:
        assert row.left not in done, f"{row.id} is never tried"
        if row.when is None:
            done.add(row.left)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # The loss of YOLO: what `wide` is, is lost on the way round the loop.
        ("K.switch(mask, wide, K.zeros_like(wide))", "ops.where(mask, wide, ops.zeros_like(wide))"),
        ("K.switch(mask, K.zeros_like(wide), wide)", "ops.where(mask, ops.zeros_like(wide), wide)"),
        ("K.switch(mask, wide, lambda: wide)", None),
        ("K.switch(mask, K.zeros_like(wide), made)", "K.switch(mask, ops.zeros_like(wide), made)"),
        ("K.switch(mask, wide, wide)", None),
    ],
)
def test_a_switch_between_tensors_is_where_one_of_them_surely_is_one(before, after):
    source = (
        "from keras import backend as K\n\n\ndef made():\n    return 1\n\n\n"
        "def loss(mask, wide):\n    return {}\n"
    ).format
    done = fix(["-"], stdin=source(before).encode(), unsafe=True)
    fixed = done.files[0].after.decode() if done.files else source(before)
    assert fixed.splitlines()[-1] == f"    return {after or before}"
