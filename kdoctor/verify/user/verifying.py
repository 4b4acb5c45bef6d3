"""Verify the fix of a file: give each definition a verdict."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from kdoctor.interpreters import Interpreter
from kdoctor.rewrite.source_lines import LINE_BREAK
from kdoctor.verify.user.call_sites import CallSites, methods_in, shape_of, uses_of
from kdoctor.verify.user.combining import combined
from kdoctor.verify.user.definitions import Source, Subject
from kdoctor.verify.user.interpreter import Chosen
from kdoctor.verify.user.judging import Answers, verdict_of
from kdoctor.verify.user.local_modules import ModulePlace, place_of
from kdoctor.verify.user.project_call_sites import ProjectCallSites
from kdoctor.verify.user.results import Report, Verdict, VerdictState
from kdoctor.verify.user.running import Job, Limits, Progress, run
from kdoctor.verify.user.side_effects import FRAMEWORKS
from kdoctor.verify.user.slicing import NotSliced, Slice, Sliced, roots_of
from kdoctor.verify.user.statements import Statement, imports_in, statements_of
from kdoctor.verify.user.variations import variations, varied, without_optional

# Returns the text of another module of the project before and after the fix.
Texts = Callable[[Path], tuple[str, str] | None]


def verify(
    sources: Iterable[Source],
    texts: Texts,
    on: Interpreter | Chosen,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Report:
    """Run each definition of the sources on both sides, and return their verdicts.

    With an interpreter that was chosen for some backends, there is one for each of them.
    """
    chosen = on if isinstance(on, Chosen) else Chosen(on)
    interpreter = chosen.interpreter
    sources = list(sources)
    elsewhere = ProjectCallSites(frozenset(_names_in(sources)))
    subjects = [each for source in sources for each in _subjects_of(source, texts, elsewhere)]
    old, new = [], []
    names: list[dict[int, str]] = []
    further = len(subjects)
    for number, each in enumerate(subjects):
        if each.old is not None:
            old.append({**each.old, "id": number})
        if each.new is not None:
            new.append({**each.new, "id": number})
        names.append({})
        for text, before, after in each.variations:
            old.append({**before, "id": further})
            new.append({**after, "id": further})
            names[-1][further] = text
            further += 1
    limits = limits or Limits()
    ran = run(
        old,
        new,
        interpreter,
        limits,
        progress,
        backends=chosen.backends,
        has_keras_2=chosen.has_keras_2,
    )
    answers = Answers(ran, interpreter.path)
    verdicts = [
        _verdict(each, number, names[number], answers, backend)
        for number, each in enumerate(subjects)
        for backend in chosen.backends or ("",)
    ]
    return Report(
        tuple(verdicts),
        interpreter.path,
        interpreter.because,
        ran.versions,
        sandboxed=limits.sandboxed,
        backends=chosen.backends,
        missing=chosen.missing,
    )


def _verdict(
    subject: Subject, number: int, others: dict[int, str], answers: Answers, backend: str
) -> Verdict:
    """Return the verdict on a definition, with a backend if one is asked for.

    ``others`` are the numbers of its further runs, each with what is told of it.
    """
    if subject.verdict is not None:
        return replace(subject.verdict, backend=backend) if backend else subject.verdict
    found = answers.verdict(subject, number, backend)
    return combined(
        found, [(told, answers.verdict(subject, other, backend)) for other, told in others.items()]
    )


def _names_in(sources: Iterable[Source]) -> Iterator[str]:
    """Yield the names of all definitions in the sources."""
    for source in sources:
        try:
            statements = statements_of(LINE_BREAK.sub("\n", source.before))
        except (SyntaxError, ValueError):
            continue
        yield from filter(None, map(_name, _with_inner(statements)))


def _subjects_of(source: Source, texts: Texts, elsewhere: ProjectCallSites) -> Iterator[Subject]:
    place = place_of(Path(source.path))
    where = source.where
    before = Sliced(source.before, place, lambda other: _text(texts, other, 0), where)
    after = Sliced(source.after, place, lambda other: _text(texts, other, 1), where)
    try:
        uses = uses_of(before.statements)
    except SyntaxError:
        return
    known = set[str]()
    for statement in _with_inner(before.statements):
        name = _name(statement)
        if name is None or name in known:
            continue
        known.add(name)
        own = uses.get(name, CallSites())
        subject = _subject(
            source, statement, name, before, after, own, elsewhere.of(Path(source.path)).get(name)
        )
        if subject is not None:
            yield subject


def _with_inner(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Yield statements, and those inside ``if`` and ``try``, which bind names in the same scope."""
    for each in statements:
        yield each
        if isinstance(each.node, ast.If | ast.Try):
            yield from _with_inner(replace(each, node=node) for node in _suites(each.node))


def _suites(node: ast.If | ast.Try) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ExceptHandler):
            yield from child.body
        elif isinstance(child, ast.stmt):
            yield child


def _text(texts: Texts, place: ModulePlace, which: int) -> str | None:
    pair = texts(place.path)
    return None if pair is None else pair[which]


def _name(statement: Statement) -> str | None:
    match statement.node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda()):
            return name
    return None


def _subject(  # noqa: PLR0913, PLR0917
    source: Source,
    statement: Statement,
    name: str,
    before: Sliced,
    after: Sliced,
    uses: CallSites,
    others: CallSites | None,
) -> Subject | None:
    """Return a definition with its jobs; None if it does not use Keras."""
    subject = Subject(source, name, statement.node.lineno)
    is_of_keras = bool(uses.roles) or _takes_predictions(statement)
    try:
        old = before.slice(name)
    except NotSliced as refusal:
        if not is_of_keras and not before.may_need_keras(name):
            return None
        why = f"{refusal.why} ({source.where(refusal.line)})"
        return replace(subject, verdict=verdict_of(subject, VerdictState.NOT_TRIED, why=why))
    if not old.frameworks and not is_of_keras:
        return None
    # Only calls in the same file are certain to be calls of this definition.
    is_called = any(not call["open"] for call in uses.calls)
    all_uses = CallSites(set(uses.roles), list(uses.calls), list(uses.parts), list(uses.inputs))
    if others is not None:
        all_uses.add(others)
    job = {
        "name": name,
        "roles": sorted(all_uses.roles),
        "calls": [*all_uses.calls, *all_uses.parts],
        "is_called": is_called,
        "inputs": all_uses.inputs,
        **_facts(statement, source),
        **_methods(statement, before, after),
    }
    try:
        new = after.slice(name) if name in after.bound else None
    except (NotSliced, SyntaxError) as refusal:
        return _lost(subject, str(refusal))
    if new is None:
        return _lost(subject, "the fix removes it")
    changed = _texts(old) != _texts(new)
    later = _job(job, new)
    later["pieces"][0]["changed"] = sorted(_changed_lines(statement, name, before, after))
    return replace(
        subject,
        old=_job(job, old),
        new=later,
        changed=changed,
        variations=tuple(
            (text, {**_job(job, old), "calls": calls}, {**later, "calls": calls})
            for text, calls in _variations(job["calls"], statement, name, before, after)
        ),
    )


def _variations(
    calls: list[dict[str, Any]], statement: Statement, name: str, before: Sliced, after: Sliced
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield other calls of a definition that the fix changes, each with what is told of them."""
    changed = _changed_text(statement, name, before, after)
    if not changed:
        return
    without = without_optional(statement.node, calls)
    if without != calls:
        yield "with its defaults", without
    for values in variations(statement.node, changed):
        told = ", ".join(f"{name}={value}" for name, value in values.items())
        yield f"with {told}", varied(calls, values)


def _lost(subject: Subject, why: str) -> Subject:
    """Return a definition that the fix removed or broke, with that verdict."""
    subject = replace(subject, changed=True)
    return replace(subject, verdict=verdict_of(subject, VerdictState.NOT_ON_KERAS_3, why=why))


def _takes_predictions(statement: Statement) -> bool:
    node = statement.node
    if not isinstance(node, ast.FunctionDef) or len(node.args.args) < 2:
        return False
    return "true" in node.args.args[0].arg and "pred" in node.args.args[1].arg


def _facts(statement: Statement, source: Source) -> dict[str, Any]:
    facts = {"returns": False, "effect": None, "effect_beyond_models": None} | shape_of(statement)
    for each in ("effect", "effect_beyond_models"):
        if facts[each]:
            name, line = facts[each]
            facts[each] = [name, source.where(line)]
    return facts


def _methods(statement: Statement, before: Sliced, after: Sliced) -> dict[str, list[str]]:
    """Return the methods of a class that the fix changes, and those that use a Keras name.

    A class can be equal only if they all ran.
    """
    brought = {
        name
        for each in before.statements
        for node in imports_in(each.node)
        for name, root in roots_of(node).items()
        if root in FRAMEWORKS
    }
    old = {each.name: each for each in methods_in(statement.node)}
    new = {
        each.name: ast.dump(each)
        for other in after.bound.get(_name(statement) or "", [])
        for node in ast.walk(other.node)
        if isinstance(node, ast.ClassDef) and node.name == _name(statement)
        for each in methods_in(node)
    }
    return {
        "changes": [name for name, each in old.items() if new.get(name) != ast.dump(each)],
        "of_keras": [
            name
            for name, each in old.items()
            if brought & {n.id for n in ast.walk(each) if isinstance(n, ast.Name)}
        ],
    }


def _job(job: Job, of: Slice) -> Job:
    pieces = [
        {"name": p.name, "package": p.package, "is_package": p.is_package, "text": p.text}
        for p in of.pieces
    ]
    return {**job, "pieces": pieces, "repeats": False}


def _changed_lines(statement: Statement, name: str, before: Sliced, after: Sliced) -> set[int]:
    """Return the lines of the fixed definition that the fix changed or added."""
    found = set[int]()
    old = _lines_of(statement, before)
    for each in after.bound[name]:
        for _, _, start, end in _differences(old, _lines_of(each, after)):
            found |= {each.first_line + number for number in range(start, end)}
    return found


def _changed_text(statement: Statement, name: str, before: Sliced, after: Sliced) -> list[str]:
    """Return the lines of a definition that the fix changes, before and after it."""
    old = _lines_of(statement, before)
    found = []
    for each in after.bound[name]:
        new = _lines_of(each, after)
        for first, last, start, end in _differences(old, new):
            found += [*old[first:last], *new[start:end]]
    return found


def _differences(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield where two lists of lines differ, in the one and in the other."""
    matched = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for kind, *places in matched:
        if kind != "equal":
            first, last, start, end = places
            yield first, last, start, end


def _lines_of(statement: Statement, where: Sliced) -> list[str]:
    lines = where.text.split("\n")[statement.first_line - 1 : statement.node.end_lineno]
    return [each.strip() for each in lines]


def _texts(of: Slice) -> list[str]:
    return [piece.text for piece in of.pieces]
