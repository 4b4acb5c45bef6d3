"""How a path ends, as far as the code tells, and how to write it with another ending."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.dataflow.texts import NUMBER, Text, texts_of
from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, NoFix, Span
from kdoctor.rules.saving._path_expressions import is_path
from kdoctor.syntax import Module

_FORMAT_FIELD = pattern(r"%[-#0 +]*[\d*]*(?:\.[\d*]+)?[hlL]?[diouxXeEfFgGcrsa%]|\{[^{}]*\}")
_HERE = pattern(r"^(?:\./+)+")
_SLASHES = pattern(r"(?<!:)/{2,}")
H5 = (".h5", ".hdf5")
"""How a path of a whole model in HDF5 ends."""
_OF_KERAS = (".keras", ".weights.h5", ".weights.json", *H5, ".hdf")
NOT_WRITTEN_OUT = NoFix("the end of the path is not written out in one string literal of its own")


class Ending(Struct, frozen=True):
    """The end of a path: ``text`` is known of it, and its last characters stand in ``node``.

    ``own`` characters do so, up to ``end``; more can be written at ``behind``. ``node`` is None
    where they come from elsewhere, ``behind`` where no literal ends there. ``whole``: the text is
    the whole path, not only its end. It holds ``NUMBER`` where a number stands.
    """

    text: str
    node: cst.SimpleString | cst.FormattedString | cst.FormattedStringText | None
    end: int
    whole: bool
    behind: int | None = None
    own: int = 0

    @property
    def extension(self) -> str | None:
        """``.h5``, empty where the path surely has none of Keras', None where nobody knows."""
        leaf = re.split(r"[/\\]", self.text)[-1]
        if self.text and not leaf:
            return ""
        # The fields of a template (`{loss:.2f}`) hold dots that are none of the path's.
        dot = _FORMAT_FIELD.sub(lambda found: "x" * len(found.group()), leaf).rfind(".")
        if dot > 0 or (dot == 0 and not self.whole):
            found = leaf[dot:]
            if NUMBER not in found:
                return found
            return None if _may_complete(found) else ""
        is_all_of_it = self.whole or leaf != self.text
        return "" if is_all_of_it or not _may_complete(leaf) else None

    @property
    def file(self) -> str:
        """The text without a leading ``./`` where that surely is the same file."""
        return _HERE.sub("", self.text) if self.whole and self.extension else self.text

    @property
    def shown(self) -> str:
        """What a message can say of the path."""
        return self.text if self.whole else f"…{self.extension}"


def _may_complete(text: str) -> bool:
    """Say whether the end of a path may be the end of an extension that Keras knows."""
    return any(
        len(text) <= len(each)
        and all(
            one == other or (one == NUMBER and other.isdigit())
            for one, other in zip(reversed(text), reversed(each), strict=False)
        )
        for each in _OF_KERAS
    )


def ending(module: Module, path: cst.BaseExpression | None) -> Ending | None:
    """Return how a path ends; None where that is not known.

    Of one that may be several, what is true of all: their extension.
    """
    if path is None:
        return None
    found = [_ending(each) for each in texts_of(module, path)]
    first = found[0]
    if len(found) == 1 or first is None:
        return first
    kinds = {None if each is None else _kind(each) for each in found}
    kind = kinds.pop()
    if kinds or kind is None:
        return None
    return Ending(kind, None, -1, whole=False)


def _ending(text: Text) -> Ending | None:
    if not text.text:
        return None
    is_whole = text.whole and NUMBER not in text.text
    known = _SLASHES.sub("/", text.text)
    return Ending(known, text.node, text.end, is_whole, text.behind, text.own)


def _kind(found: Ending) -> str | None:
    """Return what stands for all paths that end in the same way."""
    if found.extension is None or found.text.startswith(("hf://", "gs://")):
        return None
    if found.text.endswith(".weights.h5"):
        return ".weights.h5"
    return found.extension or "/"


def renamed(
    module: Module,
    found: Ending,
    old: str,
    new: str,
    *,
    but: Sequence[cst.BaseExpression] = (),
) -> tuple[Edit, ...]:
    """Return the edits that let the path end in ``new`` instead of ``old``.

    A path that is wholly written out is changed wherever this file surely takes it for one, ``but``
    in these places. One that ends in a slash, a folder's, becomes the file beside that folder; one
    that names no folder of its own (`./`) gets a file in it. Nothing where its end does not stand
    in a literal of its own (``NOT_WRITTEN_OUT``).
    """
    folder = found.text.rstrip("/")
    if folder != found.text:
        names_one = folder.strip("./") or not found.whole
        old, new = (found.text[len(folder) :], new) if names_one else ("", f"model{new}")
    own = found.behind if not old else found.end if len(old) <= found.own else None
    if own is None:
        return ()
    ends = [] if any(found.node is each for each in but) else [own]
    if found.whole:
        ends += [
            each.end
            for each in same_paths(module, found)
            if not any(each.node is node for node in but)
            if isinstance(each.node, cst.SimpleString)
            if each.node is found.node or is_path(module, each.node)
        ]
    return tuple(Edit(Span(end - len(old), end), (new,)) for end in sorted(set(ends)))


def same_paths(module: Module, found: Ending) -> Sequence[Ending]:
    """Return all literals of this file that are the same path, but no documentation."""
    return [
        each
        for node in _strings(module)
        if (each := ending(module, node)) is not None and each.whole and each.file == found.file
    ]


def _strings(module: Module) -> Iterator[cst.SimpleString]:
    for node in module.nodes(cst.SimpleString):
        if not isinstance(module.parent(node), cst.Expr):
            yield node
