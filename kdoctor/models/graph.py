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

# By the sources of the releases, keras/src/models/functional.py: `map_tensors`, `get_tensor`.
_SINGLE_SINCE = Version("3.4")
_COUNTED_SINCE = Version("3.3")
_RECURRENT = "keras.src.layers.rnn."
_CONVERTED = "`kdoctor model --convert` writes the call as Keras 3 does."


class _Call(NamedTuple):
    """An input of a call: which call of which layer it comes from."""

    layer: str
    number: int


class _Layer(NamedTuple):
    """A layer of a model: its number there, and its calls that are not made yet, the next last."""

    number: int
    value: Mapping[str, Any]
    calls: list[tuple[_Call, ...]]


def graph_obstacles(config: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    """Yield an obstacle for each layer whose calls Keras 3 cannot make."""
    layers = dict(_layers(config))
    made = _made(layers)
    waiting = {name: layer for name, layer in layers.items() if layer.calls}
    found = {name: _lost(layer.calls[-1], made, layers) for name, layer in waiting.items()}
    if waiting and not any(found.values()):
        cause = "its layers are connected in a loop"
        yield at.obstacle(Fault.STRUCTURE, cause, "Build the model in code.", Remedy.CODE)
    for name, layer in waiting.items():
        lost = found[name]
        if lost is not None:
            where = replace(at, place=f"{at.place}/{shown(name)}".lstrip("/"))
            yield _unconnected(where.down("config", "layers", layer.number), lost)
    for name, layer in layers.items():
        where = replace(at, place=f"{at.place}/{shown(name)}".lstrip("/"))
        yield from _call_obstacles(layer.value, where.down("config", "layers", layer.number))
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
            known = layers.get(each.layer)
            if known is None or known.calls:
                continue
            is_model = known.value.get("class_name") in ("Functional", "Model")
            number = each.number - (is_model and release >= _COUNTED_SINCE)
            if number >= made[each.layer]:
                yield _unconnected(at, each)


def _layers(config: Mapping[str, Any]) -> Iterator[tuple[str, _Layer]]:
    layers = config.get("layers")
    for number, each in enumerate(layers if isinstance(layers, list) else ()):
        name = each.get("name") if isinstance(each, dict) else None
        if isinstance(name, str):
            calls = [tuple(_inputs(node)) for node in _nodes(each)]
            yield name, _Layer(number, each, calls[::-1])


def _nodes(layer: Mapping[str, Any]) -> list[Any]:
    nodes = layer.get("inbound_nodes")
    return nodes if isinstance(nodes, list) else []


def _made(layers: Mapping[str, _Layer]) -> dict[str, int]:
    """Make all calls that can be made; return how many each layer has then."""
    made = {name: int(not layer.calls) for name, layer in layers.items()}  # an input has one
    followers: dict[str, list[str]] = {}
    for name, layer in layers.items():
        for each in {each.layer for call in layer.calls for each in call}:
            followers.setdefault(each, []).append(name)
    waiting = list(layers)
    while waiting:
        name = waiting.pop()
        calls, before = layers[name].calls, made[name]
        while calls and all(made.get(each.layer, 0) > each.number for each in calls[-1]):
            calls.pop()
            made[name] += 1
        if made[name] > before:
            waiting += followers.get(name, ())
    return made


def _call_obstacles(layer: Mapping[str, Any], where: At) -> Iterator[Obstacle]:
    """Yield what Keras 3 does not hand to a layer that was called otherwise than on its inputs."""
    leaf = layer.get("class_name")
    home = legacy_class(leaf, where.target) if isinstance(leaf, str) else None
    for node in _nodes(layer):
        if not isinstance(node, list):
            continue
        tensors = sorted({key for each in node for key in _tensors_by_keyword(each)})
        if tensors:
            yield where.obstacle(
                Fault.STRUCTURE,
                f"it was called with tensors as {', '.join(f'`{each}`' for each in tensors)}, for "
                f"which {where.target} reads the names of their layers",
                _CONVERTED,
                Remedy.CONVERT,
                tensors[0],
            )
        elif len(node) > 1 and home is not None and home.startswith(_RECURRENT):
            yield where.obstacle(
                Fault.STRUCTURE,
                "it was called with its states in the list of its inputs, where Keras 3 takes "
                "`initial_state`",
                _CONVERTED,
                Remedy.CONVERT,
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
    inputs: tuple[_Call, ...], made: Mapping[str, int], layers: Mapping[str, _Layer]
) -> _Call | None:
    """Return an input that comes from a call which is never made; None where one only waits."""
    for each in inputs:
        known = layers.get(each.layer)
        if known is None or (not known.calls and made[each.layer] <= each.number):
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
