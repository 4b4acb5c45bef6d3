"""Rank and element kind of arrays, by the call that constructs them.

NumPy, pandas and scikit-learn are read here as their documentation has them. The tests run each
entry, but for what must be downloaded or is no longer there.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from kdoctor.syntax import Module
from kdoctor.syntax.scopes import Binding

FLOATS_OF_NUMPY: Final = {"double": True, "float16": False, "float32": False, "float64": True}
"""Types that make a number, or an array of a list; and whether it is ``numpy.float64``."""
INTS_OF_NUMPY: Final = frozenset({
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
})  # fmt: skip


class NumberKind(enum.Enum):
    """The kind of an array's elements."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"


_NUMBERS: Final = {each.value: each for each in NumberKind}


class ArrayForm(enum.Enum):
    """The container type of an array."""

    ARRAY = "array"  # of NumPy
    COLUMN = "column"  # a Series of pandas, which every Keras takes for a column
    FRAME = "frame"  # a DataFrame of pandas


class ArrayData(Struct, frozen=True):
    """The known facts of an array: ``axes`` is its rank, None if unknown."""

    form: ArrayForm = ArrayForm.ARRAY
    axes: int | None = None
    numbers: NumberKind | None = None

    def but(
        self,
        *,
        form: ArrayForm | None = None,
        axes: int | None = None,
        numbers: NumberKind | None = None,
    ) -> ArrayData:
        """Return the same with something else in it."""
        return ArrayData(
            form or self.form, self.axes if axes is None else axes, numbers or self.numbers
        )


COLUMN: Final = ArrayData(ArrayForm.COLUMN, 1)
FRAME: Final = ArrayData(ArrayForm.FRAME, 2)

_INTS: Final = ("i", "int", "uint", "long", "short", "byte", "ubyte", "intc", "intp", "integer")
_FLOATS: Final = ("f", "d", "float", "double", "half", "single", "floatx")


def numbers_of(dtype: str) -> NumberKind | None:
    """Return the element kind of a dtype: ``int64``, ``numpy.uint8``, ``bool_``."""
    name = dtype.rpartition(".")[2].rstrip("_").rstrip("0123456789")
    if name in _INTS:
        return NumberKind.INT
    if name in _FLOATS:
        return NumberKind.FLOAT
    return NumberKind.BOOL if name == "bool" else None


# -- NumPy: names without `numpy.`

OF_A_SHAPE: Final = {
    "zeros": NumberKind.FLOAT, "ones": NumberKind.FLOAT, "empty": NumberKind.FLOAT,
    "full": None, "random.random": NumberKind.FLOAT, "random.random_sample": NumberKind.FLOAT,
}  # fmt: skip
"""The shape is the first argument."""
OF_A_SIZE: Final = {
    "random.randint": (2, NumberKind.INT), "random.uniform": (2, NumberKind.FLOAT),
    "random.normal": (2, NumberKind.FLOAT), "random.binomial": (2, NumberKind.INT),
    "random.choice": (1, None),
}  # fmt: skip
"""The shape is ``size``, at this place."""
OF_EACH_AXIS: Final = frozenset({"random.rand", "random.randn"})
"""Each argument is the length of an axis."""
FLAT: Final = {
    "arange": None, "linspace": NumberKind.FLOAT, "ravel": None, "bincount": NumberKind.INT,
    "flatnonzero": NumberKind.INT,
}  # fmt: skip
"""They have one axis, whatever they are made of."""
CONVERTING: Final = frozenset({"array", "asarray", "ascontiguousarray", "asanyarray"})
"""They make an array of what may be a list."""
JOINING: Final = frozenset({"concatenate", "hstack"})
"""Arrays in a tuple or list are joined along an axis that they have."""
ELEMENTWISE: Final = {
    **dict.fromkeys(("copy", "flip", "flipud", "nan_to_num", "sort", "roll", "zeros_like")),
    **dict.fromkeys(("abs", "absolute", "around", "ones_like", "round", "sign", "square")),
    **dict.fromkeys(
        ("cos", "exp", "expm1", "log", "log10", "log1p", "rint", "sin", "sqrt", "tanh"),
        NumberKind.FLOAT,
    ),
}
"""As many axes as the first argument has."""

# -- methods of arrays and of pandas' objects

SAME: Final = frozenset({
    "clip", "copy", "dropna", "fillna", "head", "map", "replace", "reset_index", "round", "sample",
    "sort_index", "tail",
})  # fmt: skip
"""They give the same again, with other values perhaps."""
OTHER_VALUES: Final = frozenset({"clip", "fillna", "map", "replace"})
"""Those of them after which other numbers may be in it."""
OF_A_FRAME: Final = frozenset({"drop", "drop_duplicates", "sort_values", "query", "rename"})
"""They give a frame for a frame."""

# -- makers of other libraries, by their dotted names

READ_FRAMES: Final = frozenset({
    "pandas.DataFrame", "pandas.get_dummies", "pandas.read_csv", "pandas.read_excel",
    "pandas.read_table",
})  # fmt: skip
NO_FRAMES: Final = frozenset({"chunksize", "iterator", "sheet_name", "squeeze"})
"""With one of these, something else is read."""
TABLES: Final = frozenset({"numpy.loadtxt", "numpy.genfromtxt"})
"""At most two axes, so that what is taken out with two indices had two."""
ENCODERS: Final = {
    "LabelEncoder": ArrayData(axes=1, numbers=NumberKind.INT),
    "LabelBinarizer": ArrayData(axes=2, numbers=NumberKind.INT),
    "MinMaxScaler": ArrayData(axes=2, numbers=NumberKind.FLOAT),
    "StandardScaler": ArrayData(axes=2, numbers=NumberKind.FLOAT),
}
"""Classes of scikit-learn: what ``fit_transform`` and ``transform`` give."""
IN_PARTS: Final = {"shuffle": 1, "train_test_split": 2}
"""Functions of scikit-learn that give this many parts of each array that they are given."""
LOADED: Final = {
    **dict.fromkeys(
        ("load_breast_cancer", "load_digits", "load_iris", "load_wine"), NumberKind.INT
    ),
    **dict.fromkeys(("fetch_california_housing", "load_boston", "load_diabetes"), NumberKind.FLOAT),
}
"""Functions of ``sklearn.datasets``: the numbers in ``target``."""
DRAWN: Final = {
    **dict.fromkeys(("make_blobs", "make_circles", "make_classification"), NumberKind.INT),
    **dict.fromkeys(("make_gaussian_quantiles", "make_moons"), NumberKind.INT),
    "make_regression": NumberKind.FLOAT,
}
"""Functions of ``sklearn.datasets`` that give data and targets: the numbers in the second."""
LABELS: Final = {
    **dict.fromkeys(
        ("fashion_mnist", "imdb", "mnist", "reuters"), ArrayData(axes=1, numbers=NumberKind.INT)
    ),
    **dict.fromkeys(
        ("boston_housing", "california_housing"), ArrayData(axes=1, numbers=NumberKind.FLOAT)
    ),
    **dict.fromkeys(("cifar10", "cifar100"), ArrayData(axes=2, numbers=NumberKind.INT)),
}
"""Modules of ``keras.datasets``: the targets in each part of ``load_data()``."""


def observed_array(module: Module, bindings: Sequence[Binding]) -> ArrayData | None:
    """Return the array that a name with these bindings was seen to hold as the program ran."""
    seen = module.inference.observed(bindings) if bindings else None
    if seen is None or not seen.form:
        return None
    return ArrayData(ArrayForm(seen.form), seen.axes, _NUMBERS.get(seen.numbers))
