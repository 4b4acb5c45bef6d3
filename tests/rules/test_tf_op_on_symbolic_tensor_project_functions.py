"""Functions of another file of the project that give TensorFlow the symbolic tensor they get."""

import numpy as np
import pytest

from kdoctor.engine import fix, scan
from kdoctor.model import Severity
from kdoctor.rules.behaviour.variable_is_cast import FLOAT64
from kdoctor.syntax.package import KEEP_THE_TYPE

USE = "import tensorflow as tf\nfrom pkg import maths\n\nx = tf.keras.Input((4,))\n"


@pytest.fixture
def project(tmp_path):
    def write(function, use):
        (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
        (tmp_path / "pkg").mkdir(exist_ok=True)
        (tmp_path / "pkg/__init__.py").write_text("from pkg.maths import own\n")
        (tmp_path / "pkg/maths.py").write_text(f"import tensorflow as tf\n\n\n{function}")
        (tmp_path / "use.py").write_text(use)
        return str(tmp_path / "use.py")

    return write


@pytest.mark.parametrize(
    "function",
    [
        "def own(x):\n    return tf.sign(tf.sign(x) + 0.1)\n",
        "@register_custom\ndef own(x, alpha=0.2):\n    'Text.'\n    y = tf.nn.relu(x)\n    return y\n",
    ],
)
@pytest.mark.parametrize("name", ["maths.own", "own"])
def test_a_call_with_a_symbolic_tensor_is_reported_and_becomes_a_layer(project, function, name):
    used = USE if "." in name else USE.replace("maths", "own")
    path = project(function, f"{used}y = {name}(x)\n")

    (finding,) = scan([path], select=["KD503"]).findings
    changed = fix([path], select=["KD503"], unsafe=True).files

    assert finding.place.line == 5
    assert "A KerasTensor cannot be used" in finding.message
    assert f"y = tf.keras.layers.Lambda({name})(x)\n".encode() in changed[0].after


@pytest.mark.parametrize(
    "function",
    [
        "def own(x):\n    y = x * 2\n    return tf.sign(-y[0])\n",
        "def own(x, up=True):\n    if up:\n        return tf.math.ceil(x)\n    return tf.floor(x)\n",
        "def own(x, up=True):\n    if up:\n        x = 2 * x\n    else:\n        x = -x\n    tf.sign(x)\n",
        "def own(x):\n    if bad:\n        raise ValueError\n    return tf.sign(x)\n",
        "def own(x):\n    return inner(x + 1)\n\n\ndef inner(t):\n    return tf.sign(t)\n",
        "def own(x):\n    x = tf.keras.backend.abs(x)\n    return tf.concat([x, x], 0)\n",
    ],
)
def test_whichever_branch_is_taken_it_is_handed_on(project, function):
    (finding,) = scan([project(function, f"{USE}y = maths.own(x)\n")], select=["KD503"]).findings
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(
    "function",
    [
        "def own(x):\n    if keep:\n        return x\n    return tf.sign(x)\n",
        "def own(x):\n    return [tf.sign(x) for _ in range(0)]\n",
        "def own(x):\n    return x if keep else tf.sign(x)\n",
        "def own(x):\n    for _ in range(2):\n        x = tf.sign(x)\n    return x\n",
    ],
)
def test_what_only_some_branch_hands_on_is_no_error(project, function):
    path = project(function, f"{USE}y = maths.own(x)\n")

    (finding,) = scan([path], select=["KD503"]).findings

    assert finding.severity is Severity.LEGACY
    assert "may pass its symbolic tensor" in finding.message


@pytest.mark.parametrize(
    "function",
    [
        "def own(x):\n    x = mine(x)\n    return tf.sign(x)\n",
        "def own(x):\n    return keep(x)\n",
        "def own(x):\n    return tf.is_tensor(x)\n",
        "def own(x):\n    if tf.is_tensor(x):\n        return tf.sign(x)\n    return keep(x)\n",
        "def own(x):\n    try:\n        return tf.sign(x)\n    except ValueError:\n        return x\n",
        "@tf.custom_gradient\ndef own(x):\n    return tf.sign(x)\n",
        "def own(y, x=None):\n    return tf.sign(x)\n",
        "def own(x):\n    return tf.sign(x)\n\n\ndef own(x):\n    return x\n",
    ],
)
def test_what_may_do_something_else_is_left_alone(project, function):
    assert not scan([project(function, f"{USE}y = maths.own(x)\n")], select=["KD503"]).findings


@pytest.mark.parametrize(
    ("use", "fixed"),
    [
        ("y = maths.Own(2)(x)\n", "y = tf.keras.layers.Lambda(maths.Own(2))(x)\n"),
        ("q = maths.Own(2)\ny = q(x)\n", "y = tf.keras.layers.Lambda(q)(x)\n"),
        ("y = maths.Of(2)(x)\n", "y = tf.keras.layers.Lambda(maths.Of(2))(x)\n"),
    ],
)
def test_what_an_object_of_the_project_is_called_with_becomes_a_layer(project, use, fixed):
    own = (
        "class Own(tf.Module):\n    def __init__(self, n):\n        self.n = n\n\n"
        "    def __call__(self, x):\n        return self._all(x * self.n)\n\n"
        "    def _all(self, x):\n        return tf.reduce_sum(x)\n\n\nclass Of(Own):\n    pass\n"
    )
    path = project(own, f"{USE}{use}")

    changed = fix([path], select=["KD503"], unsafe=True).files

    assert fixed.encode() in changed[0].after


@pytest.mark.parametrize(
    ("function", "count"),
    [
        ("def own(x):\n    return tf.sign(x) + tf.keras.layers.Dense(2)(x)\n", 1),
        ("def own(x, layer=None):\n    return layer(tf.sign(x)) + layer(x)\n", 1),
        ("def own(x):\n    if odd:\n        return tf.sign(x)\n    return Dense(2)(x)\n", 0),
        ("def own(x):\n    y = Dense(2)(mine(x))\n    return tf.sign(x) + y\n", 1),
        (
            "def own(x):\n    return tf.sign(x) + inner(x)\n\n\ndef inner(t):\n    return Dense(2)(t)\n",
            1,
        ),
    ],
)
def test_a_function_that_may_call_layers_becomes_none_itself(project, function, count):
    path = project(function, f"{USE}y = maths.own(x)\n")

    findings = scan([path], select=["KD503"]).findings

    assert [each.no_fix_because for each in findings] == [
        "it may call layers, whose weights a `Lambda` layer would not keep"
    ] * count


def test_an_object_that_may_have_layers_becomes_no_layer(project):
    own = (
        "class Own:\n    def __init__(self):\n        self.dense = tf.keras.layers.Dense(2)\n\n"
        "    def __call__(self, x):\n        return tf.sign(x) + self.dense(x)\n"
    )
    (finding,) = scan([project(own, f"{USE}y = maths.Own()(x)\n")], select=["KD503"]).findings
    assert finding.fix is None


def test_a_class_that_is_made_with_a_tensor_is_not_called_with_it(project):
    own = "class Own:\n    def __call__(self, x):\n        return tf.sign(x)\n"
    assert not scan([project(own, f"{USE}y = maths.Own(x)\n")], select=["KD503"]).findings


def test_several_tensors_come_as_a_list_to_the_layer(project):
    own = "def own(x, y):\n    return tf.stack([x, y])\n"
    path = project(own, f"{USE}y = maths.own(x, x)\nz = maths.own(x, y=x)\n")

    changed = fix([path], select=["KD503"], unsafe=True).files

    made = "y = tf.keras.layers.Lambda(lambda tensors: maths.own(*tensors))([x, x])\n"
    assert f"{made}z = maths.own(x, y=x)\n".encode() in changed[0].after


def test_values_are_left_alone(project):
    path = project("def own(x):\n    return tf.sign(x)\n", f"{USE}y = maths.own(tf.ones(3))\n")
    assert not scan([path], select=["KD503"]).findings


@pytest.mark.parametrize(("passed", "count"), [("maths.own", 1), ("maths.own, abs", 0)])
def test_a_function_that_pytest_passes_is_known(project, passed, count):
    use = f"import pytest\n{USE}\n\n@pytest.mark.parametrize('f', [{passed}])\ndef test(f):\n    f(x)\n"
    path = project("def own(x):\n    return tf.sign(x)\n", use)
    assert len(scan([path], select=["KD503"]).findings) == count


LAYER = (
    "import numpy as np\nimport tensorflow as tf\nfrom pkg import maths\n\n\n"
    "class Mine(tf.keras.layers.Layer):\n    def call(self, x):\n        return x * 2\n\n\n"
)


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (
            "def own():\n    a = np.random.uniform(size=3)\n    a = np.insert(a, 1, 0)\n    return a\n",
            1,
        ),
        ("def own():\n    return np.ones(3)\n", 1),
        ("def own():\n    return np.ones(3, dtype='float32')\n", 0),
        ("def own():\n    a = np.ones(3)\n    a = mine(a)\n    return a\n", 0),
        ("def own():\n    if tired:\n        return 0\n    return np.ones(3)\n", 0),
        ("def own():\n    a = np.ones(3)\n    if odd:\n        a = 1\n    return a\n", 0),
    ],
)
def test_what_a_function_of_the_project_returns_makes_a_variable_float64(project, function, count):
    path = project(f"import numpy as np\n{function}", f"{LAYER}Mine()(tf.Variable(maths.own()))\n")
    assert len(scan([path], select=["KD432"]).findings) == count


def test_the_functions_that_are_said_to_return_float64_do():
    for module, names in FLOAT64.items():
        for name in names:
            function = getattr(np.random if "." in module else np, name)
            needed = {"beta": (2, 3), "linspace": (0, 1)}.get(name, (3,))
            assert np.asarray(function(*needed)).dtype == "float64", name


def test_the_functions_that_are_said_to_keep_the_type_do():
    array = np.ones((2, 3), "float32")
    more = {"insert": (0, 0), "reshape": (6,), "tile": (2,)}
    for name in KEEP_THE_TYPE:
        assert getattr(np, name)(array, *more.get(name, ())).dtype == "float32", name
