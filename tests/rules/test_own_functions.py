"""Functions of another file of the project that give TensorFlow the symbolic tensor they get."""

import pytest

from kdoctor.engine import fix, scan

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
        "def own(x):\n    if keep(x):\n        return x\n    return tf.sign(x)\n",
        "def own(x):\n    x = mine(x)\n    return tf.sign(x)\n",
        "def own(x):\n    return [tf.sign(x) for _ in range(0)]\n",
        "def own(x):\n    return keep(x)\n",
        "def own(x):\n    return tf.is_tensor(x)\n",
        "@tf.custom_gradient\ndef own(x):\n    return tf.sign(x)\n",
        "def own(y, x=None):\n    return tf.sign(x)\n",
        "def own(x):\n    return tf.sign(x)\n\n\ndef own(x):\n    return x\n",
    ],
)
def test_what_may_do_something_else_is_left_alone(project, function):
    assert not scan([project(function, f"{USE}y = maths.own(x)\n")], select=["KD503"]).findings


def test_values_are_left_alone(project):
    path = project("def own(x):\n    return tf.sign(x)\n", f"{USE}y = maths.own(tf.ones(3))\n")
    assert not scan([path], select=["KD503"]).findings


@pytest.mark.parametrize(("passed", "count"), [("maths.own", 1), ("maths.own, abs", 0)])
def test_a_function_that_pytest_passes_is_known(project, passed, count):
    use = f"import pytest\n{USE}\n\n@pytest.mark.parametrize('f', [{passed}])\ndef test(f):\n    f(x)\n"
    path = project("def own(x):\n    return tf.sign(x)\n", use)
    assert len(scan([path], select=["KD503"]).findings) == count
