"""Plan the new call's arguments: which, in what order, positional or keyword."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.rewrite.binding import Argument, CallBinding
from kdoctor.rewrite.parameters import NewParameter, NewParameters, same_value


class Item(Struct, frozen=True):
    """One argument of the new call.

    ``node`` is its expression in the template, None where it only passes on a variadic argument.
    ``slot`` says how the new callable takes it, ``keyword`` how it is written if the call is built
    anew. ``passed`` is the user's argument that it hands on as it stands, ``reads`` names the
    parameters whose arguments stand in it. ``absent``: it stands for an argument that was not
    passed, so an old default is written out, unless ``omitted``: both sides share it.
    """

    node: ast.expr | None
    slot: NewParameter
    keyword: str | None = None
    passed: Argument | None = None
    reads: tuple[str, ...] = ()
    absent: bool = False
    omitted: bool = False


def plan_items(call: ast.Call, slots: NewParameters, binding: CallBinding) -> list[Item]:
    """Return the arguments of the template's ``call`` for what ``binding`` passes."""
    items = _with_keywords_decided(
        [*_positional(call, slots, binding), *_keywords(call, slots, binding)]
    )
    return [item for item in items if not item.omitted]


def _positional(call: ast.Call, slots: NewParameters, binding: CallBinding) -> Iterator[Item]:
    position = 0
    for node in call.args:
        if isinstance(node, ast.Starred):
            for argument in _variadic(node.value, inspect.Parameter.VAR_POSITIONAL, binding):
                slot = NewParameter(position, None, None)
                yield Item(None, slot, passed=argument, reads=(argument.parameter,))
                position += 1
            continue
        yield _item(node, slots.at(position), None, binding)
        position += 1


def _keywords(call: ast.Call, slots: NewParameters, binding: CallBinding) -> Iterator[Item]:
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield _item(keyword.value, slots.named(keyword.arg), keyword.arg, binding)
            continue
        for argument in _variadic(keyword.value, inspect.Parameter.VAR_KEYWORD, binding):
            written = argument.keyword
            slot = NewParameter(None, written, None)
            yield Item(None, slot, written, passed=argument, reads=(argument.parameter,))


def _item(node: ast.expr, slot: NewParameter, keyword: str | None, binding: CallBinding) -> Item:
    old = binding.pattern.parameters.get(node.id) if isinstance(node, ast.Name) else None
    passed = None if old is None else next(binding.passed(old.name), None)
    absent = old is not None and passed is None
    shared = absent and old is not None and same_value(old.default, slot.default)
    reads = tuple(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in binding)
    return Item(node, slot, keyword, passed, reads, absent=absent, omitted=shared)


def _variadic(
    node: ast.expr, kind: inspect._ParameterKind, binding: CallBinding
) -> Iterator[Argument]:
    parameter = binding.pattern.parameters.get(node.id) if isinstance(node, ast.Name) else None
    if parameter is None or parameter.kind is not kind:
        raise ValueError(f"{ast.unparse(node)!r}: a star takes a parameter with the same star")
    return binding.passed(parameter.name)


def _with_keywords_decided(items: list[Item]) -> list[Item]:
    """Decide what is written by keyword, and write out again what must hold a place."""
    settled: list[Item] = []
    for index, item in enumerate(items):
        later = [each for each in items[index + 1 :] if not each.omitted and each.keyword is None]
        may_name = all(each.slot.keyword is not None for each in later)
        if item.omitted:
            settled.append(item if may_name or item.keyword else replace(item, omitted=False))
            continue
        if item.keyword is not None or item.slot.keyword is None:
            settled.append(item)
            continue
        after_gap = any(
            before.omitted or before.keyword is not None
            for before, template in zip(settled, items, strict=False)
            if template.keyword is None
        )
        by_habit = item.absent or (item.passed is not None and item.passed.keyword is not None)
        if after_gap or (by_habit and may_name):
            item = replace(item, keyword=item.slot.keyword)  # noqa: PLW2901
        settled.append(item)
    return settled
