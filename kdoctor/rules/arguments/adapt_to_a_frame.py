"""`adapt` treats a DataFrame or a list of numbers as an iterable of batches.

## What it does
Reports `adapt` of a Keras preprocessing layer called with a pandas DataFrame; for `Normalization`,
also with a DataFrame column or a list of numbers.

## Why it breaks
Keras 2 converted any input to an array. Keras 3 accepts arrays, tensors and datasets; it iterates
over anything else and treats each item as a batch. Iterating over a DataFrame gives its column
names: `TypeError: adapt() expects an iterable that yields arrays or tensors … Got an element of
type str`. `StringLookup` and `TextVectorization` silently learn these names. Iterating over a
column or a list gives numbers, which `Normalization` refuses in the same way.

Before Keras 3.14, `Normalization` refused all of these (`NotImplementedError: Unsupported data
type`), and the other layers still converted them to an array.

## What to write instead
Pass an array: `adapt(df.to_numpy())`, `adapt(np.array([[1.0], [2.0]]))`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with DataFrames, columns and lists, for each layer that has
`adapt`. The behaviour before 3.14 was read from the sources. On both, the array gives the result
that the DataFrame gave on Keras 2.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst
from packaging.version import Version

from kdoctor.analysis.calls import argument, is_keras_3, keras_version, speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.constructors import ArrayForm
from kdoctor.analysis.tensors.elements import numbers_in_list
from kdoctor.analysis.tensors.rank import ranks_of
from kdoctor.analysis.triggers import Trigger, member_of, package
from kdoctor.model import Edit, Finding, Hole, ImportNeed, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_METHOD: Final = "adapt"
_STRICT: Final = "Normalization"
_REFUSED: Final = (
    "TypeError: adapt() expects an iterable that yields arrays or tensors with a `.shape` attribute"
)
_OF_A_FRAME: Final = {
    _STRICT: f"{_REFUSED} … Got an element of type str",
    "Discretization": "ValueError: could not convert string to float",
    "IntegerLookup": "TypeError: Cannot convert … to EagerTensor of dtype int64",
    "StringLookup": "",
    "TextVectorization": "",
}
"""What each layer says of the names of the columns; nothing where it learns them."""
_WHAT: Final = {ArrayForm.FRAME: "a DataFrame", ArrayForm.COLUMN: "a column"}
_ITERATES: Final = Version("3.14")
"""Since then all layers go through what they do not know."""


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each layer that is adapted to what is no array."""
    for use in module.members:
        cls, call = use.owner.cls or "", use.called
        if use.member != _METHOD or use.owner.kind is not Kind.LAYER or use.owner_defines:
            continue
        if call is None or cls not in _OF_A_FRAME or not is_keras_3(facts, use.owner.qualified):
            continue
        data = argument(call, "data", 0)
        if data is None or module.is_guarded(use.node):
            continue
        if cls != _STRICT and keras_version(facts) < _ITERATES:
            continue
        found = ranks_of(module).of(data.value)
        form = None if found is None else found.form
        if form is ArrayForm.FRAME or (form is ArrayForm.COLUMN and cls == _STRICT):
            yield _finding(module, use, data.value, form)
        elif form is None and cls == _STRICT and numbers_in_list(module, data.value) is not None:
            yield _finding(module, use, data.value, None)


def _finding(
    module: Module,
    use: MemberUse,
    data: cst.BaseExpression,
    form: ArrayForm | None,
) -> Finding:
    cls = use.owner.cls or ""
    what = "a list of numbers" if form is None else _WHAT[form]
    error = _OF_A_FRAME[cls] if form is ArrayForm.FRAME else _REFUSED
    array = "np.array([…])" if form is None else f"{module.source(data)}.to_numpy()"
    needs: tuple[ImportNeed, ...] = ()
    place = module.outer_span(data)
    if form is None:
        spelled, need = speller_at(module, use.node).spell("numpy.array")
        edit = Edit(place, (f"{spelled}(", Hole(place), ")"))
        needs = () if need is None else (need,)
    else:
        edit = Edit(place, (Hole(place, Precedence.PRIMARY, precedence_of(data)), ".to_numpy()"))
    return rule.finding(
        module.place(data),
        f"`adapt` treats {what} as an iterable of batches: "
        f"{error or f'`{cls}` learns the names of its columns'}",
        symbol=f"{cls}.{_METHOD}",
        confidence=use.confidence,
        severity=Severity.ERROR if error else Severity.CHANGE,
        help=f"Pass an array: `{array}`." if len(array) < 60 else "Pass an array.",
        fix=rule.fix("Pass an array", edit, imports=needs),
    )


def _may_be_numbers(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        isinstance(value, ast.List | ast.ListComp | ast.BinOp)
        for called in quick.calls_by_leaf.get(_METHOD, ())
        for value in quick.values_of(called.argument("data", 0))
    )


rule = Rule(
    code="KD323",
    name="adapt-to-a-frame",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({Kind.LAYER}, _METHOD) & (package("pandas") | Trigger(_may_be_numbers)),
    since="3.0",
)

_FRAME = "import pandas as pd\n\ndf = pd.DataFrame({'a': [1.0, 2.0, 4.0], 'b': [4, 5, 9]})\n"
_TEXTS = "import pandas as pd\n\ndf = pd.DataFrame({'x': ['a', 'b', 'a'], 'y': ['c', 'b', 'b']})\n"
_KERAS = "import keras\n"
_LAYER = "layer = keras.layers.Normalization()\n"

VALID = [
    # Arrays, and what may be one.
    _KERAS + _FRAME + _LAYER + "layer.adapt(df.to_numpy())\nlayer.adapt(df[['a']].values)",
    _KERAS + "import numpy as np\n" + _FRAME + _LAYER + "layer.adapt(np.array(df))",
    _KERAS + "import numpy as np\n" + _LAYER + "layer.adapt(np.array([[1.0], [2.0]]))",
    (
        "import keras\n\n\ndef fitted(data):\n    layer = keras.layers.Normalization()\n"
        "    layer.adapt(data)\n    return layer"
    ),
    # Batches.
    _KERAS + "import numpy as np\n" + _LAYER + "layer.adapt([np.ones((2, 3)), np.zeros((2, 3))])",
    # These layers take lists and columns.
    _KERAS + _FRAME + "keras.layers.Discretization(num_bins=2).adapt(df['a'])\n"
    "keras.layers.Discretization(num_bins=2).adapt([1.0, 2.0, 3.0])",
    _KERAS + _TEXTS + "keras.layers.StringLookup().adapt(df['x'])\n"
    "keras.layers.TextVectorization().adapt(['a b', 'b'])\nkeras.layers.IntegerLookup().adapt([1])",
    # A method of other things by that name, and one of the user's own.
    _KERAS + _FRAME + "adapter.adapt(df)",
    _KERAS + _FRAME + "\n\nclass Mine(keras.layers.Normalization):\n    def adapt(self, data):\n"
    "        super().adapt(data.to_numpy())\n\n\nMine().adapt(df)",
    _KERAS + _FRAME + _LAYER + "try:\n    layer.adapt(df)\nexcept TypeError:\n"
    "    layer.adapt(df.to_numpy())",
    (_KERAS + _FRAME + _LAYER + "layer.adapt(df)").replace("keras", "tf_keras"),
]
_MEANS = "[round(float(each), 5) for each in np.ravel(layer(np.array([[1.0, 6.0]])))]"
_NUMPY = "import numpy as np\n"


def _example(given: str, array: str, *, raises: str, same: str, layer: str = _LAYER) -> Example:
    start = _KERAS + (_TEXTS if "Lookup()" in layer or "Text" in layer else _FRAME) + layer
    return Example(
        before=f"{start}layer.adapt({given})\n",
        after=f"{start}layer.adapt({array})\n",
        raises=raises or None,
        prelude=_NUMPY,
        on_keras_2=True,
        same=same,
    )


_WORDS = "[str(each) for each in layer.get_vocabulary()]"
_READ = (
    "import io\n\nimport pandas as pd\nfrom tensorflow.keras.layers import Normalization\n\n"
    "CARS = 'a,b,y\\n1,2,3\\n4,5,6\\n7,9,1\\n'\n\n\nclass Cars:\n"
    "    def __init__(self):\n        self.norm = Normalization(axis=-1)\n\n"
    "    def read(self):\n        cars = pd.read_csv(io.StringIO(CARS))\n"
    "        x = cars.drop(columns='y').dropna()\n        self.norm.adapt({})\n"
    "        return self.norm\n\n\nnorm = Cars().read()\n"
)
INVALID = [
    _example("df", "df.to_numpy()", raises=_REFUSED, same=_MEANS),
    _example("data=df[['b']]", "data=df[['b']].to_numpy()", raises=_REFUSED, same=_MEANS),
    _example(
        "df['a']",
        "df['a'].to_numpy()",
        raises=_REFUSED,
        same=_MEANS,
        layer="layer = keras.layers.Normalization(axis=None)\n",
    ),
    _example("df * 2", "(df * 2).to_numpy()", raises=_REFUSED, same=_MEANS),
    Example(
        before=_KERAS + _NUMPY + _LAYER + "layer.adapt([[1.0], [2.0]])\n",
        after=_KERAS + _NUMPY + _LAYER + "layer.adapt(np.array([[1.0], [2.0]]))\n",
        raises=_REFUSED,
        on_keras_2=True,
        same="[round(float(each), 5) for each in np.ravel(layer(np.array([[1.0]])))]",
    ),
    _example(
        "df",
        "df.to_numpy()",
        raises="ValueError: could not convert string to float",
        same="[float(each) for each in layer.bin_boundaries]",
        layer="layer = keras.layers.Discretization(num_bins=2)\n",
    ),
    _example(
        "df[['b']]",
        "df[['b']].to_numpy()",
        raises="TypeError: Cannot convert",
        same="[int(each) for each in layer.get_vocabulary()]",
        layer="layer = keras.layers.IntegerLookup(num_oov_indices=1)\n",
    ),
    _example(
        "df",
        "df.to_numpy()",
        raises="",
        same=_WORDS,
        layer="layer = keras.layers.StringLookup()\n",
    ),
    _example(
        "df[['x']]",
        "df[['x']].to_numpy()",
        raises="",
        same=_WORDS,
        layer="layer = keras.layers.TextVectorization()\n",
    ),
    # Read and cut in a method.
    Example(
        before=_READ.format("x"),
        after=_READ.format("x.to_numpy()"),
        prelude=_NUMPY,
        raises=_REFUSED,
        on_keras_2=True,
        same="[round(float(each), 5) for each in np.ravel(norm(np.array([[1.0, 6.0]])))]",
    ),
]
