"""Where a file uses helpers of Keras 2, and how it imports them."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.memoize import once
from kdoctor.model import ImportNeed
from kdoctor.rewrite import Speller
from kdoctor.rules.fixes.helper_definition import top_statement
from kdoctor.rules.names._class_checks import class_question
from kdoctor.rules.names._definitions.definitions import Definition, definition
from kdoctor.rules.names._definitions.keras_2_helpers import helper_of
from kdoctor.rules.names._definitions.written_out import Helper
from kdoctor.syntax import ImportBinding, Module, Reference, ReferenceKind


class HelperUse(Struct, frozen=True):
    """A reference to a helper, and the name by which the file has it afterwards.

    ``node`` is what is replaced by that name, None where it is read by it already.
    """

    reference: Reference
    helper: Helper
    name: str
    node: cst.CSTNode | None = None


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
    reads = [each.node for each in reads_of_helpers(module).get(helper.leaf, ())]
    return free_name_at(module, definition(helper.code), reads)


def free_name_at(module: Module, written: Definition, at: Sequence[cst.CSTNode]) -> str:
    """Return how to call a definition that is read at some places."""
    name = written.name
    if _is_written(module, written) or module.is_free(name, at):
        return name
    return f"{'Addons' if name[0].isupper() else 'addons_'}{name}"


def _is_written(module: Module, written: Definition) -> bool:
    """Say whether a file has a definition: by its docstring, as a fix wrote it."""
    bound = module.scope_of(module.tree).bindings.get(written.name, ())
    return any(
        isinstance(each.node, cst.FunctionDef | cst.ClassDef)
        and written.summary in module.source(each.node)
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
