"""How the layers of a functional model are connected, and whether Keras 3 can follow it.

A configuration says of each call of a layer which call of which layer its inputs come from. A model
inside a model has one call more in Keras 2, that which made it: Keras 3 looks for a call that is
not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace
from packaging.version import Version

from kdoctor.models.at import At, shown
from kdoctor.models.classes import legacy_class
from kdoctor.models.obstacle import Fault, Obstacle, Remedy

_FUNCTIONAL = frozenset({"Functional", "Model"})
# By the sources of the releases, keras/src/models/functional.py: `map_tensors`, `get_tensor`.
_SINGLE_SINCE = Version("3.4")
_COUNTED_SINCE = Version("3.3")
_RECURRENT = "keras.src.layers.rnn."
_BY_HAND = "Build the model in code, with this call as it was, and load the weights."


class _Call(NamedTuple):
    """An input of a call: which call of which layer it comes from."""

    layer: str
    number: int


def graph_obstacles(config: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    """Yield an obstacle for each layer whose calls Keras 3 cannot make."""
    layers = [each for each in config.get("layers") or () if isinstance(each, dict)]
    names = {each.get("name"): number for number, each in enumerate(layers)}
    kinds = {each.get("name"): each.get("class_name") for each in layers}
    waiting = {
        name: [list(_inputs(node)) for node in layer.get("inbound_nodes") or ()]
        for layer in layers
        if (name := layer.get("name")) is not None
    }
    made = {name: int(not nodes) for name, nodes in waiting.items()}  # an input has one by itself
    while any(waiting.values()):
        before = sum(map(len, waiting.values()))
        for name, nodes in waiting.items():
            while nodes and all(made.get(each.layer, 0) > each.number for each in nodes[0]):
                nodes.pop(0)
                made[name] += 1
        if sum(map(len, waiting.values())) == before:
            break
    for name, nodes in waiting.items():
        if nodes and (lost := _lost(nodes[0], made, waiting)):
            where = replace(at, place=f"{at.place}/{shown(name)}".lstrip("/"))
            yield _unconnected(where.down("config", "layers", names[name]), lost)
    for layer in layers:
        yield from _call_obstacles(layer, at)
    release = Version(at.target.keras_version)
    for key in ("input_layers", "output_layers"):
        if _is_reference(config.get(key)) and release < _SINGLE_SINCE:
            yield at.down("config", key).obstacle(
                Fault.STRUCTURE,
                f"its one {key.partition('_')[0]} is in no list, as Keras writes it since "
                f"{_SINGLE_SINCE}",
                f"Load it with Keras {_SINGLE_SINCE} or newer.",
                Remedy.CODE,
                key,
            )
        for each in _references(config.get(key)):
            is_counted = release >= _COUNTED_SINCE and kinds.get(each.layer) in _FUNCTIONAL
            number = each.number - is_counted
            if each.layer in made and not waiting[each.layer] and number >= made[each.layer]:
                yield _unconnected(at, each)


def _call_obstacles(layer: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    """Yield what Keras 3 does not hand to a layer that was called otherwise than on its inputs."""
    leaf, name = layer.get("class_name"), layer.get("name")
    home = legacy_class(leaf, at.target) if isinstance(leaf, str) else None
    where = replace(at, place=f"{at.place}/{shown(name)}".lstrip("/"))
    for node in layer.get("inbound_nodes") or ():
        if not isinstance(node, list):
            continue
        tensors = sorted({key for each in node for key in _tensors_by_keyword(each)})
        if tensors:
            yield where.obstacle(
                Fault.STRUCTURE,
                f"it was called with tensors as {', '.join(f'`{each}`' for each in tensors)}, for "
                f"which {at.target} reads the names of their layers",
                _BY_HAND,
                Remedy.CODE,
                tensors[0],
            )
        elif len(node) > 1 and home is not None and home.startswith(_RECURRENT):
            yield where.obstacle(
                Fault.STRUCTURE,
                "it was called with its states in the list of its inputs, where Keras 3 takes "
                "`initial_state`",
                _BY_HAND,
                Remedy.CODE,
                "initial_state",
            )


def _tensors_by_keyword(given: Any) -> Iterator[str]:
    """Yield the keywords of a call that have tensors for values."""
    match given:
        case [str(), int(), int(), dict(keywords)]:
            for key, value in keywords.items():
                if any(_references(value)):
                    yield shown(key)
        case _:
            pass


def _lost(
    inputs: list[_Call], made: Mapping[str, int], waiting: Mapping[str, list[Any]]
) -> _Call | None:
    """Return an input that comes from a call which is never made; None where one only waits."""
    for each in inputs:
        if not waiting.get(each.layer) and made.get(each.layer, 0) <= each.number:
            return each
    return None


def _unconnected(at: At, lost: _Call) -> Obstacle:
    return at.obstacle(
        Fault.STRUCTURE,
        f"it takes call {lost.number} of `{shown(lost.layer)}`, which Keras 2 counted from the "
        "call that made the inner model",
        "`kdoctor model --convert` counts the calls as Keras 3 does.",
        Remedy.CONVERT,
        subject=lost.layer,
    )


def _inputs(node: Any) -> Iterator[_Call]:
    """Yield the inputs of one call, as Keras 2 wrote it (lists) or as Keras 3 does."""
    if isinstance(node, dict):
        yield from _tensors(node)
    elif isinstance(node, list):
        for each in node:
            if _is_reference(each):
                yield _Call(each[0], each[1])


def _tensors(value: Any) -> Iterator[_Call]:
    if isinstance(value, dict):
        if value.get("class_name") == "__keras_tensor__":
            history = (value.get("config") or {}).get("keras_history")
            yield from _references(history)
            return
        for each in value.values():
            yield from _tensors(each)
    elif isinstance(value, list):
        for each in value:
            yield from _tensors(each)


def _references(value: Any) -> Iterator[_Call]:
    if _is_reference(value):
        yield _Call(value[0], value[1])
    elif isinstance(value, dict):
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)


def _is_reference(value: Any) -> bool:
    match value:
        case [str(), int(), int(), *_]:
            return True
        case _:
            return False
