"""Paths that would come out the same: two files of before must not overwrite each other after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import instances, passed
from kdoctor.memoize import once
from kdoctor.model import NoFix
from kdoctor.rules.saving._path_endings import H5, Ending, ending
from kdoctor.rules.saving._save_and_load_calls import PathUse, all_saves, handed, loads, method_uses
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_TAKEN: Final = "the file would be called `{}`, like {}: rename one of them"
_WRITTEN: Final = "another path in this file"
_TO_BE: Final = "`{}` after its own fix"
_IS_THERE: Final = "an existing file"
# What a fix takes off before it puts `.keras` or `.weights.h5` there.
_REPLACED: Final = (
    *(".weights.h5", ".weights.hdf5", *H5, ".hdf", ".ckpt", ".model", ".mdl", ".pb"),
    *(".savedmodel", ".tf", ".weights", ".keras", "/", ""),
)


def taken(module: Module, found: Ending, old: str, new: str) -> NoFix | None:
    """Say what else goes by the name that a path would get, None where nothing does.

    ``old`` is what is replaced by ``new``. Paths are compared as they are written, from the quote
    up to their end: `f"{name}.h5"` and `f"{name}"` would come out the same.
    """
    own = _written(module, found)
    if own is None:
        return None
    base = own.rstrip("/")
    wanted = f"{base.removesuffix(old) if old.strip('/') else base}{new}"
    if any(wanted == each != own for each in _literals(module)):
        return NoFix(_TAKEN.format(wanted, _WRITTEN))
    may_be_h5 = found.extension in H5
    for other in _paths_of(module, new):
        text = _written(module, other)
        if text is None:
            continue
        if text == own or (other.extension in H5 and not may_be_h5 and new == ".keras"):
            continue  # a model in `.h5` keeps its name where the other changes it
        if any(text.endswith(each) and f"{_cut(text, each)}{new}" == wanted for each in _REPLACED):
            return NoFix(_TAKEN.format(wanted, _TO_BE.format(text)))
    if found.whole and "{" not in wanted and module.has_file(wanted):
        return NoFix(_TAKEN.format(wanted, _IS_THERE))
    return None


def _cut(text: str, ending_: str) -> str:
    return text.removesuffix(ending_) if ending_ else text


def _written(module: Module, found: Ending) -> str | None:
    """Return the text of a path as it stands between the quotes, without a leading ``./``.

    None where its end stands in no literal.
    """
    return None if found.node is None else _text_of(module, _whole(module, found.node))


def _whole(module: Module, node: cst.CSTNode) -> cst.CSTNode:
    parent = module.parent(node)
    return parent if isinstance(parent, cst.FormattedString) else node


def _text_of(module: Module, node: cst.CSTNode) -> str:
    source = module.source(node).lstrip("rRbBuUfF")
    quote = source[:3] if source[:3] in ('"""', "'''") else source[:1]
    return source.removeprefix(quote).removesuffix(quote).removeprefix("./")


@once
def _literals(module: Module) -> frozenset[str]:
    """Return all texts of the file, but its documentation."""
    nodes = (*module.nodes(cst.SimpleString), *module.nodes(cst.FormattedString))
    return frozenset(
        _text_of(module, each) for each in nodes if not isinstance(module.parent(each), cst.Expr)
    )


@once
def _paths_of(module: Module, new: str) -> tuple[Ending, ...]:
    """Return the paths that a fix may let end so, too: those of weights, or of whole models."""
    weights = new == ".weights.h5"
    uses = (
        method_uses(module, "save_weights", "load_weights")
        if weights
        else (*all_saves(module), *loads(module))
    )
    ends = [each.ending for use in uses for each in _each(module, use)]
    ends += [ending(module, path) for path in _checkpoints(module, weights=weights)]
    return tuple(dict.fromkeys(each for each in ends if each is not None))


def _each(module: Module, use: PathUse) -> Iterator[PathUse]:
    yield use
    if use.ending is None:
        yield from handed(module, use)


def _checkpoints(module: Module, *, weights: bool) -> Iterator[cst.BaseExpression]:
    for _, call, made in instances(module, Kind.CALLBACK):
        path = passed(call, "filepath", 0)
        only = literal(passed(call, "save_weights_only", 4), absent=False)
        if made.cls == "ModelCheckpoint" and path is not None and only in (weights, None):
            yield path
