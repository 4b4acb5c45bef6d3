"""The state of an optimizer, such as the momenta of Adam, as Keras 3 keeps it.

Where both have the same slots for each trained variable, they go along, in the order of Keras 3;
``tests/models/convert/test_optimizer_state.py`` trains on with both. Elsewhere the state is left
out, and why is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from kdoctor.models.contents import Contents
from kdoctor.models.convert.weights import Copy, Rewritten, Source
from kdoctor.models.kinds import FileKind

# Slots in blocks: those of a block stand beside each other for each variable, blocks one after
# another. Up to TensorFlow 2.10 ("iter"), each slot was a block.
_Blocks = tuple[tuple[str, ...], ...]
_ADAM: Final = ("momentum", "velocity")
_PAIRS: Final[dict[str, tuple[str, ...]]] = {
    "Adam": _ADAM,
    "AdamW": _ADAM,
    "Adamax": ("momentum", "norm"),
    "Adadelta": ("accumulated_grad", "accumulated_delta_var"),
    "Ftrl": ("accumulator", "linear"),
    "Adagrad": ("accumulator",),
    "Lion": ("momentum",),
}
_BESIDE: Final = frozenset({"Ftrl"})  # had its slots beside each other before, too
_ITERATIONS: Final = ("iteration", "iter")


class NotKept(Exception):
    """Why the state does not go along."""


def kept_state(contents: Contents, made: Rewritten, *, is_to_hdf5: bool) -> list[Copy]:
    """Return what is copied into ``optimizer`` of the weights of Keras 3; nothing for no state.

    Raises:
        NotKept: it cannot be told whose it is, or Keras 3 has other slots.
    """
    arrays = _arrays(contents)
    if len(arrays) < 2 or made.training is None:
        return []
    if is_to_hdf5:
        raise NotKept("Keras 3 does not load it from HDF5: convert to .keras to keep it")
    model, values, optimizer = made.saved, made.values, made.training["optimizer"]
    leaf, config = str(optimizer["class_name"]), optimizer["config"]
    is_old = _is_old(contents, arrays)
    if config.get("use_ema"):
        raise NotKept("it keeps an average of the weights")
    if _leaf(arrays[0].path) not in _ITERATIONS and contents.kind is FileKind.HDF5:
        raise NotKept("it is of a release whose order is not known")
    before, after = _blocks(leaf, config, is_old=is_old), _blocks(leaf, config, is_new=True)
    rest = [each for each in arrays[1:] if _leaf(each.path) != "learning_rate"]
    order_2 = [(each.new, number) for each, number in model.trained(by_keras_3=False)]
    order_3 = [(each.new, number) for each, number in model.trained(by_keras_3=True)]
    slots = dict(zip(_slots(before, order_2), rest, strict=False))
    if len(slots) != len(rest) or len(rest) != sum(map(len, before)) * len(order_2):
        raise NotKept("its slots are not those of the trained weights")
    for (_, key), source in slots.items():
        if source.shape != values[key].shape:
            raise NotKept("its slots are not those of the trained weights")
        if any(step == "sum" for step, _ in values[key].steps):
            raise NotKept("weights are laid out anew")
    copies = [Copy(arrays[0].path, "optimizer/vars/0")]
    rate = config.get("learning_rate")
    if isinstance(rate, int | float):
        copies.append(Copy("", "optimizer/vars/1", (("value", float(rate)),)))
    for slot, key in _slots(after, order_3):
        target = f"optimizer/vars/{len(copies)}"
        copies.append(Copy(slots[slot, key].path, target, values[key].steps))
    return copies


def unlike_steps(contents: Contents, made: Rewritten) -> str:
    """Return in what Keras 3 goes on otherwise from the same state; "" for nothing."""
    optimizer = (made.training or {})["optimizer"]
    config = optimizer["config"]
    is_it = optimizer["class_name"] == "RMSprop" and not config.get("momentum")
    if not is_it or not _is_old(contents, _arrays(contents)):
        return ""
    return (
        "`RMSprop` of Keras before 2.11 added `epsilon` to the root, and Keras 3 adds it below it: "
        "where gradients are tiny, its steps are smaller"
    )


def _is_old(contents: Contents, arrays: Sequence[Source]) -> bool:
    """Say whether an optimizer of Keras before 2.11 wrote them."""
    return contents.kind is FileKind.HDF5 and _leaf(arrays[0].path) == "iter"


def _arrays(contents: Contents) -> list[Source]:
    """Return the arrays of the state, in their order."""
    if contents.kind is FileKind.HDF5:
        return [
            Source(f"optimizer_weights/{each.name}", each.shape or ())
            for each in contents.optimizer_weights or ()
        ]
    for group in contents.weights or ():
        if group.path.removesuffix("/vars") == "optimizer":
            numbered = {int(each.name): each for each in group.weights if each.name.isdecimal()}
            return [
                Source(f"optimizer/vars/{number}", numbered[number].shape or ())
                for number in sorted(numbered)
            ]
    return []


def _leaf(path: str) -> str:
    return path.rpartition("/")[2].partition(":")[0]


def _blocks(
    leaf: str, config: Mapping[str, Any], *, is_old: bool = False, is_new: bool = False
) -> _Blocks:
    """Return the slots of an optimizer of Keras 2, of an old one, or of Keras 3 (``is_new``).

    Raises:
        NotKept: they are not known.
    """
    if leaf == "SGD":
        has_momentum = bool(config.get("momentum"))
        # Since 2.11, Keras 2 keeps one of zeros even without.
        return (("momentum",),) if has_momentum or not (is_old or is_new) else ()
    if leaf == "RMSprop":
        names = {"velocity": True, "momentum": config.get("momentum"), "mean": None}
        names["mean"] = config.get("centered")
        return tuple((name,) for name, has in names.items() if has)
    pair = _PAIRS.get(leaf)
    if pair is None:
        raise NotKept(f"Keras 3 keeps another one for `{leaf}`")
    blocks: _Blocks = (pair,)
    if is_old and leaf not in _BESIDE:
        blocks = tuple((each,) for each in pair)
    return (*blocks, ("hat",)) if config.get("amsgrad") else blocks


def _slots(
    blocks: _Blocks, order: Sequence[tuple[str, int]]
) -> Iterator[tuple[str, tuple[str, int]]]:
    for block in blocks:
        for key in order:
            for slot in block:
                yield slot, key
