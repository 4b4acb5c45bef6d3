"""Keras is imported from the root that was not asked for: `--namespace`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import word
from kdoctor.keras_api import EntryKind, Lookup, Presence, newest_target, split_root
from kdoctor.keras_api.surface import surface_on
from kdoctor.model import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    ImportNeed,
    NoFix,
    Severity,
    Span,
)
from kdoctor.rewrite.visibility import is_conditional
from kdoctor.rules.rule import rule
from kdoctor.syntax import ImportBinding, Reference, ReferenceKind

_OTHER = {"keras": "tf.keras", "tf.keras": "keras"}
_WRITTEN = {"keras": "keras", "tf.keras": "tensorflow.keras"}
_OBJECTS = EntryKind.CLASS, EntryKind.FUNCTION, EntryKind.VALUE
_NOT_RUN = "no run has shown that both names give the same object"
_READ_ELSEWHERE = "other files may import names from it that only the old root has"


@rule(
    "KD710",
    severity=Severity.LEGACY,
    look_for=files(word("keras")),
    only_with_namespace=True,
)
def check(file: File) -> Iterator[Finding]:
    """Report what comes from the other root than the one that was asked for."""
    if file.facts.namespace not in _OTHER:
        return
    move = _Move(file)
    statements: dict[cst.CSTNode, list[ImportBinding]] = {}
    for binding in file.module.imports:
        if move.is_of_the_other_root(binding):
            statements.setdefault(binding.statement, []).append(binding)
    for bindings in statements.values():
        yield from move.of_statement(bindings)
    for reference in file.module.references:
        if move.is_read_from_tensorflow(reference):
            yield move.of_use(reference)


class _Move:
    """The way from one root to the other in one file."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.module = file.module
        self.facts = file.facts
        self.to = file.facts.namespace
        self.old, self.new = _WRITTEN[_OTHER[self.to]], _WRITTEN[self.to]

    def is_of_the_other_root(self, binding: ImportBinding) -> bool:
        """Say whether a statement of this file imports from the other root itself."""
        if binding.imported.startswith("."):
            return False
        split = split_root(binding.name)
        return split is not None and split[0] == _OTHER[self.to]

    def is_read_from_tensorflow(self, reference: Reference) -> bool:
        """Say whether it is a use of ``tf.keras`` by way of ``import tensorflow as tf``."""
        return (
            self.to == "keras"
            and reference.kind is ReferenceKind.LOAD
            and reference.binding.name == "tensorflow"
            and reference.name.startswith(f"{self.old}.")
        )

    def of_statement(self, bindings: list[ImportBinding]) -> Iterator[Finding]:
        """Yield the findings at one import statement: one where it moves whole."""
        statement = bindings[0].statement
        hindrances = {binding: self._hindrance(binding) for binding in bindings}
        names = statement.names
        is_whole = not isinstance(names, cst.ImportStar) and len(names) == len(bindings)
        edit = self._in_place(bindings) if is_whole and not any(hindrances.values()) else None
        if edit is not None:
            what = f"Import it from `{self.new}`"
            yield self._finding(
                statement, bindings[0].name, self._fix(what, bindings, edits=(edit,))
            )
            return
        for binding, hindrance in hindrances.items():
            place = binding.alias or statement
            if hindrance or binding.alias is None:
                yield self._finding(place, binding.name, NoFix(hindrance))
                continue
            path = self._new_path(binding.name)
            parent, _, leaf = path.rpartition(".")
            need = ImportNeed(parent or leaf, leaf if parent else None, binding.local)
            drop = self.module.span(binding.alias)
            what = f"Import `{binding.local}` from `{self.new}`"
            fix = self._fix(what, [binding], imports=(need,), drops=(drop,))
            yield self._finding(place, binding.name, fix)

    def _in_place(self, bindings: list[ImportBinding]) -> Edit | None:
        """Return the edit that moves a whole statement where it stands, if one does."""
        binding, span = bindings[0], self.module.span
        statement, alias = binding.statement, binding.alias
        if isinstance(statement, cst.ImportFrom):
            assert statement.module is not None
            path = self.module.source(statement.module)
            if split_root(path) is not None:  # from tensorflow.keras.layers import Dense
                return Edit(span(statement.module), (self._new_path(path),))
        if len(bindings) > 1 or alias is None or self._is_there_already(binding):
            return None
        path = self._new_path(binding.name)
        if isinstance(statement, cst.Import) and alias.asname is not None and "." in path:
            return Edit(span(alias.name), (path,))
        if self.to == "keras":
            named = "" if binding.local == "keras" else f" as {binding.local}"
            return Edit(span(statement), (f"import keras{named}",))
        parent, _, leaf = path.rpartition(".")
        named = "" if binding.local == leaf else f" as {binding.local}"
        return Edit(span(statement), (f"from {parent} import {leaf}{named}",))

    def _is_there_already(self, binding: ImportBinding) -> bool:
        path = self._new_path(binding.name)
        return any((each.name, each.local) == (path, binding.local) for each in self.module.imports)

    def _new_path(self, name: str) -> str:
        split = split_root(name)
        assert split is not None
        return f"{self.new}.{split[1]}".rstrip(".")

    def _fix(
        self,
        title: str,
        bindings: list[ImportBinding],
        *,
        edits: tuple[Edit, ...] = (),
        imports: tuple[ImportNeed, ...] = (),
        drops: tuple[Span, ...] = (),
    ) -> Fix:
        is_open = any(self._may_be_read_elsewhere(binding) for binding in bindings)
        # Not `file.fix`: `_NOT_RUN` is told where the record has no run.
        return Fix(
            title,
            edits,
            Applicability.UNSAFE if is_open else check.applicability(),
            imports,
            drops,
            _READ_ELSEWHERE if is_open else _NOT_RUN,
        )

    def _may_be_read_elsewhere(self, binding: ImportBinding) -> bool:
        """Say whether another file may get at a whole module by this import."""
        is_module = self.facts.lookup(binding.name).kind is EntryKind.MODULE
        return is_module and (binding.exported or not self._uses(binding))

    def _uses(self, binding: ImportBinding) -> list[Reference]:
        return [
            each
            for each in self.module.references
            if each.binding is binding and each.kind is not ReferenceKind.IMPORT
        ]

    def of_use(self, reference: Reference) -> Finding:
        """Return the finding at ``tf.keras.layers.Dense``."""
        place: cst.CSTNode = reference.node
        reason = self._difference(reference)
        if not reason and not self._may_write(reference):
            reason = f"`{self.new}` means something else in this file"
        if reason:
            return self._finding(place, reference.name, NoFix(reason))
        node = reference.node
        for _ in range(reference.name.count(".") - self.old.count(".")):
            assert isinstance(node, cst.Attribute)
            node = node.value
        fix = Fix(
            f"Write `{self.new}` for `{self.module.source(node)}`",
            (Edit(self.module.span(node), (self.new,)),),
            check.applicability(),
            (ImportNeed(self.new, None, self.new),),
            unsafe_because=_NOT_RUN,
        )
        return self._finding(place, reference.name, fix)

    def _hindrance(self, binding: ImportBinding) -> str:
        """Return why an import cannot move, "" where it can."""
        alias = binding.alias
        if alias is None:
            return "a star import does not say which names it brings in"
        if self.module.is_guarded(alias) or is_conditional(self.module, binding.statement):
            return "it is one of several ways to import it"
        if isinstance(binding.statement, cst.Import) and alias.asname is None:
            if binding.imported != binding.name:
                return f"`import {binding.imported}` binds more than it says"
            if self.to == "tf.keras" and binding.imported != "keras":
                return f"`import {binding.imported}` also makes `keras` known"
        rival = next((each for each in self.module.imports if _binds_too(each, binding)), None)
        if rival is not None:
            return f"`import {rival.imported}` also binds `{binding.local}`"
        uses = self._uses(binding)
        if any(each.kind is not ReferenceKind.LOAD for each in uses):
            return f"`{binding.local}` is reassigned, deleted, or named in a string"
        if not uses:
            return self._difference_of(binding.name, module_may_end=True)
        return next(filter(None, map(self._difference, uses)), "")

    def _difference(self, reference: Reference) -> str:
        if len(reference.names) > 1:
            return "it is one of several ways to import it"
        return self._difference_of(reference.name, module_may_end=False)

    def _difference_of(self, name: str, *, module_may_end: bool) -> str:
        """Return how what a name means differs under the two roots, "" where it is one object."""
        split = split_root(name)
        if split is None:
            return f"`{name}` is not part of Keras"
        if not (self.facts.runs_keras_3("keras") and self.facts.runs_keras_3("tf.keras")):
            return "the two roots are not both Keras 3 on the target"
        parts = split[1].split(".") if split[1] else []
        for length in range(1, len(parts) + 1):
            rest = ".".join(parts[:length])
            here, there = (self.facts.lookup(f"{root}.{rest}") for root in (self.old, self.new))
            if there.presence is Presence.MISSING:
                return f"`{self.new}.{rest}` does not exist"
            if there.import_only and rest != split[1]:
                return f"`{self.new}.{rest}` is there only after an import of it"
            if Presence.UNKNOWN in (here.presence, there.presence):
                return f"`{rest}` is not public: kdoctor cannot tell whether both are the same"
            if here.kind is not EntryKind.MODULE:
                return (
                    ""
                    if _is_one_object(here, there)
                    else f"`{self.new}.{rest}` is a different object"
                )
        return "" if module_may_end else "the module object itself is passed on"

    def _may_write(self, reference: Reference) -> bool:
        """Say whether the new root's name can be read where the old one is."""
        bound = [each for each in self.module.imports if each.local == self.new]
        if bound:
            return all(
                each.name == self.new
                or (self.is_of_the_other_root(each) and not self._hindrance(each))
                for each in bound
            )
        return self.module.is_free(self.new, [reference.node])

    def _finding(self, place: cst.CSTNode, name: str, fix: Fix | NoFix) -> Finding:
        return self.file.finding(
            f"`{name}` is imported from `{self.old}`, not from `{self.new}`",
            at=place,
            symbol=name,
            confidence=Confidence.CERTAIN,
            fix=fix,
        )


def shared_names(*, imported: bool = False) -> list[str]:
    """Return the names that are one object under both roots on the newest target, by the data.

    ``imported``: only those of modules that must be imported before they can be read.
    """
    target = newest_target()
    here, there = surface_on("keras", target), surface_on("tf.keras", target)
    assert here is not None
    assert there is not None
    found = []
    for name in here.names:
        one, other = here.entry(name), there.entry(name)
        if one is None or other is None or one.kind not in _OBJECTS:
            continue
        module = name.rpartition(".")[0]
        hidden = any(
            (entry := each.entry(module)) is not None and entry.import_only
            for each in (here, there)
        )
        if here.home(one) == there.home(other) and (hidden or not imported):
            found.append(name)
    return found


def _binds_too(other: ImportBinding, binding: ImportBinding) -> bool:
    """Say whether ``import keras.layers`` stands beside ``import keras``."""
    return other.local == binding.local and other.imported.startswith(f"{binding.name}.")


def _is_one_object(here: Lookup, there: Lookup) -> bool:
    return bool(here.home) and here.home == there.home and here.kind is there.kind
