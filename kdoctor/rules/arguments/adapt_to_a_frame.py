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

from typing import Final

from packaging.version import Version

from kdoctor.analysis.calls import is_keras_3, keras_version, speller_at
from kdoctor.analysis.queries import Argument, Instance, calls
from kdoctor.analysis.queries.conditions import package
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.tensors.constructors import ArrayForm
from kdoctor.analysis.tensors.elements import numbers_in_list
from kdoctor.analysis.tensors.rank import ranks_of
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import Example, rule
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
_WHAT: Final = {
    ArrayForm.FRAME: "a DataFrame",
    ArrayForm.COLUMN: "a column",
    None: "a list of numbers",
}
_ITERATES: Final = Version("3.14")
"""Since then all layers go through what they do not know."""


def _is_list(form: object) -> bool:
    is_made = isinstance(form, Expression) and form.kind in {"ListComp", "BinOp"}
    return is_made or isinstance(form, list)


_ADAPT: Final = calls(_METHOD, on=[Instance(Kind.LAYER, cls) for cls in _OF_A_FRAME]).even(
    hidden=True
)


@rule(
    "KD323",
    severity=Severity.ERROR,
    since="3.0",
    look_for=_ADAPT.argument("data", 0).beside(
        package("pandas") | _ADAPT.passing("data", place=0, where=_is_list).trigger
    ),
)
def check(data: Argument) -> Finding | None:
    """Report each layer that is adapted to what is no array."""
    assert data.owner is not None
    if not is_keras_3(data.facts, data.owner.qualified):
        return None
    is_strict = data.cls == _STRICT
    if not is_strict and keras_version(data.facts) < _ITERATES:
        return None
    found = ranks_of(data.module).of(data.node)
    form = None if found is None else found.form
    if form is ArrayForm.FRAME or (form is ArrayForm.COLUMN and is_strict):
        return _finding(data, form)
    if form is None and is_strict and numbers_in_list(data.module, data.node) is not None:
        return _finding(data, form)
    return None


def _finding(data: Argument, form: ArrayForm | None) -> Finding:
    error = _OF_A_FRAME[data.cls] if form is ArrayForm.FRAME else _REFUSED
    array = "np.array([…])" if form is None else f"{data.source(data.node)}.to_numpy()"
    return data.finding(
        f"`adapt` treats {_WHAT[form]} as an iterable of batches: "
        f"{error or f'`{data.cls}` learns the names of its columns'}",
        symbol=f"{data.cls}.{_METHOD}",
        severity=Severity.ERROR if error else Severity.CHANGE,
        help=f"Pass an array: `{array}`." if len(array) < 60 else "Pass an array.",
        fix=_as_array(data, form),
    )


def _as_array(data: Argument, form: ArrayForm | None) -> Fix | NoFix:
    place = data.module.outer_span(data.node)
    if form is None:
        spelled, need = speller_at(data.module, data.call.func).spell("numpy.array")
        edit = Edit(place, (f"{spelled}(", Hole(place), ")"))
        return data.fix("Pass an array", edit, imports=() if need is None else (need,))
    hole = Hole(place, Precedence.PRIMARY, precedence_of(data.node))
    return data.fix("Pass an array", Edit(place, (hole, ".to_numpy()")))


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
