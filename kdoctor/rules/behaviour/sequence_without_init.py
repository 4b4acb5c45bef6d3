"""A `Sequence` subclass whose `__init__` does not call `super().__init__()`.

## What it does
Reports subclasses of `keras.utils.Sequence` (`PyDataset`) whose `__init__` does not call
`super().__init__()`.

## Why it breaks
In Keras 2 there was nothing to call. In Keras 3 it takes `workers`, `use_multiprocessing` and
`max_queue_size`, which `fit` no longer accepts. Without the call Keras warns `Your `PyDataset`
class should call `super().__init__(**kwargs)` in its constructor.`, and loads the data in one
thread.

## What to write instead
`super().__init__()` as the first statement; with workers, `super().__init__(workers=4)`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21, where the call is harmless.
"""

from __future__ import annotations

from kdoctor.analysis.dataflow.statements import insert_at_body_start
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.analysis.queries import Method, methods
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule

_SEQUENCES = ("utils.Sequence", "utils.PyDataset")


@rule(
    "KD418",
    severity=Severity.LEGACY,
    since="3.0",
    only_alone=True,
    look_for=methods(
        "__init__", of=_SEQUENCES, body=lambda inside: "__init__" not in inside.attributes
    ),
)
def check(init: Method) -> Finding | None:
    """Report each such class that derives from nothing else."""
    if only_base(init.module, init.owner.node) is None:
        return None
    edit = insert_at_body_start(init.module, init.node, "super().__init__()")
    return init.finding(
        "Keras warns: Your `PyDataset` class should call `super().__init__(**kwargs)` in its "
        "constructor.",
        at=init.node.name,
        symbol=init.owner.symbol,
        confidence=Confidence.CERTAIN,
        help="Call `super().__init__()`; `workers=` goes there too.",
        fix=init.fix("Call `super().__init__()` first", edit)
        if edit
        else NoFix("the body is on the same line as `def`"),
    )


_REST = (
    "\n    def __len__(self):\n        return 2\n\n    def __getitem__(self, index):\n"
    "        return self.x, self.x\n"
)

VALID = [
    (
        "import keras\n\nclass Data(keras.utils.Sequence):\n    def __init__(self, **options):\n"
        "        super().__init__(**options)\n"
    ),
    "import keras\n\nclass Data(keras.utils.Sequence):\n    pass\n",
    ("import keras\nfrom typing import Sequence\n\nclass A(Sequence):\n    def __init__(self):\n"
    "        self.x = 1\n"),
    ("import tf_keras\n\nclass Data(tf_keras.utils.Sequence):\n    def __init__(self):\n"
    "        self.x = 1\n"),
]  # fmt: skip
INVALID = [
    Example(
        before="import keras\nimport numpy as np\n\n\nclass Data(keras.utils.Sequence):\n"
        '    def __init__(self):\n        """Make data."""\n        # Ones.\n'
        "        self.x = np.ones((2, 1))\n" + _REST,
        after="import keras\nimport numpy as np\n\n\nclass Data(keras.utils.Sequence):\n"
        '    def __init__(self):\n        """Make data."""\n        # Ones.\n'
        "        super().__init__()\n        self.x = np.ones((2, 1))\n" + _REST,
        check="import warnings\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
        "model.compile('sgd', 'mse')\nwith warnings.catch_warnings():\n"
        "    warnings.simplefilter('error')\n    warnings.filterwarnings('ignore', '__array__')\n"
        "    model.fit(Data(), verbose=0)\n",
    ),
]
