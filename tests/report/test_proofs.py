"""What people are told of proofs, on each backend."""

from __future__ import annotations

from pathlib import Path

from kdoctor.analysis.facts import proof_record
from kdoctor.report.proofs import verdicts
from kdoctor.report.proofs_page import proofs_page
from kdoctor.rules import all_rules

ROOT = Path(__file__).parents[2]
ENTRY = {
    "holds": True,
    "oracle": "tf_keras 2.21.0",
    "cases": {"eager": 100, "symbolic": 20},
    "gradients": 60,
    "largest_difference": 1e-06,
    "backends": {
        "torch": {
            "holds": False,
            "cases": {"eager": 40},
            "explained": {"int64 -> int32": 3},
            "failures": [
                {"mode": "eager", "what": "shape: (1, 1) -> ()", "input": "keepdims=True"}
            ],
        }
    },
}


def test_a_backend_that_was_not_run_is_said_to_be_so():
    words = {each.backend: each.word for each in verdicts(ENTRY)}
    assert words == {"tensorflow": "holds", "jax": "not run", "torch": "differs"}


def test_a_line_gives_the_runs_by_mode():
    tensorflow, jax, torch = verdicts(ENTRY)
    modes = ("100", "-", "-", "-", "-", "20", "-")
    assert tensorflow.cells("TF") == ("TF", "holds", *modes, "60", "1e-06")
    assert jax.cells("JAX") == ("JAX", "not run", *[""] * 9)
    assert torch.notes() == [
        "on PyTorch: eager: shape: (1, 1) -> () for keepdims=True",
        "explained on PyTorch: int64 -> int32 (3)",
    ]


def test_the_page_is_that_of_the_record():
    written = (ROOT / "docs" / "proofs.md").read_text("utf-8")
    assert written == proofs_page(all_rules(), proof_record()), "run `make proofs-page`"


# What a fix says of other backends.
