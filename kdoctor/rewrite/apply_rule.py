"""Apply one rewrite rule to one use of a name: edits, or a reason why not."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator

import libcst as cst
from msgspec import Struct

from kdoctor.model import Applicability, Edit, Fix, ImportNeed, Precedence, Span
from kdoctor.rewrite.binding import Argument, CallBinding, bind
from kdoctor.rewrite.build import Builder
from kdoctor.rewrite.dtypes import full_dtype
from kdoctor.rewrite.expression_context import check_fits_f_strings
from kdoctor.rewrite.guard_base import GuardAnswer, UseSite
from kdoctor.rewrite.in_place import edits_in_place
from kdoctor.rewrite.parameters import NewParameters, SignatureLookup, accepts_same_calls
from kdoctor.rewrite.precedence import required_precedence
from kdoctor.rewrite.refusal import Refused
from kdoctor.rewrite.spelling import Speller
from kdoctor.rewrite.template import Rewrite
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.ast_walk import ast_dotted_name

# How far a refused row was from holding; the nearest row's reason is told.
NOT_THIS_CALL = 1000

_STARS: dict[inspect._ParameterKind, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


class Application(Struct, frozen=True):
    """One rule applied to one use. ``fix`` returns the fix or raises ``Refused``.

    ``renews`` says that the import of what is used may be put anew (see ``Speller``).
    """

    module: Module
    reference: Reference
    row: Rewrite
    signatures: SignatureLookup
    renews: bool = False

    def fix(self, applicability: Callable[[Rewrite], Applicability]) -> Fix:
        """Return the fix.

        Raises:
            Refused: the row does not hold here, and why.
        """
        speller = Speller.at(self.module, self.reference, renews=self.renews)
        needs: dict[ImportNeed, None] = {}

        def spell(name: str) -> str:
            text, need = speller.spell(name)
            if need is not None:
                needs[need] = None
            return text

        if self.row.pattern.signature is None:
            edits, new = self._rename(spell)
        elif self.reference.call is None:
            edits, new = self._reference(spell)
        else:
            edits, new = self._call(self.reference.call, spell)
        check_fits_f_strings(self.module, self.reference.node, edits)
        old = self.module.source(self.reference.node)
        title = f"Write `{new}` instead of `{old}`"
        return Fix(
            title, tuple(edits), applicability(self.row), tuple(needs), self._drops(tuple(needs))
        )

    def _drops(self, needs: tuple[ImportNeed, ...]) -> tuple[Span, ...]:
        """Return the import whose place and name another one takes."""
        own = self.reference.binding
        if own.alias is None or not any(need.local == own.local for need in needs):
            return ()
        return (self.module.span(own.alias),)

    def _rename(self, spell: Callable[[str], str]) -> tuple[list[Edit], str]:
        """Change a name wherever it is read, whatever it is used for."""
        code = self.row.replacement.code
        name = ast_dotted_name(code.node)
        if name is None:
            raise Refused(f"`{self.row.right}` is not a name")
        self._check_guard(None)
        new = spell(name)
        return [self._replace_name(new)], new

    def _reference(self, spell: Callable[[str], str]) -> tuple[list[Edit], str]:
        """Change a function that is handed on: ``map(K.square, xs)``."""
        name = self._is_plain_forwarding()
        if name is None:
            raise Refused(
                f"it is not called here, and `{self.row.right}` takes its arguments differently"
            )
        self._check_guard(None)
        new = spell(name)
        return [self._replace_name(new)], new

    def _call(self, call: cst.Call, spell: Callable[[str], str]) -> tuple[list[Edit], str]:
        try:
            binding = bind(call, self.row.pattern)
        except Refused as refused:
            refused.distance = NOT_THIS_CALL
            raise
        self._check_guard(binding)
        builder = Builder(self.module, self.row, call, binding, spell, self.signatures)
        builder.check()
        items, name = builder.items(), builder.new_name()
        if items is not None and name is not None:
            inner = edits_in_place(builder, items)
            if inner is not None:
                new = spell(name)
                # Where the arguments change too, the name alone would tell half of it.
                told = self._spelled_source(name, new) if inner else new
                return [self._replace_name(new), *inner, *self._full_dtypes(binding)], told
        self._check_comments(call, binding.arguments)
        parts, own = builder.expression()
        edit = Edit(
            self.module.span(call),
            parts,
            own,
            required_precedence(self.module.parent(call), call),
        )
        alone = binding.value(self.row.right)
        is_short = isinstance(alone, cst.Name | cst.BaseNumber | cst.UnaryOperation)
        told = self.module.source(alone) if alone is not None and is_short else self.row.right
        return [edit, *self._full_dtypes(binding)], told

    def _full_dtypes(self, binding: CallBinding) -> Iterator[Edit]:
        """Write a dtype by the name that Keras 3 knows it by."""
        for each in binding.passed("dtype"):
            if isinstance(each.value, cst.SimpleString):
                new = full_dtype(each.value)
                if new is not None:
                    yield Edit(self.module.span(each.value), (new,))

    def _spelled_source(self, name: str, new: str) -> str:
        """Return the right side with its names as the file spells them."""
        known, spelled = name.removesuffix(new.rpartition(".")[2]), new.rpartition(".")[0]
        if not known or not spelled:
            return self.row.right.replace(name, new, 1)
        return self.row.right.replace(known, f"{spelled}.")

    def _replace_name(self, new: str) -> Edit:
        node = self.reference.node
        span = self.module.span(node)
        if "#" in self.module.text[span.start : span.end]:
            raise Refused("there is a comment inside the name")
        return Edit(span, (new,), Precedence.PRIMARY)

    def _check_guard(self, binding: CallBinding | None) -> None:
        guard = self.row.when
        if guard is None:
            return
        call = self.reference.call
        node = self.reference.node if call is None else call
        use_site = UseSite(self.module, node, binding)
        if guard.decide(use_site) is not GuardAnswer.YES:
            obstacles = guard.obstacles(use_site)
            raise Refused(" and ".join(obstacles), distance=len(obstacles))

    def _check_comments(self, call: cst.Call, arguments: tuple[Argument, ...]) -> None:
        """A call that is built anew has no room for comments between its arguments."""
        offset = self.module.span(call).start
        gaps: list[Span] = []
        for argument in arguments:
            span = self.module.outer_span(argument.value)
            gaps.append(Span(offset, span.start))
            offset = span.end
        gaps.append(Span(offset, self.module.span(call).end))
        if any("#" in self.module.text[gap.start : gap.end] for gap in gaps):
            raise Refused("the new expression has no place for the comments between the arguments")

    def _is_plain_forwarding(self) -> str | None:
        """Return what the right side calls, if with the very parameters of the left side."""
        old = self.row.pattern.signature
        call = self.row.replacement.code.node
        name = ast_dotted_name(call.func) if isinstance(call, ast.Call) else None
        if old is None or not isinstance(call, ast.Call) or name is None:
            return None
        passed = [ast.unparse(node) for node in call.args]
        passed += [
            ("**" if keyword.arg is None else "") + ast.unparse(keyword.value)
            for keyword in call.keywords
        ]
        wanted = [_STARS.get(each.kind, "") + each.name for each in old.parameters.values()]
        crossed = any(
            keyword.arg is not None and keyword.arg != ast.unparse(keyword.value)
            for keyword in call.keywords
        )
        new = NewParameters.of(name, self.signatures).signature
        return name if passed == wanted and not crossed and accepts_same_calls(old, new) else None
