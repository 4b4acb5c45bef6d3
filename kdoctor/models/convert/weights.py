"""Which weight of a file goes where in the one that is written: nothing is read here but names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.models.at import shown
from kdoctor.models.contents import Contents, Weight, WeightGroup
from kdoctor.models.convert.record import Record
from kdoctor.models.convert.saved import ATTENTION, Saved, Variable
from kdoctor.models.hdf5 import Steps
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
    steps: Steps = ()


class Source(Struct, frozen=True):
    """An array of the file that is read, and what is done to it."""

    path: str
    shape: tuple[int, ...]
    steps: Steps = ()


class LayerWeights(Struct, frozen=True):
    """The weights of one layer of an HDF5 model, in order."""

    name: str
    weights: tuple[Copy, ...]


class Rewritten(Struct, frozen=True):
    """A model as Keras 3 reads it: its configuration, and where its variables are.

    ``training`` is what it is compiled with, None for nothing.
    """

    model: dict[str, Any]
    saved: Saved
    values: Values
    training: dict[str, Any] | None


Values = dict[tuple[str, int], Source]  # (new path of an object, number of its variable): the array


_ACTIVATION: Final = "activation"
_SIDES: Final = ("forward_", "backward_")  # of a Bidirectional, before the name of its layer


def values_of(contents: Contents, model: Saved, names: list[str], record: Record) -> Values:
    """Return in which array each variable of a model lies.

    ``names`` are those of its layers in the file. What does not fit is noted in ``record``.
    """
    groups = contents.weights or ()
    if contents.kind is FileKind.HDF5:
        found = _of_hdf5(groups, model, names, record)
    else:
        found = _of_archive(groups, model, record)
    _lay_out(found, model, record)
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
        if not _has_counts(layer, weights):
            record.refuse(shown(name), _unlike(len(weights)), Fault.WEIGHTS, name)
            continue
        for each in layer.everything():
            each.is_nested = bool(each.users) and not _are_own(each.users, layer, weights)
        pairs = list(zip(_as_in_hdf5(layer, weights), weights, strict=False))
        if len(pairs) != len(weights) or any(_is_another(*pair) for pair in pairs):
            record.refuse(shown(name), _unlike(len(weights)), Fault.WEIGHTS, name)
            continue
        assert group is not None or not weights
        for (each, number), weight in pairs:
            path = group.path if group is not None else ""
            source = f"model_weights/{path}/{weight.name}"
            found[each.new, number] = Source(source, weight.shape or ())
    for name, rest in by_name.items():
        if rest.weights and name != _TOP:
            record.refuse(shown(name), "its weights belong to no layer", Fault.WEIGHTS, name)
    return found


def _unlike(count: int) -> str:
    return f"its {count} weights are not laid out as this layer has them"


def _has_counts(layer: Saved, weights: Sequence[Weight]) -> bool:
    """Find out how many variables there are where a class is not known; say whether that can be."""
    objects = list(layer.everything())
    open_ones = [each for each in objects if each.own is None]
    left = len(weights) - sum(len(each.own or ()) for each in objects)
    counts = [left] * len(open_ones)
    if len(open_ones) > 1:
        counts = [len(list(_of_layer(each, weights))) for each in open_ones]
    if left < 0 or left != sum(counts):
        return False
    for each, count in zip(open_ones, counts, strict=True):
        each.own = tuple(map(str, range(count)))
    return True


def _as_in_hdf5(layer: Saved, weights: Sequence[Weight]) -> list[Variable]:
    """Return the variables of a layer in the order of its weights.

    Which of those of the user's layers are trained, nobody knows: they are told by their names.
    """
    order = layer.in_order_of_keras_2()
    users = [each for each in layer.everything() if each.users]
    if not users or users == [layer] or len(order) != len(weights):
        return order
    places = {each.new: list(_of_layer(each, weights)) for each in users}
    taken = {number for numbers in places.values() for number in numbers}
    if len(taken) != sum(len(each.own or ()) for each in users):
        return order if len(users) == 1 and len(order) == len(users[0].own or ()) else []
    others = iter([each for each in order if not each[0].users])
    own = {number: (each, at) for each in users for at, number in enumerate(places[each.new])}
    return [own[number] if number in own else next(others) for number in range(len(weights))]


def _are_own(name: str, layer: Saved, weights: Sequence[Weight]) -> bool:
    """Say whether no weight of a layer of the user's is one of a layer inside of it."""
    parts = [each.name.split("/")[:-1] for each in weights]
    return all(each[-1:] == [name] for each in parts if layer.users == name or name in each)


def _of_layer(saved: Saved, weights: Sequence[Weight]) -> Iterator[int]:
    """Yield the numbers of the weights that have the name of a layer of the user's in theirs."""
    side = next((each for each in _SIDES if f"/{each}layer" in saved.new), "")
    for number, each in enumerate(weights):
        parts = each.name.split("/")[:-1]
        if saved.users in parts and any(part.startswith(side) for part in parts):
            yield number


def check_users(contents: Contents, model: Saved, record: Record, *, is_to_hdf5: bool) -> None:
    """Note layers of the user's whose weights lie by attributes in one format, in order in one."""
    is_hdf5 = contents.kind is FileKind.HDF5
    for each in model.children if is_to_hdf5 else ():
        if not _is_order_known(each, is_hdf5=is_hdf5):
            cause = "which weights of your layers in it are trained, by which HDF5 orders them, "
            cause += "the file does not say"
            record.refuse(shown(each.old), cause, Fault.WEIGHTS, each.old, "Convert to .keras.")
    if is_hdf5 is is_to_hdf5:
        return
    for each in model.everything():
        if each.users and (each.children or each.is_nested):
            cause = (
                "it is yours and has layers in it: HDF5 holds their weights in order, a `.keras` "
                "by the attributes that they are, and the one does not tell the other"
            )
            cure = f"Convert to {'.h5' if is_hdf5 else '.keras'}."
            record.refuse(shown(each.users), cause, Fault.WEIGHTS, each.users, cure)


def _is_order_known(layer: Saved, *, is_hdf5: bool) -> bool:
    """Say whether the weights of a layer with those of the user's in it can be put into HDF5.

    Those that are trained come first. Where the old file has that order, it can stay.
    """
    objects = list(layer.everything())
    if not any(each.users for each in objects) or layer.users:
        return True
    if sum(bool(each.own) for each in objects) == 1:
        return True
    return is_hdf5 and all(list(each.order) == sorted(each.order) for each in objects)


def _below(saved: Saved, path: str, by_path: dict[str, WeightGroup]) -> Iterator[Saved]:
    """Yield what lies below a layer of the user's, and take it out of what is left."""
    inside = [each for each in by_path if each.startswith(f"{path}/")]
    attentions = {
        each.removesuffix("/_query_dense")
        for each in inside
        if all(f"{each.rpartition('/')[0]}/_{name}_dense" in by_path for name in ATTENTION)
    }
    for each in inside:
        parent, _, last = each.rpartition("/")
        if parent in attentions and last.startswith("_"):  # as Keras 3 calls it
            last = last[1:]
        numbers = dict(_numbers(by_path[each]))
        new = f"{saved.new}/{f'{parent}/{last}'.removeprefix(f'{path}/')}"
        yield Saved(each, new, tuple(map(str, range(len(numbers)))), saved.is_trained)


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
        numbers = dict(sorted(_numbers(group)))
        if each.own is None:
            each.own = tuple(map(str, numbers))
            if each.users:
                each.children = tuple(_below(each, path, by_path))
        elif len(each.own) != len(numbers):
            record.refuse(shown(each.old), _unlike(len(numbers)), Fault.WEIGHTS, each.old)
            continue
        for number, weight in numbers.items():
            assert group is not None
            source = f"{group.path}/vars/{number}"
            found[each.new, number] = Source(source, weight.shape or ())
    for path, rest in by_path.items():
        if rest.weights and not path.startswith(_OF_TRAINING):
            record.refuse(shown(path), "its weights belong to no layer", Fault.WEIGHTS, path)
    return found


def _numbers(group: WeightGroup | None) -> Iterator[tuple[int, Weight]]:
    for each in group.weights if group is not None else ():
        if each.name.isdecimal():
            yield int(each.name), each


def _lay_out(found: Values, model: Saved, record: Record) -> None:
    """Note what is done to arrays on their way, by the shapes that they have."""
    for each in model.everything():
        keys = [(each.new, number) for number in range(len(each.own or ()))]
        if each.lay_out is None or not all(key in found for key in keys):
            continue
        try:
            steps = each.lay_out([found[key].shape for key in keys])
        except ValueError as error:
            record.refuse(shown(each.old), str(error), Fault.WEIGHTS, each.old)
            continue
        for key, done in zip(keys, steps, strict=True):
            found[key] = replace(found[key], steps=done)


def copies_to_archive(values: Values) -> list[Copy]:
    """Return what is copied into the `model.weights.h5` of Keras 3."""
    return [
        Copy(source.path, f"{path}/vars/{number}", source.steps)
        for (path, number), source in values.items()
    ]


def copies_to_hdf5(values: Values, model: Saved) -> list[LayerWeights]:
    """Return the weights of each layer as Keras 3 reads them from an HDF5 model: by their order."""
    order = model.order or tuple(range(len(model.children)))
    return [_layer(model.children[number], values) for number in order]


def _layer(saved: Saved, values: Values) -> LayerWeights:
    copies = []
    order = saved.in_order_of_keras_3()
    if any(each.users for each, _ in order):  # as they were: `check_users`
        places = {key: place for place, key in enumerate(values)}
        order.sort(key=lambda each: places[each[0].new, each[1]])
    for each, number in order:
        own = each.own or ()
        below = each.new.removeprefix(saved.new).strip("/")
        target = "/".join(filter(None, (saved.name, below, own[number])))
        source = values[each.new, number]
        copies.append(Copy(source.path, target, source.steps))
    return LayerWeights(saved.name, tuple(copies))
