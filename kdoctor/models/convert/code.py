"""The architecture of a saved model as code for Keras 3."""

from __future__ import annotations

import copy
import keyword
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from kdoctor.models.at import shown
from kdoctor.models.contents import Contents
from kdoctor.models.convert.configuration import Rewriter
from kdoctor.models.convert.expressions import Expressions
from kdoctor.models.convert.lambda_sources import Lambdas, is_written
from kdoctor.models.convert.layout import Brackets, Expression, call, literal, sequence, statement
from kdoctor.models.convert.layout import text as quoted
from kdoctor.models.convert.record import BY_HAND, Record
from kdoctor.models.convert.replacements import is_open
from kdoctor.models.convert.saved import layers_of, names_of
from kdoctor.models.convert.weights import values_of
from kdoctor.models.obstacle import Fault, Obstacle, Remedy
from kdoctor.models.operations import function_of
from kdoctor.target import Target

_TENSOR: Final = "__keras_tensor__"
_RESERVED: Final = frozenset({"keras", "layers", "ops", "model", "create_model"})


class Code(Struct, frozen=True):
    """What was written. ``by_hand``: what in it only a person can write."""

    source: Path
    to: Path
    by_hand: tuple[Obstacle, ...]


def code_of(
    contents: Contents, target: Target, lambdas: Lambdas | None = None
) -> tuple[str, tuple[Obstacle, ...]]:
    """Return the code that makes a model of Keras 2 on the target, and what it lacks."""
    has_weights = contents.weights is not None
    made, record = _rewritten(contents, Record(target, lambdas, has_weights=has_weights))
    if is_open(made):
        made, record = _rewritten(contents, Record(target, lambdas, has_weights=False))
    needed = [each for each in record.needed if not is_written(each)]
    by_hand = tuple(dict.fromkeys([*record.refusals, *needed]))
    writer = _Writer(made, by_hand, record)
    return writer.code(contents.path.name), by_hand


def _rewritten(contents: Contents, record: Record) -> tuple[dict[str, Any], Record]:
    old = copy.deepcopy(contents.model)
    assert old is not None
    if record.lambdas.is_given:
        record.lambdas.look_for(lambda: Rewriter(Record(record.target, record.lambdas)).model(old))
    made = Rewriter(record).model(old)
    if not record.refusals and record.has_weights:  # they fill in what only they say
        values_of(contents, layers_of(old, made), names_of(old), Record(record.target))
    return made, record


class _Writer:
    """Writes one model with those that are in it."""

    def __init__(
        self, model: dict[str, Any], refusals: tuple[Obstacle, ...], record: Record
    ) -> None:
        self._model, self._refusals, self._target = model, refusals, record.target
        self._lambdas, target = record.lambdas, record.target
        self._stand_ins: dict[str, str] = {}
        self._why: dict[str, str] = {}
        self._functions: list[list[str]] = []
        self._users = [each for each in refusals if each.remedy is Remedy.CUSTOM_OBJECTS]
        users = (each.subject.rpartition(">")[2] for each in self._users)
        self.taken = frozenset({*_RESERVED, *self._lambdas.names, *users})
        self._used = set(self.taken)
        functions = (each.subject for each in self._users if each.fault is Fault.OWN_FUNCTION)
        self._expressions = Expressions(target, self._stand_ins, frozenset(functions))

    def code(self, name: str) -> str:
        """Return the text of the module."""
        for each in _by_hand_in(self._model):
            self._add_stand_in(each)
        place = shown(self._model["config"].get("name", ""))
        body = self._function(self._model, "create_model", place)
        whole = [line for each in (*self._functions, body) for line in ["", "", *each]]
        classes = [line for each in self._stand_ins.values() for line in self._class(each)]
        functions = self._lambdas.text.splitlines()
        text = "\n".join([*(["", "", *functions] if functions else []), *classes, *whole])
        imports = ["import keras", *self._lambdas.imports]
        names = [each for each in ("layers", "ops") if f"{each}." in text]
        if names:
            imports.append(f"from keras import {', '.join(names)}")
        head = [
            f"# The model in {shown(name)}, for {self._target}: `kdoctor model --code` wrote it.",
            '# Weights: model.load_weights("new.keras"), a file that --convert wrote.',
        ]
        last = ["", "", "model = create_model()", ""]
        return "\n".join([*head, *imports, *self._imports(), text, *last])

    def _imports(self) -> list[str]:
        """Return what is said of the classes and functions of the user's."""
        names = sorted({each.subject.rpartition(">")[2] for each in self._users})
        return ["", f"# TODO: import these, which are yours: {', '.join(names)}"] if names else []

    def _add_stand_in(self, value: dict[str, Any]) -> None:
        name = str((value["config"] or {}).get("name", value["class_name"]))
        words = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").split("_")
        made = "".join(word[:1].upper() + word[1:] for word in words) or "Layer"
        made = self._unique(f"{made}ByHand" if made[0].isalpha() else f"Layer{made}ByHand")
        self._stand_ins[name] = made
        causes = [
            each.cause for each in self._refusals if each.place.rpartition("/")[2] == shown(name)
        ]
        self._why[made] = shown(causes[0] if causes else value["class_name"])

    def _class(self, name: str) -> list[str]:
        layer = next(key for key, each in self._stand_ins.items() if each == name)
        return [
            *("", "", f"# TODO: {self._why[name]}"),
            f"class {name}(keras.layers.Layer):",
            "    def call(self, *args, **kwargs):",
            *statement("raise ", call("NotImplementedError", [quoted(layer)], {}), 2),
        ]

    def _function(self, model: dict[str, Any], name: str, place: str) -> list[str]:
        """Return the function that makes a model."""
        config = model["config"]
        if model.get("module") == BY_HAND:
            made = statement("return ", self._expressions.object(model), 1)
        elif "output_layers" not in config:
            comments = [line for each in config["layers"] for line in self._comments(each, place)]
            made = [*comments, *statement("return ", self._expressions.sequential(config), 1)]
        else:
            made = _Graph(self, config, place).lines()
        return [f"def {name}():", *made]

    def expression(self, layer: dict[str, Any], place: str) -> Expression:
        """Return the call that makes a layer; for a model in the model, that of its function."""
        if layer["class_name"] == "Functional" and layer["module"] != BY_HAND:
            name = self._unique(_identifier(f"create_{layer['config']['name']}"))
            inside = f"{place}/{layer['config']['name']}".strip("/")
            self._functions.append(self._function(layer, name, inside))
            return call(name, [], {})
        return self._expressions.object(layer)

    def _unique(self, name: str) -> str:
        made, number = name, 1
        while made in self._used:
            number += 1
            made = f"{name}_{number}"
        self._used.add(made)
        return made

    def _comments(self, layer: dict[str, Any], place: str) -> list[str]:
        """Return what is to be written by hand at a layer that is there otherwise."""
        name = layer.get("name") or (layer["config"] or {}).get("name")
        where = f"{place}/{name}".strip("/")
        return [
            f"    # TODO: {shown(each.place)}: {shown(each.cause)}"
            for each in self._refusals
            if each not in self._users
            and (each.place == where or each.place.startswith(f"{where}/"))
            and each.place.rpartition("/")[2] not in self._stand_ins
        ]

    comments = _comments


class _Graph:
    """The body of the function that makes a functional model."""

    def __init__(self, writer: _Writer, config: dict[str, Any], place: str) -> None:
        self._writer, self._config, self._place = writer, config, place
        self._made: dict[tuple[str, int], str] = {}
        self._used = set(writer.taken)
        self._several = _several(config)
        self._lines: list[str] = []

    def lines(self) -> list[str]:
        """Return the statements."""
        waiting: dict[str, list[Any]] = {}
        names: dict[str, str] = {}
        for layer in self._config["layers"]:
            nodes = layer["inbound_nodes"]
            self._lines += self._writer.comments(layer, self._place)
            if not nodes:
                self._add(layer, 0, self._writer.expression(layer, self._place))
            elif len(nodes) > 1 and not _is_operation(layer):
                names[layer["name"]] = self._keep(layer)
            waiting[layer["name"]] = list(enumerate(nodes))
        by_name = {each["name"]: each for each in self._config["layers"]}
        while any(waiting.values()):
            moves = [self._go_on(by_name[each], waiting[each], names) for each in by_name]
            if not any(moves):
                raise ValueError("its layers are connected in a circle")
        config = self._config
        ends = [self._end(config[key]) for key in ("input_layers", "output_layers")]
        model = call("keras.Model", ends, {"name": literal(config["name"])})
        if config.get("trainable") is False:
            model = call(
                "keras.Model", ends, {"name": literal(config["name"]), "trainable": "False"}
            )
        return [*self._lines, *statement("return ", model, 1)]

    def _keep(self, layer: dict[str, Any]) -> str:
        """Write a layer that is called later, and return its name."""
        name = self._unique(f"{_identifier(layer['name'])}_layer")
        made = self._writer.expression(layer, self._place)
        self._lines += statement(f"{name} = ", made, 1)
        return name

    def _go_on(self, layer: dict[str, Any], nodes: list[Any], names: dict[str, str]) -> bool:
        """Write the calls of a layer whose inputs are there; say whether there was one."""
        is_any = False
        while nodes and self._is_ready(nodes[0][1]):
            index, node = nodes.pop(0)
            is_any = True
            args, kwargs = self._arguments(node)
            if _is_operation(layer):
                self._add(layer, index, self._operation(layer, node, args))
                continue
            kept = names.get(layer["name"])
            if kept is None:
                made = self._writer.expression(layer, self._place)
                whole = f"{_flat(made)}{_flat(call('', args, kwargs))}"
                if len(f"    {self._variable(layer, index)} = {whole}") <= 88:
                    self._add(layer, index, whole)
                    continue
                kept = self._unique(f"{_identifier(layer['name'])}_layer")
                self._lines += statement(f"{kept} = ", made, 1)
            self._add(layer, index, call(kept, args, kwargs))
        return is_any

    def _operation(self, layer: dict[str, Any], node: Any, args: list[Expression]) -> Expression:
        if layer["class_name"] == "GetItem":
            return f"{_flat(args[0])}[{_key(node['args'][1])}]"
        given = {key: literal(each) for key, each in layer["config"].items() if key != "name"}
        return call(f"ops.{function_of(layer['class_name'])}", args, given)

    def _arguments(self, node: Any) -> tuple[list[Expression], dict[str, Expression]]:
        args = [self._argument(each) for each in node["args"]]
        return args, {key: self._argument(each) for key, each in node["kwargs"].items()}

    def _argument(self, value: Any) -> Expression:
        if isinstance(value, dict) and value.get("class_name") == _TENSOR:
            return self._tensor(*value["config"]["keras_history"])
        if isinstance(value, list):
            return sequence([self._argument(each) for each in value])
        if isinstance(value, dict) and "class_name" not in value:
            pairs = tuple((f"{quoted(k)}: ", self._argument(v)) for k, v in value.items())
            return Brackets("{", pairs, "}")
        return literal(value)

    def _end(self, value: Any) -> Expression:
        """Return the inputs or outputs of the model."""
        if isinstance(value, dict):
            pairs = tuple((f"{quoted(k)}: ", self._end(v)) for k, v in value.items())
            return Brackets("{", pairs, "}")
        if len(value) == 3 and isinstance(value[0], str):
            name, node, tensor = value
            if self._is_model(name):
                node -= 1
            return self._tensor(name, node, tensor)
        return sequence([self._end(each) for each in value])

    def _is_model(self, name: str) -> bool:
        return any(
            each["name"] == name and each["class_name"] == "Functional"
            for each in self._config["layers"]
        )

    def _tensor(self, name: str, node: int, tensor: int) -> str:
        made = self._made[name, node]
        return f"{made}[{tensor}]" if (name, node) in self._several else made

    def _is_ready(self, node: Any) -> bool:
        return all((name, index) in self._made for name, index, _ in _tensors(node))

    def _variable(self, layer: dict[str, Any], index: int) -> str:
        if _is_operation(layer):
            return function_of(layer["class_name"])
        made = _identifier(layer["name"])
        return f"{made}_{index}" if index else made

    def _add(self, layer: dict[str, Any], index: int, value: Expression) -> None:
        variable = self._unique(self._variable(layer, index))
        self._made[layer["name"], index] = variable
        self._lines += statement(f"{variable} = ", value, 1)

    def _unique(self, name: str) -> str:
        made, number = name, 1
        while made in self._used:
            number += 1
            made = f"{name}_{number}"
        self._used.add(made)
        return made


def _flat(value: Expression) -> str:
    return value if isinstance(value, str) else value.flat()


def _tensors(value: Any) -> Iterable[tuple[str, int, int]]:
    if isinstance(value, dict):
        if value.get("class_name") == _TENSOR:
            yield tuple(value["config"]["keras_history"])
            return
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from _tensors(each)


def _several(config: dict[str, Any]) -> set[tuple[str, int]]:
    """Return the calls that return several tensors."""
    found = set()
    for layer in config["layers"]:
        if layer["class_name"] == "Functional":
            ends = layer["config"]["output_layers"]
            is_one = isinstance(ends, list) and len(ends) == 3 and isinstance(ends[0], str)
            returns = not is_one
        else:
            inner = layer["config"] or {}
            wrapped = inner.get("layer") or {}
            returns = bool(
                inner.get("return_state") or wrapped.get("config", {}).get("return_state")
            )
        for index, node in enumerate(layer["inbound_nodes"]):
            if returns or node["kwargs"].get("return_attention_scores"):
                found.add((layer["name"], index))
    users = [*config["layers"]]
    for each in users:
        for name, node, tensor in _tensors(each["inbound_nodes"]):
            if tensor:
                found.add((name, node))
    return found


def _by_hand_in(value: Any) -> Iterable[dict[str, Any]]:
    if isinstance(value, dict):
        if value.get("module") == BY_HAND:
            yield value
            return
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from _by_hand_in(each)


def _is_operation(layer: dict[str, Any]) -> bool:
    return str(layer.get("module", "")).startswith("keras.src.ops")


def _identifier(name: str) -> str:
    made = re.sub(r"\W", "_", name, flags=re.ASCII) or "layer"
    made = f"layer_{made}" if made[0].isdigit() else made
    return f"{made}_" if keyword.iskeyword(made) or made in _RESERVED else made


def _key(value: Any) -> str:
    """Return what stands in the brackets."""
    if isinstance(value, list):
        return ", ".join(_key(each) for each in value)
    if isinstance(value, dict) and value.get("class_name") == "__slice__":
        parts = [value["config"].get(each) for each in ("start", "stop", "step")]
        texts = ["" if each is None else str(each) for each in parts]
        return ":".join(texts if texts[2] else texts[:2])
    if isinstance(value, dict):
        return "..."
    return repr(value)
