"""Rewrite the graph of a functional model of Keras 2 as Keras 3 writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from kdoctor.models.at import shown
from kdoctor.models.convert.graph import (
    CONSTANT,
    Tensor,
    is_tensor,
    is_whole_input,
    tensors_in,
    written_tensor,
)
from kdoctor.models.convert.naming import without_slashes
from kdoctor.models.convert.record import Record, by_hand, inside
from kdoctor.models.obstacle import Fault
from kdoctor.models.operations import converted_operation

_OPERATIONS: Final = frozenset({"TFOpLambda", "SlicingOpLambda"})
_RECORDED: Final = _OPERATIONS | {"TensorFlowOpLayer", "ClassMethod", "InstanceMethod"}
_FUNCTIONAL: Final = frozenset({"Functional", "Model", "Network"})
_MODELS: Final = _FUNCTIONAL | {"Sequential"}
# What they are called on besides their input is a list behind it in Keras 2, `initial_state` in 3.
_RECURRENT: Final = frozenset({
    *("RNN", "LSTM", "GRU", "SimpleRNN", "Bidirectional"),
    *("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"),
})  # fmt: skip


class Rewriter(Protocol):
    """What rewrites the layers of a graph."""

    record: Record

    def layer(self, value: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Return a layer as Keras 3 writes it."""

    def name(self, name: Any, place: str) -> Any:
        """Return a name that Keras 3 takes."""

    def check_rank(self, before: Mapping[str, Any], layer: Mapping[str, Any], place: str) -> None:
        """Refuse a layer that is called on an input of a rank that it does not take."""

    def lambda_operations(
        self, config: Mapping[str, Any], place: str, given: Sequence[Any]
    ) -> list[dict[str, Any]] | None:
        """Return the operations that a `Lambda` comes to; None where it is no such."""


class Functional:
    """The graph of one functional model."""

    def __init__(self, rewriter: Rewriter, config: Mapping[str, Any], place: str) -> None:
        self._rewriter, self._config, self._place = rewriter, config, place
        self._layers = {each["name"]: each for each in config["layers"]}
        self._names = self._new_names()
        self._replaced: set[str] = set()  # layers for which a functional model stands

    def converted(self) -> dict[str, Any]:
        """Return the configuration of the model."""
        several = [self._made_of(each) for each in self._config["layers"]]
        layers = [layer for some in several for layer in some]
        self._check_ranks(layers)
        self._replaced = {
            some[-1]["name"]
            for old, some in zip(self._config["layers"], several, strict=True)
            if some[-1]["class_name"] == "Functional" and old["class_name"] not in _FUNCTIONAL
        }
        made = {
            "name": self._rewriter.name(self._config.get("name"), self._place),
            "trainable": self._config.get("trainable", True),
            "layers": layers,
        }
        for key in ("input_layers", "output_layers"):
            found = self._ends(self._config[key])
            made[key] = found[0] if self._is_one(found) else found
        return made

    def _check_ranks(self, layers: list[dict[str, Any]]) -> None:
        by_name = {each["name"]: each for each in layers}
        for layer in layers:
            for name, _, _ in tensors_in(layer["inbound_nodes"]):
                if name in by_name:
                    self._rewriter.check_rank(by_name[name], layer, self._place)

    def _is_one(self, found: object) -> bool:
        """Say whether the list holds one tensor: Keras 2 returns it without the list."""
        return isinstance(found, list) and len(found) == 1

    def _new_names(self) -> dict[str, str]:
        used = set(self._layers)
        names = {}
        for name in self._layers:
            names[name] = without_slashes(name, used)
            if names[name] != name:
                used.add(names[name])
                text = f"called `{shown(names[name])}`: Keras 3 takes no `/` in a name"
                self._rewriter.record.change(shown(name), text)
        return names

    def _made_of(self, value: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return what stands for a layer: one, or the operations that a `Lambda` comes to."""
        name = self._names[value["name"]]
        if value["class_name"] == "Lambda" and isinstance(value.get("config"), dict):
            config = {**value["config"], "name": name}
            given = [self._given(each) for each in value["inbound_nodes"]]
            if None not in given and not any(map(self._is_of_whole, tensors_in(given))):
                made = self._rewriter.lambda_operations(config, self._place, given)
                if made and not {each["name"] for each in made[:-1]} & {*self._names.values()}:
                    return made
        return [self._layer(value)]

    def _given(self, node: Any) -> Any:
        """Return what a layer was called on; None where it was called with more."""
        first, kwargs = self._arguments(node)
        if kwargs:
            return None
        return first[0] if isinstance(first, list) and len(first) == 1 else first

    def _is_of_whole(self, tensor: Tensor) -> bool:
        """Say whether a tensor is an input of whole numbers, with which TensorFlow counts on."""
        layer = next((each for each in self._layers.values() if each["name"] == tensor[0]), None)
        return layer is not None and is_whole_input(layer)

    def _layer(self, value: Mapping[str, Any]) -> dict[str, Any]:
        name = self._names[value["name"]]
        if value["class_name"] in _RECORDED:
            return self._operation(value, name)
        config = value.get("config")
        if isinstance(config, dict) and value["class_name"] not in _MODELS:
            config = {**config, "name": name}
        made = self._rewriter.layer({**value, "config": config}, self._place)
        nodes = [self._node(value, each) for each in value["inbound_nodes"]]
        return {**made, "name": name, "inbound_nodes": nodes}

    def _operation(self, value: Mapping[str, Any], name: str) -> dict[str, Any]:
        place = inside(self._place, value.get("config"))
        nodes = [self._arguments(each) for each in value["inbound_nodes"]]
        function = str((value.get("config") or {}).get("function", value["class_name"]))
        made = converted_operation(function, nodes) if value["class_name"] in _OPERATIONS else None
        if made is None:
            cause = f"it calls TensorFlow's `{shown(function)}`: write it with keras.ops by hand"
            self._rewriter.record.refuse(place, cause, Fault.OPERATION, function)
            calls = [{"args": [first], "kwargs": kwargs} for first, kwargs in nodes]
            return {**by_hand(value), "name": name, "inbound_nodes": calls}
        text = f"`tf.{shown(function)}` is `keras.ops.{made.name}`"
        self._rewriter.record.change(place, text)
        return {
            "module": made.module,
            "class_name": made.class_name,
            "config": {"name": name, **made.config},
            "registered_name": made.class_name,
            "name": name,
            "inbound_nodes": [{"args": args, "kwargs": kwargs} for args, kwargs in made.nodes],
        }

    def _node(self, layer: Mapping[str, Any], node: Any) -> dict[str, Any]:
        if isinstance(node, dict) and node.keys() == {"args", "kwargs"}:
            return node  # written by Keras 3
        first, kwargs = self._arguments(node)
        if isinstance(first, list) and len(first) == 1:
            first = first[0]
        elif layer["class_name"] in _RECURRENT and isinstance(first, list):
            if (layer["config"] or {}).get("num_constants"):
                place = inside(self._place, layer["config"])
                cause = "it is called with `constants`, which no layer of Keras 3 takes"
                self._rewriter.record.refuse(place, cause, Fault.STRUCTURE)
            first, states = first[0], first[1:]
            kwargs["initial_state"] = states[0] if len(states) == 1 else states
        return {"args": [first], "kwargs": kwargs}

    def _arguments(self, node: Any) -> tuple[Any, dict[str, Any]]:
        """Return the first argument of a call, and the others by name."""
        kwargs: dict[str, Any] = {}
        first = self._first(node, kwargs)
        return first, {key: self._other(each) for key, each in kwargs.items() if each is not None}

    def _first(self, value: Any, kwargs: dict[str, Any]) -> Any:
        if is_tensor(value, self._layers):
            if len(value) > 3 and isinstance(value[3], dict):
                kwargs.update(value[3])
            return value[2] if value[0] == CONSTANT else self._tensor(value)
        if isinstance(value, list):
            return [self._first(each, kwargs) for each in value]
        if isinstance(value, dict):
            return {key: self._first(each, kwargs) for key, each in value.items()}
        return value

    def _other(self, value: Any) -> Any:
        if is_tensor(value, self._layers):
            return self._tensor(value)
        if isinstance(value, list):
            return [self._other(each) for each in value]
        if isinstance(value, dict):
            return {key: self._other(each) for key, each in value.items()}
        return value

    def _tensor(self, value: list[Any]) -> dict[str, Any]:
        name, node, tensor = value[:3]
        if self._layers[name]["class_name"] in _MODELS:
            node = max(0, node - 1)  # Keras 2 counts the model's own outputs as its first node
        return written_tensor((self._names[name], node, tensor))

    def _ends(self, value: Any) -> Any:
        """Return the inputs or outputs of the model."""
        if is_tensor(value, self._layers):
            name, node, tensor = value[:3]
            if self._layers[name]["class_name"] == "Sequential":
                node = max(0, node - 1)
            if self._names[name] in self._replaced:
                node += 1  # Keras 3 counts that of a functional model so
            return [self._names[name], node, tensor]
        if isinstance(value, list):
            return [self._ends(each) for each in value]
        if isinstance(value, dict):
            return {key: self._ends(each) for key, each in value.items()}
        return value
