"""Fixes for helpers of Keras 2: written into the file, or imported from where `keras.src` has them.

What is imported by its name is defined by that name, so all that reads it stays as it is. What is
read off a module is read by its bare name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.dataflow.uses import references_through
from kdoctor.analysis.facts import TargetFacts
from kdoctor.config import IMPORT
from kdoctor.keras_api.private_modules import missing_prefix
from kdoctor.model import Applicability, Edit, Fix, ImportNeed, NoFix, Precedence, Span
from kdoctor.rewrite.binding import bind
from kdoctor.rewrite.refusal import Refused
from kdoctor.rewrite.visibility import has_keep_comment, is_conditional
from kdoctor.rules.fixes.helper_definition import (
    imports_keras_at_once,
)
from kdoctor.rules.names._class_checks import class_question
from kdoctor.rules.names._definitions.additions import Addition, addition, is_defined
from kdoctor.rules.names._definitions.addons_optimizers import renamed_rates, used_otherwise
from kdoctor.rules.names._definitions.definitions import (
    definition,
)
from kdoctor.rules.names._definitions.helper_uses import (
    HelperUse,
    asks_for_class,
    chooses_an_import,
    free_name,
    imports_by_local,
    reads_of_helpers,
)
from kdoctor.rules.names._definitions.keras_2_helpers import helper_of
from kdoctor.rules.names._definitions.proofs import proof_of
from kdoctor.rules.names._definitions.written_out import Helper
from kdoctor.syntax import ImportBinding, Module, Reference, ReferenceKind
from kdoctor.syntax.scopes import ScopeKind

_COPY = "the copy of Keras 2 in TensorFlow is older than the one it was compared with"
_ONLY_PRIVATE = (
    "only a private name has it now: `keras.src.{}`, which `kdoctor fix --keras-2-helpers import` "
    "imports"
)
_PRIVATE = "it is private: seen in Keras {}, and any release may remove it"
_PYTHON = "tensorflow.python."
_TAKEN = "another file may take `{}` from here, which no longer has it"
_AT_ONCE = "Keras is imported with this file then, which so far only its functions did"
_SRC = "keras.src."


class DefinitionFixes:
    """The fixes of one file, for those of its names that one rule reports."""

    def __init__(self, module: Module, facts: TargetFacts, references: Iterable[Reference]) -> None:
        self._module = module
        self._facts = facts
        self._references = references
        self._reasons: dict[ImportBinding, str] = {}
        self._free_names: dict[str, str] = {}

    def attempt(self, reference: Reference) -> Fix | NoFix | None:
        """Return the fix of one reference, None where it is to no helper, or has other fixes."""
        found = self._answers.get(reference)
        if found is None or isinstance(found, NoFix):
            return found
        if self._imports(found.helper):
            return self._imported(found)
        return self._written(found)

    def attempt_or(
        self, reference: Reference, other: Callable[[Reference], Fix | NoFix]
    ) -> Fix | NoFix:
        """Return the fix of one reference, another where an import is chosen, or a reason."""
        own = self.attempt(reference)
        if isinstance(own, Fix) and not is_conditional(self._module, reference.binding.statement):
            return own
        found = other(reference)
        return own if own is not None and isinstance(found, NoFix) else found

    def refuses(self, reference: Reference) -> bool:
        """Say whether the reason for no fix of a reference is one of these helpers'."""
        return reference in self._answers or reference.binding in self._bindings

    @cached_property
    def _bindings(self) -> frozenset[ImportBinding]:
        return frozenset(each.binding for each in self._answers)

    # Which uses there are

    @cached_property
    def _answers(self) -> dict[Reference, HelperUse | NoFix]:
        if not (self._facts.runs_keras_3("keras") or self._facts.runs_keras_3("tf.keras")):
            return {}
        answers: dict[Reference, HelperUse | NoFix] = {}
        for reference in self._references:
            found = helper_of(reference.name)
            if found is None:
                continue
            helper = self._as_it_is_used(found[0])
            if not (helper.code or self._imports(helper)):
                if helper.today:
                    answers[reference] = NoFix(_ONLY_PRIVATE.format(helper.today))
                continue
            if (answer := self._answer(reference, helper, found[1])) is not None:
                answers[reference] = answer
        return answers

    def _answer(
        self, reference: Reference, helper: Helper, beyond: int
    ) -> HelperUse | NoFix | None:
        binding = reference.binding
        if reference.kind not in (ReferenceKind.IMPORT, ReferenceKind.LOAD):
            return None
        if self._imports(helper) and self._is_there(reference):
            return None
        if helper_of(binding.imported) is not None:
            if not (self._module.uses_of(binding) or self._is_handed_on(binding)):
                return None  # it goes
            reason = self._why_not_by_name(binding, helper)
            return NoFix(reason) if reason else HelperUse(reference, helper, binding.local)
        if reference.kind is ReferenceKind.IMPORT:
            return None  # of the module: the fix is that of all its uses
        node = reference.node
        for _ in range(beyond):
            node = node.value if isinstance(node, cst.Attribute) else node
        if not isinstance(node, cst.Attribute):
            return None  # read by a name that is no import's
        reason = self._why_not_here(reference, node, helper)
        if reason:
            return NoFix(reason)
        return HelperUse(reference, helper, self._name_for(helper), node)

    def _as_it_is_used(self, helper: Helper) -> Helper:
        """Return a base class as the tuple of its classes, where all uses only ask for these."""
        if not helper.family or self._imports(helper):
            return helper
        reads = reads_of_helpers(self._module).get(helper.leaf, ())
        asked = [asks_for_class(self._module, each.node) for each in reads]
        return replace(helper, code=helper.family, unlike="") if asked and all(asked) else helper

    def _imports(self, helper: Helper) -> bool:
        """Say whether it is to be imported from `keras.src`, and is there."""
        is_asked = self._facts.keras_2_helpers == IMPORT and bool(helper.today)
        return is_asked and missing_prefix(f"{_SRC}{helper.today}", self._release) is None

    def _is_there(self, reference: Reference) -> bool:
        """Say whether a private name that the file has is there on the target."""
        name = reference.name
        return name.startswith(_SRC) and missing_prefix(name, self._release) is None

    def _is_handed_on(self, binding: ImportBinding) -> bool:
        return binding.exported or self._module.name_may_be_imported_elsewhere(binding.local)

    def _takes_away(self, use: HelperUse) -> bool:
        """Say whether a module goes with its uses that others may take from this file.

        The import breaks anyway, and is reported. Once it is gone nothing tells of what breaks.
        """
        binding = use.reference.binding
        is_read_off = use.node is not None and binding in self._reported_imports
        return is_read_off and self._is_handed_on(binding)

    @property
    def _release(self) -> str:
        target = self._facts.target
        return target.keras_version or target.tf_keras_version or ""

    def _why_not_by_name(self, binding: ImportBinding, helper: Helper) -> str:
        """Return why what one name stands for cannot be defined by it, "" where it can."""
        if binding not in self._reasons:
            self._reasons[binding] = self._reason(binding, helper)
        return self._reasons[binding]

    def _reason(self, binding: ImportBinding, helper: Helper) -> str:
        module, local = self._module, binding.local
        if binding.alias is None or has_keep_comment(module, binding.statement):
            return "a comment keeps the import as it is"
        top = module.scope_of(module.tree)
        if is_conditional(module, binding.statement):
            if binding.scope is not top or not chooses_an_import(module, binding):
                return "the import is one of several"
            return self._why_not_read(binding, helper)
        if binding.scope.kind is ScopeKind.CLASS or len(binding.scope.bindings[local]) > 1:
            return f"`{local}` is bound more than once"
        imports = imports_by_local(module)[local]
        others = {
            found[0].leaf if (found := helper_of(each.imported)) is not None else ""
            for each in imports
        }
        bound = len(top.bindings.get(local, ()))
        imported = sum(each.scope is top for each in imports)
        if others != {helper.leaf} or bound > imported:
            return f"`{local}` is bound more than once"
        return self._why_not_read(binding, helper)

    def _why_not_read(self, binding: ImportBinding, helper: Helper) -> str:
        """Return why one of the uses of an import is not what a helper was written for."""
        uses = references_through(self._module, binding)
        reads = (each for each in uses if each.kind is ReferenceKind.LOAD)
        reasons = (self._why_not_called(each, helper) for each in reads)
        return next((each for each in reasons if each), "")

    def _why_not_here(self, reference: Reference, node: cst.Attribute, helper: Helper) -> str:
        module, name = self._module, self._name_for(helper)
        if has_keep_comment(module, reference.binding.statement):
            return "a comment keeps the import as it is"
        if "#" in module.source(node):
            return "there is a comment inside the name"
        bound = module.scope_of(node).owner(name)
        top = module.scope_of(module.tree)
        is_ours = name in self._names.values() or is_defined(self._module, name)
        if not (module.is_free(name, [node]) or (is_ours and bound in (None, top))):
            return f"`{name}` is something else in this file"
        return self._why_not_called(reference, helper)

    def _why_not_called(self, use: Reference, helper: Helper) -> str:
        """Return why one use of a helper is not what it was written for."""
        if self._imports(helper):
            return ""
        written = definition(helper.code)
        if written.text.startswith("class "):
            if class_question(self._module, use.node) is not None:
                return "Keras' own classes do not derive from a class that is written here"
            return ""
        if use.call is None or not written.text.startswith("def "):
            return ""
        try:
            bind(use.call, written.pattern)
        except Refused as refused:
            return refused.reason
        return ""

    @cached_property
    def _names(self) -> dict[str, str]:
        """The names by which the module imports helpers itself, by their definitions."""
        top = self._module.scope_of(self._module.tree)
        found: dict[str, str] = {}
        for each in self._references:
            binding = each.binding
            helper = helper_of(binding.imported)
            if (
                helper is not None
                and binding.scope is top
                and binding.alias is not None
                and not self._why_not_by_name(binding, helper[0])
            ):
                found.setdefault(helper[0].code, binding.local)
        return found

    def _name_for(self, helper: Helper) -> str:
        known = self._names.get(helper.code)
        if known is None and helper.package and helper.code not in self._free_names:
            self._free_names[helper.code] = free_name(self._module, helper)
        return known or self._free_names.get(helper.code, helper.leaf)

    # Written out

    def _written(self, use: HelperUse) -> Fix | NoFix:
        rating = self._rating_together(use)
        added = self._added.get(rating.applicability)
        if isinstance(added, NoFix):
            return added
        edits, imports = (added.edits, added.imports) if added is not None else ((), ())
        own, drops = self._replaced(use)
        return Fix(
            f"Write what `{use.helper.leaf}` of {use.helper.owner} did into this file",
            (*edits, *own),
            rating.applicability,
            imports,
            drops,
            rating.unsafe_because,
        )

    def _rating(self, use: HelperUse) -> Fix:
        """Return a fix without edits, for how safe it is to write a helper."""
        is_copy = use.reference.name.startswith(_PYTHON)
        because = use.helper.unlike or (_COPY if is_copy else "")
        because = because or used_otherwise(self._module, use.reference, use.helper)
        if not because and not self._may_read_keras(use.helper):
            because = _AT_ONCE
        if not because and self._takes_away(use):
            because = _TAKEN.format(use.reference.binding.local)
        if because:
            return Fix("", (), Applicability.UNSAFE, unsafe_because=because)
        rated = self._facts.applicability(proof_of(use.helper.code))
        because = "" if rated is Applicability.SAFE else "the two were not compared"
        return Fix("", (), rated, unsafe_because=because)

    def _rating_together(self, use: HelperUse) -> Fix:
        """Return how safe it is to write a helper, with all that is read by way of one import."""
        binding = use.reference.binding
        if use.node is None or binding not in self._reported_imports or use.helper.package:
            return self._rating(use)
        return self._worst[binding]

    def _may_read_keras(self, helper: Helper) -> bool:
        """Say whether what a definition reads is imported with the file: its imports may come."""
        return not helper.package or imports_keras_at_once(self._module)

    @cached_property
    def _worst(self) -> dict[ImportBinding, Fix]:
        """The rating of the first helper that is not safe, of all that one import gives."""
        found: dict[ImportBinding, Fix] = {}
        for each in self._answers.values():
            if isinstance(each, HelperUse):
                rating, binding = self._rating(each), each.reference.binding
                known = found.setdefault(binding, rating)
                if known.applicability is Applicability.SAFE:
                    found[binding] = rating
        return found

    @cached_property
    def _reported_imports(self) -> frozenset[ImportBinding]:
        return frozenset(
            each.binding for each in self._references if each.kind is ReferenceKind.IMPORT
        )

    def _replaced(self, use: HelperUse) -> tuple[tuple[Edit, ...], tuple[Span, ...]]:
        renamed = renamed_rates(self._module, use.reference, use.helper)
        if use.node is not None:
            return (Edit(self._module.span(use.node), (use.name,), Precedence.ATOM), *renamed), ()
        alias = use.reference.binding.alias
        assert alias is not None
        return renamed, (self._module.span(alias),)

    @cached_property
    def _added(self) -> dict[Applicability, Addition | NoFix]:
        """What is written into the file, the same for all fixes that are as safe."""
        groups: dict[Applicability, list[HelperUse]] = {}
        for answer in self._answers.values():
            if isinstance(answer, HelperUse) and not self._imports(answer.helper):
                rated = self._rating_together(answer).applicability
                groups.setdefault(rated, []).append(answer)
        # Otherwise its imports come with it: what a function imports is not read from outside.
        return {
            rated: addition(
                self._module,
                uses,
                self._names,
                at_once=all(self._may_read_keras(each.helper) for each in uses),
            )
            for rated, uses in groups.items()
        }

    # Imported

    def _imported(self, use: HelperUse) -> Fix:
        home, _, leaf = f"{_SRC}{use.helper.today}".rpartition(".")
        edits, drops = self._replaced(use)
        return Fix(
            f"Import `{home}.{leaf}`, which Keras {self._release} has",
            edits,
            Applicability.UNSAFE,
            (ImportNeed(home, leaf, use.name),),
            drops,
            _PRIVATE.format(self._release),
        )
