"""GPU proofs: right answers from another machine hold, corrupted ones do not."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest

from kdoctor.verify import proof_jobs
from kdoctor.verify.results import Ran
from tools.gpu_proofs import judge
from tools.gpu_proofs.answer import answered
from tools.gpu_proofs.ask import asked, frameworks_pool
from tools.gpu_proofs.travelling import Raised

# They run on any backend, on the one of the tests, too: the others are not installed everywhere.
MODES = ("symbolic", "symbolic_batch")
CASES = 64
LEFT = ("keras.backend.square(", "keras.backend.concatenate(", "keras.backend.repeat_elements(")


@pytest.fixture(scope="module")
def jobs():
    # Of several rows for one function the first, which is the one that is proven.
    rows = {row.left: row for row in reversed([*proof_jobs.rewrites_of_rules()])}
    picked = [next(row for left, row in rows.items() if left.startswith(name)) for name in LEFT]
    return [proof_jobs.rewrite_job(row, CASES, backend="torch") for row in picked]


@pytest.fixture(scope="module")
def pool():
    with frameworks_pool() as made:
        yield made


@pytest.fixture(scope="module")
def questions(pool, jobs):
    found = list(pool.map(asked, jobs, [MODES] * len(jobs)))
    # No more than one for each draw and mode, as the judge asks.
    assert all(8 < len(each.questions) <= CASES * len(MODES) for each in found)
    return found


@pytest.fixture(scope="module")
def answers(pool, questions):
    return dict(pool.map(answered, questions))


@pytest.mark.frameworks
def test_right_answers_hold(pool, jobs, answers):
    outcomes = list(pool.map(judge.judged, jobs, [answers[job.id] for job in jobs], [MODES] * 3))
    assert all(each.holds for each in outcomes), [each.failures for each in outcomes]
    assert all(set(each.cases) == set(MODES) for each in outcomes)


@pytest.mark.frameworks
def test_one_wrong_number_fails(pool, jobs, answers):
    for job in jobs:
        given = dict(answers[job.id])
        some = next(key for key, each in given.items() if each.result.data.size)
        ran = given[some]
        given[some] = replace(ran, result=replace(ran.result, data=ran.result.data + 1))
        outcome = pool.submit(judge.judged, job, given, MODES).result()
        assert outcome.failing == 1, job.id
        assert "value" in outcome.failures[0]["what"]


@pytest.mark.frameworks
def test_an_error_on_the_other_machine_fails(pool, jobs, answers):
    given = dict.fromkeys(answers[jobs[0].id], Raised("OddError", "no kernel of this name"))
    outcome = pool.submit(judge.judged, jobs[0], given, MODES).result()
    assert not outcome.holds
    assert outcome.failures[0]["what"] == "OddError: no kernel of this name"


@pytest.mark.frameworks
def test_questions_contain_nothing_of_tensorflow(questions, answers):
    for each in (questions, answers):
        assert b"tensorflow." not in pickle.dumps([vars_of(each)])
    assert all(isinstance(one, Ran) for each in answers.values() for one in each.values())


def vars_of(travelling):
    """Return what travels without the names of rewrites, which may tell of TensorFlow."""
    if isinstance(travelling, dict):
        return list(travelling.values())
    return [each.questions for each in travelling]


def test_the_page_is_that_of_the_record():
    recorded = json.loads(judge.RECORD.read_text("utf-8"))
    assert judge.PAGE.read_text("utf-8") == judge.page(recorded)
    for run in recorded["runs"]:
        assert run["rewrites"]
        assert "cpu" not in run["about"]["device"].lower()
