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

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.dataflow.statements import insert_at_body_start
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.analysis.triggers import classes, word
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

_SEQUENCES = ("utils.Sequence", "utils.PyDataset")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such class."""
    if "__init__" not in module.text:
        return
    for node in module.nodes(cst.ClassDef):
        base = only_base(module, node)
        name = module.qualified(base) if base is not None else None
        split = split_root(name) if name else None
        if split is None or split[1] not in _SEQUENCES:
            continue
        function = _init(node)
        if function is not None and not _calls_init(function) and not module.is_guarded(node):
            yield _finding(module, node, function)


def _init(node: cst.ClassDef) -> cst.FunctionDef | None:
    functions = (each for each in node.body.body if isinstance(each, cst.FunctionDef))
    return next((each for each in functions if each.name.value == "__init__"), None)


def _calls_init(function: cst.FunctionDef) -> bool:
    return any(
        isinstance(each, cst.Attribute) and each.attr.value == "__init__"
        for each in descendants(function.body)
    )


def _finding(module: Module, node: cst.ClassDef, function: cst.FunctionDef) -> Finding:
    edit = insert_at_body_start(module, function, "super().__init__()")
    return rule.finding(
        module.place(function.name),
        "Keras warns: Your `PyDataset` class should call `super().__init__(**kwargs)` in its "
        "constructor.",
        symbol=node.name.value,
        confidence=Confidence.CERTAIN,
        help="Call `super().__init__()`; `workers=` goes there too.",
        fix=rule.fix("Call `super().__init__()` first", edit)
        if edit
        else NoFix("the body is on the same line as `def`"),
    )


def _may_not_call_it(_: TargetFacts, node: ast.ClassDef, bases: frozenset[str]) -> bool:
    if not any(each.endswith(_SEQUENCES) for each in bases):
        return False
    defined = (ast.FunctionDef, ast.AsyncFunctionDef)
    inits = (e for e in node.body if isinstance(e, defined) and e.name == "__init__")
    return any(
        not any(
            isinstance(each, ast.Attribute) and each.attr == "__init__"
            for statement in init.body
            for each in ast.walk(statement)
        )
        for init in inits
    )


rule = Rule(
    code="KD418",
    name="sequence-without-init",
    family="behaviour",
    severity=Severity.LEGACY,
    check=check,
    triggers=word("Sequence", "PyDataset") & classes(_may_not_call_it),
    since="3.0",
    only_alone=True,
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
