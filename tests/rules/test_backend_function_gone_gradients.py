"""`K.gradients` that is not rewritten has a reason; `test_backend_function_gone_graph_programs.py` runs what is."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix
from kdoctor.model import Applicability

HEAD = "from keras import backend as K\n\n"


def finding(source: str):
    found = fix(["-"], stdin=(HEAD + source).encode(), target="keras==3.15.1").found.findings
    return next(each for each in found if "gradients" in each.symbol)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("grads = K.gradients\n", "it is not called here"),
        ("def f(*given):\n    return K.gradients(*given)\n", "kdoctor cannot tell its loss"),
        ("def f(loss):\n    return K.gradients(loss)\n", "kdoctor cannot tell its loss"),
        (
            "def penalty(y_true, y_pred, samples): return K.gradients(y_pred, samples)[0]\n",
            "tensors have values here",
        ),
        (
            "class Mine:\n    def get_updates(self, loss, of): return K.gradients(loss, of)\n",
            "tensors have values here",
        ),
        (
            "keras_gradients = None\ndef f(loss, x):\n    return K.gradients(loss, x)\n",
            "`keras_gradients` cannot be added to this file",
        ),
    ],
)
def test_what_is_not_understood_has_a_reason(source, reason) -> None:
    found = finding(source)
    assert found.fix is None
    assert found.no_fix_because.startswith(reason)


def test_keywords_are_kept_and_it_is_never_safe() -> None:
    source = "def f(model, loss):\n    return K.gradients(loss=loss, variables=model.input)\n"
    assert finding(source).fix.applicability is Applicability.UNSAFE
    (file,) = fix(["-"], stdin=(HEAD + source).encode(), unsafe=True, target="keras==3.15.1").files
    assert "return keras_gradients(loss=loss, variables=model.input)" in file.after.decode()


def test_what_only_holds_gradients_waits_for_them() -> None:
    """`K.function` of gradients that cannot be rewritten is not rewritten, either."""
    source = (
        "def f(model, given):\n"
        "    grads = K.gradients(*given)\n"
        "    return K.function([model.input], grads)\n"
    )
    assert (
        fix(["-"], stdin=(HEAD + source).encode(), unsafe=True, target="keras==3.15.1").files == ()
    )
