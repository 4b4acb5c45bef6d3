"""Rewrites of members: ``model.fit_generator(…)``, ``layer.output_shape``.

They are stated like those of names, with the instance as the first parameter, ``self``::

    method("keras.Model.reset_metrics(self)", "self.reset_metrics()")
    attribute("keras.optimizers.Optimizer.lr", "self.learning_rate")
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

import libcst as cst
from msgspec import Struct
from msgspec.structs import replace

from kdoctor.model import Applicability, Edit, Fix, ImportNeed, NoFix, Precedence
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rewrite.binding import Argument, CallBinding, bind
from kdoctor.rewrite.build import Builder
from kdoctor.rewrite.call_items import plan_items
from kdoctor.rewrite.expression_context import check_fits_f_strings
from kdoctor.rewrite.guard_base import Guard, GuardAnswer, UseSite
from kdoctor.rewrite.in_place import edits_in_place
from kdoctor.rewrite.parameters import NewParameters, SignatureLookup
from kdoctor.rewrite.precedence import required_precedence
from kdoctor.rewrite.refusal import Refused
from kdoctor.rewrite.roots import import_root
from kdoctor.rewrite.spelling import Speller
from kdoctor.rewrite.template import Rewrite, rewrite
from kdoctor.syntax import ImportBinding, MemberUse, Module
from kdoctor.syntax.ast_walk import ast_dotted_name
from kdoctor.target import FRAMEWORKS
from kdoctor.value_types import Kind, Type

SELF = "self"


class MemberRewrite(Struct, frozen=True):
    """One rewrite of a member: ``row`` with ``self`` first; ``called``: a method.

    ``unsafe_because`` says what may differ, "" where a proof makes the fix safe. ``drops`` are
    parameters that have no counterpart: a call that passes them loses them, the fix says so in its
    title and is unsafe for the reason that stands beside the name.
    """

    row: Rewrite
    called: bool
    unsafe_because: str = ""
    drops: Mapping[str, str] | None = None

    @property
    def owner(self) -> str:
        """The class, dotted: ``keras.Model``."""
        return self._name.rpartition(".")[0]

    @property
    def member(self) -> str:
        """The member that the row is about."""
        return self._name.rpartition(".")[2]

    @property
    def _name(self) -> str:
        return self.row.left.partition("(")[0]  # the other rows of a table need not be parsed


def method(
    left: str,
    right: str,
    *,
    when: Guard | None = None,
    unsafe_because: str = "",
    drops: Mapping[str, str] | None = None,
) -> MemberRewrite:
    """State that the call of a method may be written as ``right``."""
    return MemberRewrite(rewrite(left, right, when), True, unsafe_because, drops)


def attribute(left: str, right: str, *, unsafe_because: str = "") -> MemberRewrite:
    """State that an attribute may be read as ``right``."""
    return MemberRewrite(rewrite(f"{left}({SELF})", right), False, unsafe_because)


Rating = Callable[[MemberRewrite], Applicability]


class MemberTable:
    """Rules by owner kind and member; the first whose guard holds is applied."""

    def __init__(
        self,
        rows: Iterable[MemberRewrite],
        kinds: Mapping[str, Sequence[Kind]],
        signatures: SignatureLookup,
    ) -> None:
        """Take the rows; ``kinds`` says for each owner class what kinds of object it stands for."""
        self._signatures = signatures
        self._rows: dict[tuple[Kind, str], list[MemberRewrite]] = {}
        for each in rows:
            for kind in kinds[each.owner]:
                self._rows.setdefault((kind, each.member), []).append(each)

    def rows_for(self, owner: Type, member: str) -> Sequence[MemberRewrite]:
        """Return the rows for a member of such an object."""
        return self._rows.get((owner.kind, member), ())

    def attempt(self, module: Module, use: MemberUse, rating: Rating) -> Fix | NoFix:
        """Return the fix for one use of a member, or why there is none."""
        nearest: Refused | None = None
        for each in self.rows_for(use.owner, use.member):
            try:
                return _Attempt(module, use, each, self._signatures).fix(rating)
            except Refused as refused:
                if nearest is None or refused.distance < nearest.distance:
                    nearest = refused.with_traceback(None)  # it holds this frame, and the tree
        return NoFix(nearest.reason if nearest else f"no rewrite of `{use.member}` is known")


class _Attempt(Struct, frozen=True):
    module: Module
    use: MemberUse
    member: MemberRewrite
    signatures: SignatureLookup

    def fix(self, rating: Rating) -> Fix:
        needs: dict[ImportNeed, None] = {}
        speller = Speller(self.module, self.use.node, *_habit(self.module))

        def spell(name: str) -> str:
            text, need = speller.spell(name)
            if need is not None:
                needs[need] = None
            return text

        if self.member.called:
            edits, dropped = self._call(spell)
        else:
            edits, dropped = self._attribute(spell), []
        check_fits_f_strings(self.module, self.use.node, edits)
        rated = rating(self.member)
        because = [self.member.unsafe_because] if self.member.unsafe_because else []
        because += dict.fromkeys((self.member.drops or {})[each.parameter] for each in dropped)
        return Fix(
            self._title(dropped),
            tuple(edits),
            Applicability.UNSAFE if because else rated,
            tuple(needs),
            unsafe_because="; ".join(because),
        )

    def _title(self, dropped: Sequence[Argument]) -> str:
        new = self.member.row.right
        chain = ast_dotted_name(self.member.row.replacement.code.node)
        if chain is not None and chain.startswith(f"{SELF}."):
            new = chain.removeprefix(SELF)  # `self` is no word of the user's
        elif self.member.called and (name := self._new_method()) is not None:
            new = f".{name}(…)"
        old = f".{self.member.member}{'(…)' if self.member.called else ''}"
        title = f"Write `{new}` instead of `{old}`"
        if new == old:
            title = f"Write the arguments of `{old}` as they are called today"
        if dropped:
            lost = ", ".join(f"`{self._written(each)}`" for each in dropped)
            title += f", without {lost}"
        return title

    def _written(self, argument: Argument) -> str:
        return f"{argument.parameter}={self.module.source(argument.value)}"

    def _attribute(self, spell: Callable[[str], str]) -> list[Edit]:
        use, code = self.use, self.member.row.replacement.code
        binding = CallBinding(self.member.row.pattern, (self._receiver(),))
        self._check_guard(binding)
        chain = ast_dotted_name(code.node)
        if chain is not None and chain.startswith(f"{SELF}."):
            new = chain.removeprefix(f"{SELF}.")
            return [Edit(self.module.span(use.node.attr), (new,), Precedence.PRIMARY)]
        return [self._rebuilt_call(use.node, binding, spell)]

    def _call(self, spell: Callable[[str], str]) -> tuple[list[Edit], list[Argument]]:
        call, pattern = self.use.called, self.member.row.pattern
        if call is None:
            raise Refused("it is not called here")
        with_self = call.with_changes(args=[self._receiver().arg, *call.args])
        whole = bind(with_self, pattern)
        dropped, kept = self._dropped(whole)
        self._check_guard(kept)
        builder = self._builder(call, self._read(kept), spell)
        builder.check()
        edits = self._in_place(builder)
        if edits is None:
            if dropped:
                raise Refused("the call would have to be rewritten without some of its arguments")
            return [self._rebuilt_call(call, builder.binding, spell)], []
        removed = remove_arguments(self.module, call, [each.arg for each in dropped])
        if removed is None:
            raise Refused("there is a comment next to an argument that has no counterpart")
        lost = [each for each in dropped if not builder.is_the_default(each)]
        return [*edits, *removed], lost

    def _dropped(self, binding: CallBinding) -> tuple[list[Argument], CallBinding]:
        names = self.member.drops or {}
        dropped = [each for each in binding.arguments if each.parameter in names]
        kept = tuple(each for each in binding.arguments if each.parameter not in names)
        return dropped, replace(binding, arguments=kept)

    def _read(self, binding: CallBinding) -> CallBinding:
        """Return what the right side reads: a plain ``self`` may go, it does nothing."""
        receiver = binding.arguments[0]
        unread = not self.member.row.replacement.uses[SELF]
        if unread and isinstance(receiver.value, cst.Name):
            return replace(binding, arguments=binding.arguments[1:])
        return binding

    def _in_place(self, builder: Builder) -> list[Edit] | None:
        """Change the method's name and what must change among its arguments."""
        name, node = self._new_method(), self.member.row.replacement.code.node
        if name is None or not isinstance(node, ast.Call):
            return None
        binding = builder.binding
        without_self = replace(binding, arguments=binding.arguments[1:])
        slots = NewParameters.of(f"{self.member.owner}.{name}", self.signatures)
        items = plan_items(node, slots, without_self)
        inner = edits_in_place(replace(builder, binding=without_self), items)
        if inner is None:
            return None
        span = self.module.span(self.use.node.attr)
        return [Edit(span, (name,), Precedence.PRIMARY), *inner]

    def _new_method(self) -> str | None:
        """Return the method of ``self`` that the right side calls, if it is such a call."""
        node = self.member.row.replacement.code.node
        name = ast_dotted_name(node.func) if isinstance(node, ast.Call) else None
        if name is None or name.partition(".")[0] != SELF or name.count(".") != 1:
            return None
        return name.partition(".")[2]

    def _rebuilt_call(
        self, node: cst.BaseExpression, binding: CallBinding, spell: Callable[[str], str]
    ) -> Edit:
        self._check_comments(node, binding)
        parts, own = self._builder(node, binding, spell).expression()
        wanted = required_precedence(self.module.parent(node), node)
        return Edit(self.module.span(node), parts, own, wanted)

    def _builder(
        self, node: cst.BaseExpression, binding: CallBinding, spell: Callable[[str], str]
    ) -> Builder:
        row = self.member.row  # its arguments may also be changed where they stand
        return Builder(self.module, row, node, binding, spell, self.signatures, may_name=False)

    def _receiver(self) -> Argument:
        return Argument(SELF, cst.Arg(self.use.node.value))

    def _check_guard(self, binding: CallBinding) -> None:
        guard = self.member.row.when
        if guard is None:
            return
        node = self.use.node if self.use.called is None else self.use.called
        use_site = UseSite(self.module, node, binding)
        if guard.decide(use_site) is not GuardAnswer.YES:
            obstacles = guard.obstacles(use_site)
            raise Refused(" and ".join(obstacles), distance=len(obstacles))

    def _check_comments(self, node: cst.BaseExpression, binding: CallBinding) -> None:
        text, span = self.module.text, self.module.span(node)
        kept = [self.module.outer_span(each.value) for each in binding.arguments]
        offset = span.start
        for each in sorted(kept):
            if "#" in text[offset : each.start]:
                raise Refused("the new expression has no place for the comments next to it")
            offset = each.end
        if "#" in text[offset : span.end]:
            raise Refused("the new expression has no place for the comments next to it")


def _habit(module: Module) -> tuple[str, ImportBinding | None]:
    """Return how the file gets at Keras: by the name of an import, and that import.

    What it reads from TensorFlow may all the same be `tf.keras`: that counts before TensorFlow.
    """
    frameworks = [each for each in module.imports if each.name.partition(".")[0] in FRAMEWORKS]
    imported = ((each.name, each) for each in frameworks)
    read = ((each.name, each.binding) for each in module.references)
    of_keras = (each for each in chain(imported, read) if import_root(each[0]) is not None)
    without = (frameworks[0].name, frameworks[0]) if frameworks else ("", None)
    return next(of_keras, without)
