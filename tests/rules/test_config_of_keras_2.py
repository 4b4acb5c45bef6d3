"""KD620 beyond its examples: where configs come from, what reads them, and what is none."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix, scan

READS = {
    "two names": """
        from json import loads
        from keras.models import load_model
        text = load_model("a.h5").to_json()
        name, node, tensor = loads(text)["config"]["input_layers"][0]
    """,
    "a recursion": """
        import json
        from keras.models import load_model
        def parse(config):
            for layer in config["layers"]:
                if layer["class_name"] == "Functional":
                    parse(layer["config"])
                elif layer["class_name"] == "InputLayer":
                    print(layer["config"]["batch_input_shape"])
        parse(json.loads(load_model("x").to_json())["config"])
    """,
    "a model that may be loaded, as in hls4ml": """
        import json
        def arch(config):
            model = config["KerasModel"]
            if isinstance(model, str):
                from tensorflow.keras.models import load_model
                model = load_model(model)
            return json.loads(model.to_json()), model
        def parse(arch, reader):
            layers = arch["config"]
            if "layers" in layers:
                layers = layers["layers"]
            return layers[0]["config"]["batch_input_shape"][1:]
        def convert(config):
            found, reader = arch(config)
            return parse(found, reader)
    """,
    "a copy, counted": """
        import copy, keras
        config = copy.deepcopy(keras.models.load_model("a").get_config())
        for place, layer in enumerate(config["layers"]):
            print(layer["inbound_nodes"][0][0][0])
    """,
    "a parameter that is checked": """
        import keras
        def outputs(model):
            if not isinstance(model, keras.Model):
                raise TypeError
            return [out[0] for out in model.get_config()["output_layers"]]
    """,
    "a chosen part": """
        import keras
        config = keras.Sequential([keras.layers.Dense(2)]).get_config()
        layers = config["layers"] if isinstance(config, dict) else config
        print(layers[0]["config"].pop("batch_input_shape"))
    """,
    "a zip": """
        import keras
        model = keras.models.load_model("a")
        for layer, config in zip(model.layers, model.get_config()["layers"]):
            print(layer.name, config["inbound_nodes"][0][0])
    """,
    "a list of parts": """
        import keras
        config = keras.models.load_model("a").get_config()
        inner = [each["config"] for each in config["layers"] if each["class_name"] == "InputLayer"]
        print(inner[0]["batch_input_shape"])
    """,
}

OTHERS = {
    "both forms, asked by class": """
        import keras
        for layer in keras.models.load_model("a").get_config()["layers"]:
            for node in layer["inbound_nodes"]:
                if isinstance(node, dict):
                    print(node["args"][0]["config"]["keras_history"])
                else:
                    print(node[0][0])
    """,
    "an own get_config": """
        import keras
        class Mine(keras.Model):
            def get_config(self):
                return {"layers": [{"config": {"batch_input_shape": (1, 2)}}]}
        print(Mine().get_config()["layers"][0]["config"]["batch_input_shape"])
    """,
    "an older Keras": """
        import keras
        model = keras.models.load_model("a")
        if not keras.__version__.startswith("3"):
            print(model.get_config()["layers"][0]["config"]["batch_input_shape"])
    """,
    "another dictionary": """
        import keras
        def shape(config):
            return config["layers"][0]["config"]["batch_input_shape"]
        shape({"layers": [{"config": {"batch_input_shape": 1}}]})
        keras.models.load_model("a").get_config()
    """,
    "nothing that differs": """
        import keras
        config = keras.models.load_model("a").get_config()
        print(len(config["input_layers"]), config["layers"][0]["inbound_nodes"])
    """,
    "the training config": """
        import json, h5py, keras
        def read(path):
            with h5py.File(path) as file:
                config = json.loads(file.attrs["training_config"])
            return config["layers"][0]["config"]["batch_input_shape"], keras.Model().to_json()
    """,
    "one of a layer's own": """
        import keras
        class Own(keras.layers.Layer):
            def get_config(self):
                return {**super().get_config(), "input_layers": [["a", 0]]}
        print(Own().get_config()["input_layers"][0][0])
    """,
    "entries of a dictionary with the config as key": """
        import keras
        name = keras.models.load_model("a").get_config()["name"]
        table = {"m": {"layers": [{"config": {"batch_input_shape": 1}}]}}
        print(table[name]["layers"][0]["config"]["batch_input_shape"])
    """,
    "what an own class writes": """
        import json, keras
        class Tree:
            def to_json(self):
                return '{"config": {"layers": [{"inbound_nodes": [[["a", 0]]]}]}}'
        tree = Tree()
        config = json.loads(tree.to_json())
        print(config["config"]["layers"][0]["inbound_nodes"][0][0], keras)
    """,
}


def dedented(source: str) -> str:
    return "\n".join(line[8:] for line in source.strip("\n").split("\n")) + "\n"


def found(source: str):
    return scan(["-"], stdin=source.encode(), select=["KD620"]).findings


@pytest.mark.parametrize("name", READS)
def test_a_read_of_the_old_form_is_found(name: str) -> None:
    source = dedented(READS[name])
    (finding,) = found(source)
    assert finding.fix is not None
    fixed = fix(["-"], stdin=source.encode(), select=["KD620"], unsafe=True).files[0].after.decode()
    compile(fixed, name, "exec")
    assert fixed.count("Keras2Config.of(") == fixed.count("`Keras2Config.of(") + 1
    assert not found(fixed)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_config_of_keras_or_is_known_is_silent(name: str) -> None:
    assert not found(dedented(OTHERS[name]))


def test_two_configs_of_one_file_share_the_class() -> None:
    source = dedented("""
        import keras
        one, two = keras.models.load_model("a"), keras.models.load_model("b")
        print(one.get_config()["layers"][0]["config"]["batch_input_shape"])
        print(two.get_config()["layers"][0]["config"]["batch_input_shape"])
    """)
    assert len(found(source)) == 2
    fixed = fix(["-"], stdin=source.encode(), select=["KD620"], unsafe=True).files[0].after.decode()
    assert fixed.count("class Keras2Config") == 1
    assert "print(Keras2Config.of(two.get_config())[" in fixed
    later = f"{fixed}print(one.get_config()['layers'][0]['config']['batch_input_shape'])\n"
    assert len(found(later)) == 1


def test_a_class_of_that_name_that_is_another_is_left_alone() -> None:
    source = dedented("""
        import keras
        class Keras2Config:
            pass
        print(keras.models.load_model("a").get_config()["input_layers"][0][0])
    """)
    (finding,) = found(source)
    assert finding.fix is None
    assert finding.no_fix_because == "`Keras2Config` is something else in this file"


@pytest.mark.parametrize(
    ("read", "severity"),
    [
        ('config["batch_input_shape"]', "error"),
        ('config.pop("batch_input_shape")', "error"),
        ('config.get("batch_input_shape")', "change"),
        ('"batch_input_shape" in config and config["batch_input_shape"]', "change"),
        ('config["batch_input_shape"] if "batch_input_shape" in config else None', "change"),
    ],
)
def test_an_error_is_what_raises(read: str, severity: str) -> None:
    source = (
        "import keras\n"
        "for layer in keras.models.load_model('a').get_config()['layers']:\n"
        f"    config = layer['config']\n    print({read})\n"
    )
    (finding,) = found(source)
    assert finding.severity.value == severity


def test_a_great_recursion_ends() -> None:
    calls = "\n".join(f"    walk(config['layers'][{i}]['config'])" for i in range(60))
    calls += "\n" + "\n".join(f"    walk(config['k{i}'])" for i in range(60))
    source = (
        "import keras\n\n\ndef walk(config):\n"
        f"{calls}\n    print(config['input_layers'][0][0])\n\n\n"
        "walk(keras.models.load_model('a').get_config())\n"
    )
    assert len(found(source)) <= 1
