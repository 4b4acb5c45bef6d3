"""Keyword arguments of Keras 1: `border_mode=`, `nb_epoch=`, `init=`, `Model(input=, output=)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.dataflow.keyword_dicts import HeldKeyword, held_keywords
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keras_calls import KerasCall
from kdoctor.analysis.queries import File, calls, files
from kdoctor.analysis.queries.bound_calls import (
    Bound,
    Passed,
    bound_calls,
    bound_keywords,
)
from kdoctor.analysis.queries.conditions import keyword, string, word
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.arguments._keras_1_dialect import (
    calls_with_keywords,
    is_of_keras_1,
    is_read,
    why_not_alone,
)
from kdoctor.rules.arguments._keras_1_kernel_sizes import (
    KERNELS,
    Rewritten,
    filled_by_position,
    is_one_by_one,
    join_kernel,
    kernel_in_one,
)
from kdoctor.rules.arguments._keras_1_rewrites import (
    GENERATORS,
    KEYWORDS,
    known_keywords,
    may_be_known,
    plain_name_of,
    renamed,
    rewrite_argument,
)
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_Passed = Sequence[tuple[str, cst.BaseExpression]]
_CONVOLUTIONS = [name.replace("Conv", "Convolution", 1) for name in KERNELS]


def _of_keras_1(callee: Bound) -> frozenset[str]:
    return may_be_known(callee) - callee.takes


def _is_old(_: TargetFacts, callee: Bound, keyword: str) -> bool:
    return keyword in _of_keras_1(callee)


def _passes_sides(_facts: TargetFacts, _callee: Bound, passed: Passed) -> bool:
    return passed.places > 1


@rule(
    "KD310",
    severity=Severity.ERROR,
    since="2.4",
    look_for=files(
        keyword(*KEYWORDS) | string(*KEYWORDS) | word(*_CONVOLUTIONS),
        bound_keywords(_of_keras_1, _is_old)
        | bound_calls(lambda each: "Convolution" in each.leaf, _passes_sides)
        | calls(*GENERATORS, on=Kind.MODEL).passing(*frozenset().union(*GENERATORS.values())),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each call that passes keywords of Keras 1."""
    module, facts = file.module, file.facts
    told: set[cst.CSTNode] = set()  # keys of dicts, which several calls may get
    for call, old in calls_with_keywords(module, facts):
        if call.leaf not in GENERATORS:
            yield from _of_dicts(file, call, told)
        is_old = is_of_keras_1(module, facts, call)
        if not old and not is_one_by_one(module, call, is_of_keras_1=is_old):
            continue
        if not module.is_guarded(call.call):
            yield _finding(file, call, old) if old else _silent(file, call)


def _of_dicts(file: File, call: KerasCall, told: set[cst.CSTNode]) -> Iterator[Finding]:
    """Yield what a call gets by `**` out of a dict that is written out."""
    module = file.module
    for held in held_keywords(module, call.call):
        is_old = held.keyword in known_keywords(call) and not call.new.parameter(held.keyword)
        if is_old and held.key not in told and not module.is_guarded(call.call):
            told.add(held.key)
            fix = _fix_in_the_dict(file, call, held)
            yield _told(file, call, [(held.keyword, held.value)], held.key, fix)


def _fix_in_the_dict(file: File, call: KerasCall, held: HeldKeyword) -> Fix | NoFix:
    module = file.module
    name = plain_name_of(call, held.keyword)
    if name is None:
        return NoFix("the value must change as well as the keyword")
    if not held.is_alone:
        return NoFix("the dict is also used elsewhere")
    taken = {each.keyword for each in held_keywords(module, call.call)}
    if call.keyword(name) is not None or name in taken or name in filled_by_position(call):
        return NoFix(f"`{name}` is also passed, beside `{held.keyword}`")
    alone = why_not_alone(module, file.facts)
    return file.fix(
        f"Write `{name}` instead of `{held.keyword}`",
        held.renamed(module, name),
        unsafe_because=alone,
        proven_by=[each for each in check.group("held-by-a-dict") if each.after],
    )


# The fix


def _finding(file: File, call: KerasCall, old: Sequence[cst.Arg]) -> Finding:
    rewritten = Rewritten()
    for argument in old:
        rewrite_argument(file.module, file.facts, call, argument, rewritten)
    join_kernel(file.module, call, rewritten)
    passed = [(each.keyword.value, each.value) for each in old if each.keyword]
    return _told(file, call, passed, old[0], _fix(file, call, rewritten))


def _told(
    file: File, call: KerasCall, old: _Passed, node: cst.CSTNode, fix: Fix | NoFix
) -> Finding:
    names = ", ".join(f"`{keyword}=`" for keyword, _ in old)
    return file.finding(
        f"`{call.made or call.leaf}` no longer accepts {names} from Keras 1: "
        f"{_error(file.module, call, old)}",
        at=node,
        symbol=f"{call.name}({old[0][0]})",
        confidence=call.confidence,
        help=f"{fix.title}." if isinstance(fix, Fix) else _help(call, old),
        fix=fix,
    )


def _fix(file: File, call: KerasCall, rewritten: Rewritten) -> Fix | NoFix:
    if rewritten.refused:
        return NoFix(" and ".join(rewritten.refused))
    removed = remove_arguments(file.module, call.call, rewritten.gone) if rewritten.gone else []
    if removed is None:
        return NoFix("there is a comment inside an argument that would be removed")
    alone = why_not_alone(file.module, file.facts)
    unsafe = "; ".join(dict.fromkeys([*rewritten.unsafe, *([alone] if alone else [])]))
    return file.fix(
        f"Use today's arguments of `{call.made or call.leaf}`",
        *rewritten.edits,
        *removed,
        unsafe_because=unsafe,
    )


# What Python says


def _error(module: Module, call: KerasCall, old: _Passed) -> str:
    filled = {*filled_by_position(call), *(e.keyword.value for e in call.args if e.keyword)}
    filled.update(each.keyword for each in held_keywords(module, call.call))
    # The rest of what a partial lacks comes with the calls of what it gives.
    named = {renamed(call).get(keyword) for keyword, _ in old}
    missing = [
        each.name
        for each in call.new.parameters
        if each.default is None
        and not each.kind.name.startswith("VAR_")
        and each.name not in filled
        and each.name != "self"
        and (not call.is_partial or each.name in named)
    ]
    if call.owner is None and call.made and missing:
        number = f"{len(missing)} required positional argument{'s' * (len(missing) > 1)}"
        listed = " and ".join(f"'{each}'" for each in missing)
        return f"TypeError: {call.made}.__init__() missing {number}: {listed}"
    first, given = old[0]
    if call.leaf in GENERATORS and call.owner is not None:
        made = call.owner.cls or "Functional"
        return f"AttributeError: '{made}' object has no attribute '{call.leaf}'"
    if call.made and call.new.takes_any_keyword:
        is_literal = isinstance(given, cst.BaseNumber | cst.SimpleString)
        value = module.source(given) if is_literal else "…"
        return (
            f"ValueError: Unrecognized keyword arguments passed to {call.made}: "
            f"{{'{first}': {value}"
        )
    return f"TypeError: {call.written} got an unexpected keyword argument '{first}'"


def _help(call: KerasCall, old: _Passed) -> str:
    keywords = {keyword for keyword, _ in old}
    if keywords & {"samples_per_epoch", "nb_val_samples", "val_samples"}:
        return (
            "Write steps_per_epoch=samples // batch_size (and likewise validation_steps=, "
            "steps=), and epochs= for nb_epoch=."
        )
    if "dropout" in keywords and call.made == "Embedding":
        return "Add keras.layers.SpatialDropout1D(rate) after the Embedding."
    names = {"nb_epoch": "epochs"} | renamed(call)
    named = [f"{names[each]}= for {each}=" for each in sorted(keywords) if each in names]
    return f"Write {', '.join(named)}." if named else ""


# The kernel in two numbers


def _silent(file: File, call: KerasCall) -> Finding:
    module = file.module
    edits = kernel_in_one(module, call)
    fix = file.fix(
        "Write the kernel size as one argument",
        *(edits or ()),
        unsafe_because=""
        if is_read(module, file.facts, call)
        else "code written for Keras 2.4 or later may mean the stride",
        proven_by=[each for each in check.group("beside-keywords") if each.after],
    )
    return file.finding(
        f"`{module.source(call.call.func)}` reads the last number as the stride: up to Keras 2.3 "
        "it was a side of the kernel",
        at=call.call,
        symbol=call.name,
        confidence=call.confidence,
        severity=Severity.CHANGE,
        help="Write the kernel size as one argument: (3, 3).",
        fix=fix if edits else NoFix("there is a comment inside an argument that would be removed"),
    )
