"""Code that asks of what class something is: `isinstance(o, C)`, `type(o) is C`, `except C:`.

A call of a class that moved means the same as before; a question about it does so only if the new
name stands for the same objects. Two classes of Keras 2 may be one today, and then a question that
told them apart is always answered in one way: the other branch is dead.
"""

from __future__ import annotations

from typing import Final

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.calls import has_builtin
from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import EntryKind, Lookup, Presence, split_root
from kdoctor.keras_api.members import serves_as_base
from kdoctor.model import Applicability, Fix
from kdoctor.rules.names._public_names import home_of
from kdoctor.syntax import Module, Reference, ReferenceKind

_ASKING: Final = ("isinstance", "issubclass")
_EXPERIMENTAL: Final = "optimizers.experimental."
_ALL_ARE: Final = (
    "in Keras 2 this distinguished new optimizers from those of `keras.optimizers.legacy`; Keras 3 "
    "has no legacy ones, and {question} is true for every {kind}: the other branch never runs"
)
_TWO: Final = (
    "`{old}` and `{new}` were two classes in Keras 2: {question} is now true for instances of "
    "either"
)


def class_question(module: Module, node: cst.CSTNode) -> str | None:
    """Return the question that a class is the answer to, as people write it; None where none is."""
    inside, above = node, module.parent(node)
    while isinstance(above, cst.Element | cst.Tuple | cst.List | cst.BinaryOperation):
        inside, above = above, module.parent(above)
    match above:
        case cst.Arg():
            return _of_a_call(module, above)
        case cst.Comparison() if inside is above.left:
            asked = any(_is_type(module, each.comparator) for each in above.comparisons)
            return "the comparison of types" if asked else None
        case cst.ComparisonTarget():
            whole = module.parent(above)
            if isinstance(whole, cst.Comparison) and _is_type(module, whole.left):
                return "the comparison of types"
        case cst.ExceptHandler() if inside is above.type:
            return "the `except`"
        case cst.MatchClass() if inside is above.cls:
            return "the `case`"
    return None


def _of_a_call(module: Module, argument: cst.Arg) -> str | None:
    call = module.parent(argument)
    match call:
        case cst.Call(func=cst.Name(value=name), args=[_, second]) if second is argument:
            if name in _ASKING and has_builtin(module, call, name):
                return f"`{name}(…)`"
    return None


def _is_type(module: Module, node: cst.BaseExpression) -> bool:
    match node:
        case cst.Call(func=cst.Name(value="type"), args=[_]):
            return has_builtin(module, node, "type")
        case cst.Attribute(attr=cst.Name(value="__class__")):
            return True
    return False


def asked_alone(module: Module, node: cst.CSTNode) -> str | None:
    """Return the question where nothing else answers it: no other class, no other side of `or`.

    Nor is `assert not isinstance(…)` one that anything hangs on.
    """
    question, above = class_question(module, node), module.parent(node)
    if question is None or isinstance(above, cst.Element | cst.BinaryOperation):
        return None
    for each in module.ancestors(node):
        match each:
            case cst.BooleanOperation(operator=cst.Or()) | cst.Assert():
                return None
            case cst.BaseStatement() | cst.BaseSmallStatement():
                return question
    return question


def question_about(module: Module, reference: Reference) -> str | None:
    """Return the first question about what a reference names: at an import, in all of its uses."""
    uses = [reference]
    if reference.kind is ReferenceKind.IMPORT:
        uses = [
            each
            for each in module.references
            if each.binding is reference.binding and each.name.startswith(reference.name)
        ]
    asked = (class_question(module, each.node) for each in uses)
    return next((each for each in asked if each is not None), None)


def with_question(
    module: Module, facts: TargetFacts, reference: Reference, new: str, fix: Fix
) -> Fix:
    """Return a fix that writes another class, as unsafe where a question gets another answer."""
    question = question_about(module, reference)
    if question is None:
        return fix
    because = _other_answer(facts, _asked(module, facts, reference), new, question)
    if not because:
        return fix
    reasons = (
        [because] if fix.applicability is Applicability.SAFE else [fix.unsafe_because, because]
    )
    return replace(
        fix,
        applicability=Applicability.UNSAFE,
        unsafe_because="; ".join(each for each in reasons if each),
    )


def _asked(module: Module, facts: TargetFacts, reference: Reference) -> Lookup:
    """Return the class that is asked about: `experimental.SGD` of an import of `experimental`."""
    if reference.kind is ReferenceKind.IMPORT:
        for each in module.references:
            if each.binding is reference.binding and class_question(module, each.node):
                return facts.lookup(each.name)
    return facts.lookup(reference.name)


def _other_answer(facts: TargetFacts, old: Lookup, new: str, question: str) -> str:
    leaf = old.name.rpartition(".")[2]
    if old.name.startswith(_EXPERIMENTAL):
        kind = "optimizer" if leaf == "Optimizer" else f"`{leaf}`"
        return _ALL_ARE.format(question=question, kind=kind)
    if old.until is None or old.root is None or "." not in new:
        return ""
    split, last = split_root(new), facts.at_release(old.until)
    if split is None or last.lookup(old.qualified).kind is not EntryKind.CLASS:
        return ""
    written = f"{old.qualified.removesuffix(old.name)}{split[1]}"
    then = last.lookup(written)
    if then.presence is not Presence.EXISTS or then.kind is not EntryKind.CLASS:
        return ""
    homes = [home_of(old.root, each, last.target) for each in (old.name, split[1])]
    if homes[0] == homes[1]:
        return ""
    return _TWO.format(old=old.name, new=split[1], question=question)


def was_a_base(facts: TargetFacts, gone: Lookup) -> bool:
    """Say whether other classes of Keras derived from a class that is gone, and were instances."""
    split = split_root(gone.qualified)
    if split is None or gone.until is None:
        return False
    home = home_of(*split, facts.at_release(gone.until).target)
    return bool(home) and serves_as_base(home)
