"""From the files of rules to rules: import them, and see that each is what a rule must be."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from packaging.version import InvalidVersion, Version

from kdoctor.analysis.triggers import Trigger
from kdoctor.model import Severity, Unreadable
from kdoctor.own_rules.checked_rule import checked, place_of, raised
from kdoctor.own_rules.folder import RECORD, FolderFiles
from kdoctor.own_rules.importing import FolderPackage
from kdoctor.project.root import shown
from kdoctor.rules.index import rule_index
from kdoctor.rules.loading import completed
from kdoctor.rules.own import OwnRules, OwnSources
from kdoctor.rules.pages import Page, parsed
from kdoctor.rules.redirects import redirected
from kdoctor.rules.rule import OWN, Example, Rule
from kdoctor.rules.topics import topic_named

CODE: Final = re.compile(r"(?!KD|ALL)[A-Z]{2,10}[0-9]{1,5}")
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
_LIBRARY: Final = re.compile(r"[A-Za-z_]\w*")
_OTHERS: Final = "the other rules are asked all the same"


class _Wrong(Exception):
    """A file holds no rule that can be used: why, for people, and the place in the file."""

    def __init__(self, why: str, place: str = "") -> None:
        super().__init__(why)
        self.place = place


def load(sources: OwnSources, folders: Sequence[FolderFiles]) -> OwnRules:
    """Import the rules of folders that were read. What holds no rule is among the problems."""
    problems = [problem for each in folders for problem in each.problems]
    rules: dict[str, Rule] = {}
    files: dict[str, str] = {}
    pages: dict[str, Page] = {}
    libraries: dict[str, None] = {}
    record: dict[str, Mapping[str, Any]] = {}
    for folder in folders:
        package = FolderPackage(folder.folder.path, folder.python)
        proofs: Mapping[str, Mapping[str, Any]] = {}
        try:
            proofs = _proofs(folder)
        except _Wrong as wrong:
            problems.append(Unreadable(wrong.place, str(wrong)))
        for name in folder.rule_files:
            file = str(Path(folder.folder.path, name))
            if file in files.values():
                continue  # its folder is named twice, by settings and by a package maybe
            try:
                module = _imported(package, name, file)
                rule = _rule_of(module, file)
                page = _page_of(module, folder, file)
                _check_free(rule, rules.values(), files)
            except _Wrong as wrong:
                place = wrong.place or shown(Path(file))
                problems.append(Unreadable(place, f"{wrong}; {_OTHERS}"))
                continue
            rules[rule.code], files[rule.code], pages[rule.code] = rule, file, page
            libraries |= dict.fromkeys(module.LIBRARIES)
            record |= {each.id: proofs[each.id] for each in page.invalid if each.id in proofs}
    return OwnRules(
        sources,
        rules=tuple(rules.values()),
        files=files,
        pages=pages,
        libraries=tuple(libraries),
        record=record,
        problems=tuple(problems),
    )


def _proofs(folder: FolderFiles) -> Mapping[str, Mapping[str, Any]]:
    if not folder.record:
        return {}
    try:
        return msgspec.json.decode(folder.record, type=dict[str, dict[str, Any]])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        place = shown(Path(folder.folder.path, RECORD))
        raise _Wrong(
            f"it is no proof record: {error}; kdoctor rules --test … --prove writes it anew, and "
            "until then no fix of these rules is safe",
            place,
        ) from None


def _imported(package: FolderPackage, name: str, file: str) -> ModuleType:
    if not name.removesuffix(".py").isidentifier():
        raise _Wrong("its name is none that Python can import; write it with underscores")
    try:
        with contextlib.redirect_stdout(sys.stderr):  # standard output is the report's
            return package.module(name)
    except SyntaxError as error:
        where = shown(Path(error.filename or file))
        raise _Wrong(
            f"it is no Python: {error.msg}", f"{where}:{error.lineno}" if error.lineno else where
        ) from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it may be
        raise _Wrong(f"it cannot be imported: {raised(error)}", place_of(error, file)) from None


def _rule_of(module: ModuleType, file: str) -> Rule:
    """Return the rule of a module, wherever it is bound in it."""
    bound = {id(each): each for each in vars(module).values() if isinstance(each, Rule)}
    if len(bound) != 1:
        raise _Wrong(
            "it has no rule: make one by @rule(…) of kdoctor.rule, or begin its name with an "
            "underscore if it only serves others"
            if not bound
            else f"it has {len(bound)} rules: write one in a file"
        )
    (rule,) = bound.values()
    if isinstance(rule.triggers, set | list):  # they are part of a hash
        rule = replace(rule, triggers=frozenset(rule.triggers))
    for name in ("VALID", "INVALID", "LIBRARIES"):
        vars(module).setdefault(name, ())
    # It asks names of its library, whichever Keras stands beside them.
    by_name = rule.asks_for_roots or bool(module.LIBRARIES)
    rule = replace(rule, family=OWN, asks_for_roots=by_name)
    for what, holds in _demands(rule, module):
        if not holds:
            raise _Wrong(what)
    return completed(checked(rule, file), module)


def _page_of(module: ModuleType, folder: FolderFiles, file: str) -> Page:
    """Return the page beside a module, or what it says of itself and its lists of examples."""
    path = Path(file).with_suffix(".md")
    if path.name not in folder.pages:
        page = Page(_text(module.__doc__), tuple(module.VALID), tuple(module.INVALID))
    elif module.VALID or module.INVALID:
        raise _Wrong(f"{path.name} beside it has the examples; move VALID and INVALID there")
    else:
        page = _read_page(folder.pages[path.name], shown(path))
    if not page.docs:
        raise _Wrong("it has no docstring: its first line says what is wrong")
    return page


def _read_page(data: bytes, place: str) -> Page:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _Wrong(f"it is no UTF-8: {error}", place) from None
    try:
        return parsed(text.replace("\r\n", "\n"), place, headings=())
    except ValueError as mistake:
        where, _, why = str(mistake).partition(": ")
        raise _Wrong(why, where) from None


def _demands(rule: Rule, module: ModuleType) -> Iterator[tuple[str, bool]]:
    """Yield what is said of a rule where it does not hold, and whether it does."""
    yield (
        f"the code {rule.code!r} is not letters of your own and a number, as ACME001; KD is ours",
        _matches(CODE, rule.code),
    )
    yield (
        (
            f"the name {rule.name!r} cannot be used: write words with hyphens, as units-by-keyword "
            "(a rule made by @rule has the name of its file, units_by_keyword.py)"
        ),
        _matches(_NAME, rule.name),
    )
    yield "the severity is none of Severity", isinstance(rule.severity, Severity)
    yield "check is no function of a module and its facts", callable(rule.check)
    for key in ("since", "until"):
        version = getattr(rule, key)
        yield (
            f"{key} {version!r} is no version of Keras: write it as '3.0'",
            version is None or _is_version(version),
        )
    yield (
        "triggers are a set of identifiers, or made by kdoctor.rule",
        isinstance(rule.triggers, Trigger) or _all_match(_LIBRARY, rule.triggers),
    )
    yield (
        "VALID is no list of texts",
        _is_list(module.VALID) and all(isinstance(each, str) for each in module.VALID),
    )
    yield (
        "INVALID is no list of Example(…)",
        _is_list(module.INVALID) and all(isinstance(each, Example) for each in module.INVALID),
    )
    yield (
        'LIBRARIES is no list of names to import, as ("acme_nn",)',
        _is_list(module.LIBRARIES) and _all_match(_LIBRARY, module.LIBRARIES),
    )


def _check_free(rule: Rule, others: Iterable[Rule], files: Mapping[str, str]) -> None:
    """See that no other rule has the code or the name.

    Raises:
        _Wrong: one has.
    """
    for other in others:
        for attribute in ("code", "name"):
            value = getattr(rule, attribute)
            if value == getattr(other, attribute):
                where = shown(Path(files[other.code]))
                raise _Wrong(f"the {attribute} {value} is that of {where}; choose another")
    taken = {entry.name for entry in rule_index() if entry.family != OWN}
    if rule.name in taken or topic_named(rule.name) or redirected(rule.name) is not None:
        raise _Wrong(f"the name {rule.name} is one of kdoctor's own; choose another")


def _matches(pattern: re.Pattern[str], text: object) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def _all_match(pattern: re.Pattern[str], texts: object) -> bool:
    is_some = isinstance(texts, tuple | list | set | frozenset)
    return is_some and all(_matches(pattern, each) for each in texts)  # type: ignore[attr-defined]


def _is_list(value: object) -> bool:
    return isinstance(value, tuple | list)


def _is_version(text: object) -> bool:
    try:
        return isinstance(text, str) and bool(Version(text))
    except InvalidVersion:
        return False


def _text(docs: object) -> str:
    return docs.strip() if isinstance(docs, str) else ""
