"""Where a file uses helpers of Keras 2, and how it imports them."""

from __future__ import annotations

import libcst as cst

from kdoctor.memoize import once
from kdoctor.model import ImportNeed
from kdoctor.rewrite import Speller
from kdoctor.rules.fixes.helper_definition import top_statement
from kdoctor.rules.names._class_checks import class_question
from kdoctor.rules.names._keras_2_code.definitions import definition
from kdoctor.rules.names._keras_2_code.names import helper_of
from kdoctor.rules.names._keras_2_code.written_out import Helper
from kdoctor.syntax import ImportBinding, Module, Reference, ReferenceKind


@once
def reads_of_helpers(module: Module) -> dict[str, list[Reference]]:
    """Return what is read of helpers of Keras 2, by what each is called there."""
    found: dict[str, list[Reference]] = {}
    for each in module.references:
        helper = helper_of(each.name) if each.kind is ReferenceKind.LOAD else None
        if helper is not None:
            found.setdefault(helper[0].leaf, []).append(each)
    return found


def free_name(module: Module, helper: Helper) -> str:
    """Return how to call a definition of a package in a file that may have one so called."""
    name = helper.leaf
    reads = [each.node for each in reads_of_helpers(module).get(name, ())]
    if _is_written(module, helper) or module.is_free(name, reads):
        return name
    return f"{'Addons' if name[0].isupper() else 'addons_'}{name}"


def _is_written(module: Module, helper: Helper) -> bool:
    """Say whether a file has the definition of a helper: by its docstring, as a fix wrote it."""
    bound = module.scope_of(module.tree).bindings.get(helper.leaf, ())
    said = definition(helper.code).summary
    return any(
        isinstance(each.node, cst.FunctionDef | cst.ClassDef) and said in module.source(each.node)
        for each in bound
    )


@once
def imports_by_local(module: Module) -> dict[str, list[ImportBinding]]:
    found: dict[str, list[ImportBinding]] = {}
    for each in module.imports:
        found.setdefault(each.local, []).append(each)
    return found


def chooses_an_import(module: Module, binding: ImportBinding) -> bool:
    """Say whether one ``if`` or ``try`` says where a name is imported from, and nothing else."""
    statement = top_statement(module, binding.statement)
    span = module.span(statement)
    bound = module.scope_of(module.tree).bindings.get(binding.local, ())
    imported = {each.alias for each in imports_by_local(module)[binding.local]}
    return isinstance(statement, cst.If | cst.Try) and all(
        each.node in imported and span.covers(module.span(each.node)) for each in bound
    )


def asks_for_class(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a class stands in ``isinstance`` or ``issubclass``, where a tuple may stand."""
    asks = (class_question(module, node) or "").startswith("`is")
    return asks and not isinstance(module.parent(node), cst.BinaryOperation)


def spelled(speller: Speller, needs: dict[ImportNeed, None], name: str) -> str:
    text, need = speller.spell(name)
    if need is not None:
        needs[need] = None
    return text
