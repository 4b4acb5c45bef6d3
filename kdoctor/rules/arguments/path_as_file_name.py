"""`get_file("weights/net.h5", …)`: `fname` must be a file name, not a path."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import add_keyword, is_hidden, value_of
from kdoctor.analysis.paths import AS_GIVEN, BEHIND_LINKS, FROM_THE_ROOT, JOINS, PATHS, PLACES
from kdoctor.analysis.queries import Argument, functions
from kdoctor.analysis.queries.forms import Expression
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import UNKNOWN, literal, literal_in

_FUNCTION, _NAME, _FOLDER, _USUAL = "get_file", "fname", "cache_subdir", "datasets"
_BEFORE_FOLDER: Final = 2  # arguments by position, of which the next ones tell what is unpacked
_UNPACKED: Final = frozenset({"extract", "untar", "archive_format", _FOLDER})
_ERROR = f"ValueError: Paths are no longer accepted as the `{_NAME}` argument."
_WHOLE: Final = FROM_THE_ROOT | BEHIND_LINKS
_SAME: Final = AS_GIVEN | PATHS | {"os.fspath"}
_TEXTS: Final = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)
_NOWHERE: Final = frozenset({"", "."})  # of such a path nothing is left in what it is joined with


def _may_show_a_folder(form: object) -> bool:
    if isinstance(form, Expression):
        return form.kind in {"JoinedStr", "BinOp", "Call"}
    return isinstance(form, str) and "/" in form


@rule(
    "KD317",
    severity=Severity.ERROR,
    since="3.6",
    look_for=functions(f"utils.{_FUNCTION}")
    .even(hidden=True)
    .argument(_NAME, 0, where=_may_show_a_folder),
    asks_for_roots=True,
)
def check(given: Argument) -> Finding | None:
    """Report each such call."""
    if not _is_path(given.module, given.node):
        return None
    return given.finding(
        f"`fname` is a path, not a file name: {_ERROR}",
        at=given.arg,
        help=f"Pass the folder as `{_FOLDER}=…`, and only the file name here.",
        fix=_split(given),
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
            texts = [literal(each.value) for each in call.args]
            is_nowhere = all(isinstance(each, str) and each in _NOWHERE for each in texts)
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


def _split(given: Argument) -> Fix | NoFix:
    """Return the fix where folder and name stand apart in the call itself."""
    module, call = given.module, given.call
    by_position = sum(each.keyword is None for each in call.args)
    named = {each.keyword.value for each in call.args if each.keyword is not None}
    if given.is_hidden or by_position > _BEFORE_FOLDER or named & _UNPACKED:
        return NoFix("other arguments of the call also set the folder")
    parts = _parts(module, given.node)
    if parts is None:
        return NoFix("kdoctor cannot tell where the folder part ends")
    name, folder = parts
    is_written = literal_in(name) is not UNKNOWN
    return given.fix(
        f"Pass the folder as `{_FOLDER}`",
        Edit(module.span(given.node), (name,)),
        add_keyword(module, call, f"{_FOLDER}={folder}"),
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
