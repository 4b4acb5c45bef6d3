"""The objects of a configuration of Keras 3 as calls: only arguments that are not the defaults."""

from __future__ import annotations

import ast
from typing import Any, Final

from kdoctor.keras_api import Lookup, Presence, lookup, signature
from kdoctor.keras_api.config_arguments import identified
from kdoctor.keras_api.signatures import Parameter, Signature
from kdoctor.models.convert.layout import Expression, call, literal, sequence
from kdoctor.models.convert.record import BY_HAND
from kdoctor.models.convert.users import is_kept
from kdoctor.target import Target

_LAYERS: Final = "keras.layers"
# What each layer takes besides what its class names, and what it is where nobody says otherwise.
_OF_LAYERS: Final[dict[str, Any]] = {
    "trainable": True,
    "dtype": "float32",
    "activity_regularizer": None,
    "implementation": 2,  # of recurrent layers: how it is computed
}
# Which strings name an object, by the end of the argument.
_NAMED: Final = {
    "initializer": "initializers",
    "regularizer": "regularizers",
    "constraint": "constraints",
}
_FUNCTIONS: Final = frozenset({*_NAMED, "activation"})


class Expressions:
    """Writes objects for one target. ``by_hand``: the name of the class that stands for a layer.

    ``functions`` are the names of those of the user's.
    """

    def __init__(
        self, target: Target, by_hand: dict[str, str], functions: frozenset[str] = frozenset()
    ) -> None:
        self._target, self._by_hand, self._functions = target, by_hand, functions

    def object(self, value: dict[str, Any]) -> Expression:
        """Return the call that makes an object."""
        module, name, config = value["module"], value["class_name"], value["config"]
        if module == BY_HAND:
            return self._stand_in(value)
        if is_kept(value):  # what its class takes, its own code says
            given = {key: each for key, each in config.items() if not _is_usual(key, each)}
            return call(f"{name}.from_config", [literal(given)], {})
        if name == "Sequential" and module == "keras":
            return self.sequential(config)
        if name == "DTypePolicy":
            return literal(config.get("name"))
        if name == "InputLayer":
            return self.input(config)
        known = lookup(f"{module}.{name}", self._target)
        new = signature(known.qualified, self._target)
        called = _called(module, name)
        if known.presence is not Presence.EXISTS or new is None or not _is_made_by(new, config):
            return call(f"{called}.from_config", [literal(config)], {})
        return call(called, [], self._arguments(known, new, config))

    def sequential(self, config: dict[str, Any]) -> Expression:
        """Return a Sequential with its layers in it."""
        layers = sequence([self.object(each) for each in config["layers"]])
        return call("keras.Sequential", [layers], {"name": literal(config["name"])})

    def input(self, config: dict[str, Any]) -> Expression:
        """Return an input: its shape is without that of the batch, where that is open."""
        shape = config.get("batch_shape")
        named: dict[str, Expression] = {}
        if shape is None:
            named["shape"] = "None"
        elif shape[0] is None:
            named["shape"] = literal(shape[1:], as_tuple=True)
        else:
            named["batch_shape"] = literal(shape, as_tuple=True)
        for key, default in (("dtype", "float32"), ("sparse", False), ("ragged", False)):
            if config.get(key, default) != default:
                named[key] = literal(config[key])
        if config.get("optional"):
            named["optional"] = "True"
        return call("keras.Input", [], {**named, "name": literal(config["name"])})

    def _stand_in(self, value: dict[str, Any]) -> Expression:
        name = (value["config"] or {}).get("name")
        named = {"name": literal(name)} if isinstance(name, str) else {}
        return call(self._by_hand.get(str(name), "ByHand"), [], named)

    def _arguments(
        self, known: Lookup, new: Signature, config: dict[str, Any]
    ) -> dict[str, Expression]:
        made: dict[str, Expression] = {}
        for name, value in config.items():
            parameter = new.parameter(name)
            if name == "name" or self._is_default(name, parameter, value):
                continue
            is_named = isinstance(value, str) and value in self._functions
            if is_named and name.rpartition("_")[2] in _FUNCTIONS:
                made[name] = value.rpartition(">")[2]
            else:
                made[name] = self._value(value, parameter)
        if isinstance(config.get("name"), str) and known.qualified.startswith(_LAYERS):
            made["name"] = literal(config["name"])
        return made

    def _is_default(self, name: str, parameter: Parameter | None, value: Any) -> bool:
        if parameter is None or (parameter.default is None and name in _OF_LAYERS):
            return _is_usual(name, value)
        if parameter.default is None:
            return False
        try:
            default = ast.literal_eval(parameter.default)
        except ValueError:
            return False
        if name in _OF_LAYERS and value == _OF_LAYERS[name]:
            return True
        if isinstance(default, str) and isinstance(value, dict):
            return self._is_named(name, default, value)
        if default is None and name in {"activation", "recurrent_activation"}:
            return value in {None, "linear"} if not isinstance(value, dict) else False
        return bool(_listed(default) == value)

    def _is_named(self, name: str, default: str, value: dict[str, Any]) -> bool:
        """Say whether an object is the one that a string names, made without arguments."""
        kind = next((kind for end, kind in _NAMED.items() if name.endswith(end)), None)
        if kind is None or not isinstance(value.get("config"), dict):
            return False
        known = lookup(f"{value['module']}.{value['class_name']}", self._target)
        if identified(kind, default, self._target.keras_version) != known.home:
            return False
        new = signature(known.qualified, self._target)
        return new is not None and not self._arguments(known, new, value["config"])

    def _value(self, value: Any, parameter: Parameter | None) -> Expression:
        if isinstance(value, dict) and value.get("class_name") == "function":
            return str(value["config"]).rpartition(">")[2]
        if isinstance(value, dict) and isinstance(value.get("config"), dict) and "module" in value:
            return self.object(value)
        if isinstance(value, list) and any(isinstance(each, dict) for each in value):
            return sequence([self._value(each, None) for each in value])
        is_tuple = isinstance(value, list) and all(isinstance(each, int) for each in value)
        default = parameter.default if parameter is not None else None
        return literal(value, as_tuple=is_tuple and (default is None or default[:1] in "(1N"))


def _is_usual(key: str, value: Any) -> bool:
    if isinstance(value, dict) and value.get("class_name") == "DTypePolicy":
        value = value["config"].get("name")
    return key in _OF_LAYERS and bool(_OF_LAYERS[key] == value)


def _listed(value: Any) -> Any:
    return [_listed(each) for each in value] if isinstance(value, tuple) else value


def _is_made_by(new: Signature, config: dict[str, Any]) -> bool:
    """Say whether a constructor takes all of a configuration, as far as its parameters tell."""
    names = {each.name for each in new.parameters}
    return new.takes_any_keyword or names >= config.keys()


def _called(module: str, name: str) -> str:
    if module == _LAYERS:
        return f"layers.{name}"
    return f"{module}.{name}"
