"""Which weight of a file goes where in the one that is written: nothing is read here but names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from kdoctor.models.contents import Contents, Weight, WeightGroup
from kdoctor.models.convert.record import Record, shown
from kdoctor.models.convert.saved import Saved, Variable
from kdoctor.models.kinds import FileKind
from kdoctor.models.obstacle import Fault

_TOP: Final = "top_level_model_weights"
_OLD_LAYERS: Final = "_layer_checkpoint_dependencies"  # what Keras 2.12 and 2.13 called `layers`
# What a file holds beside the weights of layers: states that training begins anew.
_OF_TRAINING: Final = ("optimizer", "metrics", "compiled_metrics", "compiled_loss", "_compile")


class Copy(Struct, frozen=True):
    """One array: its path in the file that is read, and in the one that is written."""

    source: str
    target: str


class LayerWeights(Struct, frozen=True):
    """The weights of one layer of an HDF5 model, in order."""

    name: str
    weights: tuple[Copy, ...]


Values = dict[tuple[str, int], str]  # (new path of an object, number of its variable): the array


_ACTIVATION: Final = "activation"


def values_of(contents: Contents, model: Saved, names: list[str], record: Record) -> Values:
    """Return in which array each variable of a model lies.

    ``names`` are those of its layers in the file. What does not fit is noted in ``record``.
    """
    groups = contents.weights or ()
    if contents.kind is FileKind.HDF5:
        found = _of_hdf5(groups, model, names, record)
    else:
        found = _of_archive(groups, model, record)
    for path in dict.fromkeys(path for path, _ in found):
        if path.endswith(_ACTIVATION):
            cause = "it has weights, and Keras 3 makes none for an activation that it loads"
            record.refuse(shown(path), cause, Fault.WEIGHTS, path)
    return found


def _of_hdf5(
    groups: Iterable[WeightGroup], model: Saved, names: list[str], record: Record
) -> Values:
    found: Values = {}
    by_name = {each.name: each for each in groups}
    for name, layer in zip(names, model.children, strict=True):
        group = by_name.pop(name, None)
        weights = group.weights if group is not None else ()
        if not _has_counts(layer, len(weights)):
            record.refuse(shown(name), _unlike(len(weights)), Fault.WEIGHTS, name)
            continue
        pairs = list(zip(layer.in_order_of_keras_2(), weights, strict=False))
        if len(pairs) != len(weights) or any(_is_another(*pair) for pair in pairs):
            record.refuse(shown(name), _unlike(len(weights)), Fault.WEIGHTS, name)
            continue
        assert group is not None or not weights
        for (each, number), weight in pairs:
            path = group.path if group is not None else ""
            found[each.new, number] = f"model_weights/{path}/{weight.name}"
    for name, rest in by_name.items():
        if rest.weights and name != _TOP:
            record.refuse(shown(name), "its weights belong to no layer", Fault.WEIGHTS, name)
    return found


def _unlike(count: int) -> str:
    return f"its {count} weights are not laid out as this layer has them"


def _has_counts(layer: Saved, count: int) -> bool:
    """Find out how many variables there are where a class is not known; say whether that can be."""
    objects = list(layer.everything())
    open_ones = [each for each in objects if each.own is None]
    left = count - sum(len(each.own or ()) for each in objects)
    if left < 0 or (left and len(open_ones) != 1):
        return False
    for each in open_ones:
        each.own = tuple(map(str, range(left)))
    return True


def _is_another(variable: Variable, weight: Weight) -> bool:
    """Say whether a weight has the name of another one."""
    saved, number = variable
    name = (saved.own or ())[number]
    told = weight.name.rpartition("/")[2].partition(":")[0]
    return not name.isdecimal() and told.rstrip("_0123456789") != name.rstrip("_0123456789")


def _of_archive(groups: Iterable[WeightGroup], model: Saved, record: Record) -> Values:
    found: Values = {}
    by_path = {each.path.replace("\\", "/").removesuffix("/vars"): each for each in groups}
    is_old = any(each.startswith(_OLD_LAYERS) for each in by_path)
    for each in model.everything():
        path = each.old.replace("layers/", f"{_OLD_LAYERS}/") if is_old else each.old
        group = by_path.pop(path, None)
        numbers = sorted(_numbers(group))
        if each.own is None:
            each.own = tuple(map(str, numbers))
        elif len(each.own) != len(numbers):
            record.refuse(shown(each.old), _unlike(len(numbers)), Fault.WEIGHTS, each.old)
            continue
        for number in numbers:
            assert group is not None
            found[each.new, number] = f"{group.path}/vars/{number}"
    for path, rest in by_path.items():
        if rest.weights and not path.startswith(_OF_TRAINING):
            record.refuse(shown(path), "its weights belong to no layer", Fault.WEIGHTS, path)
    return found


def _numbers(group: WeightGroup | None) -> Iterator[int]:
    for each in group.weights if group is not None else ():
        if each.name.isdecimal():
            yield int(each.name)


def copies_to_archive(values: Values) -> list[Copy]:
    """Return what is copied into the `model.weights.h5` of Keras 3."""
    return [Copy(source, f"{path}/vars/{number}") for (path, number), source in values.items()]


def copies_to_hdf5(values: Values, model: Saved, config: dict[str, Any]) -> list[LayerWeights]:
    """Return the weights of each layer as Keras 3 reads them from an HDF5 model: by their order."""
    layers = config["config"]["layers"]
    inserted = len(layers) - len(model.children)
    names = [_name(each) for each in layers[inserted:]]
    order = model.order or tuple(range(len(names)))
    return [_layer(names[number], model.children[number], values) for number in order]


def _layer(name: str, saved: Saved, values: Values) -> LayerWeights:
    copies = []
    for each, number in saved.in_order_of_keras_3():
        own = each.own or ()
        below = each.new.removeprefix(saved.new).strip("/")
        target = "/".join(filter(None, (name, below, own[number])))
        copies.append(Copy(values[each.new, number], target))
    return LayerWeights(name, tuple(copies))


def _name(layer: dict[str, Any]) -> str:
    return str(layer.get("name", layer["config"].get("name", "")))
