"""The proofs tell right rewrites from wrong ones. All on real frameworks, in few processes."""

from __future__ import annotations

import ast
import random
import re
import secrets

import pytest

from kdoctor.rewrite import Rewrite, rewrite
from kdoctor.verify import pool, record, subjects
from kdoctor.verify.jobs import ExampleJob, RewriteJob

pytestmark = [pytest.mark.frameworks, pytest.mark.xdist_group("frameworks")]

SAMPLE = 12
MUTANTS = 30


def prove(jobs, workers=2):
    return {outcome.id: outcome for outcome in pool.run_all(jobs, workers)}


def prove_one(left, right, guard="", cases=40):
    job = RewriteJob("it", left, right, guard, cases, secrets.randbelow(2**31))
    return prove([job])["it"], job.seed


def test_a_fresh_sample_of_the_record_still_holds():
    seed = secrets.randbelow(2**31)
    known = record.read()
    rows = [row for row in subjects.rewrites_of_rules() if known[row.id]["holds"]]
    picked = random.Random(seed).sample(rows, SAMPLE)  # noqa: S311
    outcomes = prove([subjects.rewrite_job(row, cases=24, seed=seed) for row in picked])
    broken = {key: each.failures for key, each in outcomes.items() if not each.holds}
    assert not broken, f"--seed {seed}"


@pytest.mark.parametrize(
    ("left", "right", "what"),
    [
        ("keras.backend.sqrt(x)", "keras.ops.sqrt(x)", "value"),
        ("keras.backend.hard_sigmoid(x)", "keras.ops.hard_sigmoid(x)", "value"),
        ("keras.backend.argmax(x, axis=-1)", "keras.ops.argmax(x, axis=axis)", "int64 -> int32"),
        ("keras.backend.softmax(x, axis=-1)", "keras.ops.softmax(x, 0)", "value"),
        ("keras.backend.repeat(x, n)", "keras.ops.repeat(x, n)", "shape"),
        ("keras.backend.transpose(x)", "x", "shape"),
        ("keras.backend.stop_gradient(variables)", "variables + 0", "gradient"),
        ("keras.backend.int_shape(x)", "list(x.shape)", "tuple -> list"),
        ("keras.backend.random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None)",
         "keras.random.uniform(shape, dtype=dtype)", "distribution"),
    ],
)  # fmt: skip
def test_a_wrong_rewrite_is_found_out(left, right, what):
    guard = "equals('seed', None)" if "seed" in left else ""
    guard = "is_tensor('variables')" if "variables" in left else guard
    outcome, seed = prove_one(left, right, guard)
    assert not outcome.holds, f"seed {seed}"
    assert any(what in failure["what"] for failure in outcome.failures), (seed, outcome.failures)


def test_a_right_side_that_fails_only_while_a_model_is_built_is_found_out():
    outcome, _ = prove_one(
        "keras.backend.batch_flatten(x)", "keras.ops.reshape(x, (keras.ops.shape(x)[0], -1))"
    )
    assert {failure["mode"] for failure in outcome.failures} == {"symbolic_batch"}


def test_nothing_is_proven_without_anybody_who_knows_the_old_name():
    outcome, _ = prove_one("keras.backend.no_such_thing(x)", "keras.ops.abs(x)")
    assert not outcome.holds
    assert "nobody here knows" in outcome.failures[0]["what"]


def test_nothing_is_proven_under_a_guard_that_has_no_inputs():
    outcome, _ = prove_one("keras.backend.abs(x)", "keras.ops.abs(x)", "looks_good('x')")
    assert not outcome.holds
    assert "looks_good" in outcome.failures[0]["what"]


def test_nothing_is_proven_where_the_old_side_never_works():
    outcome, _ = prove_one("keras.backend.squeeze(x, axis)", "1", "equals('axis', 9)")
    assert not outcome.holds
    assert "0 cases" in outcome.failures[0]["what"]


def test_what_keras_3_refuses_counts_only_where_it_is_listed():
    outcome, _ = prove_one(
        "keras.backend.max(x, axis=None, keepdims=False)",
        "keras.ops.max(x, axis=axis, keepdims=keepdims)",
        cases=80,
    )
    assert outcome.holds
    assert outcome.refused > 0
    assert outcome.limits


# Mutants: what a slip of the pen makes of a rewrite.


def mutants_of(row: Rewrite) -> list[Rewrite]:
    """Return the row with two arguments swapped, a keyword dropped, a constant or default changed."""
    found = []
    tree = ast.parse(row.right, mode="eval")
    for index, node in enumerate(ast.walk(tree)):
        if not isinstance(node, ast.Call):
            continue
        if len(node.args) >= 2 and ast.dump(node.args[0]) != ast.dump(node.args[1]):
            found.append(_changed(row, index, _swap))
        if node.keywords:
            found.append(_changed(row, index, _drop))
    default = re.search(r"axis=(-1|0)\b", row.left)
    if default and "axis" in row.right:
        other = {"-1": "0", "0": "-1"}[default[1]]
        # The right side gets another default than the left: as if it were forgotten to be written.
        swapped = re.sub(
            r"\baxis\b(?!=)", f"(axis if axis != {default[1]} else {other})", row.right
        )
        found.append(rewrite(row.left, swapped, row.when))
    return [mutant for mutant in found if mutant.right != row.right]


def _changed(row, index, change):
    tree = ast.parse(row.right, mode="eval")
    change(list(ast.walk(tree))[index])
    return rewrite(row.left, ast.unparse(tree), row.when)


def _swap(call):
    call.args[0], call.args[1] = call.args[1], call.args[0]


def _drop(call):
    call.keywords.pop()


# Their arguments may be swapped, or the text of the right side is no call with arguments to swap.
_COMMUTE = re.compile(r"ops\.(maximum|minimum|equal|not_equal|add|multiply)\(")


def test_every_mutant_of_a_proven_rewrite_is_caught():
    seed = secrets.randbelow(2**31)
    rng = random.Random(seed)  # noqa: S311
    known = record.read()
    rows = [row for row in subjects.rewrites_of_rules() if known[row.id]["holds"]]
    mutants = [
        mutant for row in rows for mutant in mutants_of(row) if not _COMMUTE.search(row.right)
    ]
    picked = rng.sample(mutants, min(MUTANTS, len(mutants)))
    jobs = [subjects.rewrite_job(mutant, cases=120, seed=seed) for mutant in picked]
    survived = [key for key, each in prove(jobs).items() if each.holds]
    assert not survived, f"seed {seed}"


# Examples


def example(**given):
    fields = {"rule": "KD000", "prelude": "", "before": "", "after": None, "raises": None,
              "check": ""}  # fmt: skip
    return ExampleJob(id="it", **(fields | given))


@pytest.mark.parametrize("alone", [False, True])
def test_an_example_holds_where_it_raises_what_it_says_and_its_cure_runs(alone):
    job = example(
        before="import keras\nkeras.backend.sum",
        raises="AttributeError: module 'keras.backend' has no attribute 'sum'",
        after="import keras\ntotal = keras.ops.sum([1, 2])",
        check="assert int(total) == 3",
        alone=alone,
    )
    assert prove([job])["it"].holds


@pytest.mark.parametrize(
    "wrong",
    [
        {"before": "1", "raises": "AttributeError"},
        {"before": "1 / 0", "raises": "AttributeError"},
        {"before": "1 / 0"},
        {"before": "1", "after": "1 / 0"},
        {"before": "1", "after": "1", "check": "assert False"},
        {"before": "1", "after": "import sys; sys.exit(0)"},
    ],
)
def test_an_example_that_is_not_so_does_not_hold(wrong):
    assert not prove([example(**wrong)])["it"].holds


def test_an_example_leaves_nothing_behind_for_the_next():
    jobs = [
        ExampleJob("one", "KD000", "", "import keras, os\nkeras.config.set_floatx('float64')\n"
                   "keras.backend.sum = 1\nos.environ['SEEN'] = '1'\ndel keras.backend.sum", None, None, ""),
        ExampleJob("two", "KD000", "", "import keras, os\nassert keras.config.floatx() == 'float32'\n"
                   "assert 'SEEN' not in os.environ\nassert 'jobs' not in globals()", None, None, ""),
    ]  # fmt: skip
    outcomes = prove(jobs, workers=1)
    assert outcomes["one"].holds
    assert outcomes["two"].holds
