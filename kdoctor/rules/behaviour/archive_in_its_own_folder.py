"""`get_file(extract=True)` now extracts into a separate folder and returns that folder's path."""

from __future__ import annotations

import re

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.paths import PATHS
from kdoctor.analysis.queries import Argument, functions
from kdoctor.analysis.queries.forms import form_of, is_true
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once, unowned
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal

_FUNCTIONS = ("utils.get_file", "utils.data_utils.get_file")
_KNOWN = "_extracted"
_WORD = pattern(r"[\w-]+")
# What Python's `zipfile` and `tarfile` open, and other endings of files: letters, perhaps a digit.
_ARCHIVE_ENDING = pattern(r"\.(?:zip|tar|t?gz|tbz2?|bz2|txz|xz)(?:$|[?#])", re.IGNORECASE)
_OTHER_ENDING = pattern(r"\.[A-Za-z]\w{0,4}$")


@rule(
    "KD440",
    severity=Severity.CHANGE,
    since="3.6",
    look_for=functions(*_FUNCTIONS).arguments("extract", "untar", where=is_true),
)
def check(mode: Argument) -> Finding | None:
    """Report each archive whose content is looked for where it was."""
    if _KNOWN in mode.module.text or form_of(mode.node) is not True:
        return None
    if mode.keyword == "untar":
        return None if _is_named_again(mode) else _finding(mode)
    untar = mode.argument("untar")
    if (untar is not None and form_of(untar.value) is True) or _is_no_archive(mode):
        return None
    uses = _uses(mode.module)
    folders = uses.folders.get(mode.call, ())
    if folders:
        span = mode.module.span
        edits = [Edit(span(old), (Hole(span(new)),)) for old, new in folders]
        return _finding(mode, mode.fix("Use the returned path as the folder", *edits))
    is_unused = isinstance(mode.module.parent(mode.call), cst.Expr)
    return _finding(mode) if is_unused or mode.call in uses.cut else None


def _finding(mode: Argument, fix: Fix | NoFix | None = None) -> Finding:
    keyword, extracts = mode.keyword, mode.keyword == "extract"
    return mode.finding(
        f"`{keyword}=True` extracts into a separate folder and returns its path: "
        + (
            "the files that were next to the archive are now in there"
            if extracts
            else "the archive's own top folder is in there"
        ),
        at=mode.arg,
        help="Look for the extracted files below the path that `get_file` returns."
        if extracts
        else "Join the path with the name of the archive's top folder.",
        fix=fix or NoFix("the code does not say what the archive contains"),
    )


def _is_no_archive(mode: Argument) -> bool:
    """Say whether the endings that are written out are those of something else."""
    names = (literal(mode.value(name, at)) for at, name in enumerate(("fname", "origin")))
    texts = [each for each in names if isinstance(each, str)]
    return any(map(_OTHER_ENDING.search, texts)) and not any(map(_ARCHIVE_ENDING.search, texts))


def _is_named_again(mode: Argument) -> bool:
    """Say whether another string of the file names what the file name says without its ending.

    Then that may be the archive's own top folder, which the path is joined with.
    """
    name = literal(mode.value("fname", 0))
    found = _WORD.match(name) if isinstance(name, str) else None
    if found is None:
        return True
    strings = mode.module.nodes(cst.SimpleString)
    texts = [each.value for each in strings if "://" not in each.value]
    return sum(found[0] in each for each in texts) > 1


class _Uses:
    """What is made of the paths that calls give: looked for once, however many calls there are.

    ``folders`` are the expressions that name a path's folder, each with the path; ``cut`` are the
    calls whose path is taken without its ending somewhere.
    """

    def __init__(self, module: Module) -> None:
        self._module = unowned(module)
        self.folders: dict[cst.BaseExpression, list[tuple[cst.CSTNode, cst.CSTNode]]] = {}
        self.cut: set[cst.BaseExpression] = set()
        for call in module.nodes(cst.Call):
            path = self._only(call)
            if path is None:
                continue
            match module.qualified(call.func):
                case "os.path.dirname":
                    self.folders.setdefault(path, []).append((call, call.args[0].value))
                case "os.path.splitext":
                    self.cut.add(path)
        for each in module.attributes:
            name = each.attr.value
            path = self._in_pathlib(each.value) if name in {"parent", "with_suffix"} else None
            if path is not None and name == "parent":
                self.folders.setdefault(path, []).append((each, each.value))
            elif path is not None:
                self.cut.add(path)

    def _only(self, call: cst.Call) -> cst.BaseExpression | None:
        """Return what a function is called with, where that is one value."""
        return value_of(self._module, call.args[0].value) if len(call.args) == 1 else None

    def _in_pathlib(self, value: cst.BaseExpression) -> cst.BaseExpression | None:
        """Return what a ``Path`` is made of."""
        made = value_of(self._module, value)
        is_one = isinstance(made, cst.Call) and self._module.qualified(made.func) in PATHS
        return self._only(made) if isinstance(made, cst.Call) and is_one else None


@once
def _uses(module: Module) -> _Uses:
    return _Uses(module)
