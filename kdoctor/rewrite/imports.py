"""Add the imports that fixes need, and remove those they leave unused.

An import goes only where the fixes took away its last use; one that was never used, is exported or
taken from here by another file, stands in a guard, may be read by ``eval`` or a doctest, or says
``# noqa`` or ``# kdoctor: ignore`` stays as it is.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

import libcst as cst

from kdoctor.memoize import once
from kdoctor.model import Edit, Fix, ImportNeed, Span
from kdoctor.project.import_sorting import DEFAULT, Sorting
from kdoctor.rewrite.import_choices import (
    KeepReason,
    emptied_choices,
    is_for_another_release,
    is_in_try,
    may_read_branch_import,
    reason_to_keep,
    whole,
)
from kdoctor.rewrite.import_habits import ImportStatement
from kdoctor.rewrite.import_lines import LINE_LIMIT, ImportChange, statement_edits
from kdoctor.rewrite.import_places import ImportPlaces, lie_outside
from kdoctor.rewrite.new_code import names_in_edit, replaced_spans
from kdoctor.rewrite.package_names import are_kin, binds_in_place_of, is_import_of_others
from kdoctor.rewrite.roots import import_root, need_under_same_root, package_of
from kdoctor.rewrite.string_references import may_be_read_by_text
from kdoctor.rewrite.tried_imports import failing_above, import_above
from kdoctor.rewrite.visibility import has_keep_comment, is_conditional, star_below
from kdoctor.syntax import ImportBinding, Module, ReferenceKind

_SCOPES = (cst.FunctionDef, cst.ClassDef)


Keeps = Callable[[ImportBinding], bool]


def keep_nothing(_: ImportBinding) -> bool:
    """Keep no unused import."""
    return False


def plan_imports(
    module: Module,
    fixes: Sequence[Fix],
    keeps: Keeps = keep_nothing,
    limit: int = LINE_LIMIT,
    sorting: Sorting = DEFAULT,
) -> tuple[Edit, ...]:
    """Return the edits of the import statements that go with ``fixes``, in source order.

    ``keeps`` says what else an import is needed for that nothing in the file uses any longer,
    ``limit`` how long a line may be, ``sorting`` how the project has its imports.

    Raises:
        ValueError: two fixes bind one name to different things; they cannot go together.
    """
    bound: dict[str, ImportNeed] = {}
    for need in chain.from_iterable(fix.imports for fix in fixes):
        if bound.setdefault(need.local, need) != need:
            raise ValueError(f"{need} and {bound[need.local]} bind the same name")
    return tuple(
        sorted(_Plan(module, fixes, keeps, limit, sorting).edits(), key=lambda edit: edit.span)
    )


class _Plan:
    def __init__(
        self,
        module: Module,
        fixes: Sequence[Fix],
        keeps: Keeps,
        limit: int,
        sorting: Sorting,
    ) -> None:
        self.limit = limit
        self.sorting = sorting
        self.module = module
        self.fixes = fixes
        self.keeps = keeps
        self.fixed = [edit for fix in fixes for edit in fix.edits]
        self.new_names = set(chain.from_iterable(map(names_in_edit, self.fixed)))
        self.dropped = {span for fix in fixes for span in fix.drops}
        self.changes: dict[ImportStatement, ImportChange] = {}
        self.places = ImportPlaces(module, self.changes, limit, sorting)
        self.replaced = sorted(chain.from_iterable(map(replaced_spans, self.fixed)))
        self.gone_choices: list[Span] = []
        self.chosen: frozenset[int] = frozenset()
        self.above: dict[ImportStatement, dict[ImportNeed, None]] = {}

    def edits(self) -> Iterator[Edit]:
        for binding in self._touched():
            self._remove(binding)
        chosen = [each for each in _choices(self.module) if self._is_left_unused(each)]
        self.chosen = frozenset(map(id, chosen))
        self._take_out(emptied_choices(self.module, chosen, decided=True))
        for need in dict.fromkeys(chain.from_iterable(fix.imports for fix in self.fixes)):
            self._add_need(need)
        left = [each for each in chosen if each.statement not in self.changes]
        self._take_out(emptied_choices(self.module, left, decided=False))
        self._prune_branches(chosen)
        for statement, needs in self.above.items():
            yield import_above(self.module, statement, list(needs), self.sorting)
        yield from self.places.settle()
        yield from statement_edits(
            self.module, self.changes, self.gone_choices, self.limit, self.sorting
        )

    # What goes

    def _touched(self) -> Iterator[ImportBinding]:
        """Yield the imports of which an alias or a use is replaced, in source order."""
        places = _places(self.module)
        touched: set[int] = set()
        for span in chain(self.replaced, self.dropped):
            first = bisect.bisect_left(places, (span.start, 0))
            last = bisect.bisect_left(places, (span.end, 0), first)
            touched.update(number for _, number in places[first:last])
        return (self.module.imports[number] for number in sorted(touched))

    def _remove(self, binding: ImportBinding) -> None:
        alias = binding.alias
        if alias is None:
            return
        forced = self.module.span(alias) in self.dropped
        if not forced and not (
            reason_to_keep(self.module, binding) is KeepReason.NONE
            and self._is_left_unused(binding)
        ):
            return
        change = self.changes.setdefault(binding.statement, ImportChange())
        if forced and alias.asname is None and self._is_package_still_read(binding):
            change.renamed[alias] = binding.local  # `import keras.gone` also bound `keras`
        else:
            change.gone.append(alias)

    def _is_left_unused(self, binding: ImportBinding) -> bool:
        uses = self.module.uses_of(binding)
        return (
            bool(uses)
            and all(
                self._vanishes(self.module.span(use))
                for use in uses
                if may_read_branch_import(self.module, binding, use)
            )
            and binding.local not in self.new_names
            and not binding.exported
            and not has_keep_comment(self.module, binding.statement)
            and not self._is_bound_otherwise(binding)
            and (self._fails(binding) or not may_be_read_by_text(self.module, binding.local))
            and not (self._scope(binding) is None and self.keeps(binding))
        )

    def _take_out(self, choices: Iterable[cst.If]) -> None:
        """Take out each `if` that chose between imports alone, and what only its test read."""
        gone = [whole(self.module, each) for each in choices]
        if not gone:
            return
        self.gone_choices += gone
        self.replaced = sorted([*self.replaced, *gone])
        for binding in self.module.imports:
            if not self._is_in_removed_choice(binding) and not self._is_removed(binding):
                self._remove(binding)

    def _is_in_removed_choice(self, binding: ImportBinding) -> bool:
        span = self.module.span(binding.statement)
        return any(each.covers(span) for each in self.gone_choices)

    def _is_removed(self, binding: ImportBinding) -> bool:
        return any(binding.alias is alias for alias in self._removed_aliases())

    def _prune_branches(self, chosen: Iterable[ImportBinding]) -> None:
        """Take out of each branch what nothing uses any longer.

        What may fail, in a `try`, only makes room for what is to be imported in its place.
        """
        for binding in chosen:
            if binding.alias is None or self._is_in_removed_choice(binding):
                continue
            change = self.changes.setdefault(binding.statement, ImportChange())
            if change.added or not is_in_try(self.module, binding.statement):
                change.gone.append(binding.alias)

    def _vanishes(self, span: Span) -> bool:
        """Say whether a piece of source is replaced, and not kept in a hole."""
        after = bisect.bisect_right(self.replaced, span.start, key=lambda each: each.start)
        return after > 0 and self.replaced[after - 1].covers(span)

    def _is_package_still_read(self, binding: ImportBinding) -> bool:
        named = binding.alias and binding.alias.name
        if not isinstance(named, cst.Attribute) or isinstance(binding.statement, cst.ImportFrom):
            return False
        uses = self.module.uses_of(binding)
        left = [use for use in uses if not self._vanishes(self.module.span(use))]
        new = [edit for edit in self.fixed if binding.local in names_in_edit(edit)]
        staying = (each for each in _by_local(self.module)[binding.local] if self._stays(each))
        return bool(left or new) and not any(
            binds_in_place_of(self.module, other, binding, left, new) for other in staying
        )

    def _goes(self, binding: ImportBinding) -> bool:
        return id(binding) in self.chosen or self._is_removed(binding)

    def _stays(self, binding: ImportBinding) -> bool:
        """Say whether an import goes on to bind its name, as it is or cut down to its package."""
        change = self.changes.get(binding.statement, ImportChange())
        return binding.alias in change.renamed or not (
            binding.alias in change.gone or self._is_dropped(binding)
        )

    def _fails(self, binding: ImportBinding) -> bool:
        """Say whether an import finds nothing on the target: no text reads what it is to bind."""
        return self.module.oracle.exists(binding.imported) is False

    def _is_bound_otherwise(self, binding: ImportBinding) -> bool:
        return id(binding) in _bound_otherwise(self.module)

    # What comes

    def _add_need(self, need: ImportNeed) -> None:
        if self._is_there(need):
            return
        sources = [self._replaced_bindings(fix, need) for fix in self.fixes if need in fix.imports]
        old = [
            each
            for each in dict.fromkeys(chain.from_iterable(sources))
            if not self._is_in_removed_choice(each)
        ]
        always = [each for each in old if self._is_always_bound(each)]
        if always:
            self._add_to_module(need, min(always, key=self._position))
            return
        top = self._top_import_of(package_of(need.module))
        everywhere = all(sources) and bool(old)
        homes = (self._scope(each) for each in old)
        inside = [None if each is None else self.module.span(each) for each in homes]
        strays = lie_outside([span for span, _ in self._places_of(need)], inside)
        # A helper that several branches need is written for one of their roots.
        is_shared = any(import_root(each.name) == import_root(need.module) for each in old)
        for binding in old:
            scope = self._scope(binding)
            renewed = need.local == binding.local and self._is_dropped(binding)
            above = top is not None and self._position(top) < self._position(binding)
            if isinstance(scope, cst.FunctionDef) and (
                (above and not renewed) or self._is_read_outside(binding, scope) or strays
            ):
                everywhere = False
            elif isinstance(scope, cst.ClassDef):
                everywhere = False  # a name of a class is not seen in its methods
            elif top and self._is_read_above(need, binding):
                everywhere = False
            elif scope is None and not renewed and not are_kin(need, binding):
                everywhere = False  # no branch chooses between packages that all of them need
            elif failing := failing_above(self.module, binding, self._goes):
                self.above.setdefault(failing, {})[need] = None
            else:
                for each in self._alternatives(binding, need):
                    # The other branch of an `if` may import from another root.
                    is_own = each is binding and not is_shared
                    here = need if is_own else need_under_same_root(need, each.name)
                    self._add(each.statement, here)
        if not everywhere:
            self._add_to_module(need, top)

    def _is_there(self, need: ImportNeed) -> bool:
        name = need.module if need.name is None else f"{need.module}.{need.name}"
        return any(
            (binding.name, binding.local) == (name, need.local)
            and self._is_always_bound(binding)
            and binding.alias not in self._removed_aliases()
            for binding in _by_local(self.module).get(need.local, ())
            if star_below(self.module, binding.statement) is None
        )

    def _removed_aliases(self) -> list[cst.ImportAlias]:
        return [alias for change in self.changes.values() for alias in change.gone]

    def _replaced_bindings(self, fix: Fix, need: ImportNeed) -> list[ImportBinding]:
        """Return the imports through which what the fix replaces was read."""
        found: list[ImportBinding] = []
        references = self.module.placed_references
        for span in (*fix.drops, *(edit.span for edit in fix.edits)):
            place = bisect.bisect_left(references, span.start, key=lambda pair: pair[0].start)
            while place < len(references) and references[place][0].start <= span.end:
                inner, reference = references[place]
                if span.covers(inner):
                    found.append(reference.binding)
                place += 1
        kin = [each for each in found if are_kin(need, each)]
        return kin or found

    def _is_always_bound(self, binding: ImportBinding) -> bool:
        return self._scope(binding) is None and not is_conditional(self.module, binding.statement)

    def _scope(self, binding: ImportBinding) -> cst.FunctionDef | cst.ClassDef | None:
        """Return the function or class that an import stands in."""
        around = self.module.ancestors(binding.statement)
        return next((each for each in around if isinstance(each, _SCOPES)), None)

    def _position(self, binding: ImportBinding) -> Span:
        return self.module.span(binding.statement)

    def _alternatives(self, binding: ImportBinding, need: ImportNeed) -> Iterator[ImportBinding]:
        """Yield the imports that bind the same name in the same scope: the branches of a `try`.

        Where ``need`` only takes the place of one of them, the others stay as they are. A branch
        that the target never gets to is for another release, which may not have what is needed.
        """
        if need.local == binding.local and self._is_dropped(binding):
            yield binding
            return
        scope = self._scope(binding)
        for other in _by_local(self.module)[binding.local]:
            if self._scope(other) is not scope:
                continue
            if other is binding or not is_for_another_release(self.module, other.statement):
                yield other

    def _is_read_above(self, need: ImportNeed, binding: ImportBinding) -> bool:
        """Say whether new code reads a name above an import: a class that a fix writes."""
        start = self._position(binding).start
        return self._scope(binding) is None and any(
            span.start < start for span, _ in self._places_of(need)
        )

    def _is_dropped(self, binding: ImportBinding) -> bool:
        return binding.alias is not None and self.module.span(binding.alias) in self.dropped

    def _is_read_outside(self, binding: ImportBinding, scope: cst.FunctionDef) -> bool:
        """Say whether a function imports a name for others (``global K``)."""
        inside = self.module.span(scope)
        uses = self.module.uses_of(binding)
        return not all(inside.covers(self.module.span(use)) for use in uses)

    def _top_import_of(self, package: str) -> ImportBinding | None:
        """Return the first import of a package that is made whenever the file is imported."""
        for binding in _by_package(self.module).get(package, ()):
            if self._is_always_bound(binding):
                return binding
        return None

    def _add(self, statement: ImportStatement, need: ImportNeed) -> None:
        block = self._block(statement)
        if any(need in e.added and self._block(s) is block for s, e in self.changes.items()):
            return
        self.changes.setdefault(statement, ImportChange()).added.append(need)

    def _block(self, statement: ImportStatement) -> cst.CSTNode | None:
        line = self.module.parent(statement)
        return None if line is None else self.module.parent(line)

    def _add_to_module(self, need: ImportNeed, beside: ImportBinding | None) -> None:
        uses = list(self._places_of(need))
        if beside is not None and need.local == beside.local and self._is_dropped(beside):
            if self._may_be_bound_again(beside):
                self._add(beside.statement, need)
                return
            # The name is moved: all that reads it reads the new import.
            uses += ((self.module.span(use), use) for use in self.module.uses_of(beside))
            uses += self._possible_readers(beside)
        self.places.add(need, None if beside is None else beside.statement, uses)

    def _possible_readers(self, binding: ImportBinding) -> Iterator[tuple[Span, cst.CSTNode]]:
        """Yield the first statement below an import that may run what takes its name from here.

        ``from . import part``, where ``part`` imports the name from the package.
        """
        start = self._position(binding).start
        for line in self.module.tree.body:
            if self.module.span(line).start <= start:
                continue
            small = line.body if isinstance(line, cst.SimpleStatementLine) else (line,)
            if not all(is_import_of_others(self.module, each) for each in small):
                yield self.module.span(line), line
                return

    def _may_be_bound_again(self, binding: ImportBinding) -> bool:
        """Say whether another statement may bind the name of an import: their order matters."""
        return (
            len(self.module.scope_of(self.module.tree).bindings[binding.local]) > 1
            or self.module.may_be_rebound_by_star(binding)
            or bool(self.module.unreadable_stars)
        )

    def _places_of(self, need: ImportNeed) -> Iterator[tuple[Span, cst.CSTNode]]:
        """Yield what is replaced by something that needs an import."""
        references = self.module.placed_references
        for fix in self.fixes:
            if need not in fix.imports:
                continue
            for edit in fix.edits:
                first = bisect.bisect_left(
                    references, edit.span.start, key=lambda pair: pair[0].start
                )
                inside = references[first : first + 1]
                node = inside[0][1].node if inside else self.module.tree
                yield edit.span, node


@once
def _places(module: Module) -> list[tuple[int, int]]:
    """Return where each import and each use of it starts, with its place among the imports."""
    found: list[tuple[int, int]] = []
    for number, binding in enumerate(module.imports):
        nodes = module.uses_of(binding)
        found += ((module.span(each).start, number) for each in nodes)
        if binding.alias is not None:
            found.append((module.span(binding.alias).start, number))
    return sorted(found)


@once
def _choices(module: Module) -> list[ImportBinding]:
    """Return the imports that an `if` chooses between."""
    return [
        each
        for each in module.imports
        if each.alias is not None and reason_to_keep(module, each) is KeepReason.CHOICE
    ]


@once
def _by_local(module: Module) -> dict[str, list[ImportBinding]]:
    found: dict[str, list[ImportBinding]] = {}
    for binding in module.imports:
        found.setdefault(binding.local, []).append(binding)
    return found


@once
def _by_package(module: Module) -> dict[str, list[ImportBinding]]:
    """Return the imports of each package, by place."""
    found: dict[str, list[ImportBinding]] = {}
    for binding in sorted(module.imports, key=lambda each: module.span(each.statement)):
        found.setdefault(package_of(binding.name), []).append(binding)
    return found


@once
def _bound_otherwise(module: Module) -> frozenset[int]:
    """Return the imports, by identity, whose names are assigned to or deleted."""
    stores = (ReferenceKind.STORE, ReferenceKind.DELETE)
    return frozenset(id(each.binding) for each in module.references if each.kind in stores)
