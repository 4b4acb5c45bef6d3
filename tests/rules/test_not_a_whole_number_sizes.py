"""Sizes that are no ints: what KD307 says of a layer is what Keras does with it."""

import re

import numpy as np
import pytest

from kdoctor.engine import scan
from kdoctor.rules.arguments.not_a_whole_number import _SIZES
from tests.frameworks import keras


def refusal(cls, source):
    """Run the code and call the layer; return what is raised, None for nothing."""
    found = re.search(r"(\d)D", cls)
    rank = int(found[1]) if found else int(cls in {"GRU", "MultiHeadAttention", "SimpleRNN"})
    x = np.ones((4,) * (rank + 2), "int32" if cls == "Embedding" else "float32")
    names = {}
    try:
        exec(source, names)  # noqa: S102 - our own text
        names["layer"](*(x, x) if cls == "MultiHeadAttention" else (x,))
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.frameworks
@pytest.mark.parametrize("value", ["4", "4.0", "8 / 2", "np.prod((2, 2))", "np.sqrt(16.0)"])
@pytest.mark.parametrize(("cls", "name"), [(cls, name) for cls in _SIZES for name in _SIZES[cls]])
def test_a_size_is_reported_where_keras_refuses_it(cls, name, value):
    names = (*_SIZES[cls], *(["kernel_size"] if "Conv" in cls else []))
    given = ", ".join(f"{each}={value if each == name else 4}" for each in names)
    source = f"import keras\nimport numpy as np\n\nlayer = keras.layers.{cls}({given})\n"
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
