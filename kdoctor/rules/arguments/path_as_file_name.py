"""`get_file("weights/net.h5", …)`: `fname` must be a file name, not a path."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor import parse_ast
from kdoctor.analysis.calls import add_keyword, argument, is_hidden, is_keras_3, literal, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.paths import AS_GIVEN, BEHIND_LINKS, FROM_THE_ROOT, JOINS, PATHS, PLACES
from kdoctor.analysis.triggers import Trigger
from kdoctor.keras_api import split_root
from kdoctor.model import Applicability, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts

_FUNCTION, _NAME, _FOLDER, _USUAL = "get_file", "fname", "cache_subdir", "datasets"
_BEFORE_FOLDER: Final = 2  # arguments by position, of which the next ones tell what is unpacked
_UNPACKED: Final = frozenset({"extract", "untar", "archive_format", _FOLDER})
_ERROR = f"ValueError: Paths are no longer accepted as the `{_NAME}` argument."
_WHOLE: Final = FROM_THE_ROOT | BEHIND_LINKS
_SAME: Final = AS_GIVEN | PATHS | {"os.fspath"}
_TEXTS: Final = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)
_NOWHERE: Final = frozenset({"", "."})  # of such a path nothing is left in what it is joined with


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such call."""
    for reference in module.references:
        split, call = split_root(reference.name), reference.call
        if call is None or split is None or split[1] != f"utils.{_FUNCTION}":
            continue
        given = argument(call, _NAME, 0)
        if given is None or not is_keras_3(facts, reference.name):
            continue
        if not _is_path(module, given.value) or module.is_guarded(call):
            continue
        attempt = _attempt(module, facts, call, given)
        yield rule.finding(
            module.place(given),
            f"`fname` is a path, not a file name: {_ERROR}",
            symbol=f"{reference.name}({_NAME})",
            confidence=reference.confidence,
            help=f"Pass the folder as `{_FOLDER}=…`, and only the file name here.",
            fix=attempt,
        )


def _is_path(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether a value surely has a folder in it."""
    match value_of(module, node):
        case cst.SimpleString() as text:
            return "/" in str(literal(text))
        case cst.FormattedString(parts=parts):
            texts = (each for each in parts if isinstance(each, cst.FormattedStringText))
            return any("/" in each.value for each in texts)
        case cst.ConcatenatedString(left=left, right=right):
            return _is_path(module, left) or _is_path(module, right)
        case cst.BinaryOperation(operator=cst.Add(), left=left, right=right):
            return _is_path(module, left) or _is_path(module, right)
        case cst.BinaryOperation(operator=cst.Modulo(), left=template):
            return _is_path(module, template)
        case cst.BinaryOperation(operator=cst.Divide(), left=left, right=right):
            return _is_joined(module, left, right)
        case cst.Call() as call if not is_hidden(call):
            return _is_made_path(module, call)
    return False


def _is_made_path(module: Module, call: cst.Call) -> bool:
    given = [each.value for each in call.args if each.keyword is None]
    name = module.qualified(call.func)
    if name in _WHOLE:
        return True
    if name in JOINS and len(given) > 1:
        return literal(value_of(module, given[0])) != "" or any(
            _is_path(module, each) for each in given[1:]
        )
    is_str = isinstance(call.func, cst.Name) and call.func.value == "str"
    if (is_str or name in _SAME) and len(given) == 1:
        return _is_path(module, given[0])
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value="resolve" | "absolute")):
            return _is_pathlib(module, owner)
        case cst.Attribute(value=owner, attr=cst.Name(value="joinpath")) if given:
            return _is_joined(module, owner, given[0])
    return False


def _is_joined(module: Module, folder: cst.BaseExpression, rest: cst.BaseExpression) -> bool:
    """Say whether ``folder / rest`` surely has a folder in it."""
    if not _is_pathlib(module, folder):
        return False
    match value_of(module, folder):
        case cst.Call(func=func, args=[] | [_]) as call if module.qualified(func) in PATHS:
            is_nowhere = not call.args or literal(call.args[0].value) in _NOWHERE
            return not is_nowhere or _is_path(module, rest)
    return True


def _is_pathlib(module: Module, node: cst.BaseExpression) -> bool:
    match value_of(module, node):
        case cst.Call(func=func):
            made = module.qualified(func) in PATHS | PLACES
            return made or (isinstance(func, cst.Attribute) and _is_pathlib(module, func.value))
        case cst.BinaryOperation(operator=cst.Divide(), left=left):
            return _is_pathlib(module, left)
        case cst.Attribute(value=owner, attr=cst.Name(value="parent")):
            return _is_pathlib(module, owner)
    return False


def _attempt(module: Module, facts: TargetFacts, call: cst.Call, given: cst.Arg) -> Fix | NoFix:
    """Return the fix where folder and name stand apart in the call itself."""
    by_position = sum(each.keyword is None for each in call.args)
    named = {each.keyword.value for each in call.args if each.keyword is not None}
    if is_hidden(call) or by_position > _BEFORE_FOLDER or named & _UNPACKED:
        return NoFix("other arguments of the call also set the folder")
    parts = _parts(module, given.value)
    if parts is None:
        return NoFix("kdoctor cannot tell where the folder part ends")
    name, folder = parts
    is_written = isinstance(parse_ast.parse(name, "eval").body, ast.Constant)
    proven = facts.applicability(*(each for each in rule.invalid if each.after))
    return Fix(
        f"Pass the folder as `{_FOLDER}`",
        (
            Edit(module.span(given.value), (name,)),
            add_keyword(module, call, f"{_FOLDER}={folder}"),
        ),
        proven if is_written else Applicability.UNSAFE,
        unsafe_because="" if is_written else "a slash in the name would still be refused",
    )


def _parts(module: Module, node: cst.BaseExpression) -> tuple[str, str] | None:
    """Return the name and the folder as code, None where they are not told apart."""
    match node:
        case cst.SimpleString(prefix="", quote="'" | '"' as quote, raw_value=text):
            folder, _, name = text.rpartition("/")
            if not name or "\\" in text:
                return None
            is_whole = text.startswith("/")
            where = (folder or "/") if is_whole else f"{_USUAL}/{folder}"
            return f"{quote}{name}{quote}", f"{quote}{where}{quote}"
        case cst.Call(args=[*folders, cst.Arg(value=last)]) if (
            folders and module.qualified(node.func) in JOINS and _is_name(last)
        ):
            joined = ", ".join(module.source(each.value) for each in folders)
            where = f"{module.source(node.func)}({_usual(last)}, {joined})"
            return _apart(module, node, last, where)
        case (
            cst.Call(
                func=cst.Attribute(value=folder, attr=cst.Name("joinpath")),
                args=[cst.Arg(value=last, star="")],
            )
            | cst.BinaryOperation(operator=cst.Divide(), left=folder, right=last)
        ) if _is_pathlib(module, folder) and _is_name(last):
            where = module.source(folder)
            is_whole = _is_absolute(module, folder)
            return _apart(module, node, last, where if is_whole else f"{_usual(last)} / {where}")
    return None


def _usual(name: cst.BaseExpression) -> str:
    """Return the usual folder, in the quotes that the name has."""
    quote = name.quote if isinstance(name, cst.SimpleString) and len(name.quote) == 1 else '"'
    return f"{quote}{_USUAL}{quote}"


def _apart(
    module: Module, path: cst.BaseExpression, name: cst.BaseExpression, folder: str
) -> tuple[str, str] | None:
    # A comment between the two would be lost, or end the line too early.
    return None if "#" in module.source(path) else (module.source(name), folder)


def _is_name(node: cst.BaseExpression) -> bool:
    """Say whether a value ends in the text of a file's name, and shows no folder."""
    match node:
        case cst.SimpleString(raw_value=text):
            return bool(literal(node)) and "/" not in text
        case cst.BinaryOperation(operator=cst.Add(), left=left, right=right):
            return _is_name(right) and (_is_name(left) or not isinstance(left, _TEXTS))
        case cst.FormattedString(parts=[*parts, cst.FormattedStringText(value=text)]):
            texts = (each.value for each in parts if isinstance(each, cst.FormattedStringText))
            return "/" not in text and not any("/" in each for each in texts)
    return False


def _is_absolute(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether a path of pathlib surely begins at the root."""
    match value_of(module, node):
        case cst.Call(func=func) if module.qualified(func) in PLACES:
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name("resolve" | "absolute"))):
            return True
        case (
            cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("joinpath")))
            | cst.BinaryOperation(operator=cst.Divide(), left=owner)
            | cst.Attribute(value=owner, attr=cst.Name("parent"))
        ):
            return _is_absolute(module, owner)
    return False


def _may_be_a_path(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        _shows_a_path(quick, called) and any(is_keras_3(facts, each) for each in called.names)
        for called in quick.calls_of(_FUNCTION)
    )


def _shows_a_path(quick: QuickFacts, called: QuickCall) -> bool:
    for value in quick.values_of(called.argument(_NAME, 0)):
        match value:
            case ast.Constant(value=str() as text):
                if "/" in text:
                    return True
            case ast.JoinedStr(values=parts):
                if any("/" in str(each.value) for each in parts if isinstance(each, ast.Constant)):
                    return True
            case ast.BinOp() | ast.Call():
                return True
    return False


rule = Rule(
    code="KD317",
    name="path-as-file-name",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger.needing((_FUNCTION,), _may_be_a_path),
    since="3.6",
    asks_for_roots=True,
)
