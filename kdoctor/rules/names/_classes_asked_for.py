"""Classes that Keras 3 has no objects of, where a file only asks whether something is one.

`isinstance(layer, TFOpLambda)` is False on Keras 3 for whatever there is, but its import stops the
whole file. A fix says so: the class leaves the tuple it is asked for in, or an empty tuple takes
its name, for which `isinstance`, `issubclass`, `type(x) is …` and `except` answer the same.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Final

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import ClassFamily, EntryKind, Lookup, Presence, split_root
from kdoctor.keras_api.members import classes_of, derived_from
from kdoctor.keras_api.private_modules import is_bound_somewhere, missing_prefix
from kdoctor.model import Applicability, Edit, Fix, Hole, NoFix, Precedence, Span
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rewrite.visibility import has_keep_comment, is_conditional
from kdoctor.rules.fixes.helper_definition import insertion, top_statement
from kdoctor.rules.names._class_checks import class_question
from kdoctor.rules.names._public_names import home_of, public_names
from kdoctor.syntax import Module, Reference, ReferenceKind
from kdoctor.target import FRAMEWORKS

_TITLE: Final = "Say that nothing is an instance of `{}`"
_BECAUSE: Final = "Keras 3 has no `{}`: what the code does with an instance of it never runs"
_DEFINED: Final = "{} = ()  # Keras 3 has no `{}`: nothing is an instance of it"
_COMPARED: Final = "the comparison of types"
_SRC: Final = "keras.src."


def never_one(
    module: Module, facts: TargetFacts, reference: Reference, found: Lookup
) -> Fix | None:
    """Return the fix where a gone class is only asked for, None where it is used otherwise."""
    if not has_no_objects(facts, found):
        return None
    called = _called(facts, found)
    if isinstance(reference.node, cst.Attribute):
        if not is_only_asked_for(module, reference):
            return None
        edit = _out_of_its_tuple(module, reference.node) or _in_place(module, reference.node)
        return None if edit is None else _fix(called, (edit,))
    alias = reference.binding.alias
    edits = _at_import(module, reference, called)
    return None if edits is None or alias is None else _fix(called, edits, (module.span(alias),))


def never_one_or(
    module: Module, facts: TargetFacts, use: Reference, attempt: Fix | NoFix
) -> Fix | NoFix:
    """Return a fix as it is, and instead of none that of a class that is only asked for."""
    if isinstance(attempt, Fix):
        return attempt
    return never_one(module, facts, use, facts.lookup(use.name)) or attempt


def is_only_asked_for(module: Module, reference: Reference) -> bool:
    """Say whether all that a file does with a class is to ask whether something is one."""
    uses = [
        each
        for each in module.references
        if each.name == reference.name and each.kind is not ReferenceKind.IMPORT
    ]
    return bool(uses) and all(class_question(module, each.node) is not None for each in uses)


def _called(facts: TargetFacts, found: Lookup) -> str:
    """Return what to call a class: `training_v1.Model`, where the target has another `Model`."""
    module, leaf = found.qualified.split(".")[-2:]
    today = classes_of("keras", _release(facts))
    return f"{module}.{leaf}" if today is not None and today.by_leaf(leaf) else leaf


def _fix(called: str, edits: tuple[Edit, ...], drops: tuple[Span, ...] = ()) -> Fix:
    return Fix(
        _TITLE.format(called),
        edits,
        Applicability.UNSAFE,
        drops=drops,
        unsafe_because=_BECAUSE.format(called),
    )


# Whether the target can have objects of a class


def has_no_objects(facts: TargetFacts, found: Lookup) -> bool:
    """Say whether a class is gone, and no class of the target took over its objects.

    Nor may one that lives on have been derived from it: all optimizers were an `OptimizerV2`.
    """
    if missing_prefix(found.qualified, _release(facts)) is None and _is_private(found):
        return False
    gone = _by_its_old_name(facts, found)
    split = split_root(gone.qualified)
    if split is None or gone.until is None or gone.presence is not Presence.MISSING:
        return False
    if not facts.runs_keras_3(split[0]):
        return False
    old = facts.at_release(gone.until)
    then = old.lookup(gone.qualified)
    if then.kind is not EntryKind.CLASS or then.family is ClassFamily.TENSOR:
        return False
    home = home_of(*split, old.target)
    return bool(home) and not _lives_on(facts, old, split[0], home)


def _is_private(found: Lookup) -> bool:
    return found.qualified.startswith(_SRC)


def _release(facts: TargetFacts) -> str:
    return facts.target.keras_version or facts.target.tf_keras_version or ""


def _by_its_old_name(facts: TargetFacts, found: Lookup) -> Lookup:
    """Return what is known of `keras.src.x.Y` of Keras 2.13 by its name before: `keras.x.Y`."""
    if _is_private(found):
        return facts.lookup(f"keras.{found.qualified.removeprefix(_SRC)}")
    return found


@lru_cache(maxsize=256)
def _lives_on(facts: TargetFacts, old: TargetFacts, root: str, home: str) -> bool:
    """Say whether the target may have a class for the objects of one, or of what derived from it.

    So it is as well where the data does not tell.
    """
    distribution = home.partition(".")[0]
    release = old.target.keras_version or ""
    then, today = classes_of(distribution, release), classes_of("keras", _release(facts))
    if distribution not in FRAMEWORKS or then is None or today is None or then.info(home) is None:
        return True
    for each in (home, *derived_from(then, home)):
        leaf = each.rpartition(".")[2]
        named_so = today.by_leaf(leaf)
        if any(_is_the_same(facts, old, root, each, new.home) for new in named_so):
            return True
        # A private class in between has public ones below it, which are asked about themselves.
        in_between = each != home and leaf.startswith("_")
        if not (named_so or in_between) and is_bound_somewhere(leaf, _release(facts)):
            return True
    return False


def _is_the_same(facts: TargetFacts, old: TargetFacts, root: str, home: str, new: str) -> bool:
    """Say whether a class of the target may be one of an old release that is called like it.

    It is not where the old release had both: `Model` beside `training_v1.Model`.
    """
    then = [home_of(root, each, old.target) for each in public_names(root, new, facts.target)]
    known = [each for each in then if each]
    return not known or home in known


# What is written


def _at_import(module: Module, reference: Reference, called: str) -> tuple[Edit, ...] | None:
    """Return the edits for all that an import of the class is read for, None where it must stay."""
    binding = reference.binding
    if not isinstance(binding.statement, cst.ImportFrom) or binding.alias is None:
        return None
    if binding.imported != reference.name:
        return None
    if is_conditional(module, binding.statement) or has_keep_comment(module, binding.statement):
        return None
    if binding.exported or module.name_may_be_imported_elsewhere(binding.local):
        return None
    if len(binding.scope.bindings[binding.local]) > 1:
        return None
    uses = [
        each
        for each in module.references
        if each.binding is binding and each.kind is not ReferenceKind.IMPORT
    ]
    if not uses or len(uses) != len(module.uses_of(binding)):
        return None
    nodes = [each.node for each in uses]
    if not all(isinstance(each, cst.Name) and _takes_a_tuple(module, each) for each in nodes):
        return None
    parted = [_out_of_its_tuple(module, each) for each in nodes]
    if all(each is not None for each in parted) and _are_apart(parted):
        return tuple(each for each in parted if each is not None)
    if binding.scope is module.scope_of(module.tree):
        before = top_statement(module, min(nodes, key=module.span))
        return (insertion(module, before, _DEFINED.format(binding.local, called)),)
    placed = [_out_of_its_tuple(module, each) or _in_place(module, each) for each in nodes]
    edits = tuple(each for each in placed if each is not None)
    return edits if len(edits) == len(nodes) and _are_apart(edits) else None


def _are_apart(edits: list[Edit | None] | tuple[Edit, ...]) -> bool:
    """Say whether no two edits touch."""
    spans = sorted(each.span for each in edits if each is not None)
    return all(one.end <= two.start for one, two in pairwise(spans))


def _takes_a_tuple(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a class is asked for where an empty tuple may stand: not in `A | B`."""
    if class_question(module, node) in (None, "the `case`"):
        return False
    return not isinstance(module.parent(node), cst.BinaryOperation)


def _in_place(module: Module, node: cst.CSTNode) -> Edit | None:
    """Return the edit that asks for the empty tuple; `is ()` is what Python warns of."""
    if not _takes_a_tuple(module, node) or class_question(module, node) == _COMPARED:
        return None
    return Edit(module.outer_span(node), ("()",))


def _out_of_its_tuple(module: Module, node: cst.CSTNode) -> Edit | None:
    """Return the edit that leaves a class out of a tuple; where one is left, of the tuple."""
    element = module.parent(node)
    if not isinstance(element, cst.Element):
        return None
    whole = module.parent(element)
    question = class_question(module, node)
    if not isinstance(whole, cst.Tuple) or question in (None, "the `case`", _COMPARED):
        return None
    if isinstance(module.parent(whole), cst.Element | cst.BinaryOperation):
        return None
    span = module.outer_span(whole)
    elements = list(whole.elements)
    if len(elements) == 1 or "#" in module.text[span.start : span.end]:
        return None
    if any(not isinstance(each, cst.Element) for each in elements):
        return None
    at = elements.index(element)
    if len(elements) == 2:
        other = elements[1 - at].value
        hole = Hole(module.outer_span(other), Precedence.LAMBDA, precedence_of(other))
        return Edit(span, (hole,))
    own = module.outer_span(node)
    if at == 0:
        return Edit(Span(own.start, module.outer_span(elements[1].value).start), ())
    return Edit(Span(module.outer_span(elements[at - 1].value).end, own.end), ())
