"""Questions about Keras calls: their class, their arguments, edits to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import overload

import libcst as cst
from packaging.version import Version

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Hole, Precedence, Span
from kdoctor.rewrite import Speller
from kdoctor.rewrite.arguments import separator_before_new
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.node_predicates import is_of_named_base
from kdoctor.syntax.scopes import Binding
from kdoctor.value_types import Kind, Type


def instances(
    module: Module, kind: Kind, facts: TargetFacts | None = None
) -> Iterator[tuple[Reference, cst.Call, Type]]:
    """Yield each call that instantiates a Keras class of this kind.

    With ``facts``, only of the Keras 3 of that target.
    """
    for reference in module.references:
        if reference.call is None or (facts and not is_keras_3(facts, reference.name)):
            continue
        made = module.oracle.class_type(reference.name)
        if made is not None and made.kind is kind:
            yield reference, reference.call, made


def is_keras_3(facts: TargetFacts, name: str | None) -> bool:
    """Say whether a dotted name is in the target's Keras 3 (`tf_keras` is not).

    A name that is not known may be.
    """
    split = split_root(name) if name else None
    return split is None or facts.runs_keras_3(split[0])


def keras_version(facts: TargetFacts) -> Version:
    """Return the Keras 3 release of the target."""
    return Version(facts.target.keras_version or facts.target.tf_keras_version)


def is_hidden(call: cst.Call) -> bool:
    """Say whether ``*args`` or ``**kwargs`` hide some arguments."""
    return any(argument.star for argument in call.args)


def arguments(call: cst.Call) -> Sequence[cst.Arg]:
    """Return what a call passes: not the ``self`` of ``Base.__init__(self, …)``."""
    return call.args[1:] if is_of_named_base(call) else call.args


def positional_arguments(call: cst.Call) -> list[cst.Arg]:
    """Return the arguments by position before any ``*args``: only their places are known."""
    return [*takewhile(lambda each: each.keyword is None and not each.star, arguments(call))]


def all_by_position(call: cst.Call) -> list[cst.Arg]:
    """Return all arguments by position, nothing where ``*args`` hides how many there are.

    What ``**options`` hold is none of them: Python lets nothing be given twice.
    """
    return [] if any(each.star == "*" for each in call.args) else positional_arguments(call)


def argument(call: cst.Call, name: str, position: int | None = None) -> cst.Arg | None:
    """Return the argument passed by this keyword or position (from 0)."""
    for each in call.args:
        if each.keyword is not None and each.keyword.value == name:
            return each
    by_position = positional_arguments(call) if position is not None else []
    return by_position[position] if position is not None and position < len(by_position) else None


def passed(call: cst.Call, name: str, position: int | None = None) -> cst.BaseExpression | None:
    """Return the value of that argument."""
    found = argument(call, name, position)
    return None if found is None else found.value


def call_of_super(node: cst.CSTNode | None) -> tuple[str, cst.Call] | None:
    """Return ``x`` and the call of ``super().x(…)``, ``super(Mine, self).x(…)``."""
    match node:
        case cst.Call(
            func=cst.Attribute(
                value=cst.Call(func=cst.Name(value="super")), attr=cst.Name(value=name)
            )
        ):
            return name, node
    return None


def is_call_of_super(node: cst.CSTNode | None, name: str) -> bool:
    """Say whether it is ``super().name(…)``."""
    found = call_of_super(node)
    return found is not None and found[0] == name


@overload
def value_of(module: Module, node: cst.BaseExpression) -> cst.BaseExpression: ...
@overload
def value_of(module: Module, node: cst.BaseExpression | None) -> cst.BaseExpression | None: ...
def value_of(module: Module, node: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """Return what a name is bound to, if that is one value for sure; else the node itself."""
    found = binding_of(module, node)
    if found is None or found.path or found.value is None:
        return node
    is_assigned = isinstance(module.parent(found.node), cst.AssignTarget | cst.AnnAssign)
    return found.value if is_assigned else node


def binding_of(module: Module, node: cst.CSTNode | None) -> Binding | None:
    """Return what binds a name, if that is one thing; None of anything else."""
    found = module.bindings_at(node) if isinstance(node, cst.Name) else ()
    return found[0] if len(found) == 1 else None


def add_keyword(module: Module, call: cst.Call, text: str) -> Edit:
    """Return the edit that appends ``keyword=value`` to a call."""
    span = module.span(call)
    if not call.args:
        return Edit(Span(span.end - 1, span.end - 1), (text,))
    last = call.args[-1].value
    place = module.outer_span(last)
    hole = Hole(place, Precedence.LAMBDA, precedence_of(last))
    added = f"{separator_before_new(module, call.args[-1])}{text}"
    if len(call.args) == 1 and precedence_of(last) is Precedence.ANY:
        return Edit(place, (hole, added))  # a lone generator needs its parentheses now
    return Edit(Span(place.end, place.end), (added,))


def replace_expression(module: Module, node: cst.BaseExpression, text: str) -> Edit:
    """Return the edit that replaces an expression (its parentheses stay)."""
    return Edit(module.span(node), (text,))


def speller_at(module: Module, node: cst.CSTNode) -> Speller:
    """Return the speller for a node that is not a Keras name."""
    for reference in module.references:
        if split_root(reference.name) is not None:
            return Speller(module, node, reference.name, reference.binding)
    return Speller(module, node, "")


def is_builtin(module: Module, name: cst.Name) -> bool:
    """Say whether a name is the builtin: the module binds nothing over it."""
    return has_builtin(module, name, name.value)


def has_builtin(module: Module, place: cst.CSTNode, name: str) -> bool:
    """Say whether a name that a fix writes is the builtin at that place."""
    return module.scope_of(place).owner(name) is None


def hidden_builtin(name: str) -> str:
    """Return the reason for no fix where a builtin is shadowed."""
    return f"`{name}` is something else in this file"
