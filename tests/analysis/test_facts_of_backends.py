"""What the proof record says of a rewrite on the backends that are asked for."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest

from kdoctor.analysis import facts as facts_module
from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import newest_target
from kdoctor.model import Applicability
from kdoctor.rewrite import rewrite
from kdoctor.rules.loading import load_rule

ROW = rewrite("tensorflow.abs(x, name=None)", "keras.ops.abs(x)")
HELD = {"holds": True}
FAILED = {"holds": False, "failures": [{"mode": "eager", "what": "dtype: a -> b", "input": "x"}]}


EXAMPLE = SimpleNamespace(id="example 0123456789abcdef")


@pytest.fixture
def recorded(monkeypatch, tmp_path):
    """Let the record say something of ``ROW``, or of what else is given."""

    def write(entry, of=ROW):
        path = tmp_path / "proofs.json"
        about = {"backends": {"jax": "0.10.2", "torch": "not run"}}
        path.write_bytes(msgspec.json.encode({of.id: entry, "about": about}))
        monkeypatch.setattr(facts_module, "RECORD", path)
        for name in ("proofs_that_hold", "_failures_on"):
            function = getattr(facts_module, name)
            monkeypatch.setattr(facts_module, name, getattr(function, "__wrapped__", function))

    return write


def rated(*backends):
    facts = TargetFacts(newest_target(), backends=backends)
    return facts.applicability(ROW), facts.unproven_elsewhere(ROW)


def test_a_rewrite_is_safe_where_it_holds_on_each_backend_that_is_asked_for(recorded):
    recorded({**HELD, "backends": {"jax": HELD, "torch": HELD}})
    assert rated() == rated("jax") == rated("jax", "torch") == (Applicability.SAFE, "")


def test_where_it_differs_it_is_unsafe_by_name(recorded):
    recorded({**HELD, "backends": {"jax": HELD, "torch": FAILED}})
    assert rated("jax") == (Applicability.SAFE, "")
    assert rated("jax", "torch") == (
        Applicability.UNSAFE,
        "not proven on PyTorch: dtype: a -> b",
    )


def test_what_was_not_run_is_not_proven(recorded):
    recorded(HELD)
    assert rated("jax") == (Applicability.UNSAFE, "not proven on JAX: it was not run there")


def test_what_does_not_hold_on_tensorflow_has_other_reasons(recorded):
    recorded({**FAILED, "backends": {"jax": HELD}})
    assert rated() == rated("jax") == (Applicability.UNSAFE, "")


def fix_of(rule, *backends):
    facts = TargetFacts(newest_target(), backends=backends)
    made = load_rule(rule).fix("Write it", proven_by=[EXAMPLE], facts=facts)
    return made.applicability, made.unsafe_because


def test_a_fix_of_kd8_is_safe_where_its_examples_run_on_each_backend_that_is_asked_for(recorded):
    recorded({**HELD, "backends": {"jax": HELD, "torch": FAILED}}, EXAMPLE)
    assert fix_of("backends.tensorflow_dtype", "jax") == (Applicability.SAFE, "")
    assert fix_of("backends.tensorflow_dtype", "jax", "torch") == (
        Applicability.UNSAFE,
        "not proven on PyTorch: dtype: a -> b",
    )


def test_the_examples_of_other_rules_are_run_on_tensorflow_alone(recorded):
    recorded(HELD, EXAMPLE)
    assert fix_of("names.missing_name", "jax", "torch") == (Applicability.SAFE, "")
    assert fix_of("backends.tensorflow_dtype", "jax") == (
        Applicability.UNSAFE,
        "not proven on JAX: it was not run there",
    )
