"""How many axes an array has, and what numbers: what is read off the code is what it really is."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from kdoctor.analysis.tensors import constructors as makers
from kdoctor.analysis.tensors.constructors import LABELS, ArrayData, ArrayForm, NumberKind
from kdoctor.analysis.tensors.rank import ranks_of
from kdoctor.rules.behaviour._counted_steps import LOADED
from tests.analysis.conftest import asked_in
from tests.frameworks import keras

HEAD = "import numpy as np\n"
PANDAS = f"{HEAD}import pandas as pd\n\n"
FRAME = f"{PANDAS}df = pd.DataFrame({{'a': [1, 2, 3], 'b': [1.5, 2.5, 3.5]}})\n"
SKLEARN = f"{HEAD}from sklearn import datasets, model_selection, preprocessing, utils\n\n"
DRAWN = f"{SKLEARN}x, y = datasets.make_moons(n_samples=20)\n"
BOOL, INT, FLOAT = NumberKind.BOOL, NumberKind.INT, NumberKind.FLOAT
KINDS = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT}


def read_off(source):
    """Return what is known of the argument of the one `here(…)`."""
    module, asked = asked_in(source)
    return ranks_of(module).of(asked)


def really(source):
    """Return what `here(…)` is given when the code runs."""
    given = []
    exec(source, {"here": given.append})  # noqa: S102 - the code of the tests
    return given[-1]


NUMPY = [
    ("here(np.zeros(4))", 1, FLOAT),
    ("n = 4\nhere(np.zeros(n + 1, dtype=int))", 1, INT),
    ("here(np.ones((4, 1)))", 2, FLOAT),
    ("x = np.ones((4, 3))\nhere(np.zeros(x.shape[0], dtype='uint8'))", 1, INT),
    ("here(np.full(3, 1.5))", 1, FLOAT),
    ("here(np.full(3, fill_value=2))", 1, INT),
    ("here(np.full((3, 1), True))", 2, BOOL),
    ("here(np.random.randint(2, size=9))", 1, INT),
    ("here(np.random.randint(0, 2, (9, 1)))", 2, INT),
    ("here(np.random.rand(9))", 1, FLOAT),
    ("here(np.random.randn(9, 2))", 2, FLOAT),
    ("here(np.random.random((9, 1)))", 2, FLOAT),
    ("here(np.random.normal(0, 1, 9))", 1, FLOAT),
    ("here(np.arange(5))", 1, INT),
    ("here(np.arange(0.0, 5.0))", 1, FLOAT),
    ("here(np.linspace(0, 1, 5))", 1, FLOAT),
    ("here(np.array([0, 1, 1]))", 1, INT),
    ("here(np.array([0, 1, 1], dtype=np.float32))", 1, FLOAT),
    ("here(np.array([[0.5], [1.5]]))", 2, FLOAT),
    ("here(np.array([0, 1.5]))", 1, None),
    ("here(np.asarray([0] * 5 + [1] * 5))", 1, INT),
    ("here(np.array([1 if each else 0 for each in 'ab']))", 1, INT),
    ("y = []\nfor i, each in enumerate('ab'):\n    y.append(i)\nhere(np.array(y))", 1, INT),
    ("y = [0.5]\nfor each in 'ab':\n    y.append(float(1))\nhere(np.array(y))", 1, FLOAT),
    ("here(np.concatenate([np.zeros(3), np.ones(3)]))", 1, FLOAT),
    ("here(np.hstack((np.zeros(3), np.arange(3))))", 1, None),
    ("here(np.expand_dims(np.zeros(3), -1))", 2, FLOAT),
    ("here(np.reshape(np.arange(4), (-1, 1)))", 2, INT),
    ("here(np.reshape(np.arange(4), -1))", 1, INT),
    ("here(np.ones((4, 1)).ravel())", 1, FLOAT),
    ("here(np.ones((4, 1)).reshape(4))", 1, FLOAT),
    ("here(np.arange(4).reshape(-1, 1))", 2, INT),
    ("here(np.arange(4).reshape((2, 2)))", 2, INT),
    ("here(np.arange(4).astype('float32'))", 1, FLOAT),
    ("here(np.arange(4).astype(np.uint8))", 1, INT),
    ("here(np.zeros_like(np.arange(4)))", 1, INT),
    ("here(np.log1p(np.arange(4)))", 1, FLOAT),
    ("here(np.where(np.arange(4) > 2, 1, 0))", 1, INT),
    ("here(np.arange(4) == 2)", 1, BOOL),
    ("here((np.arange(4) % 2 == 0).astype(int))", 1, INT),
    ("here(np.arange(4) / 2)", 1, FLOAT),
    ("here(np.arange(4) / np.arange(4))", 1, FLOAT),
    ("here((np.arange(4) > 2) * 1)", 1, INT),
    ("here((np.arange(4) > 2) & (np.arange(4) > 1))", 1, None),
    ("here(np.clip(np.arange(4), 0.5, 1.5))", 1, None),
    ("here(np.clip(np.arange(4), 0, 1))", 1, None),
    ("here(np.arange(4) * 2 - 1)", 1, INT),
    ("here(np.ones((4, 3))[:, 2])", 1, FLOAT),
    ("here(np.ones((4, 3))[:, 2:])", 2, FLOAT),
    ("here(np.ones((4, 3))[1])", 1, FLOAT),
    ("here(np.arange(4)[:, None])", 2, INT),
    ("here(np.arange(4)[:, np.newaxis])", 2, INT),
    ("here(np.arange(4)[:3])", 1, INT),
    ("y = np.arange(4)\nhere(y[y > 1])", 1, INT),
    (
        "order = np.random.permutation(np.arange(4))\nhere(np.arange(4).copy()[np.arange(2)])",
        1,
        INT,
    ),
    ("a, (b, c) = np.ones(2), (np.ones((2, 2)), np.arange(3))\nhere(c)", 1, INT),
    ("def made():\n    return np.ones((2, 2)), np.arange(3)\nx, y = made()\nhere(y)", 1, INT),
    ("def f(x, y):\n    here(y)\nf(0, y=np.arange(3))", 1, INT),
    ("y = np.arange(3) if np.pi else 0\ny = np.ones(3)\nhere(y)", 1, FLOAT),
    ("y = np.ones(3)\ny /= 2\ny -= 1\nhere(y)", 1, FLOAT),
    (
        "class C:\n    def f(self):\n        self.y = np.arange(3)\n        here(self.y)\nC().f()",
        1,
        INT,
    ),
]
OF_PANDAS = [
    ("here(df['a'])", ArrayData(ArrayForm.COLUMN, 1)),
    ("name = 'a'\nhere(df[name])", ArrayData(ArrayForm.COLUMN, 1)),
    ("here(df[['a']])", ArrayData(ArrayForm.FRAME, 2)),
    ("here(df['a'].values)", ArrayData(axes=1)),
    ("here(df.a.values)", ArrayData(axes=1)),
    ("here(df.a.to_numpy())", ArrayData(axes=1)),
    ("here(df.values)", ArrayData(axes=2)),
    ("here(df.values[:, -1])", ArrayData(axes=1)),
    ("here(df.iloc[:, 1])", ArrayData(ArrayForm.COLUMN, 1)),
    ("here(df.iloc[:, 1].values)", ArrayData(axes=1)),
    ("here(df.iloc[:, :1].values)", ArrayData(axes=2)),
    ("here(df.loc[:, 'a'])", ArrayData(ArrayForm.COLUMN, 1)),
    ("here(df[df['a'] > 1]['b'])", ArrayData(ArrayForm.COLUMN, 1)),
    ("here(df.drop('a', axis=1).values)", ArrayData(axes=2)),
    ("here(df.pop('a').values)", ArrayData(axes=1)),
    ("here(np.array(df['a']))", ArrayData(axes=1)),
    ("here(df['a'].astype(int))", ArrayData(ArrayForm.COLUMN, 1, INT)),
    ("y = df['a'].astype(int)\ny /= 2\nhere(y)", ArrayData(ArrayForm.COLUMN, 1)),
    ("here(df['a'].astype(int).clip(0.5, 1.5))", ArrayData(ArrayForm.COLUMN, 1)),
    ("here(df['a'].map({1: 0.5}).values)", ArrayData(axes=1)),
    ("here((df['a'] > 1).astype('int').values)", ArrayData(axes=1, numbers=INT)),
    ("here(np.log1p(df['b'].values))", ArrayData(axes=1, numbers=FLOAT)),
    ("here(df['a'].reset_index())", ArrayData(ArrayForm.FRAME, 2)),
    ("here(pd.get_dummies(df['a']).values)", ArrayData(axes=2)),
    ("here(df.sample(frac=1.0).reset_index(drop=True)['a'])", ArrayData(ArrayForm.COLUMN, 1)),
]
OF_SKLEARN = [
    ("here(y)", ArrayData(axes=1, numbers=INT)),
    ("here(datasets.make_regression()[1])", None),  # by an index: not followed
    ("here(datasets.load_iris().target)", ArrayData(axes=1, numbers=INT)),
    ("data = datasets.load_diabetes()\nhere(data.target)", ArrayData(axes=1, numbers=FLOAT)),
    (
        "_, targets = datasets.load_iris(return_X_y=True)\nhere(targets)",
        ArrayData(axes=1, numbers=INT),
    ),
    (
        "a, b, c, d = model_selection.train_test_split(x, y)\nhere(d)",
        ArrayData(axes=1, numbers=INT),
    ),
    ("a, b = utils.shuffle(x, y.reshape(-1, 1))\nhere(b)", ArrayData(axes=2, numbers=INT)),
    (
        "coder = preprocessing.LabelEncoder()\nhere(coder.fit_transform(['a', 'b']))",
        ArrayData(axes=1, numbers=INT),
    ),
    (
        "coder = preprocessing.LabelBinarizer().fit(['a'])\nhere(coder.fit_transform(['a', 'b']))",
        ArrayData(axes=2, numbers=INT),
    ),
    (
        "here(preprocessing.StandardScaler().fit_transform(x)[:, 0])",
        ArrayData(axes=1, numbers=FLOAT),
    ),
    (
        "for train, test in model_selection.StratifiedKFold(2).split(x, y):\n    here(y[train])",
        ArrayData(axes=1, numbers=INT),
    ),
]
NOT_KNOWN = [
    # As long as it likes, and never at an end.
    f"here(np.array({' + '.join(['[1]'] * 400)}))",
    f"here(np.zeros({' + '.join(['n'] * 400)}))",
    f"here(np.ones((2, 2))[{' + '.join(['n'] * 400)}])",
    f"here({' + '.join(['np.ones(2)'] * 400)})",
    "while more():\n    y = y + [1]\nhere(np.array(y))",
    "while more():\n    y = y + np.ones(3)\nhere(y)",
    "here(np.load('y.npy'))",
    "here(y)",
    "from data import y\nhere(y)",
    "def f(y):\n    here(y)",
    "def f(y):\n    here(y)\nf(np.ones(3))\nf(load())",
    "here(np.zeros(shape))",
    "here(np.array(rows))",
    "here(np.array([read(each) for each in names]))",
    "y = []\nfor each in rows:\n    y.append(each)\nhere(np.array(y))",
    "y = []\nfill(y)\ny.append(1)\nhere(np.array(y))",
    "y = []\ny.extend(more)\ny.append(1)\nhere(np.array(y))",
    "here(np.arange(4)[at])",
    "here(np.arange(4)[0])",
    "here(np.arange(4) * weights)",
    "here(np.arange(4) @ np.arange(4))",
    "here(np.arange(4) == rows)",
    "here(np.squeeze(np.ones((4, 1))))",
    "here(np.ones((4, 1)).T)",
    "here(np.reshape(np.ones(4), shape))",
    "y = np.ones(3)\nif deep:\n    y = load()\nhere(y)",
    "import pandas as pd\nhere(pd.read_csv('a.csv', chunksize=3)['y'].values)",
    "import pandas as pd\nhere(pd.read_csv('a.csv').T.values)",
    "import pandas as pd\nhere(pd.read_csv('a.csv')[columns].values)",
    "from sklearn.datasets import load_iris\nhere(load_iris(as_frame=True).target)",
    "from sklearn.model_selection import train_test_split\nhere(train_test_split(np.ones(3)))",
    "from mine import LabelEncoder\nhere(LabelEncoder().fit_transform(x))",
]


@pytest.mark.parametrize(("code", "axes", "numbers"), NUMPY)
def test_what_is_read_off_is_what_numpy_makes(code, axes, numbers):
    assert read_off(HEAD + code) == ArrayData(axes=axes, numbers=numbers)
    array = really(HEAD + code)
    assert array.ndim == axes
    assert numbers in {None, KINDS[array.dtype.kind]}


@pytest.mark.parametrize(
    ("head", "code", "data"),
    [
        *((FRAME, *each) for each in OF_PANDAS),
        *((DRAWN, *each) for each in OF_SKLEARN),
    ],
)
def test_what_is_read_off_of_other_libraries(head, code, data):
    assert read_off(head + code) == data


@pytest.mark.parametrize(("code", "data"), OF_PANDAS)
def test_pandas_makes_what_is_read_off(code, data):
    made = really(FRAME + code)
    forms = {
        np.ndarray: ArrayForm.ARRAY,
        pd.Series: ArrayForm.COLUMN,
        pd.DataFrame: ArrayForm.FRAME,
    }
    assert (forms[type(made)], made.ndim) == (data.form, data.axes)
    kind = getattr(made, "dtype", np.dtype("O")).kind
    assert data.numbers in {None, KINDS.get(kind)}


@pytest.mark.parametrize(("code", "data"), OF_SKLEARN)
def test_scikit_learn_makes_what_is_read_off(code, data):
    made = really(DRAWN + code)
    if data is not None:
        assert (made.ndim, KINDS[made.dtype.kind]) == (data.axes, data.numbers)


def entry(head, code):
    return pytest.param(head, f"here({code})", id=code)


# What each entry wants, where one array is not enough.
OF_NUMPY = {
    "full": "(3, 2)", "bincount": "([0, 1])", "flatnonzero": "([0, 1])", "linspace": "(0, 1, 4)",
    "random.binomial": "(1, 0.5, size=4)", "random.choice": "([1, 2], size=4)",
    "random.randint": "(0, 2, size=4)", "roll": "(np.arange(1, 4), 1)", "arange": "(4)",
    "ravel": "(np.arange(1, 4))",
}  # fmt: skip
OF_A_METHOD = {
    "clip": "(1, 2)", "drop": "('a', axis=1)", "fillna": "(0)", "map": "({1: 0.5})",
    "query": "('a > 1')", "reset_index": "(drop=True)", "rename": "(columns={'a': 'c'})", "replace": "(1, 0.5)",
    "sort_values": "('a')",
}  # fmt: skip
ENTRIES = [
    *(entry(HEAD, f"np.{name}{OF_NUMPY.get(name, '(4)')}") for name in makers.OF_A_SHAPE),
    *(entry(HEAD, f"np.{name}{OF_NUMPY.get(name, '(size=4)')}") for name in makers.OF_A_SIZE),
    *(entry(HEAD, f"np.{name}(4, 2)") for name in sorted(makers.OF_EACH_AXIS)),
    *(entry(HEAD, f"np.{name}{OF_NUMPY[name]}") for name in makers.FLAT),
    *(entry(HEAD, f"np.{name}([[1, 2]])") for name in sorted(makers.CONVERTING)),
    *(entry(HEAD, f"np.{name}((np.arange(3), np.arange(3)))") for name in sorted(makers.JOINING)),
    *(
        entry(HEAD, f"np.{name}{OF_NUMPY.get(name, f'({array})')}")
        for name in makers.ELEMENTWISE
        for array in ("np.arange(1, 4)", "np.ones((2, 2))")
    ),
    *(entry(FRAME, f"df['a']{of}.{name}{OF_A_METHOD.get(name, '()')}")
      for name in sorted(makers.SAME) for of in ("", ".astype(int)")),
    *(entry(FRAME, f"df.{name}{OF_A_METHOD.get(name, '()')}") for name in sorted(makers.OF_A_FRAME)),
    *(entry(SKLEARN, f"preprocessing.{name}().fit_transform({data})")
      for name in makers.ENCODERS
      for data in ("np.ones((2, 1))" if name.endswith("Scaler") else "['a', 'b', 'c']",)),
    *(entry(SKLEARN, f"datasets.{name}().target") for name in makers.LOADED
      if name.startswith("load_") and name != "load_boston"),
]  # fmt: skip


@pytest.mark.parametrize(("head", "code"), ENTRIES)
def test_each_entry_is_what_its_library_makes(head, code):
    found, made = read_off(head + code), really(head + code)
    forms = {
        np.ndarray: ArrayForm.ARRAY,
        pd.Series: ArrayForm.COLUMN,
        pd.DataFrame: ArrayForm.FRAME,
    }
    assert (found.form, found.axes) == (forms[type(made)], made.ndim)
    kind = getattr(made, "dtype", np.dtype("O")).kind
    assert found.numbers in {None, KINDS.get(kind)}


@pytest.mark.parametrize("name", makers.DRAWN)
def test_each_function_that_draws_gives_such_targets(name):
    code = f"{SKLEARN}x, y = datasets.{name}()\nhere(y)"
    found, made = read_off(code), really(code)
    assert (found.axes, found.numbers) == (made.ndim, KINDS[made.dtype.kind])


@pytest.mark.frameworks
@pytest.mark.parametrize(("name", "count"), LOADED.items())
def test_keras_says_how_many_samples_its_datasets_have(name, count):
    told = getattr(keras.datasets, name).load_data.__doc__
    (of_training,) = set(re.findall(r"`\((\d+), 1\)` for the training|`\((\d+),\)` for", told)[:1])
    assert str(count) in of_training


@pytest.mark.parametrize("code", NOT_KNOWN)
def test_what_the_file_does_not_show_is_not_known(code):
    found = read_off(HEAD + code)
    assert found is None or found.axes is None


@pytest.mark.frameworks
@pytest.mark.parametrize(("name", "data"), LABELS.items())
def test_keras_says_of_its_datasets_what_is_read_off(name, data):
    told = getattr(keras.datasets, name).load_data.__doc__
    of_targets = told.split("y_train", 2)[2].split("x_test")[0]
    if "lists of integer" in of_targets:  # arrays, by what is downloaded
        assert data == ArrayData(axes=1, numbers=INT)
    else:
        assert ("integers" in of_targets) == (data.numbers is INT)
        assert ("1)`" in of_targets) == (data.axes == 2)
    source = f"import keras\n\n(_, y), _ = keras.datasets.{name}.load_data()\nhere(y)"
    assert read_off(source) == data
