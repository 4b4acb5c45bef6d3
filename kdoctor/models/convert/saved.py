"""Whose variables a model has, under which paths they are saved, and in which order.

An HDF5 model holds the weights of each of its layers in one list, those that are trained first. A
`.keras` archive holds those of each object below the path that leads to it. Here is how the one
order follows from the other.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from kdoctor.models.convert.graph import order_of_layers
from kdoctor.models.convert.naming import Numbered
from kdoctor.models.convert.recurrent import from_cudnn
from kdoctor.models.convert.replacements import below_old, layout_of
from kdoctor.models.convert.users import is_kept
from kdoctor.models.convert.variables import CELLS, own_variables
from kdoctor.models.hdf5 import Steps

_MODELS: Final = frozenset({"Functional", "Model", "Network", "Sequential"})
_NOT_TRAINED: Final = frozenset(
    {"moving_mean", "moving_variance", "mean", "variance", "count", "sn_u"}
)
ATTENTION: Final = ("query", "key", "value", "output")


Shape = tuple[int, ...]
LayOut = Callable[[Sequence[Shape]], Sequence[Steps]]


class Saved(Struct):
    """An object whose variables are saved.

    ``old`` and ``new`` are the paths in the archives of Keras 2 and 3. ``own`` are the names of its
    variables, None where they are not known; ``order`` is that of the children in Keras 3.
    ``users`` is the name of a layer of the user's, of which nothing else is known; "" otherwise.
    It ``is_nested`` where some of its weights are those of layers in it. ``name`` is that of a
    layer of a model.
    ``lay_out`` returns what is done to each variable, from the shapes that they have in the file.
    """

    old: str
    new: str
    own: tuple[str, ...] | None
    is_trained: bool = True
    children: tuple[Saved, ...] = ()
    order: tuple[int, ...] = ()
    lay_out: LayOut | None = None
    users: str = ""
    is_nested: bool = False
    name: str = ""

    def everything(self) -> Iterator[Saved]:
        """Yield the object and all that it holds."""
        yield self
        for each in self.children:
            yield from each.everything()

    def in_order_of_keras_2(self) -> list[tuple[Saved, int]]:
        """Return the variables, with their numbers in their objects, as Keras 2 lists them."""
        return _ordered(self, by_keras_3=False)

    def in_order_of_keras_3(self) -> list[tuple[Saved, int]]:
        """Return the variables as an HDF5 file of Keras 3 lists them."""
        return _ordered(self, by_keras_3=True)

    def trained(self, *, by_keras_3: bool) -> list[Variable]:
        """Return the variables that are trained, in the order of Keras 2 or 3."""
        return _trained(self, by_keras_3=by_keras_3)


Variable = tuple[Saved, int]


def _trained(saved: Saved, *, by_keras_3: bool) -> list[Variable]:
    if not saved.is_trained:
        return []
    own = [(saved, number) for number, name in _named(saved) if name not in _NOT_TRAINED]
    inside = _children(saved, by_keras_3=by_keras_3)
    return own + [found for each in inside for found in _trained(each, by_keras_3=by_keras_3)]


def _kept(saved: Saved, *, by_keras_3: bool) -> list[Variable]:
    inside = _children(saved, by_keras_3=by_keras_3)
    below = _kept if saved.is_trained else _ordered
    own = [
        (saved, number)
        for number, name in _named(saved)
        if not saved.is_trained or name in _NOT_TRAINED
    ]
    return own + [found for each in inside for found in below(each, by_keras_3=by_keras_3)]


def _ordered(saved: Saved, *, by_keras_3: bool) -> list[Variable]:
    return _trained(saved, by_keras_3=by_keras_3) + _kept(saved, by_keras_3=by_keras_3)


def _children(saved: Saved, *, by_keras_3: bool) -> Sequence[Saved]:
    if by_keras_3 and saved.order:
        return [saved.children[number] for number in saved.order]
    return saved.children


def _named(saved: Saved) -> list[tuple[int, str]]:
    return list(enumerate(saved.own or ()))


def layers_of(
    old: Mapping[str, Any], new: Mapping[str, Any], places: tuple[str, str] = ("", "")
) -> Saved:
    """Return the objects of a model: its configuration before and after."""
    before = _layers(old)
    had, has = frozenset(names_of(old)), frozenset(map(_name, new["config"]["layers"]))
    after = [each for each in new["config"]["layers"] if not _is_step(each, has, had)]
    if len(after) == len(before) + 1:
        after = after[1:]  # the input that was put before the first layer of a Sequential
    pairs = list(zip(before, after, strict=True))
    names = [_name(each) for each in after]
    ranks = {name: rank for rank, name in enumerate(_order(new, names))}
    order = sorted(range(len(after)), key=lambda number: ranks.get(names[number], -1))
    numbered_2, numbered_3 = Numbered(), Numbered()
    paths_2 = [numbered_2.name(each["class_name"].rpartition(">")[2]) for each in before]
    paths_3 = dict[int, str]()
    for number in order:
        if not _is_operation(after[number]):
            paths_3[number] = numbered_3.name(after[number]["class_name"])
    root_2, root_3 = ("/".join(filter(None, (place, "layers"))) for place in places)
    children = tuple(
        _saved(pair, (f"{root_2}/{paths_2[number]}", f"{root_3}/{paths_3.get(number, '-')}"))
        for number, pair in enumerate(pairs)
    )
    for child, name in zip(children, names, strict=True):
        child.name = name
    is_trained = _is_trained(new)
    return Saved(places[0], places[1], (), is_trained, children, tuple(order))


def names_of(model: Mapping[str, Any]) -> list[str]:
    """Return the names of a model's layers, as the file has them."""
    return [str(each.get("name", each["config"].get("name", ""))) for each in _layers(model)]


def _layers(model: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    config = model["config"]
    return list(config if isinstance(config, list) else config["layers"])


def _order(model: Mapping[str, Any], names: list[str]) -> list[str]:
    if "output_layers" not in model["config"]:
        return names
    layers = model["config"]["layers"]
    models = [each["name"] for each in layers if each["class_name"] == "Functional"]
    return order_of_layers(model["config"], models)


def _saved(pair: tuple[Any, Any], places: tuple[str, str]) -> Saved:
    """Return the objects of a layer."""
    old, new = pair
    if is_kept(new):
        return Saved(*places, None, _is_trained(new), users=_name(old) or new["class_name"])
    if new["class_name"] in _MODELS:
        is_model = old["class_name"] in _MODELS
        return layers_of(old, new, places) if is_model else _replaced(old, new, places)
    before, after = old["config"], new["config"]
    cls = new["class_name"]
    made = Saved(*places, own_variables(cls, after), _is_trained(new))
    match cls:
        case "Bidirectional":
            backward = "backward_layer" if "backward_layer" in after else "layer"
            made.children = (
                _child(before, after, "layer", places, "forward_layer"),
                _child(before, after, backward, places, "backward_layer"),
            )
        case "TimeDistributed" | "SpectralNormalization" | "Wrapper":
            made.children = (_child(before, after, "layer", places, "layer"),)
        case "RNN":
            made.children = (_child(before, after, "cell", places, "cell"),)
        case "StackedRNNCells":
            made.children = _cells(before, after, places)
        case "MultiHeadAttention":
            made.children = _attention(after, places)
        case _ if cls in CELLS:
            where = (f"{places[0]}/cell", f"{places[1]}/cell")
            cell = Saved(*where, own_variables(CELLS[cls], after), made.is_trained)
            cell.children = _activations(before, after, where)
            if old["class_name"].startswith("CuDNN"):  # they are the layer's own there
                cell.old, cell.lay_out = places[0], from_cudnn(int(after["units"]), cls)
                made.old = ""
            made.children = (cell,)
        case _:
            made.children = _activations(before, after, places)
    return made


def _replaced(old: Any, new: Any, places: tuple[str, str]) -> Saved:
    """Return the objects of a model that stands for one layer (``replacements``)."""
    made = Saved("", places[1], (), _is_trained(new))
    numbered, parts = Numbered(), []
    for each in new["config"]["layers"]:
        if _is_operation(each):
            continue
        path = f"{places[1]}/layers/{numbered.name(each['class_name'])}"
        below = below_old(old, each)
        if below is not None:
            own = own_variables(each["class_name"], each["config"])
            part = Saved(f"{places[0]}/{below}".rstrip("/"), path, own, made.is_trained)
            part.lay_out = layout_of(old, new)
            parts.append(part)
    made.children = tuple(parts)
    return made


def _activations(before: Any, after: Any, places: tuple[str, str]) -> tuple[Saved, ...]:
    """Return the layers that a layer has as activations: `Dense(4, activation=PReLU())`."""
    return tuple(
        _child(before, after, key, places, key)
        for key, value in after.items()
        if key.endswith("activation")
        and isinstance(value, dict)
        and isinstance(before.get(key), dict)
        and isinstance(value.get("config"), dict)
    )


def _child(before: Any, after: Any, key: str, places: tuple[str, str], name: str) -> Saved:
    return _saved((before[key], after[key]), (f"{places[0]}/{name}", f"{places[1]}/{name}"))


def _cells(before: Any, after: Any, places: tuple[str, str]) -> tuple[Saved, ...]:
    names_2, names_3 = Numbered(), Numbered()
    return tuple(
        _saved(
            (old, new),
            (
                f"{places[0]}/cells/{names_2.name(old['class_name'])}",
                f"{places[1]}/cells/{names_3.name(new['class_name'])}",
            ),
        )
        for old, new in zip(before["cells"], after["cells"], strict=True)
    )


def _attention(config: Mapping[str, Any], places: tuple[str, str]) -> tuple[Saved, ...]:
    return tuple(
        Saved(
            f"{places[0]}/_{name}_dense",
            f"{places[1]}/{name}_dense",
            own_variables("EinsumDense", {"use_bias": config.get("use_bias", True)}),
            bool(config.get("trainable", True)),
        )
        for name in ATTENTION
    )


def _is_trained(layer: Mapping[str, Any]) -> bool:
    config = layer["config"]
    return not isinstance(config, dict) or config.get("trainable", True) is not False


def _is_step(layer: Mapping[str, Any], names: Container[str], before: Container[str]) -> bool:
    """Say whether a layer is one of several operations of a `Lambda`, and not the last one.

    ``names`` are those of the layers of its model, ``before`` those that the file had.
    """
    whole = _name(layer).rpartition("_step_")[0]
    if not whole or not _is_operation(layer) or _name(layer) in before:
        return False
    return whole in names


def _is_operation(layer: Mapping[str, Any]) -> bool:
    return str(layer.get("module", "")).startswith("keras.src.ops")


def _name(layer: Mapping[str, Any]) -> str:
    found = layer.get("name", layer["config"].get("name"))
    return found if isinstance(found, str) else ""
