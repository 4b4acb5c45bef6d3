"""What KD102 writes for `model_from_config` reads what `get_config` and `to_json` of Keras 3 give."""

from __future__ import annotations

import json

import pytest

from kdoctor.engine import fix
from tests.frameworks import keras

BEFORE = "from keras.models import model_from_config\n\nmodel = model_from_config({})\n"


def doubled():
    class Doubled(keras.layers.Layer):
        def call(self, x):
            return 2 * x

    return Doubled


def sequential():
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])


def functional():
    x = keras.Input((4,))
    return keras.Model(x, keras.layers.Dense(2)(x))


def nested():
    x = keras.Input((4,))
    return keras.Model(x, functional()(keras.layers.Dense(4)(sequential_of_four()(x))))


def sequential_of_four():
    return keras.Sequential([keras.layers.Dense(4)])


def with_a_layer_of_ones_own(layer):
    x = keras.Input((4,))
    return keras.Model(x, layer()(x))


def serialized(model):
    return keras.saving.serialize_keras_object(model)


CONFIGS = {
    "a name and get_config": lambda model: {
        "class_name": model.__class__.__name__,
        "config": model.get_config(),
    },
    "to_json": lambda model: json.loads(model.to_json()),
    "serialize_keras_object": serialized,
}


def made(config, arguments="config", **names):
    source = BEFORE.format(arguments)
    after = fix(["-"], stdin=source.encode(), select=["KD102"], unsafe=True).files[0].after
    space = {"config": config, **names}
    exec(after.decode(), space)  # noqa: S102 - it is ours
    return space["model"]


@pytest.mark.frameworks
@pytest.mark.parametrize("how", CONFIGS)
@pytest.mark.parametrize("make", [sequential, functional, nested])
def test_models_of_all_sorts_are_made_anew(make, how):
    model = make()
    again = made(CONFIGS[how](model))
    assert (type(again), again.output_shape) == (type(model), model.output_shape)
    assert [each.name for each in again.layers] == [each.name for each in model.layers]


@pytest.mark.frameworks
@pytest.mark.parametrize("given", ["{'Doubled': Doubled}", "objects", "custom_objects=objects"])
def test_custom_objects_are_found_as_before(given):
    layer = doubled()
    config = CONFIGS["a name and get_config"](with_a_layer_of_ones_own(layer))
    again = made(config, f"config, {given}", Doubled=layer, objects={"Doubled": layer})
    assert again.output_shape == (None, 4)


@pytest.mark.frameworks
def test_none_stands_for_no_custom_objects():
    config = CONFIGS["to_json"](functional())
    assert made(config, "config, nothing", nothing=None).output_shape == (None, 2)


@pytest.mark.frameworks
def test_the_name_that_keras_1_and_2_had_for_a_functional_model_is_read():
    config = {"class_name": "Model", "config": functional().get_config()}
    assert made(config).output_shape == (None, 2)


MADE = "{'class_name': m.__class__.__name__, 'config': m.get_config()}"
READ = "def copy_of(m):\n    config = {}\n    return model_from_config(config)\n"


@pytest.mark.parametrize(
    ("source", "is_safe"),
    [
        (READ.format(MADE), True),
        (READ.format("{'config': self.m.get_config(), 'class_name': type(self.m).__name__}"), True),
        (f"def copy_of(m):\n    return model_from_config({MADE})\n", True),
        (f"def copy_of(m, o):\n    return model_from_config({MADE}, custom_objects=o)\n", True),
        # Nobody knows where it comes from, or what else reads it.
        (READ.format("load()"), False),
        (READ.format(MADE.replace("m.get_config()", "saved")), False),
        (READ.format(MADE.replace("m.get_config()", "n.get_config()")), False),
        (READ.format(MADE.replace("m.__class__.__name__", "'Sequential'")), False),
        (READ.format(MADE.replace("}", ", 'backend': b}")), False),
        (READ.format(MADE.replace("{", "{**more, ")), False),
        (f"{READ.format(MADE)}\n    print(config)\n".replace("return", "x ="), False),
        (READ.format(f"{MADE}\n    config['config']['layers'][0]['name'] = 'a'"), False),
        # The second copy would be made of what the first one left.
        (
            READ.format(f"{MADE}\n    for _ in range(2):\n    ").replace("    return", "    yield"),
            False,
        ),
        (f"type = kind\n{READ.format(MADE.replace('m.__class__', 'type(m)'))}", False),
    ],
)
def test_a_config_is_safe_to_read_that_the_same_run_has_made(source, is_safe):
    whole = f"from keras.models import model_from_config\n\n\n{source}"
    fixed = fix(["-"], stdin=whole.encode(), select=["KD102"]).files
    assert (
        any(b"saving.deserialize_keras_object(" in (each.after or b"") for each in fixed) is is_safe
    )
