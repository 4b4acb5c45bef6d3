"""How a path ends, as far as the code tells, and how to write it with another ending."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.model import Edit, Span
from kdoctor.patterns import pattern
from kdoctor.rules.calls import literal, value_of
from kdoctor.rules.paths import AS_GIVEN, FROM_THE_ROOT, JOINS, JOINS_OF_WINDOWS, PATHS
from kdoctor.rules.saving._files import is_path
from kdoctor.syntax import Module

_FORMAT_FIELD = pattern(r"%[-#0 +]*[\d*]*(?:\.[\d*]+)?[hlL]?[diouxXeEfFgGcrsa%]|\{[^{}]*\}")
_HERE = pattern(r"^(?:\./+)+")
_JOINED = JOINS | JOINS_OF_WINDOWS | PATHS
_WRAPPERS = FROM_THE_ROOT | AS_GIVEN | PATHS
_MAX_DEPTH = 8
H5 = (".h5", ".hdf5")
"""How a path of a whole model in HDF5 ends."""


class Ending(Struct, frozen=True):
    """The end of a path: ``text`` is known of it, and stands in ``node``, up to ``end``.

    ``whole``: the text is the whole path, not only its end.
    """

    text: str
    node: cst.SimpleString | cst.FormattedStringText
    end: int
    whole: bool

    @property
    def extension(self) -> str | None:
        """``.h5``, empty where the path surely has none, None where that is not known."""
        leaf = re.split(r"[/\\]", self.text)[-1]
        if self.text and not leaf:
            return ""
        # The fields of a template (`{loss:.2f}`) hold dots that are none of the path's.
        dot = _FORMAT_FIELD.sub(lambda found: "x" * len(found.group()), leaf).rfind(".")
        if dot > 0 or (dot == 0 and not self.whole):
            return leaf[dot:]
        return "" if self.whole or leaf != self.text else None

    @property
    def file(self) -> str:
        """The text without a leading ``./`` where that surely is the same file."""
        return _HERE.sub("", self.text) if self.whole and self.extension else self.text


def ending(module: Module, path: cst.BaseExpression | None, depth: int = 0) -> Ending | None:
    """Return how a path ends; None where that is not known."""
    if path is None or depth > _MAX_DEPTH:
        return None
    path = value_of(module, path)
    match path:
        case cst.SimpleString():
            return _of_literal(module, path)
        case cst.ConcatenatedString():
            return _partial(_of_string(module, path.right, depth))
        case cst.FormattedString():
            return _of_string(module, path, depth)
        case cst.BinaryOperation(operator=cst.Divide()):
            return _below(ending(module, path.right, depth + 1))
        case cst.BinaryOperation(operator=cst.Add()):
            return _partial(ending(module, path.right, depth + 1))
        case cst.BinaryOperation(operator=cst.Modulo()):
            return _after_last_field(ending(module, path.left, depth + 1))
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="format"), value=template)):
            return _after_last_field(ending(module, template, depth + 1))
        case cst.Call(args=[*_, last]) if all(not each.star and not each.keyword
                                               for each in path.args):  # fmt: skip
            return _of_call(module, path, last.value, depth)
        case cst.Subscript(
            value=cst.Name() as held,
            slice=[cst.SubscriptElement(slice=cst.Index(cst.SimpleString() as key))],
        ):
            return ending(module, _kept(module, held, key), depth + 1)
        case _:
            return None


def _kept(module: Module, held: cst.Name, key: cst.SimpleString) -> cst.BaseExpression | None:
    """Return what a dict that is written out holds at a key, where nothing changes it later."""
    kept = value_of(module, held)
    if not isinstance(kept, cst.Dict) or _is_changed(module, held.value):
        return None
    if any(isinstance(each, cst.StarredDictElement) for each in kept.elements):
        return None
    found = [
        each.value
        for each in kept.elements
        if isinstance(each, cst.DictElement) and literal(each.key) == literal(key)
    ]
    return found[0] if len(found) == 1 else None


def _is_changed(module: Module, name: str) -> bool:
    """Say whether something of this name is changed in place: an element set, a method called."""
    written = [
        target.target.value
        for assign in module.nodes(cst.Assign)
        for target in assign.targets
        if isinstance(target.target, cst.Subscript)
    ]
    owners = [*written, *(each.value for each in module.attributes)]
    return any(isinstance(each, cst.Name) and each.value == name for each in owners)


def _of_call(module: Module, call: cst.Call, last: cst.BaseExpression, depth: int) -> Ending | None:
    name = module.qualified(call.func)
    if name in _JOINED and len(call.args) > 1:
        return _below(ending(module, last, depth + 1))
    is_str = isinstance(call.func, cst.Name) and call.func.value == "str"
    if (is_str or name in _WRAPPERS) and len(call.args) == 1:
        return ending(module, last, depth + 1)
    return None


def _of_literal(module: Module, node: cst.SimpleString) -> Ending | None:
    value = literal(node)
    if not isinstance(value, str) or not value or "\\" in node.raw_value:
        return None
    return Ending(value, node, module.span(node).end - len(node.quote), whole=True)


def _of_string(module: Module, node: cst.BaseString, depth: int) -> Ending | None:
    if not isinstance(node, cst.FormattedString):
        return ending(module, node, depth + 1)
    last = node.parts[-1] if node.parts else None
    if not isinstance(last, cst.FormattedStringText) or "\\" in last.value:
        return None
    if "{" in last.value or "}" in last.value:
        return None  # a doubled brace
    return Ending(last.value, last, module.span(last).end, whole=len(node.parts) == 1)


def _partial(found: Ending | None) -> Ending | None:
    return None if found is None else Ending(found.text, found.node, found.end, whole=False)


def _below(found: Ending | None) -> Ending | None:
    """Return the end of a path to something in a folder: what is wholly known is its whole name."""
    if found is None or not found.whole:
        return _partial(found)
    return Ending(f"/{found.text}", found.node, found.end, whole=False)


def _after_last_field(found: Ending | None) -> Ending | None:
    """Return what follows the last field of a template that is filled in here."""
    if found is None:
        return None
    text = _FORMAT_FIELD.split(found.text)[-1]
    return Ending(text, found.node, found.end, whole=False) if text else None


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
    that names no folder of its own (`./`) gets a file in it.
    """
    folder = found.text.rstrip("/")
    if folder != found.text:
        names_one = folder.strip("./") or not found.whole
        old, new = (found.text[len(folder) :], new) if names_one else ("", f"model{new}")
    ends = [found.end]
    if isinstance(found.node, cst.SimpleString) and found.whole:
        ends = [
            each.end
            for each in same_paths(module, found)
            if not any(each.node is node for node in but)
            and (
                each.node is found.node
                or (isinstance(each.node, cst.SimpleString) and is_path(module, each.node))
            )
        ]
    return tuple(Edit(Span(end - len(old), end), (new,)) for end in ends)


def same_paths(module: Module, found: Ending) -> Sequence[Ending]:
    """Return all literals of this file that are the same path, but no documentation."""
    return [
        each
        for node in _strings(module)
        if (each := _of_literal(module, node)) is not None and each.file == found.file
    ]


def _strings(module: Module) -> Iterator[cst.SimpleString]:
    for node in module.nodes(cst.SimpleString):
        if not isinstance(module.parent(node), cst.Expr):
            yield node
