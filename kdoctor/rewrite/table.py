"""The rewrite table: rules by old name; the first whose guard holds is applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import libcst as cst
from msgspec.structs import replace

from kdoctor.model import Applicability, Fix, ImportNeed, NoFix, Span
from kdoctor.rewrite.apply_rule import Application
from kdoctor.rewrite.parameters import SignatureLookup
from kdoctor.rewrite.refusal import ONLY_IN_DEAD_CODE, Refused
from kdoctor.rewrite.roots import key_of
from kdoctor.rewrite.spelling import Speller, need_replacing
from kdoctor.rewrite.template import Rewrite
from kdoctor.rewrite.variables import assigned_to_variable
from kdoctor.rewrite.visibility import has_keep_comment
from kdoctor.syntax import ImportBinding, Module, Reference, ReferenceKind

_WORST_FIRST = (Applicability.MANUAL, Applicability.UNSAFE, Applicability.SAFE)
Rating = Callable[[Rewrite], Applicability]


class RewriteTable:
    """Rewrites by old name, under any Keras root.

    ``signatures`` says what is known of the new callables; a default is left out only where it is
    known to be the same. ``renews`` says of which imports every use is rewritten together, so that
    one of the same thing may take their place. ``unproven`` says where a row that is not safe was
    not proven, "" where something else is the reason.
    """

    def __init__(
        self,
        rows: Iterable[Rewrite],
        signatures: SignatureLookup,
        renews: Callable[[ImportBinding], bool] = lambda _: False,
        unproven: Callable[[Rewrite], str] = lambda _: "",
    ) -> None:
        self._rows: dict[str, list[Rewrite]] = {}
        self._signatures = signatures
        self._renews = renews
        self._unproven = unproven
        for row in rows:
            self._rows.setdefault(key_of(row.left.partition("(")[0]), []).append(row)

    def rows_for(self, name: str) -> Sequence[Rewrite]:
        """Return the rows for a dotted name as it was imported, or for the longest start of it."""
        key = key_of(name)
        while key not in self._rows and "." in key:
            key = key.rpartition(".")[0]
        return self._rows.get(key, ())

    def attempt(
        self,
        module: Module,
        reference: Reference,
        applicability: Rating,
        each_use: Callable[[Reference], Fix | NoFix] | None = None,
    ) -> Fix | NoFix:
        """Return the fix for one use of an old name, or why there is none.

        For an import (``from keras.backend import square``) the fix is that of all its uses, each
        of which ``each_use`` may give, where the table alone does not know all.
        """
        try:
            match reference.kind:
                case ReferenceKind.LOAD:
                    return self._at_use(module, reference, applicability)
                case ReferenceKind.IMPORT:
                    return self._at_import(module, reference, applicability, each_use)
                case ReferenceKind.ANNOTATION_STRING:
                    return NoFix("the name is in a string")
                case _:
                    return NoFix("the name is assigned to, not read")
        except Refused as refused:
            return NoFix(refused.reason)

    def _at_use(self, module: Module, reference: Reference, applicability: Rating) -> Fix:
        rows = self.rows_for(reference.name)
        if not rows:
            raise Refused(f"no rewrite of `{reference.name}` is known")
        made_of = assigned_to_variable(module, reference)
        if made_of and all(self._fits_variable(reference.name, each.name) for each in made_of):
            # What the variable is made of is written anew, and its uses stay as they are.
            try:
                return _together([self._at_use(module, each, applicability) for each in made_of])
            except Refused:
                pass  # `f = K.expand_dims`, which has other defaults: each call is rewritten
        nearest: Refused | None = None
        for row in rows:
            try:
                if row.pattern.signature is None and _is_imported_from(row, reference):
                    return _changed_import(module, reference, row, applicability)
                use = _narrowed(reference, row)
                renews = self._renews(use.binding)
                fix = Application(module, use, row, self._signatures, renews).fix(applicability)
                why = "" if fix.applicability is Applicability.SAFE else self._unproven(row)
                return replace(fix, unsafe_because=why) if why else fix
            except Refused as refused:
                if nearest is None or refused.distance < nearest.distance:
                    nearest = refused.with_traceback(None)  # it holds this frame, and the tree
        assert nearest is not None
        raise Refused(nearest.reason, nearest.distance)

    def _fits_variable(self, name: str, variable: str) -> bool:
        """Say whether a name comes out right where what a variable is made of is renamed."""
        rows, above = self.rows_for(name), self.rows_for(variable)
        rest = key_of(name).removeprefix(key_of(variable))
        return rows is above or bool(above and rows[0].right == f"{above[0].right}{rest}")

    def _at_import(
        self,
        module: Module,
        reference: Reference,
        applicability: Rating,
        each_use: Callable[[Reference], Fix | NoFix] | None,
    ) -> Fix:
        rows = self.rows_for(reference.name)
        if rows and rows[0].pattern.signature is None and _is_imported_from(rows[0], reference):
            return _changed_import(module, reference, rows[0], applicability)
        everywhere = [use for use in module.references if _reads(use, reference)]
        uses = [use for use in everywhere if not module.is_dead(use.node)]
        binding = reference.binding
        if not uses:
            _check_that_it_may_go(module, reference, is_read_in_dead_code=bool(everywhere))
        fixes, refused = _going_together(
            each_use(use) if each_use else self.attempt(module, use, applicability) for use in uses
        )
        if refused and not fixes:
            raise Refused(refused[0].reason)
        # `import keras.gone` binds `keras`, so the import block cannot tell that it is unused.
        all_go = not refused and len(uses) == len(everywhere)
        goes = all_go and (not uses or binding.name != reference.name)
        drops = (module.span(reference.node),) if goes else ()
        if not fixes:
            return Fix(
                "Delete the import: nothing uses it",
                (),
                Applicability.UNSAFE,
                drops=drops,
                unsafe_because="other files may import it from here",
            )
        return _together(fixes, drops)


def _check_that_it_may_go(
    module: Module, reference: Reference, *, is_read_in_dead_code: bool
) -> None:
    """Hold back an import that nothing which runs uses.

    Raises:
        Refused: somebody may need it all the same.
    """
    binding = reference.binding
    if binding.exported or has_keep_comment(module, binding.statement):
        raise Refused("other files may import it from here")
    if is_read_in_dead_code:
        raise Refused(ONLY_IN_DEAD_CODE.reason)
    if module.uses_of(binding) and reference.name == binding.name:
        # `import keras.gone` binds `keras`, which may go on being read: `import keras` is left.
        raise Refused("other imports may also bind the name that is used")


def _going_together(attempts: Iterable[Fix | NoFix]) -> tuple[list[Fix], list[NoFix]]:
    """Tell the fixes that bind each name to one thing only from what is refused."""
    fixes: list[Fix] = []
    refused: list[NoFix] = []
    bound: dict[str, ImportNeed] = {}
    for attempt in attempts:
        if isinstance(attempt, NoFix):
            refused.append(attempt)
        elif all(bound.setdefault(need.local, need) == need for need in attempt.imports):
            fixes.append(attempt)
        else:  # in the next pass it finds that name taken, and asks for another
            refused.append(NoFix("another use needs the same name for something else"))
    return fixes, refused


def _is_imported_from(row: Rewrite, reference: Reference) -> bool:
    """Say whether the import statement itself names what the row replaces."""
    return f"{key_of(reference.binding.name)}.".startswith(f"{key_of(row.left)}.")


def _narrowed(reference: Reference, row: Rewrite) -> Reference:
    """Return the part of ``K.square.__name__`` that the row is about."""
    name = key_of(row.left.partition("(")[0])
    beyond = key_of(reference.name).removeprefix(name).count(".")
    if not beyond:
        return reference
    node = reference.node
    for _ in range(beyond):
        if not isinstance(node, cst.Attribute):
            raise Refused(f"the file imports more than `{name}`")
        node = node.value
    whole = reference.name.rsplit(".", beyond)[0]
    return replace(reference, node=node, name=whole, names=(whole,), call=None)


def _reads(use: Reference, imported: Reference) -> bool:
    """Say whether a use reads what an import line names."""
    same = use.name == imported.name or use.name.startswith(f"{imported.name}.")
    return same and use.binding is imported.binding and use.kind is not ReferenceKind.IMPORT


def _changed_import(
    module: Module, reference: Reference, row: Rewrite, applicability: Rating
) -> Fix:
    """Import the new name under the old local name: the uses stay as they are."""
    binding = reference.binding
    if row.when is not None or binding.alias is None:
        raise Refused(f"the import itself would have to change, and `{row.id}` depends on its use")
    rest = key_of(binding.name).removeprefix(key_of(row.left))
    new = Speller.at(module, reference).under_the_files_root(f"{row.right}{rest}")
    need = need_replacing(binding, new)
    drops = (module.span(binding.alias),)
    return Fix(
        f"Import `{new}` instead of `{binding.name}`", (), applicability(row), (need,), drops
    )


def _together(fixes: Sequence[Fix], drops: tuple[Span, ...] = ()) -> Fix:
    """Return one fix that makes the edits of all; it is as safe as the least safe of them."""
    edits = dict.fromkeys(edit for fix in fixes for edit in fix.edits)
    needs = dict.fromkeys(need for fix in fixes for need in fix.imports)
    drops = tuple(dict.fromkeys([*drops, *(span for fix in fixes for span in fix.drops)]))
    worst = min((fix.applicability for fix in fixes), key=_WORST_FIRST.index)
    reasons = dict.fromkeys(
        fix.unsafe_because
        for fix in fixes
        if fix.applicability is not Applicability.SAFE and fix.unsafe_because
    )
    return Fix(
        fixes[0].title, tuple(edits), worst, tuple(needs), drops, unsafe_because="; ".join(reasons)
    )
