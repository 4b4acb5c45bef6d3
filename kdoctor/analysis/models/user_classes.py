"""User-defined classes: what they derive from, and their methods."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import binding_of, is_builtin, is_call_of_super, is_keras_3
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import Presence
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.bases import EMPTY_BASES
from kdoctor.syntax.classes import receiver_of, unsubscripted
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.node_predicates import is_of_named_base
from kdoctor.value_types import Kind, Type

OPTIMIZER_HOOKS: Final = frozenset(
    {
        *("get_updates", "_create_slots", "_prepare_local"),
        *("_resource_apply_dense", "_resource_apply_sparse"),
    }
)
"""What Keras 2 called on an optimizer; Keras 3 calls ``build`` and ``update_step``."""
OF_2_11: Final = frozenset({
    *("_build_learning_rate", "_index_dict", "_serialize_hyperparameter"),
})  # fmt: skip
"""What only the base class of optimizers had in TensorFlow 2.11 to 2.15."""
SLOT_OF_2_11: Final = frozenset({"model_variable", "variable_name", "initial_value"})
"""What `add_variable_from_reference` took there."""
_REGISTERS: Final = "register_keras_serializable"
_MAX_INHERITANCE_DEPTH: Final = 32  # classes of which each derives from the next


def kind_of_class(module: Module, node: cst.ClassDef) -> Kind | None:
    """Return LAYER for a direct or indirect subclass of a Keras layer.

    None where no base is known.
    """
    return _kind(module, node, frozenset())


def _kind(module: Module, node: cst.ClassDef, seen: frozenset[cst.ClassDef]) -> Kind | None:
    known = _known_kinds(module)
    if node in known:
        return known[node]
    for argument in node.bases:
        base = _kind_of_base(module, unsubscripted(argument.value), seen | {node})
        if base is not None:
            known[node] = base
            return base
    if not seen:  # a base that is asked in a ring may have a kind by another way
        known[node] = None
    return None


@once
def _known_kinds(_: Module) -> dict[cst.ClassDef, Kind | None]:
    """Return the kinds that were found, to be filled in: of 200 classes each is a base."""
    return {}


def _kind_of_base(
    module: Module, base: cst.BaseExpression, seen: frozenset[cst.ClassDef]
) -> Kind | None:
    own = class_named(module, base)
    if own is not None:
        return None if own in seen else _kind(module, own, seen)
    name = module.qualified(base)
    if name is None:
        return None
    through = next((each.own_class for each in module.imports if each.name == name), None)
    made = module.oracle.class_type(through.base if through and through.base else name)
    return None if made is None else made.kind


def owns_its_weights(facts: TargetFacts, layer: Type) -> bool:
    """Say whether only a Keras layer's own weights are saved with it.

    Then its ``kernel`` (or ``embeddings``) is a property, too. Both came with LoRA, to each of
    these layers at its own time.
    """
    return facts.member(layer, "enable_lora") is Presence.EXISTS


def class_of(module: Module, made: Type) -> cst.ClassDef | None:
    """Return the class of this file that an object is of, where one alone goes by that name."""
    found = [each for each in module.nodes(cst.ClassDef) if each.name.value == made.cls]
    return found[0] if len(found) == 1 and kind_of_class(module, found[0]) is made.kind else None


def class_around(module: Module, node: cst.CSTNode) -> cst.ClassDef | None:
    """Return the innermost class that a node stands in."""
    return next((each for each in module.ancestors(node) if isinstance(each, cst.ClassDef)), None)


def lineage_with_base(
    module: Module, node: cst.ClassDef
) -> tuple[list[cst.ClassDef], cst.BaseExpression | None]:
    """Return a class with its bases in the file, and the last one's external base.

    Nothing where one of them has several bases, or none; those of Python's own do not count. Nor
    where there are more than anybody writes: each class of a long line would go through it anew.
    """
    found: list[cst.ClassDef] = []
    while len(found) < _MAX_INHERITANCE_DEPTH and (base := only_base(module, node)) is not None:
        found.append(node)
        own = class_named(module, base)
        if own is None:
            return found, base
        node = own
    return [], None


def with_bases(module: Module, node: cst.ClassDef) -> list[cst.ClassDef]:
    """Return a class and all classes of the file that it derives from, by whichever base."""
    found = {node: None}
    waiting = [node]
    while waiting and len(found) < _MAX_INHERITANCE_DEPTH:
        bases = (class_named(module, unsubscripted(each.value)) for each in waiting.pop().bases)
        new = [each for each in bases if each is not None and each not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return list(found)


def only_base(module: Module, node: cst.ClassDef) -> cst.BaseExpression | None:
    """Return the one base that a class has members from, beside ``abc.ABC`` and ``Generic[T]``."""
    if any(each.star for each in node.bases):
        return None
    bases = [unsubscripted(each.value) for each in node.bases]
    telling = [each for each in bases if not _is_empty(module, each)]
    return telling[0] if len(telling) == 1 else None


def is_init_of_base(module: Module, owner: cst.ClassDef, node: cst.CSTNode | None) -> bool:
    """Say whether it is ``super().__init__(…)``, or ``Base.__init__(self, …)`` of the only base."""
    if is_call_of_super(node, "__init__"):
        return True
    base = only_base(module, owner) if is_of_named_base(node) else None
    match node:
        case cst.Call(func=cst.Attribute(value=named)) if base is not None:
            return dotted_name(named) == dotted_name(base)
    return False


def _is_empty(module: Module, base: cst.BaseExpression) -> bool:
    name = module.qualified(base)
    if name is not None:
        return name in EMPTY_BASES
    return isinstance(base, cst.Name) and base.value == "object" and is_builtin(module, base)


def lineage_with_keras_3_base(
    module: Module, facts: TargetFacts, node: cst.ClassDef
) -> tuple[list[cst.ClassDef], Type | None]:
    """Return the same if the external base is a Keras 3 class; else nothing."""
    line, base = lineage_with_base(module, node)
    name = None if base is None else module.qualified(base)
    made = module.oracle.class_type(name) if name else None
    return (line, made) if made is not None and is_keras_3(facts, name) else ([], None)


def decorated_by(module: Module, node: cst.CSTNode) -> list[str]:
    """Return the dotted names of a class' or function's decorators, "" for one that is not known.

    Called or not, ``@register`` and ``@register("layer")`` are the same.
    """
    decorators = [each.decorator for each in getattr(node, "decorators", ())]
    functions = (each.func if isinstance(each, cst.Call) else each for each in decorators)
    return [module.qualified(each) or "" for each in functions]


def is_only_registered(module: Module, node: cst.ClassDef) -> bool:
    """Say whether all that decorates a class, if anything, names it for saved models."""
    return all(each.endswith(_REGISTERS) for each in decorated_by(module, node))


def methods_in(node: cst.ClassDef) -> dict[str, cst.FunctionDef]:
    """Return the methods that stand in a class itself, by their names."""
    return {each.name.value: each for each in node.body.body if isinstance(each, cst.FunctionDef)}


def receiver(function: cst.FunctionDef) -> str | None:
    """Return the name of the parameter that takes the instance."""
    parameter = receiver_of(function)
    return None if parameter is None else parameter.name.value


def member_of_self(node: cst.CSTNode, function: cst.FunctionDef) -> str | None:
    """Return ``x`` of ``self.x``."""
    match node:
        case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=member)):
            return member if name == receiver(function) else None
    return None


def holds_original_argument(module: Module, node: cst.CSTNode, parameter: cst.Param) -> bool:
    """Say whether a name still holds the argument that the function got."""
    bound = binding_of(module, node)
    return bound is not None and bound.node is parameter


def is_old_optimizer(module: Module, node: cst.ClassDef) -> bool:
    """Say whether a class is an optimizer for Keras 2, of which KD511 and KD512 tell as a whole."""
    body = node.body.body
    methods = {each.name.value for each in body if isinstance(each, cst.FunctionDef)}
    return (
        bool(methods & OPTIMIZER_HOOKS)
        and "update_step" not in methods
        and kind_of_class(module, node) is Kind.OPTIMIZER
        and not module.is_guarded(node)
    )


def is_in_old_optimizer(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a line stands in such a class: it goes with the class."""
    return any(
        isinstance(each, cst.ClassDef) and is_old_optimizer(module, each)
        for each in module.ancestors(node)
    )


@once
def optimizers_of_2_11(module: Module) -> frozenset[cst.ClassDef]:
    """Return the optimizers of the file that use what only TensorFlow 2.11 to 2.15 had."""
    return frozenset(
        each
        for each in module.nodes(cst.ClassDef)
        if kind_of_class(module, each) is Kind.OPTIMIZER and not module.is_guarded(each)
        if not methods_in(each).keys() & OPTIMIZER_HOOKS
        if any(_is_of_2_11(inside) for inside in descendants(each.body))
    )


def _is_of_2_11(node: cst.CSTNode) -> bool:
    match node:
        case cst.Attribute(value=cst.Name(), attr=cst.Name(value=name)):
            return name in OF_2_11
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="add_variable_from_reference"))):
            keywords = {each.keyword.value for each in node.args if each.keyword}
            return bool(keywords & SLOT_OF_2_11)
    return False
