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
_MAX_DEPTH_SEEN = 2_000  # of those that are not looked into: the library goes down by recursion
_MAX_TEXT = 32_000_000  # bytes of an attribute
_MAX_UNPACKED = 64_000_000  # bytes of weights that lie compressed in an archive
_MAX_MEMORY = 300_000_000  # bytes that reading may take
_STORED = 0  # how a member of an archive lies there (APPNOTE.TXT of PKWARE, 4.4.5)
_CONFIGS = ("model_config", "training_config")
_OTHERS = ("keras_version", "backend")
_NO_NAMES = (b"", b".")  # they lead nowhere else
_MAX_DTYPES = 20  # of a file that are remembered
_TOO_MANY = f"it has more than {_MAX_OBJECTS:,} groups and arrays"
_LINK_OUT = "a link in it leads to another file, which was not read"


class Refused(Exception):
    """Why a part of a file was not read, in a sentence."""


def main() -> None:
    """Answer requests until there are no more."""
    import h5py  # noqa: PLC0415 - takes longest; what imports this file need not have it

    start = _limit_memory()
    out = sys.stdout
    print("{}", file=out, flush=True)  # ready
    for line in sys.stdin:
        try:
            asked = json.loads(line)
            answer = _copy(h5py, asked) if "copies" in asked else _read(h5py, asked)
        except MemoryError:
            answer = {"error": "it claims more than a model holds", "is_spent": True}
        except Exception as error:  # noqa: BLE001 - of h5py, whatever a damaged file comes to
            answer = {"error": " ".join(str(error).split()) or type(error).__name__}
        if _is_spent(h5py, start):
            answer["is_spent"] = True
        print(json.dumps(answer), file=out, flush=True)


def _limit_memory() -> int:
    """Let a file that claims to be huge end in an error; where the system has no limits, it may.

    Return the bytes of memory that the process has now.
    """
    start = _memory()
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not on Windows

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if start:
            most = start + _MAX_MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return start


def _memory() -> int:
    """Return the bytes of memory that this process has, 0 where the system does not say it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 0


def _is_spent(h5py: Any, start: int) -> bool:
    """Say whether a file has left something here that the next one might feel."""
    files = h5py.h5f
    kinds = files.OBJ_FILE | files.OBJ_GROUP | files.OBJ_DATASET | files.OBJ_ATTR
    has_open = files.get_obj_count(files.OBJ_ALL, kinds) > 0
    return has_open or _memory() - start > _MAX_MEMORY // 3


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
    """What one file says: attributes, and the names and shapes of its arrays.

    Of h5py the low level alone is used where there is something for each array: the other takes
    several times as long.
    """

    def __init__(self, h5py: Any, file: Any) -> None:
        self._h5py = h5py
        self._root = file.id
        self._notes: dict[str, None] = {}
        self._left = _MAX_OBJECTS
        self._dtypes: list[tuple[Any, str]] = []
        self._ways: dict[Any, bool] = {}

    def told(self) -> dict[str, Any]:
        root = self._root
        told: dict[str, Any] = {"configs": {}, "pieces": []}
        for name in _CONFIGS:
            text = self._text(root, name)
            if text is None and (text := self._in_pieces(root, name)) is not None:
                told["pieces"].append(name)
            if text is not None:
                told["configs"][name] = text
        inside = self._group(root, "model_weights")
        told["has_model_weights"] = inside is not None
        source = root if inside is None else inside
        for name in _OTHERS:
            told[name] = self._text(root, name) or self._text(source, name) or ""
        names = self._names(source, "layer_names")
        told["is_legacy"] = names is not None
        told["groups"] = (
            list(self._legacy(source, names)) if names is not None else list(self._of_keras_3())
        )
        top = self._group(source, "top_level_model_weights")
        told["top"] = [] if top is None else self._held(top)
        kept = self._group(root, "optimizer_weights")
        told["optimizer"] = None if kept is None else list(self._state(kept))
        told["notes"] = list(self._notes)
        return told

    def _legacy(self, source: Any, names: list[str]) -> Iterator[Any]:
        for name in names:
            group = self._group(source, name)
            if group is None:
                self._note(f"the group of `{name[:80]}` is not there, or lies in another file")
                continue
            yield name, name, self._held(group)

    def _held(self, group: Any) -> list[Any]:
        """Return the arrays that a group of Keras 2 names, in their order."""
        inside = self._names(group, "weight_names") or []
        arrays = (self._array(self._object(group, each), each) for each in inside)
        return [each for each in arrays if each is not None]

    def _of_keras_3(self) -> Iterator[Any]:
        """Yield each group `vars`: the layer has its path, without it."""
        inside: dict[str, list[str]] = {}
        for path, is_group in self._paths(self._root).items():
            above, _, name = path.rpartition("/")
            if name == "vars":
                inside.setdefault(path, [])
            if not is_group and (above == "vars" or above.endswith("/vars")):
                inside.setdefault(above, []).append(name)
        for path, names in inside.items():
            group = self._object(self._root, path)
            if self._is_group(group):
                arrays = (self._array(self._object(group, each), each) for each in names)
                name = self._text(group, "name") or ""
                yield name, path.rpartition("/")[0], [each for each in arrays if each is not None]

    def _state(self, group: Any) -> Iterator[Any]:
        """Yield the arrays of an optimizer, in the order that the file says, if it says one."""
        names = self._names(group, "weight_names")
        if names is None:
            yield from self._arrays(group)
            return
        for name in names:
            array = self._array(self._object(group, name), name)
            if array is not None:
                yield array

    def _arrays(self, group: Any) -> Iterator[Any]:
        """Yield each array below a group, by its path from there."""
        for path, is_group in self._paths(group).items():
            array = None if is_group else self._array(self._object(group, path), path)
            if array is not None:
                yield array

    def _paths(self, group: Any) -> dict[str, bool]:
        """Return what is below a group, by its path, and whether there is something below that.

        The library walks through the groups itself: asking it for one after the other takes five
        times as long. It goes through each group once, and no link leads out of the file.
        """
        paths: dict[str, bool] = {}
        hard, external = self._h5py.h5l.TYPE_HARD, self._h5py.h5l.TYPE_EXTERNAL

        def meet(raw: bytes, link: Any) -> str | None:
            """Note a link; return why to go no further. Nothing is raised through the library."""
            self._left -= 1
            if self._left < 0:
                return _TOO_MANY
            if link.type == external:
                self._note(_LINK_OUT)
            depth = raw.count(b"/")
            if link.type == hard and depth <= _MAX_DEPTH:
                path = raw.decode("utf-8", "surrogateescape")
                paths[path] = False
                paths[path.rpartition("/")[0]] = True
            return None if depth <= _MAX_DEPTH_SEEN else "its groups are nested without an end"

        why = group.links.visit(meet, info=True)
        if why is not None:
            raise Refused(why)
        paths.pop("", None)  # the group itself
        return paths

    def _group(self, group: Any, name: str) -> Any:
        found = self._object(group, name)
        return found if self._is_group(found) else None

    def _is_group(self, found: Any) -> bool:
        return isinstance(found, self._h5py.h5g.GroupID)

    def _array(self, found: Any, shown: str) -> Any:
        if not isinstance(found, self._h5py.h5d.DatasetID):
            return None
        self._count()
        # What lies in one piece in this file has a place in it: that is asked for in no time.
        if found.get_offset() is None and found.get_create_plist().get_external_count():
            self._note("an array of it lies in another file, which was not read")
        return shown, list(found.shape or ()), self._dtype(found)

    def _dtype(self, found: Any) -> str:
        """Return the dtype of an array; of those that were seen before it is not made anew."""
        kind = found.get_type()
        for known, name in self._dtypes:
            if kind.equal(known):
                return name
        name = str(found.dtype)
        if len(self._dtypes) < _MAX_DTYPES:
            self._dtypes.append((kind, name))
        return name

    def _object(self, group: Any, name: str) -> Any:
        """Return what a name leads to within this file, None for nothing, or for a way out.

        Other files are for nobody to open on the word of this one.
        """
        path = name.encode("utf-8", "surrogateescape")
        above, _, last = path.rpartition(b"/")
        if last in _NO_NAMES or path.count(b"/") > _MAX_DEPTH or not self._is_group(group):
            return None
        if not self._is_way(group, above):
            return None
        return self._h5py.h5o.open(group, path) if self._is_inside(group, path) else None

    def _is_way(self, group: Any, path: bytes) -> bool:
        """Say whether a path, b"" for a group itself, leads to a group within this file."""
        if not path:
            return True
        key = group, path  # of the weights of a layer, all have the same
        if key not in self._ways:
            above, _, last = path.rpartition(b"/")
            self._ways[key] = (
                last not in _NO_NAMES
                and self._is_way(group, above)
                and self._is_inside(group, path)
                and self._is_group(self._h5py.h5o.open(group, path))
            )
        return self._ways[key]

    def _is_inside(self, group: Any, path: bytes) -> bool:
        """Say whether there is a link, within this file, at the end of a way."""
        if not group.links.exists(path):
            return False
        link = group.links.get_info(path)
        if link.type == self._h5py.h5l.TYPE_EXTERNAL:
            self._note(_LINK_OUT)
        return bool(link.type == self._h5py.h5l.TYPE_HARD)

    def _names(self, group: Any, name: str) -> list[str] | None:
        """Return the texts of an attribute, which lies in pieces where there are many."""
        found = self._listed(group, name)
        if found is not None:
            return found
        made: list[str] | None = None
        for number in range(_MAX_OBJECTS):
            piece = self._listed(group, f"{name}{number}")
            if piece is None:
                break
            made = [*(made or ()), *piece]
        return made

    def _listed(self, group: Any, name: str) -> list[str] | None:
        value = self._attribute(group, name)
        if value is None:
            return None
        return [_decoded(each) for each in (value if isinstance(value, list) else [value])]

    def _in_pieces(self, group: Any, name: str) -> str | None:
        """Return a text that was cut into attributes, None where there is none."""
        pieces = self._listed(group, f"{name}0")
        return None if pieces is None else "".join(self._names(group, name) or ())

    def _text(self, group: Any, name: str) -> str | None:
        value = self._attribute(group, name)
        return _decoded(value) if isinstance(value, str | bytes) else None

    def _attribute(self, group: Any, name: str) -> Any:
        """Return the value of an attribute as Python has it, None where there is none.

        Raises:
            Refused: it is larger than the text of a model is.
        """
        attributes, key = self._h5py.h5a, name.encode()
        if not attributes.exists(group, key):
            return None
        found = attributes.open(group, key)
        shape = found.shape
        # An empty list has no storage to ask for: layers without weights have one.
        if 0 not in (shape or ()) and found.get_storage_size() > _MAX_TEXT:
            raise Refused(f"its `{name}` is larger than {_MAX_TEXT // 10**6} MB")
        if shape is None or found.get_type().get_class() != self._h5py.h5t.STRING:
            value = self._h5py.AttributeManager(self._h5py.Group(group))[name]
            return value.tolist() if hasattr(value, "tolist") else value
        import numpy as np  # noqa: PLC0415 - h5py has imported it

        made = np.empty(shape, found.dtype)
        found.read(made)
        return made.tolist()

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Refused(_TOO_MANY)

    def _note(self, text: str) -> None:
        self._notes.setdefault(text)


def _decoded(text: object) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)


def _copy(h5py: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """Write a new file with the groups, texts and arrays that a request names."""
    copies = _beside("hdf5_copies")
    with h5py.File(asked["to"], "w") as new:
        copies.write_groups(h5py, new, asked["groups"])
        if asked["copies"]:
            with open(asked["path"], "rb") as raw:  # noqa: PTH123
                member = asked["member"]
                source = raw if member is None else member_file(raw, **member)
                with h5py.File(source, "r") as old:
                    copies.write_arrays(h5py, old, new, asked["copies"])
    return {}


def _beside(name: str) -> Any:
    """Return a module beside this file, to which no path leads where a file is run."""
    from importlib import util  # noqa: PLC0415 - to read takes none of it
    from pathlib import Path  # noqa: PLC0415

    place = Path(__file__).with_name(f"{name}.py")
    spec = util.spec_from_file_location(name, place)
    assert spec is not None
    assert spec.loader is not None
    made = util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


if __name__ == "__main__":
    main()
