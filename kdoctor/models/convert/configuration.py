"""Rewrite the configuration of a model of Keras 2 as Keras 3 writes it.

What is data is rewritten: classes, arguments, how layers are connected. What is code (a lambda, a
class or function of the user's) stands in the way, and is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kdoctor.keras_api import Lookup, Presence, lookup
from kdoctor.keras_api.class_aliases import canonical_name
from kdoctor.models.at import At, shown
from kdoctor.models.convert.arguments import converted_arguments
from kdoctor.models.convert.functional import Functional
from kdoctor.models.convert.graph import chained, is_whole_input, written_tensor
from kdoctor.models.convert.lambda_sources import PACKAGE, NotFound
from kdoctor.models.convert.naming import without_slashes
from kdoctor.models.convert.ranks import known_rank, wanted_rank
from kdoctor.models.convert.record import Record, by_hand, inside
from kdoctor.models.convert.recurrent import CUDNN, OTHERWISE
from kdoctor.models.convert.replacements import (
    CONSTRAINTS_IN_TRAINING,
    IN_TRAINING,
    LOCAL,
    cropped,
    local,
    with_activation,
)
from kdoctor.models.convert.users import (
    is_of_keras,
    is_users,
    kept,
    kept_function,
    look_for_function,
)
from kdoctor.models.convert.values import converted_values
from kdoctor.models.obstacle import Fault, Remedy

MODELS: Final = frozenset({"Functional", "Model", "Network", "Sequential"})
_FUNCTIONAL: Final = {"module": "keras.src.models.functional", "registered_name": "Functional"}
_SEQUENTIAL: Final = {"module": "keras", "registered_name": None}
_LAYERS: Final = ("keras.layers", "keras.models", "keras")
# Where to look for a class that is written without its module, by the end of the key that it is at.
_HOMES: Final = {
    "initializer": ("keras.initializers",),
    "regularizer": ("keras.regularizers",),
    "constraint": ("keras.constraints",),
    "dtype": ("keras.dtype_policies", "keras"),
    "learning_rate": ("keras.optimizers.schedules",),
    "optimizer": ("keras.optimizers",),
    "loss": ("keras.losses",),
    "metrics": ("keras.metrics",),
}
_POLICIES: Final = frozenset({"Policy", "PolicyV1", "DTypePolicy"})
# Layers that stand for a piece of TensorFlow, and for Python code.
OPERATIONS: Final = frozenset({"TFOpLambda", "SlicingOpLambda"})
# What went, and what does the same: the new class, and its name for each argument.
_REPLACED: Final = {
    "ThresholdedReLU": ("ReLU", {"theta": "threshold"}),
    "Layer": ("Identity", dict[str, str]()),  # it returned what it was called on
}
_SHAPES: Final = ("batch_input_shape", "batch_shape")
_LAMBDAS: Final = frozenset({"Lambda"})
_OF_LAMBDA: Final[tuple[str, ...]] = ("name", "trainable", "dtype", "arguments")


class Rewriter:
    """Rewrites objects for one target; what it did and could not do is in ``record``."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def model(self, value: Mapping[str, Any], place: str = "") -> dict[str, Any]:
        """Return a model, or a layer that is a model, as Keras 3 writes it."""
        config = value.get("config")
        place = inside(place, config)
        if isinstance(config, list):  # how Keras wrote a Sequential before 2.2.3
            config = {"name": "sequential", "layers": config}
        if not isinstance(config, dict) or not isinstance(config.get("layers"), list):
            cause = f"`{shown(value['class_name'])}` is a class of yours: only your code makes it"
            self.record.refuse(place, cause, Fault.OWN_CLASS, value["class_name"])
            return by_hand(value)
        if value["class_name"] not in MODELS:
            text = f"a model of Keras: what `{shown(value['class_name'])}` adds to one is not in it"
            self.record.change(place, text)
        if value["class_name"] == "Sequential" or "output_layers" not in config:
            return self._sequential(value, config, place)
        made = Functional(self, config, place).converted()
        if value.get("module", "keras").partition(".")[0] == "tf_keras":
            self.record.change(place, "the model is one of Keras 3's, not of tf_keras'")
        return {"class_name": "Functional", **_FUNCTIONAL, "config": made}

    def _sequential(
        self, value: Mapping[str, Any], config: dict[str, Any], place: str
    ) -> dict[str, Any]:
        layers: list[dict[str, Any]] = []
        for index, each in enumerate(config["layers"]):
            if index == 0:
                layers += self._first_input(each, place)
            layers += self._operations_behind(layers, each, place) or [self.layer(each, place)]
        if len(layers) > 1:
            self.check_rank(layers[0], layers[1], place)
        if any("inbound_nodes" in each for each in layers):
            self.record.change(place, "a functional model: a Sequential takes no operations")
            name = self.name(config.get("name", "sequential"), place)
            graph = {**chained(name, layers), "trainable": config.get("trainable", True)}
            return {"class_name": "Functional", **_FUNCTIONAL, "config": graph}
        made = {"name": self.name(config.get("name", "sequential"), place), "layers": layers}
        for key in ("trainable",):
            if key in config:
                made[key] = config[key]
        shape = config.get("build_input_shape") or (value.get("build_config") or {}).get(
            "input_shape"
        )
        if shape is not None and not _is_input(layers):
            made["build_input_shape"] = shape
        return {"class_name": "Sequential", **_SEQUENTIAL, "config": made}

    def _operations_behind(
        self, layers: list[dict[str, Any]], value: Mapping[str, Any], place: str
    ) -> list[dict[str, Any]] | None:
        """Return the operations that a `Lambda` behind other layers comes to."""
        config = value.get("config")
        if value["class_name"] not in _LAMBDAS or not isinstance(config, dict):
            return None
        if not _is_input(layers) or is_whole_input(layers[-1]):
            return None
        tensor = written_tensor((layers[-1]["config"]["name"], 0, 0))
        named = {**config, "name": self.name(config.get("name"), place)}
        return self.lambda_operations(named, place, [tensor])

    def lambda_operations(
        self, config: Mapping[str, Any], place: str, given: Sequence[Any]
    ) -> list[dict[str, Any]] | None:
        """Return the operations that a `Lambda` comes to; None where it is no such."""
        where = inside(place, config)
        made = self.record.lambdas.operations(config, where, given)
        if made is None:
            return None
        source = self.record.lambdas.place_of(config, where)
        self.record.change(
            where, f"its function, from {source}, is {made.written()} of `keras.ops`"
        )
        return made.layers()

    def _first_input(self, layer: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
        """Return the input layer that Keras 2 made of the first layer's ``batch_input_shape``."""
        config = layer.get("config")
        if layer["class_name"] == "InputLayer" or not isinstance(config, dict):
            return []
        shape = config.get("batch_input_shape")
        if not isinstance(shape, list):
            return []
        where = inside(place, config)
        self.record.change(where, f"its `batch_input_shape={shape}` is an InputLayer before it")
        dtype = config.get("dtype")
        given = {"batch_shape": shape, "dtype": dtype if isinstance(dtype, str) else "float32"}
        given["name"] = self.name(f"{config.get('name')}_input", place)
        return [_object("keras.layers", "InputLayer", given)]

    def layer(self, value: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Return a layer as Keras 3 writes it."""
        if value["class_name"] in MODELS and is_of_keras(value):
            return self.model(value, place)
        return self.object(value, place, _LAYERS)

    def object(
        self, value: Mapping[str, Any], place: str, homes: tuple[str, ...]
    ) -> dict[str, Any]:
        """Return an object as Keras 3 writes it: ``homes`` are where to look for its class."""
        leaf, config = value["class_name"], value.get("config")
        where = inside(place, config)
        if leaf.startswith("__") or not isinstance(config, dict):
            return self._plain(value, where)
        if leaf in _POLICIES:
            return _object("keras", "DTypePolicy", {"name": config.get("name")})
        if "optimizers" in homes[0]:  # Keras 2.11 wrote its own so: `Custom>Adam`
            leaf = leaf.removeprefix("Custom>")
            value = {**value, "class_name": leaf}
        if leaf == "InputLayer" and not any(config.get(each) for each in _SHAPES):
            # It was called on a tensor, as another layer is, and returned it.
            leaf = "Layer"
            config = {key: config[key] for key in ("name", "dtype") if key in config}
        if leaf in _REPLACED and is_of_keras(value):
            other, names = _REPLACED[leaf]
            self.record.change(
                where, f"`{leaf}` is not there, or computes nothing: `{other}` does the same"
            )
            leaf, config = other, {names.get(key, key): each for key, each in config.items()}
        if leaf in _LAMBDAS:
            return self._lambda(value, config, where)
        leaf, config = self._as_of_keras_3(value, leaf, config, where)
        if leaf in LOCAL and is_of_keras(value):
            return self._local(value, leaf, config, where)
        known = self._known(value, leaf, homes)
        if known is None and is_users(value, homes[0], self.record.target):
            given = {key: self._value(key, each, where) for key, each in config.items()}
            given.pop("batch_input_shape", None)
            return kept({**value, "config": given}, where, self.record)
        if known is None:
            cause = f"{self.record.target} has no `{shown(leaf)}`"
            self.record.refuse(where, cause, Fault.CLASS, leaf)
            return by_hand(value)
        if "batch_input_shape" in config:
            config = self._without_batch_input_shape(leaf, config)
        config = {key: self._value(key, each, where) for key, each in config.items()}
        if "name" in config:
            config["name"] = self.name(config["name"], where)
        config = converted_values(known, config, where, self.record)
        config = converted_arguments(config, leaf, known.home, where, self.record)
        module, _, name = known.qualified.rpartition(".")
        if name != leaf:
            self.record.change(where, f"`{shown(leaf)}` is `{name}`")
        made = _object(module, name, config)
        if name == "RandomCrop":
            made = cropped(config)
            self.record.change(where, "a `Resizing` behind it does what it did outside of training")
        elif (both := with_activation(made)) is not None:
            made = both
            self.record.change(where, "its activation has weights, and is a layer behind it")
        return made

    def _as_of_keras_3(
        self, value: Mapping[str, Any], leaf: str, config: dict[str, Any], where: str
    ) -> tuple[str, dict[str, Any]]:
        """Return the class and the arguments of what does the same in Keras 3, if it is there."""
        if not is_of_keras(value):
            return leaf, config
        if leaf in CUDNN:
            if any(config.get(key) is not None for key in OTHERWISE):
                cause = f"`{leaf}` with a constraint or a `bias_regularizer` is not converted"
                self.record.refuse(where, cause, Fault.CLASS, leaf)
            self.record.change(where, f"`{leaf}` is `{CUDNN[leaf]}`: its weights are laid out anew")
            fixed = {"reset_after": True} if leaf == "CuDNNGRU" else {}
            return CUDNN[leaf], {**config, **fixed, "recurrent_activation": "sigmoid"}
        if leaf in IN_TRAINING:
            text = f"`{leaf}` is not there: what it did in training only is left out"
            self.record.change(where, text)
            return "Identity", {key: config[key] for key in ("name", "dtype") if key in config}
        return leaf, config

    def _lambda(
        self, value: Mapping[str, Any], config: dict[str, Any], where: str
    ) -> dict[str, Any]:
        """Return a `Lambda` whose function is one of the module that is written for it."""
        try:
            function = self.record.lambdas.function(config, where)
        except NotFound as problem:
            cause, cure = problem.args
            self.record.refuse(where, cause, Fault.LAMBDA, str(config.get("name", "")), cure)
            return by_hand(value)
        made = {
            key: self._value(key, config[key], where)
            for key in _OF_LAMBDA
            if config.get(key) not in (None, {})
        }
        key = f"{PACKAGE}>{function.name}"
        made["name"] = self.name(made.get("name"), where)
        made["function"] = {
            "module": None,
            "class_name": "function",
            "config": key,
            "registered_name": key,
        }
        self.record.change(where, f"its function is `{function.name}`, from {function.place}")
        at = At(self.record.target, where)
        cause = f"it calls `{function.name}` of {self.record.lambdas.code}"
        cure = f"Import {self.record.lambdas.code} first, which registers it."
        self.record.need(at.obstacle(Fault.OWN_FUNCTION, cause, cure, Remedy.CUSTOM_OBJECTS, key))
        return _object("keras.layers", "Lambda", made)

    def _local(
        self, value: Mapping[str, Any], leaf: str, config: dict[str, Any], where: str
    ) -> dict[str, Any]:
        given = {key: self._value(key, each, where) for key, each in config.items()}
        made = local(
            leaf, {**given, "name": self.name(given.get("name"), where)}, where, self.record
        )
        if made is None:
            return by_hand(value)
        self.record.change(where, f"`{leaf}` is made of `take`, `Reshape` and `EinsumDense`")
        return made

    def check_rank(self, before: Mapping[str, Any], layer: Mapping[str, Any], place: str) -> None:
        """Refuse a layer that is called on an input of a rank that it does not take."""
        known, wanted = known_rank(before), wanted_rank(layer)
        if known is not None and wanted is not None and known != wanted:
            name = layer["class_name"]
            cause = f"`{name}` takes tensors of rank {wanted}, and is called on one of rank {known}"
            self.record.refuse(inside(place, layer["config"]), cause, Fault.STRUCTURE)

    def name(self, name: Any, place: str) -> Any:
        """Return a name that Keras 3 takes."""
        if not isinstance(name, str) or "/" not in name:
            return name
        made = without_slashes(name, ())
        self.record.change(place, f"called `{shown(made)}`: Keras 3 takes no `/` in a name")
        return made

    def _plain(self, value: Mapping[str, Any], where: str) -> dict[str, Any]:
        if value["class_name"] == "function":
            return kept_function(value, where, self.record)
        if value["class_name"] == "__lambda__":
            self.record.refuse(where, "it holds Python code, which is not looked at", Fault.LAMBDA)
        return dict(value)

    def _without_batch_input_shape(self, leaf: str, config: dict[str, Any]) -> dict[str, Any]:
        """Return a configuration without it: the layer before says what comes in."""
        if leaf == "InputLayer":
            return {
                "batch_shape" if key == "batch_input_shape" else key: value
                for key, value in config.items()
            }
        return {key: value for key, value in config.items() if key != "batch_input_shape"}

    def _value(self, key: str, value: Any, where: str) -> Any:
        """Return the value of an argument, with the objects in it."""
        if isinstance(value, list):
            return [self._value(key, each, where) for each in value]
        if isinstance(value, str):
            look_for_function(key, value, where, self.record)
        if not isinstance(value, dict):
            return value
        if isinstance(value.get("class_name"), str) and "config" in value:
            if value["class_name"] in MODELS and is_of_keras(value):
                return self.model(value, where)
            if value["class_name"] in CONSTRAINTS_IN_TRAINING and is_of_keras(value):
                leaf = value["class_name"]
                text = f"`{key}={leaf}` is not there: what it did in training only is left out"
                self.record.change(where, text)
                return None
            end = next((each for each in _HOMES if key.endswith(each)), "")
            return self.object(value, where, _HOMES.get(end, _LAYERS))
        return {name: self._value(name, each, where) for name, each in value.items()}

    def _known(self, value: Mapping[str, Any], leaf: str, homes: tuple[str, ...]) -> Lookup | None:
        """Return the class of the target that an object is of."""
        if not is_of_keras(value):
            return None
        module = value.get("module")
        named = (module,) if isinstance(module, str) and module.startswith("keras.") else ()
        for name in dict.fromkeys((leaf, canonical_name(leaf))):
            for home in (*named, *homes):
                found = lookup(f"{home}.{name}", self.record.target)
                if found.presence is Presence.EXISTS:
                    return found
        return None


def _is_input(layers: list[dict[str, Any]]) -> bool:
    return bool(layers) and layers[0]["class_name"] == "InputLayer"


def _object(module: str, name: str, config: dict[str, Any]) -> dict[str, Any]:
    return {"module": module, "class_name": name, "config": config, "registered_name": None}
