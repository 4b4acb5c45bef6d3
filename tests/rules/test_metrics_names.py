"""KD216: where names and what `evaluate` gives go together, and where they do not."""

import pytest

from kdoctor.engine import fix

HEAD = (
    "import keras\n\nx = keras.Input((4,))\na, b = keras.layers.Dense(2), keras.layers.Dense(1)\n"
)


def mended(source: str) -> str:
    result = fix(["-"], stdin=f"{HEAD}{source}".encode(), select=["KD216"], unsafe=True)
    text = result.files[0].after.decode() if result.files else f"{HEAD}{source}"
    return text.removeprefix(HEAD)


@pytest.mark.parametrize(
    "made",
    [
        "keras.Model(x, a(x))",
        "keras.Model(inputs=x, outputs=a(b(x)))",
        "keras.Sequential([a, b])",
    ],
)
def test_the_names_of_one_output_are_in_the_order_of_the_values(made):
    source = f"model = {made}\nprint(model.metrics_names)\n"
    assert mended(source) == f"model = {made}\nprint(list(model.get_metrics_result()))\n"


@pytest.mark.parametrize(
    "made",
    [
        "keras.Model(x, [a(x), b(x)])",
        "keras.Model(x, {'a': a(x), 'b': b(x)})",
        "keras.Model(x, outputs)",
        "keras.Model(x, *outputs)",
        "keras.models.load_model('m.keras')",
        "keras.models.clone_model(keras.Sequential())",
    ],
)
@pytest.mark.parametrize("read", ["print(model.metrics_names)", "zip(model.metrics_names, values)"])
def test_with_several_outputs_no_names_are_zipped_with_other_values(made, read):
    source = f"model = {made}\n{read}\n"
    assert mended(source) == source


MODEL = "model = keras.Model(x, outputs)\n"


@pytest.mark.parametrize(
    ("call", "after"),
    [
        (
            "dict(zip(model.metrics_names, model.evaluate(d)))",
            "model.evaluate(d, return_dict=True)",
        ),
        (
            "dict(zip(model.metrics_names,\n         model.test_on_batch(d, y)))['loss']",
            "model.test_on_batch(d, y, return_dict=True)['loss']",
        ),
        (
            "dict(zip(model.metrics_names, (model.evaluate(d)),))",
            "(model.evaluate(d, return_dict=True))",
        ),
    ],
)
def test_a_dict_of_what_a_model_gives_is_asked_of_the_model(call, after):
    assert mended(f"{MODEL}logs = {call}\n") == f"{MODEL}logs = {after}\n"


@pytest.mark.parametrize(
    "call",
    [
        "dict(zip(model.metrics_names, other.evaluate(d)))",
        "dict(zip(model.metrics_names, model.evaluate(*d)))",
        "dict(zip(model.metrics_names, model.evaluate(d), strict=True))",
        "dict(zip(model.metrics_names[1:], model.evaluate(d)[1:]))",
        "dict(zip(model.evaluate(d), model.metrics_names))",
        "dict(zip(model.metrics_names, model.predict(d)))",
        "dict(zip(model.metrics_names, model.test_on_batch(d, y, None, False)))",
        "dict(zip(model.metrics_names, model.evaluate(d, return_dict=asked)))",
        "dict(\n    zip(  # why\n        model.metrics_names, model.evaluate(d)))",
        "list(zip(model.metrics_names, model.evaluate(d)))",
    ],
)
def test_what_else_is_made_of_the_names_is_left_alone(call):
    assert mended(f"{MODEL}logs = {call}\n") == f"{MODEL}logs = {call}\n"


def test_a_function_of_that_name_is_not_the_builtin():
    source = f"{MODEL}from mine import zip\n\ndict(zip(model.metrics_names, model.evaluate(d)))\n"
    assert mended(source) == source
