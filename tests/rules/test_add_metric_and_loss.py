"""`model.add_loss(tensor)` and `model.add_metric(tensor)` on models from outside."""

import numpy as np
import pytest

from kdoctor.engine import fix

HEAD = "import keras\n\nx = keras.Input((4,))\nhidden = keras.layers.Dense(3)(x)\n"
TWO = f"{HEAD}one, two = keras.layers.Dense(2)(hidden), keras.layers.Dense(1)(hidden)\n"


@pytest.fixture(autouse=True)
def any_length(tmp_path, monkeypatch):
    """Where long lines are broken is told elsewhere."""
    (tmp_path / "ruff.toml").write_text("line-length = 320\n")
    monkeypatch.chdir(tmp_path)


def mended(source: str) -> str:
    result = fix(["-"], stdin=source.encode(), select=["KD213"], unsafe=True)
    return result.files[0].after.decode() if result.files else source


@pytest.mark.parametrize(
    "code",
    [
        # A `train_step` of its class would be lost.
        "model = mine.Model(x, hidden)\nmodel.add_loss(x)\nmodel.compile('sgd', loss='mse')\n",
        "model = keras.models.load_model('m.h5')\nmodel.add_metric(x, name='x')\n",
        "def made() -> keras.Model:\n    return f(x)\n\n\nmodel = made()\nmodel.add_loss(x)\n",
        "class Own(keras.Model):\n    pass\n\n\nmodel = Own(x, hidden)\nmodel.add_loss(x)\n",
        # The caller would keep the old model.
        "def add(model: keras.Model):\n    model.add_loss(1.0)\n",
        # It was compiled, and the new one would not be.
        "model = keras.Model(x, hidden)\nmodel.compile('sgd')\nz = 2 * x\nmodel.add_loss(z)\n",
        "model = keras.Model(x, hidden)\nmodel.compile('sgd')\nfit(model)\nmodel.add_loss(x)\n",
        "model = keras.Model(x, hidden)\nmodel.compile('sgd')\nmodel.add_loss(x)  # why\n",
        "model = keras.Model(x, hidden)\nmodel.add_loss(x, inputs=[x])\n",
        "model = keras.Model(x, hidden)\nmodel.add_loss(lambda: 1.0)\n",
        "model = keras.Model(x, hidden)\nmodel.add_loss(\n    x  # the input\n)\n",
        "model = keras.Model(x, hidden)\nmodel.add_loss(x); model.compile('sgd')\n",
        "model = keras.Sequential([keras.Input((4,))])\nmodel.add_loss(1.0)\n",
        "model = keras.Model(x, hidden)\nmodel.add_metric(hidden, aggregation='mean')\n",
        "model = keras.Model(x, hidden)\nmodel.add_metric(hidden, name='h', aggregation=how)\n",
        "class AddLoss:\n    pass\n\n\nmodel = keras.Model(x, hidden)\nmodel.add_loss(x)\n",
    ],
)
def test_what_would_mean_something_else_is_left_alone(code):
    assert mended(f"{HEAD}{code}") == f"{HEAD}{code}"


def test_several_losses_share_one_class_that_stands_above_the_first_of_them():
    source = (
        f"{HEAD}\n\n# A comment of its own.\n\n# Builds the model.\ndef build(a):\n"
        "    model = keras.Model(x, hidden)\n    if a:\n        model.add_loss(a * x)\n"
        "    model.add_loss(hidden)  # and that\n    return model\n\n\n"
        "other = keras.Model(x, hidden)\nother.add_loss(x)\n"
    )
    fixed = mended(source)

    assert fixed.count("class AddLoss(") == 1
    assert fixed.index("# A comment") < fixed.index("class AddLoss(") < fixed.index("# Builds")
    assert fixed.count("AddLoss()(") == 3
    assert "        model = keras.Model(model.input, AddLoss()(model.output, a * x), " in fixed
    assert "name=model.name)  # and that\n" in fixed
    assert mended(fixed) == fixed


def test_a_model_that_is_compiled_above_is_built_before_that():
    model, rest = "model = keras.Model(x, hidden)\n", "model.fit(data)\n"
    source = f"{HEAD}{model}model.compile('sgd')\ndata = read()\nmodel.add_loss(x * 2)\n{rest}"
    fixed = mended(source)

    assert fixed.endswith(
        "\n\n\nmodel = keras.Model(model.input, AddLoss()(model.output, x * 2), name=model.name)\n"
        f"model.compile('sgd')\ndata = read()\n{rest}"
    )
    assert mended(fixed) == fixed


@pytest.mark.frameworks
@pytest.mark.parametrize("outputs", ["one", "[one, two]", "{'a': one, 'b': two}"])
def test_models_of_any_outputs_add_the_loss_show_the_metric_and_are_saved(outputs, tmp_path):
    import keras  # noqa: PLC0415

    source = (
        f"{TWO}model = keras.Model(x, {outputs}, name='net')\n"
        "model.add_loss(0.5 * keras.ops.mean(hidden**2))\n"
        "model.add_metric(keras.ops.sum(hidden, axis=-1) * 2.0, name='size')\n"
        "inner = keras.Model(x, hidden)\n"
    )
    scope = {}
    exec(mended(source), scope)  # noqa: S102
    model, inner = scope["model"], scope["inner"]
    data = np.random.default_rng(1).normal(size=(8, 4)).astype("float32")
    plain = keras.Model(scope["x"], eval(outputs, scope))  # noqa: S307
    model.compile("sgd")
    logs = model.evaluate(data, verbose=0, return_dict=True)
    hidden = np.asarray(inner(data))

    assert logs["loss"] == pytest.approx(0.5 * np.mean(hidden**2), rel=1e-5)
    # Terms of both signs cancel: near zero their rounding is more than a share of the sum.
    assert logs["size"] == pytest.approx(2 * np.mean(hidden.sum(-1)), rel=1e-5, abs=1e-6)
    expected, given = plain.predict(data, verbose=0), model.predict(data, verbose=0)
    assert keras.tree.map_structure(np.shape, given) == keras.tree.map_structure(np.shape, expected)
    for ours, theirs in zip(keras.tree.flatten(given), keras.tree.flatten(expected), strict=True):
        np.testing.assert_allclose(ours, theirs)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert again.evaluate(data, verbose=0, return_dict=True) == pytest.approx(logs, abs=1e-6)
