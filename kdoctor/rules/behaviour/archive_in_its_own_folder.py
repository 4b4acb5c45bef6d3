"""`get_file(extract=True)` now extracts into a separate folder and returns that folder's path."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, is_keras_3, literal, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.paths import PATHS
from kdoctor.analysis.triggers import calls, word
from kdoctor.keras_api import split_root
from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.quick_facts import QuickCall

_FUNCTIONS = ("utils.get_file", "utils.data_utils.get_file")
_MODES = ("extract", "untar")
_KNOWN = "_extracted"
_WORD = pattern(r"[\w-]+")
# What Python's `zipfile` and `tarfile` open, and other endings of files: letters, perhaps a digit.
_ARCHIVE_ENDING = pattern(r"\.(?:zip|tar|t?gz|tbz2?|bz2|txz|xz)(?:$|[?#])", re.IGNORECASE)
_OTHER_ENDING = pattern(r"\.[A-Za-z]\w{0,4}$")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each archive whose content is looked for where it was."""
    if _KNOWN in module.text:
        return
    uses = _Uses(module)
    for reference in module.references:
        split, call = split_root(reference.name), reference.call
        if call is None or split is None or split[1] not in _FUNCTIONS or is_hidden(call):
            continue
        if not is_keras_3(facts, reference.name) or module.is_guarded(call):
            continue
        if _is_asked(call, "untar"):
            if not _is_named_again(module, call):
                yield _finding(module, reference, call, "untar")
        elif _is_asked(call, "extract") and not _is_no_archive(module, call):
            yield from _beside(module, facts, reference, call, uses)


def _is_asked(call: cst.Call, mode: str) -> bool:
    given = argument(call, mode)
    return given is not None and literal(given.value) is True


def _is_no_archive(module: Module, call: cst.Call) -> bool:
    """Say whether the endings that are written out are those of something else."""
    given = (argument(call, name, at) for at, name in enumerate(("fname", "origin")))
    names = [literal(value_of(module, each.value)) for each in given if each is not None]
    texts = [each for each in names if isinstance(each, str)]
    return any(map(_OTHER_ENDING.search, texts)) and not any(map(_ARCHIVE_ENDING.search, texts))


def _is_named_again(module: Module, call: cst.Call) -> bool:
    """Say whether another string of the file names what the file name says without its ending.

    Then that may be the archive's own top folder, which the path is joined with.
    """
    given = argument(call, "fname", 0)
    name = None if given is None else literal(value_of(module, given.value))
    found = _WORD.match(name) if isinstance(name, str) else None
    if found is None:
        return True
    texts = [each.value for each in module.nodes(cst.SimpleString) if "://" not in each.value]
    return sum(found[0] in each for each in texts) > 1


def _beside(
    module: Module, facts: TargetFacts, reference: Reference, call: cst.Call, uses: _Uses
) -> Iterator[Finding]:
    """Report an archive whose content is looked for beside it."""
    folders = uses.folders.get(call)
    if folders:
        fix = Fix(
            "Use the returned path as the folder",
            tuple(Edit(module.span(old), (Hole(module.span(new)),)) for old, new in folders),
            facts.applicability(*(each for each in rule.invalid if each.after)),
        )
        yield _finding(module, reference, call, "extract", fix)
    elif isinstance(module.parent(call), cst.Expr) or call in uses.cut:
        yield _finding(module, reference, call, "extract")


class _Uses:
    """What is made of the paths that calls give: looked for once, however many calls there are.

    ``folders`` are the expressions that name a path's folder, each with the path; ``cut`` are the
    calls whose path is taken without its ending somewhere.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
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


def _finding(
    module: Module, reference: Reference, call: cst.Call, mode: str, fix: Fix | None = None
) -> Finding:
    given = argument(call, mode)
    assert given is not None
    return rule.finding(
        module.place(given),
        f"`{mode}=True` extracts into a separate folder and returns its path: "
        + (
            "the files that were next to the archive are now in there"
            if mode == "extract"
            else "the archive's own top folder is in there"
        ),
        symbol=f"{reference.name}({mode})",
        confidence=reference.confidence,
        help="Look for the extracted files below the path that `get_file` returns."
        if mode == "extract"
        else "Join the path with the name of the archive's top folder.",
        fix=fix or NoFix("the code does not say what the archive contains"),
    )


def _may_unpack(facts: TargetFacts, called: QuickCall) -> bool:
    return not called.keywords.isdisjoint(_MODES) and any(
        is_keras_3(facts, each) for each in called.names
    )


rule = Rule(
    code="KD440",
    name="archive-in-its-own-folder",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word("get_file") & calls(_may_unpack),
    since="3.6",
)
