"""Sizes that are no ints: what KD307 says of a layer is what Keras does with it."""

import re

import pytest

from kdoctor.engine import scan
from kdoctor.rules.arguments.not_a_whole_number import _SIZES

keras = pytest.importorskip("keras")
np = pytest.importorskip("numpy")


def refusal(cls, source):
    """Run the code and call the layer; return what is raised, None for nothing."""
    rank = int(found[1]) if (found := re.search(r"(\d)D", cls)) else 0
    x = np.ones((2,) * (rank + 2), "int32" if cls == "Embedding" else "float32")
    names = {}
    try:
        exec(source, names)  # noqa: S102 - our own text
        names["layer"](x)
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.frameworks
@pytest.mark.parametrize("value", ["4", "4.0", "8 / 2", "np.prod((2, 2))", "np.sqrt(16.0)"])
@pytest.mark.parametrize("cls", _SIZES)
def test_a_size_is_reported_where_keras_refuses_it(cls, value):
    more = "" if cls == "Dense" else ", 1"
    source = f"import keras\nimport numpy as np\n\nlayer = keras.layers.{cls}({value}{more})\n"
    findings = scan(
        ["-"], stdin=source.encode(), select=["KD307"], target=f"keras=={keras.__version__}"
    ).findings
    raised = refusal(cls, source)
    assert len(findings) == (raised is not None)
    for finding in findings:
        told = finding.message.partition("must be an int: ")[2]
        start, _, rest = told.partition("(…)")
        assert raised.startswith(start)
        assert rest in raised
