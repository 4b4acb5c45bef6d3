"""What the proof record says of a rewrite on the backends that are asked for."""

from __future__ import annotations

import msgspec
import pytest

from kdoctor.analysis import facts as facts_module
from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import newest_target
from kdoctor.model import Applicability
from kdoctor.rewrite import rewrite

ROW = rewrite("tensorflow.abs(x, name=None)", "keras.ops.abs(x)")
HELD = {"holds": True}
FAILED = {"holds": False, "failures": [{"mode": "eager", "what": "dtype: a -> b", "input": "x"}]}


@pytest.fixture
def recorded(monkeypatch, tmp_path):
    """Let the record say something of ``ROW``."""

    def write(entry):
        path = tmp_path / "proofs.json"
        about = {"backends": {"jax": "0.10.2", "torch": "not run"}}
        path.write_bytes(msgspec.json.encode({ROW.id: entry, "about": about}))
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
