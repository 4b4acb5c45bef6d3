"""Read what HDF5 files say of a model, in a process of its own.

The library HDF5 is written in C, and damaged files have crashed it: what it does here takes nobody
else along. Reads a request on each line of standard input, and answers each with one line of JSON.
Imports nothing of kdoctor: it is run as a file.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

_MAX_OBJECTS = 200_000  # groups and arrays of a file
_MAX_DEPTH = 60  # of groups in groups; Keras writes a few
_MAX_TEXT = 32_000_000  # bytes of an attribute
_MAX_UNPACKED = 64_000_000  # bytes of weights that lie compressed in an archive
HEADER_LIMIT = 64_512  # bytes of an attribute in the header of its object, as Keras has it
_MAX_MEMORY = 300_000_000  # bytes that reading may take
_STORED = 0  # how a member of an archive lies there (APPNOTE.TXT of PKWARE, 4.4.5)
_NUMBERS = "biufcV"  # kinds of dtypes of weights, bfloat16 too; others are text or references
_CONFIGS = ("model_config", "training_config")
_OTHERS = ("keras_version", "backend")
_STEPS = ("reshape", "transpose", "sum")  # of numpy's arrays


class Refused(Exception):
    """Why a part of a file was not read, in a sentence."""


def main() -> None:
    """Answer requests until there are no more."""
    import h5py  # noqa: PLC0415 - takes longest; what imports this file need not have it

    _limit_memory()
    out = sys.stdout
    print("{}", file=out, flush=True)  # ready
    for line in sys.stdin:
        try:
            asked = json.loads(line)
            answer = _copy(h5py, asked) if "copies" in asked else _read(h5py, asked)
        except MemoryError:
            answer = {"error": "it claims more than a model holds"}
        except Exception as error:  # noqa: BLE001 - of h5py, whatever a damaged file comes to
            answer = {"error": " ".join(str(error).split()) or type(error).__name__}
        print(json.dumps(answer), file=out, flush=True)


def _limit_memory() -> None:
    """Let a file that claims to be huge end in an error; where the system has no limits, it may."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not on Windows

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            pages = int(file.read().split()[0])
        most = pages * resource.getpagesize() + _MAX_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _read(h5py: Any, asked: dict[str, Any]) -> dict[str, Any]:
    path = asked["path"]
    if asked.get("member") is None:
        with h5py.File(path, "r") as file:
            return _Reading(h5py, file).told()
    with open(path, "rb") as raw, h5py.File(member_file(raw, **asked["member"]), "r") as file:  # noqa: PTH123
        return _Reading(h5py, file).told()


def member_file(raw: BinaryIO, start: int, size: int, unpacked: int, method: int) -> BinaryIO:
    """Return a member of an archive as a file, without writing it anywhere."""
    if method == _STORED:
        return io.BufferedReader(_Window(raw, start, size))
    if unpacked > _MAX_UNPACKED:
        raise Refused(f"its weights are compressed, and larger than {_MAX_UNPACKED // 10**6} MB")
    raw.seek(start)
    made = zlib.decompressobj(-zlib.MAX_WBITS).decompress(
        raw.read(min(size, _MAX_UNPACKED)), _MAX_UNPACKED
    )
    return io.BytesIO(made)


class _Window(io.RawIOBase):
    """A stretch of a file, as a file."""

    def __init__(self, raw: BinaryIO, start: int, size: int) -> None:
        self._raw, self._start, self._size, self._at = raw, start, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        self._raw.seek(self._start + self._at)
        size = max(0, min(len(buffer), self._size - self._at))
        data = self._raw.read(size)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class _Reading:
    """What one file says: attributes, and the names and shapes of its arrays."""

    def __init__(self, h5py: Any, file: Any) -> None:
        self._h5py = h5py
        self._file = file
        self._notes: dict[str, None] = {}
        self._left = _MAX_OBJECTS
        self._dtypes: dict[Any, str] = {}
        self._groups: dict[Any, Any] = {}

    def told(self) -> dict[str, Any]:
        file = self._file
        told: dict[str, Any] = {"configs": {}, "pieces": []}
        for name in _CONFIGS:
            text = self._text(file, name)
            if text is None and (text := self._in_pieces(file, name)) is not None:
                told["pieces"].append(name)
            if text is not None:
                told["configs"][name] = text
        root = self._group(file, "model_weights")
        told["has_model_weights"] = root is not None
        source = file if root is None else root
        for name in _OTHERS:
            told[name] = self._text(file, name) or self._text(source, name) or ""
        names = self._names(source, "layer_names")
        told["is_legacy"] = names is not None
        told["groups"] = (
            list(self._legacy(source, names)) if names is not None else list(self._of_keras_3())
        )
        kept = self._group(file, "optimizer_weights")
        told["optimizer"] = None if kept is None else list(self._arrays(kept))
        told["notes"] = list(self._notes)
        return told

    def _legacy(self, source: Any, names: list[str]) -> Iterator[Any]:
        for name in names:
            group = self._group(source, name)
            if group is None:
                self._note(f"the group of `{name[:80]}` is not there, or lies in another file")
                continue
            inside = self._names(group, "weight_names") or []
            arrays = (self._array(self._object(group.id, each), each) for each in inside)
            yield name, name, [each for each in arrays if each is not None]

    def _of_keras_3(self) -> Iterator[Any]:
        """Yield each group `vars`: the layer has its path, without it."""
        for path, group, arrays in self._below(self._file.id):
            if path.rpartition("/")[2] == "vars":
                name = self._text(self._h5py.Group(group), "name") or ""
                yield name, path.rpartition("/")[0], arrays

    def _arrays(self, group: Any) -> Iterator[Any]:
        """Yield each array below a group, by its path from there."""
        for path, _, arrays in self._below(group.id):
            for name, shape, dtype in arrays:
                yield f"{path}/{name}" if path else name, shape, dtype

    def _below(self, root: Any) -> Iterator[tuple[str, Any, list[Any]]]:
        """Yield a group and those below it with their arrays; no link leads out of the file.

        Of h5py the low level alone is used: the other takes ten times as long.
        """
        waiting, seen = [("", root, 0)], {hash(root)}
        while waiting:
            path, group, depth = waiting.pop()
            inside, arrays = [], []
            for raw in group:
                self._count()
                name = _decoded(raw)
                found = self._opened(group, raw)
                array = self._array(found, name)
                if array is not None:
                    arrays.append(array)
                elif self._is_group(found) and depth < _MAX_DEPTH and hash(found) not in seen:
                    seen.add(hash(found))
                    inside.append((f"{path}/{name}" if path else name, found, depth + 1))
            yield path, group, arrays
            waiting += reversed(inside)

    def _group(self, group: Any, name: str) -> Any:
        found = self._object(group.id, name)
        return self._h5py.Group(found) if self._is_group(found) else None

    def _is_group(self, found: Any) -> bool:
        return isinstance(found, self._h5py.h5g.GroupID)

    def _array(self, found: Any, shown: str) -> Any:
        if not isinstance(found, self._h5py.h5d.DatasetID):
            return None
        self._count()
        if found.get_create_plist().get_external_count():
            self._note("an array of it lies in another file, which was not read")
        dtype = found.dtype
        if dtype not in self._dtypes:
            self._dtypes[dtype] = str(dtype)
        return shown, list(found.shape or ()), self._dtypes[dtype]

    def _object(self, group: Any, name: str) -> Any:
        """Return what a name leads to within this file, None for nothing, or for a way out."""
        found = group
        *folders, last = name.encode("utf-8", "surrogateescape").split(b"/")
        for depth in range(len(folders)):
            key = group, *folders[: depth + 1]  # of the weights of a layer, all have the same
            if key not in self._groups:
                self._groups[key] = self._named(found, folders[depth])
            found = self._groups[key]
        return self._named(found, last)

    def _named(self, group: Any, name: bytes) -> Any:
        is_name = self._is_group(group) and name and name != b"."
        return self._opened(group, name) if is_name and group.links.exists(name) else None

    def _opened(self, group: Any, name: bytes) -> Any:
        """Return what lies in a group under a name, None where it is another file's.

        Other files are for nobody to open on the word of this one.
        """
        links = self._h5py.h5l
        link = group.links.get_info(name)
        if link.type == links.TYPE_EXTERNAL:
            self._note("a link in it leads to another file, which was not read")
        if link.type != links.TYPE_HARD:
            return None
        return self._h5py.h5o.open(group, name)

    def _names(self, group: Any, name: str) -> list[str] | None:
        """Return the texts of an attribute, which lies in pieces where there are many."""
        if name in group.attrs:
            return self._listed(group, name)
        made: list[str] | None = None
        for number in range(_MAX_OBJECTS):
            piece = f"{name}{number}"
            if piece not in group.attrs:
                break
            made = [*(made or ()), *self._listed(group, piece)]
        return made

    def _listed(self, group: Any, name: str) -> list[str]:
        self._check(group, name)
        value = group.attrs[name]
        told = value.tolist() if hasattr(value, "tolist") else value
        return [_decoded(each) for each in (told if isinstance(told, list) else [told])]

    def _in_pieces(self, group: Any, name: str) -> str | None:
        """Return a text that was cut into attributes, None where there is none."""
        if f"{name}0" not in group.attrs:
            return None
        return "".join(self._names(group, name) or ())

    def _text(self, group: Any, name: str) -> str | None:
        if name not in group.attrs:
            return None
        self._check(group, name)
        value = group.attrs[name]
        told = value.tolist() if hasattr(value, "tolist") else value
        return _decoded(told) if isinstance(told, str | bytes) else None

    def _check(self, group: Any, name: str) -> None:
        """Check that an attribute is no larger than the text of a model is.

        Raises:
            Refused: it is.
        """
        found = group.attrs.get_id(name)
        # An empty list has no storage to ask for: layers without weights have one.
        if 0 not in (found.shape or ()) and found.get_storage_size() > _MAX_TEXT:
            raise Refused(f"its `{name}` is larger than {_MAX_TEXT // 10**6} MB")

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Refused(f"it has more than {_MAX_OBJECTS:,} groups and arrays")

    def _note(self, text: str) -> None:
        self._notes.setdefault(text)


def _decoded(text: object) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)


def _copy(h5py: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """Write a new file with the groups, texts and arrays that a request names.

    The library copies an array in pieces: how large it is does not matter.
    """
    with h5py.File(asked["to"], "w") as new:
        for path, texts in asked["groups"].items():
            group = _group(new, path)
            for name, text in texts.items():
                _set(h5py, group, name, text)
        if not asked["copies"]:
            return {}
        with open(asked["path"], "rb") as raw:  # noqa: PTH123
            member = asked["member"]
            source = raw if member is None else member_file(raw, **member)
            with h5py.File(source, "r") as old:
                for path, target, steps in asked["copies"]:
                    found = _array_at(h5py, old, path)
                    if steps:
                        group, _, name = target.rpartition("/")
                        _group(new, group).create_dataset(name, data=_laid_out(found[()], steps))
                    else:
                        _copy_array(h5py, new, found, (path, target))
    return {}


def _set(h5py: Any, group: Any, name: str, value: str | list[str]) -> None:
    """Write a text, or several: in pieces where they are too many for one attribute."""
    if isinstance(value, str):
        group.attrs.create(name, value, dtype=h5py.string_dtype())
        return
    encoded = [each.encode() for each in value]
    size = max(map(len, encoded), default=1)
    most = max(1, HEADER_LIMIT // max(1, size))
    pieces = [encoded[at : at + most] for at in range(0, len(encoded), most)] or [[]]
    for number, piece in enumerate(pieces):
        key = name if len(pieces) == 1 else f"{name}{number}"
        group.attrs.create(key, piece, dtype=f"S{max(1, size)}")


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


if __name__ == "__main__":
    main()
