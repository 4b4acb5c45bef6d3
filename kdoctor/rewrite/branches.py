"""Simplify ``if`` statements whose branches a fix empties or makes equal.

``if a: x`` / ``else: x`` is ``x`` where asking for ``a`` does nothing else, ``if a: pass`` /
``else: x`` is ``if not a: x``, and a last branch without statements goes. Only branches that a fix
writes to are looked at: what somebody wrote as it is stays as it is.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import libcst as cst
from msgspec import Struct
from msgspec.structs import replace

from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.model import Edit, Fix, Hole, ImportNeed, Span
from kdoctor.rewrite.branch_texts import comments_of, dedented, negated_test
from kdoctor.rewrite.precedence import required_precedence, template_precedence_of
from kdoctor.rewrite.pure_tests import is_pure_test
from kdoctor.rewrite.render import render
from kdoctor.rewrite.same_code import SameCode, expression, is_empty
from kdoctor.rewrite.source_lines import line_after, line_start, margin
from kdoctor.syntax import Module

_WORD = pattern(r"(?<![\w.])[^\W\d]\w*")
_COLON = pattern(r"(?:[ \t]|\\\r?\n)*:")
_ELSE = pattern(r"else(?:[ \t]|\\\r?\n)*:")


def are_in_branches(module: Module, edits: Sequence[Edit]) -> bool:
    """Say whether some edits lie in an ``if``, so that it may be simplified."""
    return bool(_by_choice(_choices(module), edits)[0])


def simplified_branches(
    module: Module, edits: Sequence[Edit], needs: Iterable[ImportNeed] = ()
) -> list[Edit]:
    """Return the edits that replace ``edits`` by simplified ``if``s, innermost first.

    One that lies in another is part of what that writes. ``needs`` are imports that come as well:
    `ops.abs` and `keras.ops.abs` are the same.
    """
    choices = _choices(module)
    inside, around = _by_choice(choices, edits)
    if not inside:
        return []
    names = SameCode(module, needs)
    made: list[Edit] = []
    for number in sorted(inside, reverse=True):
        node, own = choices[number].node, inside[number]
        if isinstance(node, cst.If):
            frame = _frame(module, node)
            may_change = frame.may_change(own)
            found = _If.of(module, frame, own, names.at(node)) if may_change else None
            new = None if found is None else found.settled()
        elif any(each in made for each in own) or _have_equal_counts(module, choices, number):
            new = _of_choice(module, node, own, names.at(node))
        else:
            new = None
        if new is None or not all(_has_room(new, each) for each in around.get(number, ())):
            continue
        made = [*edits_outside(made, [new]), new]
        for above in _above(choices, choices[number].above):
            inside[above] = [*edits_outside(inside.get(above, ()), [new]), new]
    return made


def edits_outside(edits: Sequence[Edit], settled: Sequence[Edit]) -> list[Edit]:
    """Return the edits outside of the rewritten spans."""
    return [each for each in edits if not any(_is_inside(each, new) for new in settled)]


def without_unread_imports(fixes: Sequence[Fix], settled: Sequence[Edit]) -> list[Fix]:
    """Return the fixes without imports that only a removed branch would read."""
    words = set(_WORD.findall(" ".join(str(part) for each in settled for part in each.parts)))
    found = []
    for fix in fixes:
        if not fix.imports or edits_outside(fix.edits, settled) or not fix.edits:
            found.append(fix)
            continue
        found.append(replace(fix, imports=tuple(n for n in fix.imports if n.local in words)))
    return found


def _is_inside(edit: Edit, new: Edit) -> bool:
    above = edit.span.start == edit.span.end == new.span.start
    return new.span.covers(edit.span) and not above


def _has_room(new: Edit, around: Edit) -> bool:
    """Say whether an edit around a new one keeps what that replaces."""
    return _is_inside(around, new) or any(
        isinstance(part, Hole) and part.span.covers(new.span) for part in around.parts
    )


class _Choice(Struct, frozen=True):
    """An ``if``, to the end of its last line, or ``a if b else c``; and the one it stands in."""

    span: Span
    node: cst.If | cst.IfExp
    above: int | None


@once
def _choices(module: Module) -> list[_Choice]:
    """Return all choices of a module by place, the outer ones first."""
    found: list[tuple[int, int, cst.If | cst.IfExp]] = []
    for each in module.nodes(cst.If):
        outer = module.parent(each)
        if not (isinstance(outer, cst.If) and outer.orelse is each):
            span = module.span(each)
            found.append((span.start, -line_after(module.text, span.end), each))
    for choice in module.nodes(cst.IfExp):
        span = module.span(choice)
        found.append((span.start, -span.end, choice))
    choices: list[_Choice] = []
    above: int | None = None
    for start, end, node in sorted(found, key=lambda each: each[:2]):
        while above is not None and choices[above].span.end < -end:
            above = choices[above].above
        choices.append(_Choice(Span(start, -end), node, above))
        above = len(choices) - 1
    return choices


def _by_choice(
    choices: Sequence[_Choice], edits: Sequence[Edit]
) -> tuple[dict[int, list[Edit]], dict[int, list[Edit]]]:
    """Return the edits that start inside of each choice, and those that start around it."""
    inside: dict[int, list[Edit]] = {}
    around: dict[int, list[Edit]] = {}
    for edit in dict.fromkeys(edits):
        span = edit.span
        last = bisect.bisect_right(choices, span.start, key=lambda each: each.span.start)
        for number in _above(choices, last - 1 if last else None):
            if span.start < choices[number].span.end:
                inside.setdefault(number, []).append(edit)
        first = bisect.bisect_left(choices, span.start, key=lambda each: each.span.start)
        while first < len(choices) and choices[first].span.start < span.end:
            around.setdefault(first, []).append(edit)
            first += 1
    return inside, around


def _above(choices: Sequence[_Choice], number: int | None) -> Iterator[int]:
    """Yield a choice and those that it stands in."""
    while number is not None:
        yield number
        number = choices[number].above


def _branches_of(node: cst.If) -> list[cst.If | cst.Else]:
    found: list[cst.If | cst.Else] = []
    each: cst.If | cst.Else | None = node
    while each is not None:
        found.append(each)
        each = each.orelse if isinstance(each, cst.If) else None
    return found


def _have_equal_counts(module: Module, choices: Sequence[_Choice], number: int) -> bool:
    """Say whether both sides of ``a if b else c`` hold as many choices, as they must to be one.

    Of choices that stand in each other only few are compared then, whatever is written in them.
    """
    node = choices[number].node
    assert isinstance(node, cst.IfExp)
    counts = []
    for side in (node.body, node.orelse):
        span = module.outer_span(side)
        first, last = (
            bisect.bisect_left(choices, place, key=lambda each: each.span.start)
            for place in (span.start, span.end)
        )
        counts.append(last - max(first, number + 1))  # its body starts where it starts itself
    return counts[0] == counts[1]


def _of_choice(
    module: Module, node: cst.IfExp, edits: Sequence[Edit], names: SameCode
) -> Edit | None:
    """Return the edit that writes the one value that both sides of ``a if b else c`` have now."""
    span = module.span(node)
    sides = [module.outer_span(each) for each in (node.body, node.orelse)]
    texts = [_written(module, side, edits) for side in sides]
    before = [module.text[side.start : side.end] for side in sides]
    first = expression(texts[0])
    if first is None or names.are_same(*before) or not names.are_same(*texts):
        return None
    if "#" in module.text[span.start : span.end] or not is_pure_test(module, node.test):
        return None
    text = texts[0] or ""
    own = template_precedence_of(first)
    if node.lpar and "\n" not in text:
        bare = node.with_changes(lpar=(), rpar=())
        outer = module.outer_span(node)
        return Edit(outer, (text,), own, required_precedence(module.parent(node), bare))
    return Edit(span, (text,), own, required_precedence(module.parent(node), node))


class _Branch(Struct, frozen=True):
    """One branch: where its head starts, where its lines stand, and what they become."""

    node: cst.If | cst.Else
    head: int
    colon: int
    body: Span
    before: str
    after: str

    @property
    def is_emptied(self) -> bool:
        """Whether nothing is left of it, though there was something."""
        return is_empty(self.after) and not is_empty(self.before)


class _Frame(Struct, frozen=True):
    """An ``if`` as it was written: found once, however many edits it has."""

    branches: tuple[_Branch, ...]  # nothing becomes of them
    heads: tuple[int, ...]
    tests: tuple[Span | None, ...]  # with their brackets
    ends: tuple[tuple[Span, Span], ...]  # the first and the last statement of each branch
    closest: int  # by how many statements two neighbours differ, at least
    end: int  # of its last line, with the line break
    is_known: bool  # it lies in one cell, as it was written, and each branch was found

    def number(self, offset: int) -> int:
        """Return the number of the branch that a place lies in, or behind."""
        return max(bisect.bisect_right(self.heads, offset) - 1, 0)

    def may_change(self, edits: Sequence[Edit]) -> bool:
        """Say whether edits can empty a branch, or make two the same: at little cost."""
        if self.closest <= len(edits):
            return True
        met: dict[int, list[Span]] = {}
        for edit in edits:
            span = edit.span
            for number in range(self.number(span.start), self.number(span.end) + 1):
                met.setdefault(number, []).append(span)
        return any(
            all(any(_overlaps(span, end) for span in spans) for end in self.ends[number])
            for number, spans in met.items()
        )

    def by_branch(self, edits: Iterable[Edit]) -> dict[int, list[Edit]] | None:
        """Return the edits in the lines of each branch, None where one is in no branch or test."""
        found: dict[int, list[Edit]] = {}
        for edit in edits:
            number = self.number(edit.span.start)
            test = self.tests[number]
            # What is put right above a head is in the branch before.
            bodies = [each for each in (number, number - 1) if self._is_in_body(edit, each)]
            if bodies:
                found.setdefault(bodies[0], []).append(edit)
            elif test is None or not test.covers(edit.span):
                return None
        return found

    def _is_in_body(self, edit: Edit, number: int) -> bool:
        return number >= 0 and self.branches[number].body.covers(edit.span)


@once
def _frame(module: Module, node: cst.If) -> _Frame:
    """Return an ``if`` with where its branches stand."""
    text, nodes = module.text, _branches_of(node)
    end = line_after(text, module.span(node).end)
    heads = [module.span(branch).start for branch in nodes]
    last_ones = [*(line_start(text, head) for head in heads[1:]), end]
    branches, is_known = [], _is_plain(module, Span(heads[0], end))
    for branch, head, last in zip(nodes, heads, last_ones, strict=True):
        colon = _colon(module, branch, head)
        block = isinstance(branch.body, cst.IndentedBlock)
        body = Span(line_after(text, colon) if block else colon, last)
        is_known = is_known and bool(colon) and body.start <= last
        before = text[body.start : body.end]
        branches.append(_Branch(branch, head, colon, body, before, before))
    bodies = [each.body.body for each in nodes]
    counts = (abs(len(one) - len(other)) for one, other in pairwise(bodies))
    return _Frame(
        tuple(branches),
        tuple(heads),
        tuple(module.outer_span(each.test) if isinstance(each, cst.If) else None for each in nodes),
        tuple((module.span(each[0]), module.span(each[-1])) for each in bodies),
        min(counts, default=len(text)),
        end,
        is_known,
    )


def _is_plain(module: Module, whole: Span) -> bool:
    """Say whether some source lies in one cell, and nothing in it is masked."""
    masks = module.unit.masks  # in order
    first = bisect.bisect_left(masks, whole.start, key=lambda each: each.span.start)
    return module.unit.cell_at(whole.start).span.covers(whole) and not any(
        _overlaps(whole, each.span) for each in masks[max(first - 1, 0) : first + 1]
    )


class _If(Struct, frozen=True):
    """An ``if`` with its branches, as edits leave them."""

    module: Module
    branches: Sequence[_Branch]
    edits: Sequence[Edit]
    end: int  # of its last line, with the line break
    is_emptied: bool  # one of its branches is
    is_below: bool  # something is written right above it
    names: SameCode

    @classmethod
    def of(
        cls, module: Module, frame: _Frame, edits: Sequence[Edit], names: SameCode
    ) -> _If | None:
        """Return an ``if`` with what edits make of it, None where that cannot be told."""
        start = frame.heads[0]
        own = [each for each in edits if not each.span.start == each.span.end == start]
        inside = frame.by_branch(own) if frame.is_known else None
        if inside is None:
            return None
        branches = list(frame.branches)
        for number, those in inside.items():
            after = render(module.text, those, branches[number].body, "\n")
            branches[number] = replace(branches[number], after=after)
        emptied = any(branches[number].is_emptied for number in inside)
        return cls(module, branches, own, frame.end, emptied, len(own) < len(edits), names)

    def settled(self) -> Edit | None:
        """Return the edit that writes all of it anew, None where it stays as it is."""
        return (
            self._remove_all() or self._join_equal_tail() or self._negate() or self._remove_last()
        )

    def _remove_all(self) -> Edit | None:
        """Take the whole ``if`` out, where no branch does anything."""
        first = self.branches[0]
        if self.is_below or not self.is_emptied:
            return None
        if not all(is_empty(each.after) for each in self.branches):
            return None
        if not self._only_asks(self.branches) or self._comments(self.branches):
            return None
        return Edit(Span(line_start(self.module.text, first.head), self.end), ("",))

    def _join_equal_tail(self) -> Edit | None:
        """Write what the last branches have in common once."""
        last = self.branches[-1]
        if isinstance(last.node, cst.If) or is_empty(last.after):
            return None
        number = len(self.branches) - 1
        while number and self.names.are_same(self.branches[number - 1].after, last.after):
            number -= 1
        alike = self.branches[number:]
        was = all(self.names.are_same(each.before, last.before) for each in alike)
        if len(alike) < 2 or was or not self._only_asks(alike):
            return None
        first = alike[0]
        kept = first.after
        others = [each for each in self._comments(alike) if each not in kept]
        indent = margin(self.module.text, self.branches[0].head)
        if number:
            comments = "".join(f"{indent}{each}\n" for each in others)
            return self._rewrite_from(first.head, f"else:\n{comments}{self._block(first)}")
        comments = "".join(f"{each}\n{indent}" for each in others)
        return self._rewrite_from(first.head, comments + dedented(kept, indent).lstrip(" \t"))

    def _negate(self) -> Edit | None:
        """Ask for the opposite, where only the ``else`` does something."""
        if len(self.branches) != 2 or not self.branches[0].is_emptied:
            return None
        first, last = self.branches
        if isinstance(last.node, cst.If) or is_empty(last.after) or self._comments([first]):
            return None
        assert isinstance(first.node, cst.If)
        test = _written(self.module, self.module.outer_span(first.node.test), self.edits)
        if test is None:
            return None
        behind = self.module.text[last.colon : last.body.start]
        return self._rewrite_from(first.head, f"if {negated_test(test)}:{behind}{last.after}")

    def _remove_last(self) -> Edit | None:
        """Take the last branch out, where it does nothing any longer."""
        last = self.branches[-1]
        if len(self.branches) < 2 or not last.is_emptied or self._comments([last]):
            return None
        if not self._only_asks([last]):
            return None
        return self._rewrite_from(line_start(self.module.text, last.head), "")

    def _rewrite_from(self, start: int, text: str) -> Edit:
        """Write the ``if`` anew from some place on, and what stands above that as it is left."""
        first = self.branches[0].head
        above = _written(self.module, Span(first, start), self.edits) if start > first else ""
        last = "\n" if self.module.text[self.end - 1] in "\r\n" else ""
        text = f"{above or ''}{text}".rstrip(" \t\r\n") + last
        return Edit(Span(first, self.end), (text,))

    def _block(self, branch: _Branch) -> str:
        inline = not isinstance(branch.node.body, cst.IndentedBlock)
        indent = margin(self.module.text, self.branches[0].head)
        return f"{indent}    {branch.after.strip()}\n" if inline else branch.after

    def _only_asks(self, branches: Sequence[_Branch]) -> bool:
        return all(
            is_pure_test(self.module, each.node.test)
            for each in branches
            if isinstance(each.node, cst.If)
        )

    def _comments(self, branches: Sequence[_Branch]) -> list[str]:
        """Return the comments of some branches with those of their heads, as they are left."""
        found = []
        for each in branches:
            head = self.module.text[each.head : each.body.start]
            found += comments_of(head) + comments_of(each.after)
        return list(dict.fromkeys(found))


def _colon(module: Module, branch: cst.If | cst.Else, head: int) -> int:
    """Return where the colon of a branch's head ends, 0 where that cannot be told."""
    if isinstance(branch, cst.Else):
        found = _ELSE.match(module.text, head)
    else:
        found = _COLON.match(module.text, module.outer_span(branch.test).end)
    return 0 if found is None else found.end()


def _written(module: Module, span: Span, edits: Sequence[Edit]) -> str | None:
    """Return what edits make of some source, None where one reaches over its ends."""
    inside = []
    for each in edits:
        if span.covers(each.span):
            inside.append(each)
        elif (
            each.span.start < span.end and span.start < each.span.end and not each.span.covers(span)
        ):
            return None
    return render(module.text, inside, span, "\n")


def _overlaps(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
