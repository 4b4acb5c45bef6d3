"""The table of TensorFlow's functions (KD503) speaks of those that the installed one has."""

import ast
import importlib
import inspect
import json
from pathlib import Path

import pytest

from kdoctor.engine import scan
from kdoctor.keras_api.returns import (
    NOT_TENSOR_FUNCTIONS,
    TENSOR_FUNCTIONS,
    TENSOR_LIST_FUNCTIONS,
)
from kdoctor.rules.idioms import _tensorflow
from kdoctor.rules.idioms._tensorflow import tensorflow_1
from kdoctor.rules.members import _tensorflow_tensors
from kdoctor.rules.names._backend import result_types
from tests.frameworks import tf

ROWS = {row.left: row for row in _tensorflow.REWRITES}
# Their keyword is positional only in the template: TensorFlow takes them by `*inputs`.
VARIADIC = {"tensorflow.einsum"}
MODULES = ("", "math", "nn", "linalg", "image")


def function(name):
    found = tf
    for part in name.removeprefix("tensorflow.").split("."):
        found = getattr(found, part)
    return found


def same_default(old, name, new):
    if new is inspect.Parameter.empty or old is inspect.Parameter.empty:
        return old is new
    if isinstance(new, tf.DType):
        return ast.literal_eval(old.node) == new.name
    written = ast.literal_eval(old.node)
    return written == new or (name == "keepdims" and not written and new is None)


@pytest.mark.frameworks
@pytest.mark.parametrize("left", ROWS)
def test_the_left_side_is_the_signature_of_tensorflow(left):
    pattern = ROWS[left].pattern
    if pattern.name in VARIADIC:
        return
    real = inspect.signature(function(pattern.name)).parameters
    assert list(pattern.parameters) == list(real)
    for name, parameter in pattern.parameters.items():
        assert same_default(parameter.default, name, real[name].default), name


def test_each_row_is_of_a_function_with_its_own_name():
    names = {row.pattern.name for row in _tensorflow.REWRITES}
    assert len(names) >= 60
    assert {_tensorflow.canonical(name) for name in names} == names


@pytest.mark.frameworks
def test_aliases_are_the_same_function_or_take_the_same_arguments():
    file = Path(_tensorflow.__file__).with_name("names.json")
    data = json.loads(file.read_text("utf-8"))
    assert len(data["refuses"]) > 400
    for alias, name in data["aliases"].items():
        if alias in data["gone"]:
            assert f"compat.v1.{alias}" in data["aliases"], alias
            continue
        one, other = function(alias), function(name)
        if one is other or name == "einsum":
            continue
        first = [each for each in inspect.signature(one).parameters if each != "layout"]
        second = [each for each in inspect.signature(other).parameters if each != "layout"]
        assert first[: len(second)] == second, alias


@pytest.mark.frameworks
def test_functions_that_make_tensors_of_tensors_exist_in_some_tensorflow():
    places = [getattr(tf, part) if part else tf for part in MODULES]
    places += [getattr(tf.compat.v1, part) if part else tf.compat.v1 for part in MODULES]
    for name in TENSOR_FUNCTIONS:
        assert any(hasattr(place, name) for place in places), name


@pytest.mark.frameworks
def test_functions_that_make_no_tensor_are_those_of_a_backend():
    import keras  # noqa: PLC0415
    from tf_keras.src import backend  # noqa: PLC0415

    old = {"placeholder", "is_variable", "get_variable_shape", "is_placeholder", "get_session"}
    old |= {"set_session"}
    for name in {*NOT_TENSOR_FUNCTIONS, *TENSOR_LIST_FUNCTIONS} - old:
        assert hasattr(backend, name) or hasattr(keras.ops, name) or hasattr(keras.backend, name)


@pytest.mark.frameworks
@pytest.mark.parametrize(
    "names",
    [
        result_types.FLOAT, result_types.BOOL, result_types.ELEMENTWISE, result_types.SAME_TYPE,
        result_types.EITHER_TYPE, result_types.NOT_NEGATIVE, result_types.REDUCING,
    ],
)  # fmt: skip
def test_what_is_known_of_results_is_known_of_functions_that_exist(names):
    import keras  # noqa: PLC0415
    from tf_keras.src import backend  # noqa: PLC0415

    places = [backend, keras.ops, keras.backend, tf, tf.math, tf.nn]
    for name in names:
        assert any(hasattr(place, name) for place in places), name


def samples():
    """Tensors of floats and integers, of either sign."""
    yield tf.constant([[-2.5, 0.5], [1.0, 3.0]])
    yield tf.constant([[-2, 0], [1, 3]])


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(result_types.NOT_NEGATIVE - {"epsilon"}))
def test_what_is_called_not_negative_is(name):
    from tf_keras.src import backend  # noqa: PLC0415

    result = getattr(backend, name)(next(samples()))
    assert float(tf.reduce_min(result)) >= 0


@pytest.mark.frameworks
@pytest.mark.parametrize(
    "name",
    sorted(
        result_types.SAME_TYPE
        & {
            *("abs", "square", "sum", "prod", "max", "min", "mean", "sign", "flatten", "transpose"),
            *("stop_gradient", "cumsum", "cumprod", "relu", "batch_flatten", "round", "identity"),
        }
    ),
)
def test_what_is_said_to_keep_the_type_does(name):
    from tf_keras.src import backend  # noqa: PLC0415

    for x in samples():
        if name == "round" and x.dtype.is_integer:
            continue
        assert getattr(backend, name)(x).dtype == x.dtype


@pytest.mark.frameworks
@pytest.mark.parametrize(
    "name",
    sorted(
        result_types.FLOAT
        & {
            *("exp", "log", "sqrt", "sin", "cos", "sigmoid", "softmax", "softplus", "softsign"),
            *("tanh", "elu", "std", "var", "logsumexp", "hard_sigmoid"),
        }
    ),
)
def test_what_is_said_to_give_floats_gives_no_integers(name):
    from tf_keras.src import backend  # noqa: PLC0415

    for x in samples():
        try:
            result = getattr(backend, name)(x)
        except (TypeError, ValueError, tf.errors.OpError):
            continue  # it takes no integers
        assert not result.dtype.is_integer


def lost():
    data = json.loads(Path(_tensorflow.__file__).with_name("names.json").read_text("utf-8"))
    return data["only_1"]


@pytest.mark.frameworks
def test_what_only_tensorflow_1_had_is_not_in_tensorflow():
    assert len(lost()) >= 600
    for name in lost():
        with pytest.raises(AttributeError):
            function(name)


def spelled_by_path(text):
    """Drop the directory of the version: an `import tensorflow.nn` anywhere in the process does."""
    return text.replace("._api.v2", "")


@pytest.mark.frameworks
@pytest.mark.parametrize("imported", [False, True])
def test_errors_name_what_is_lost_as_python_does(imported):
    if imported:
        importlib.import_module("tensorflow.saved_model")
    for name, renamed in lost().items():
        if name.startswith("python."):
            continue  # `tf` has no attribute `python`
        gone = _tensorflow.only_1(f"tensorflow.{name}")
        if renamed and gone.name != name:
            continue  # the module is gone, too
        with pytest.raises(AttributeError) as error:
            function(name)
        expected = f"module '{gone.parent}' has no attribute '{gone.leaf}'"
        assert spelled_by_path(str(error.value)) == spelled_by_path(expected)


@pytest.mark.frameworks
def test_errors_name_what_even_compat_v1_has_lost_as_python_does():
    pytest.importorskip("keras")
    for name in ("contrib", "estimator", "layers.dense", "nn.rnn_cell.LSTMCell"):
        gone = _tensorflow.only_1(f"tensorflow.compat.v1.{name}")
        with pytest.raises(AttributeError) as error:
            function(f"compat.v1.{name}")
        said = spelled_by_path(str(error.value))
        if gone.parent:
            parent = spelled_by_path(gone.parent)
            assert said == f"module '{parent}' has no attribute '{gone.leaf}'"
        else:
            assert said == f"`{gone.leaf}` is not available with Keras 3."
    assert _tensorflow.only_1("tensorflow.compat.v1.layers") is None
    assert _tensorflow.only_1("tensorflow.compat.v1.Session") is None


@pytest.mark.frameworks
@pytest.mark.parametrize(
    "imports",
    [
        "from tensorflow.python.estimator import estimator",
        "from tensorflow.python.estimator.inputs import numpy_io",
        "import tensorflow.python.estimator.keras as keras_estimator",
        "from tensorflow.python import estimator",
        "from tensorflow.estimator import estimator",
        "from tensorflow.compat.v1.estimator import estimator",
        "from tensorflow.compat.v1 import estimator",
        "from tensorflow import estimator",
        "from tensorflow.contrib import contrib",
        "from tensorflow import python\npython.estimator.Estimator",
        "import tensorflow as tf\ntf.python.estimator.Estimator",
    ],
)
def test_of_each_import_of_what_is_gone_the_error_is_that_of_python(imports):
    source = f"import keras\n\nkeras.Model\n{imports}\n".encode()
    (finding,) = scan(["-"], stdin=source, select=["KD506"]).findings
    assert scan(["-"], stdin=source, select=["KD506"], gate=False).findings == (finding,)
    with pytest.raises((ImportError, AttributeError)) as error:
        exec(source, {})  # noqa: S102 - Python's own words are wanted
    raised = f"{type(error.value).__name__}: {error.value}".partition(" (")[0]
    assert finding.message.endswith(f": {raised}")


def test_estimators_for_which_something_else_is_tried_are_left_alone():
    for module in ("tensorflow.python.estimator", "tensorflow_estimator"):
        source = (
            f"import keras\n\ntry:\n    from {module} import keras as made\n"
            "except ImportError:\n    from mine import made\n"
        )
        found = scan(["-"], stdin=source.encode(), select=["KD506", "KD704"]).findings
        assert not found, module


@pytest.mark.frameworks
def test_old_keywords_are_of_functions_that_do_not_take_them():
    data = json.loads(Path(_tensorflow.__file__).with_name("names.json").read_text("utf-8"))
    assert len(data["keywords"]) > 100
    for row, new in data["keywords"].items():
        name, _, keyword = row.rstrip(")").partition("(")
        taken, once = (
            inspect.signature(function(each)).parameters for each in (name, f"compat.v1.{name}")
        )
        assert keyword in once
        assert keyword not in taken
        assert not new or new in taken


@pytest.mark.frameworks
def test_new_names_are_of_the_very_same_object():
    assert len(_tensorflow.renames()) >= 150
    for old, new in _tensorflow.renames().items():
        assert function(f"compat.v1.{old}") is function(new), old


@pytest.mark.frameworks
def test_each_advice_is_for_something_lost():
    named = {*tensorflow_1.AT_ONCE, *tensorflow_1.CASTS, *tensorflow_1.SEEDS, *tensorflow_1.BY_NAME}
    assert {name for name in named if name not in lost()} == set()
    assert all(any(name.startswith(start) for name in lost()) for start in tensorflow_1.BY_PREFIX)
    for old, new in tensorflow_1.FILES.items():
        parameters = [
            len(inspect.signature(function(name)).parameters)
            for name in (f"compat.v1.{old}", f"io.{new}")
        ]
        assert parameters[0] == parameters[1], old


@pytest.mark.frameworks
def test_what_tells_a_ragged_tensor_it_alone_has():
    import keras  # noqa: PLC0415

    methods = _tensorflow_tensors.OF_RAGGED_TENSORS
    assert {name for name in methods if not hasattr(tf.RaggedTensor, name)} == set()
    assert methods.isdisjoint({*dir(keras.KerasTensor), *dir(tf.Tensor)})
