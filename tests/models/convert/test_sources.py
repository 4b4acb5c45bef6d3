"""Which function of a source a `Lambda` of a file has is told, or it is refused; nothing is run."""

import base64
import json
import marshal

import pytest

from kdoctor.errors import FileProblem
from kdoctor.models import Fault
from kdoctor.models.convert import Lambdas, convert, write_code
from tests.models.convert.made import TARGET, config_in, hdf5, input_layer, layer, sequential

CANARY = "open('canary', 'w').close()\n"


def bytecode(text):
    """Return a function as Keras 2 writes it, compiled from a text."""
    function = eval(text)  # noqa: S307 - of this file
    code = base64.encodebytes(marshal.dumps(function.__code__)).decode()
    return [code, list(function.__defaults__ or ()) or None, None]


def closed_over(**values):
    (name,) = values
    made = eval(f"(lambda {name}: lambda x: x * {name})({values[name]!r})")  # noqa: S307
    code = base64.encodebytes(marshal.dumps(made.__code__)).decode()
    return [code, None, list(values.values())]


def model(*functions, names=()):
    names = names or [f"lambda_{number}" for number in range(len(functions))]
    layers = [
        layer("Lambda", name, function=each, function_type="lambda")
        for name, each in zip(names, functions, strict=True)
    ]
    return sequential(input_layer(), *layers)


def converted(tmp_path, source, old, code=""):
    """Convert a model with the source of its functions."""
    path = tmp_path / "train.py"
    path.write_text(source, encoding="utf-8")
    lambdas = Lambdas([str(path)], code)
    file = hdf5(tmp_path / "old.h5", old)
    return convert(file, tmp_path / "new.keras", TARGET, lambdas=lambdas, force=True)


def operations(tmp_path):
    layers = config_in(tmp_path / "new.keras")["config"]["layers"]
    return [
        (each["class_name"], node["args"][1:])
        for each in layers[1:]
        for node in each["inbound_nodes"]
    ]


def test_a_lambda_becomes_what_its_source_says_and_the_source_is_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = f"{CANARY}SCALE = 3.0\nmodel = Lambda(lambda x: x * SCALE - 1, name='lambda_0')\n"
    made = converted(tmp_path, source, model(bytecode("lambda x: x * SCALE - 1")))
    assert made.refusals == ()
    assert operations(tmp_path) == [("Multiply", [3.0]), ("Subtract", [1])]
    assert any("train.py:3" in each.text and "`multiply`" in each.text for each in made.changes)
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize(
    "source",
    [
        "Lambda(lambda x: x * 3.0)",  # another number
        "Lambda(lambda x: x + 2.0)",  # another operator
        "Lambda(lambda y: y * 2.0)",  # another argument
        "Lambda(lambda x: x * 2.0 + z)",  # another name
        "Lambda(lambda x, by=2.0: x * by)",
        "Lambda(lambda x: x * 2.0, name='other')",
        "Other(lambda x: x * 2.0)",
        "",
    ],
)
def test_another_source_is_refused(tmp_path, source):
    (refusal,) = converted(tmp_path, source, model(bytecode("lambda x: x * 2.0"))).refusals
    assert refusal.fault is Fault.LAMBDA
    assert "another source" in refusal.cause


def test_a_default_in_the_file_tells_the_function(tmp_path):
    source = "Lambda(lambda x, by=2.0: x * by)\nLambda(lambda x, by=4.0: x * by)\n"
    assert converted(tmp_path, source, model(bytecode("lambda x, by=4.0: x * by"))).is_written
    assert operations(tmp_path) == [("Multiply", [4.0])]


def test_functions_that_are_alike_are_told_by_the_names_of_their_layers(tmp_path):
    source = (
        "import tensorflow as tf\n"
        "Lambda(lambda x: x[0] * tf.abs(x[1]), name='b')\n"
        "Lambda(lambda x: x[1] * tf.abs(x[0]), name='a')\n"
    )
    functions = [bytecode("lambda x: x[1] * tf.abs(x[0])"), bytecode("lambda x: x[0]*tf.abs(x[1])")]
    assert converted(tmp_path, source, model(*functions, names=("a", "b"))).is_written
    items = [args for name, args in operations(tmp_path) if name == "GetItem"]
    assert items == [[[1]], [[0]], [[0]], [[1]]]


def recorded(number):
    """Return `lambda x: x * 2.0`, `x + 2.0` or `tf.abs(x[:, 1])` of line 7, as Python 3.8 has it."""
    return [RECORDED[number], None, None]


RECORDED = (
    (
        "4wEAAAAAAAAAAAAAAAEAAAACAAAAQwAAAHMIAAAAfABkARQAUwApAk5nAAAAAAAAAECpACkB2gF4cgEA"
        "AAByAQAAANoIPHN0cmluZz7aCDxsYW1iZGE+BwAAAPMAAAAA"
    ),
    (
        "4wEAAAAAAAAAAAAAAAEAAAACAAAAQwAAAHMIAAAAfABkARcAUwApAk5nAAAAAAAAAECpACkB2gF4cgEA"
        "AAByAQAAANoIPHN0cmluZz7aCDxsYW1iZGE+BwAAAPMAAAAA"
    ),
    (
        "4wEAAAAAAAAAAAAAAAEAAAAFAAAAQwAAAHMWAAAAdACgAXwAZABkAIUCZAFmAhkAoQFTACkCTukBAAAA"
        "KQJaAnRm2gNhYnMpAdoBeKkAcgQAAADaCDxzdHJpbmc+2gg8bGFtYmRhPgcAAADzAAAAAA=="
    ),
)


@pytest.mark.parametrize("number", [0, 1])
def test_bytecode_of_another_python_is_told_by_its_operator(tmp_path, number):
    source = "Lambda(lambda x: x + 2.0)\nLambda(lambda x: x * 2.0)\n"
    assert converted(tmp_path, source, model(recorded(number))).is_written
    assert operations(tmp_path) == [(("Multiply", "Add")[number], [2.0])]


def test_two_that_cannot_be_told_apart_are_refused_with_both_places(tmp_path):
    source = "Lambda(lambda x: tf.abs(x)[:, 1])\n\nLambda(lambda x: tf.abs(x[:, 1]))\n"
    (refusal,) = converted(tmp_path, source, model(recorded(2))).refusals
    assert "train.py:1, " in refusal.cause
    assert "train.py:3" in refusal.cause


def test_they_are_told_by_their_order_where_all_are_there(tmp_path):
    source = "import tensorflow as tf\nLambda(lambda x: x + 2.0)\n"
    source += "Lambda(lambda x: tf.abs(x)[:, 1])\n"
    source += "Lambda(lambda x: tf.abs(x[:, 1]))\n"
    old = model(recorded(1), recorded(2), recorded(2))
    assert converted(tmp_path, source, old).is_written
    found = [name for name, _ in operations(tmp_path)]
    assert found == ["Add", "Absolute", "GetItem", "GetItem", "Absolute"]


def test_a_variable_of_a_function_around_it_has_the_value_in_the_file(tmp_path):
    source = "def make(rate):\n    return Lambda(lambda x: x * rate)\n"
    assert converted(tmp_path, source, model(closed_over(rate=0.25))).is_written
    assert operations(tmp_path) == [("Multiply", [0.25])]


ADDED = """
import tensorflow as tf
from math import tau
LIMIT = 2
def helper(x):
    return tf.where(x > LIMIT, x, tau)
def own(x):
    return helper(x)
model = Lambda(own)
"""


def own_function():
    made = {}
    exec(ADDED.replace("import tensorflow as tf", "").partition("model")[0], made)  # noqa: S102
    code = base64.encodebytes(marshal.dumps(made["own"].__code__)).decode()
    return [code, None, None]


def test_another_function_is_written_into_the_code_with_what_it_needs(tmp_path):
    code = tmp_path / "code.py"
    made = converted(tmp_path, ADDED, model(own_function()), str(code))
    assert [each.subject for each in made.needed] == ["kdoctor>own"]
    assert "code.py" in made.needed[0].cure
    function = config_in(tmp_path / "new.keras")["config"]["layers"][1]["config"]["function"]
    assert function["config"] == "kdoctor>own"
    lambdas = Lambdas([str(tmp_path / "train.py")], str(code))
    write_code(tmp_path / "old.h5", code, TARGET, lambdas=lambdas)
    text = code.read_text()
    for line in ("import tensorflow as tf", "from math import tau", "LIMIT = 2"):
        assert line in text.splitlines()
    assert '@keras.saving.register_keras_serializable("kdoctor")\ndef own(x):' in text
    assert text.index("LIMIT") < text.index("def helper") < text.index("def own")


def test_without_code_it_is_said_that_there_must_be_some(tmp_path):
    (refusal,) = converted(tmp_path, ADDED, model(own_function())).refusals
    assert "--code" in refusal.cure
    assert "train.py:7" in refusal.cause


def test_a_function_that_needs_what_is_not_there_is_refused(tmp_path):
    source = "def make():\n    k = load()\n    return Lambda(lambda x: k(x))\n"
    old = model(bytecode("lambda x: k(x)"))
    (refusal,) = converted(tmp_path, source, old, "code.py").refusals
    assert "needs `k`" in refusal.cause


def test_a_class_of_the_users_is_said_to_be_where_it_is(tmp_path):
    old = sequential(input_layer(), layer("Größe", "g"))
    made = converted(tmp_path, "import keras\n\nclass Größe(keras.layers.Layer):\n    pass\n", old)
    assert "train.py:3: it stays" in made.needed[0].cause


@pytest.mark.parametrize("data", [b"def (", b"x = '\xff'", b"\0", b"(" * 100_000])
def test_what_is_no_python_is_a_problem_in_one_sentence(tmp_path, data):
    path = tmp_path / "train.py"
    path.write_bytes(data)
    with pytest.raises(FileProblem, match=r"train\.py.*it is no Python") as caught:
        Lambdas([str(path)])
    assert "\n" not in str(caught.value)


def test_a_source_that_is_not_there_is_a_problem(tmp_path):
    with pytest.raises(FileProblem, match="cannot be read"):
        Lambdas([str(tmp_path / "none.py")])


def test_what_is_written_is_json(tmp_path):
    made = converted(tmp_path, "Lambda(lambda x: x[:, 0])", model(bytecode("lambda x: x[:, 0]")))
    assert made.is_written
    json.dumps(config_in(tmp_path / "new.keras"))


def test_a_variable_in_the_code_has_no_name_of_a_function_in_it(tmp_path):
    source = "import tensorflow as tf\nLambda(lambda x: tf.where(x > 0, x, 1.0), name='tf')\n"
    old = model(bytecode("lambda x: tf.where(x > 0, x, 1.0)"), names=("tf",))
    converted(tmp_path, source, old, str(tmp_path / "code.py"))
    lambdas = Lambdas([str(tmp_path / "train.py")], "code.py")
    write_code(tmp_path / "old.h5", tmp_path / "code.py", TARGET, lambdas=lambdas)
    text = (tmp_path / "code.py").read_text()
    assert "import tensorflow as tf\n" in text
    assert "def tf_2(x):\n    return tf.where" in text
    assert 'layers.Lambda(function=tf_2, name="tf")' in text
