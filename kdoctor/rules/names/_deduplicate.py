"""Which uses of a name are told: the import that fails says it for all that it binds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from kdoctor.syntax import Module, Reference, ReferenceKind


def told_once(found: Iterable[Reference]) -> Iterator[Reference]:
    """Yield the imports among ``found``, and the uses whose import is not among them."""
    known = list(found)
    imported = {id(each.binding) for each in known if each.kind is ReferenceKind.IMPORT}
    for reference in known:
        if reference.kind is not ReferenceKind.LOAD or id(reference.binding) not in imported:
            yield reference


def is_read_of_guarded_import(module: Module, reference: Reference) -> bool:
    """Say whether the name that an import binds is read, whose failure does no harm.

    ``if KTF:`` below ``except ImportError: KTF = None``: reading a name asks no module for it.
    """
    alias = reference.binding.alias
    return (
        reference.kind is ReferenceKind.LOAD
        and reference.name == reference.binding.name
        and alias is not None
        and module.is_guarded(alias)
    )


def is_read_of_guarded_value(module: Module, reference: Reference) -> bool:
    """Say whether a variable is read whose value was asked for where nothing comes of its lack.

    ``if total:`` below ``try: total = K.sum``, ``except AttributeError: total = None``: what is
    tried is guarded only where all that uses the variable minds that it may be None.
    """
    if not isinstance(reference.node, cst.Name):
        return False
    values = [each.value for each in module.bindings_at(reference.node)]
    return any(value is not None and module.is_guarded(value) for value in values)


def of_package(module: Module, package: str, below: str = "") -> Iterator[Reference]:
    """Yield what is imported from a package, each once, else what is read off it.

    With ``below``, only what has that dotted name, or is in it.
    Nothing where the project has a package of that name itself, as the library's own checkout has.
    """
    if module.is_project_module(package):
        return
    yield from told_once(
        reference
        for reference in module.references
        if reference.kind in (ReferenceKind.IMPORT, ReferenceKind.LOAD)
        and f"{reference.name}.".startswith(f"{below or package}.")
        and f"{reference.binding.imported}.".startswith(f"{package}.")
        and not module.is_guarded(reference.node)
    )
