"""Write a new HDF5 file with arrays of an old one: ``hdf5_child`` does it, in a process of its own.

Imports nothing of kdoctor: it is loaded from its file.
"""

from __future__ import annotations

from typing import Any

_HEADER_LIMIT = 64_512  # bytes of an attribute in the header of its object, as Keras has it
_NUMBERS = "biufcV"  # kinds of dtypes of weights, bfloat16 too; others are text or references
_STEPS = ("reshape", "transpose", "sum")  # of numpy's arrays


class Refused(Exception):
    """Why an array was not copied, in a sentence."""


def write_groups(h5py: Any, new: Any, groups: dict[str, dict[str, str | list[str]]]) -> None:
    """Write the texts of groups."""
    for path, texts in groups.items():
        group = _group(new, path)
        for name, text in texts.items():
            _set(h5py, group, name, text)


def write_arrays(h5py: Any, old: Any, new: Any, copies: list[Any]) -> None:
    """Copy arrays, each with what is done to it.

    The library copies an array in pieces: how large it is does not matter. What something is done
    to is in memory once or twice.

    Raises:
        Refused: one is not there, or lies in another file.
    """
    for path, target, steps in copies:
        if not path:
            _set_number(new, target, steps)
            continue
        found = _array_at(h5py, old, path)
        if steps:
            group, _, name = target.rpartition("/")
            _group(new, group).create_dataset(name, data=_laid_out(found[()], steps))
        else:
            _copy_array(h5py, new, found, (path, target))


def _set(h5py: Any, group: Any, name: str, value: str | list[str]) -> None:
    """Write a text, or several: in pieces where they are too many for one attribute."""
    if isinstance(value, str):
        group.attrs.create(name, value, dtype=h5py.string_dtype())
        return
    encoded = [each.encode() for each in value]
    size = max(map(len, encoded), default=1)
    most = max(1, _HEADER_LIMIT // max(1, size))
    pieces = [encoded[at : at + most] for at in range(0, len(encoded), most)] or [[]]
    for number, piece in enumerate(pieces):
        key = name if len(pieces) == 1 else f"{name}{number}"
        group.attrs.create(key, piece, dtype=f"S{max(1, size)}")


def _set_number(new: Any, target: str, steps: list[list[Any]]) -> None:
    """Write a number that the old file has elsewhere, as `float32`."""
    group, _, name = target.rpartition("/")
    _group(new, group).create_dataset(name, data=steps[0][1], dtype="float32")


def _array_at(h5py: Any, old: Any, path: str) -> Any:
    found = old
    for part in path.split("/"):
        if not isinstance(found.get(part, getlink=True), h5py.HardLink):
            raise Refused(f"`{path[:80]}` is not there, or lies in another file")
        found = found[part]
    if not isinstance(found, h5py.Dataset) or found.external or found.is_virtual:
        raise Refused(f"`{path[:80]}` is no array, or lies in another file")
    if found.dtype.kind not in _NUMBERS:
        raise Refused(f"`{path[:80]}` holds no numbers")
    return found


def _copy_array(h5py: Any, new: Any, found: Any, paths: tuple[str, str]) -> None:
    group, _, name = paths[1].rpartition("/")
    last = paths[0].rpartition("/")[2].encode()
    h5py.h5o.copy(found.parent.id, last, _group(new, group).id, name.encode())


def _laid_out(value: Any, steps: list[list[Any]]) -> Any:
    """Return an array as another layer has it: reshaped, transposed, summed, step by step."""
    for name, given in steps:
        if name not in _STEPS:
            raise Refused(f"`{name}` is no step")
        value = getattr(value, name)(given)
    return value


def _group(file: Any, path: str) -> Any:
    return file.require_group(path) if path else file
