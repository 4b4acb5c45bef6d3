"""Models that a file compiles, freezes, unfreezes and trains, under any name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import binding_of, passed, replace_expression
from kdoctor.analysis.dataflow.points_to import Allocation, points_to_of
from kdoctor.analysis.queries import files
from kdoctor.analysis.queries.conditions import assigns, attribute
from kdoctor.analysis.queries.forms import Expression
from kdoctor.memoize import unowned
from kdoctor.model import Applicability, Edit, Fix, Span
from kdoctor.rewrite.source_lines import line_end, margin
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

COMPILE: Final = frozenset({"compile"})
TRAINING: Final = frozenset({"fit", "fit_generator", "train_on_batch"})


def _may_be_false(form: object) -> bool:
    """Say whether what is assigned may be False: of a name, a function may be told so."""
    return form is False or (isinstance(form, Expression) and form.kind == "Name")


FREEZES: Final = files(
    assigns("trainable", where=_may_be_false), attribute("compile"), attribute(*TRAINING)
)
"""Files that may freeze something, compile and train."""
_PLAIN = (cst.Assign, cst.AssignTarget, cst.IndentedBlock, cst.SimpleStatementLine)
_BLOCKS = (cst.IndentedBlock, cst.Module)
_MAX_EXPRESSIONS = 2000  # expressions that a model is made of
_MAX_PAIRS = 5000  # of what sets a model, and what uses one: people write a few dozen
_MAX_CALL_DEPTH = 8  # functions that call each other


class Setting(Struct, frozen=True, eq=False):
    """``model.trainable = value``, or a call of a function that does just that.

    ``value`` is UNKNOWN where it cannot be read off the code. ``is_whole`` is false where layers of
    ``model`` are set one by one.
    """

    node: cst.CSTNode
    model: cst.BaseExpression
    value: object
    is_whole: bool


class Use(Struct, frozen=True, eq=False):
    """``model.member(…)``."""

    call: cst.Call
    model: cst.BaseExpression


class Freezing:
    """The freezing and training steps of one module."""

    def __init__(self, module: Module) -> None:
        self.module = unowned(module)
        self.points_to = points_to_of(module)
        self._uses: dict[frozenset[str], tuple[Use, ...]] = {}

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Every place that sets ``trainable``, in source order; for a setter those that call it."""
        found = [
            each
            for assign in self.module.nodes(cst.Assign)
            for target in assign.targets
            if isinstance(target.target, cst.Attribute) and target.target.attr.value == "trainable"
            for each in self._settings_of(target.target, assign.value)
        ]
        return tuple(sorted(found, key=lambda each: self.module.span(each.node)))

    def _settings_of(self, target: cst.Attribute, value: cst.BaseExpression) -> Iterator[Setting]:
        model, is_whole = self._whole(target.value)
        function = self.points_to.function_around(target)
        which, to = self._parameter(model, function), self._parameter(value, function)
        if function is not None and which is not None and to is not None:
            for call in self.points_to.callers(function):
                given = self.points_to.passed(call, which)
                flag = self.points_to.passed(call, to)
                if given is not None and flag is not None:
                    yield Setting(call, given, literal(flag), is_whole)
        else:
            yield Setting(target, model, literal(value), is_whole)

    def _whole(self, owner: cst.BaseExpression) -> tuple[cst.BaseExpression, bool]:
        """Return the model whose layers a loop goes through, for a name that is bound by one."""
        bound = binding_of(self.module, owner)
        if bound is not None and bound.kind is BindingKind.LOOP and not bound.path:
            match bound.value:
                case (
                    cst.Attribute(value=model, attr=cst.Name(value="layers"))
                    | cst.Subscript(value=cst.Attribute(value=model, attr=cst.Name(value="layers")))
                ):
                    return model, False
        return owner, True

    def _parameter(
        self, node: cst.BaseExpression, function: cst.FunctionDef | None
    ) -> cst.Param | None:
        """Return the parameter of a function that a name in it holds."""
        bound = binding_of(self.module, node)
        found = None if bound is None else bound.node
        is_its = isinstance(found, cst.Param) and self.points_to.function_around(found) is function
        return found if isinstance(found, cst.Param) and is_its else None

    def models_frozen(self) -> Iterator[Setting]:
        """Yield each place that freezes a whole model: by Keras' own ``trainable``, unguarded."""
        overriding = {store.node for store in self.module.member_stores if store.owner_overrides}
        for setting in self.settings:
            if setting.value is not False or not setting.is_whole or setting.node in overriding:
                continue
            if self.is_model(setting.model) and not self.module.is_guarded(setting.node):
                yield setting

    def layers_frozen(self) -> Iterator[Setting]:
        """Yield each loop that freezes the layers of a model, be it all but those of some classes.

        Not where the model is frozen as a whole, too.
        """
        whole = [each.model for each in self.models_frozen()]
        for setting in self.settings:
            if setting.is_whole or setting.value is not False or not sets_each_layer(self, setting):
                continue
            if any(self.is_same(each, setting.model) for each in whole):
                continue
            if self.is_model(setting.model) and not self.module.is_guarded(setting.node):
                yield setting

    def is_given(self, setting: Setting) -> bool:
        """Say whether a function sets what it is given, or is called to set it."""
        function = self.points_to.function_around(setting.node)
        return isinstance(setting.node, cst.Call) or (
            function is not None and self._parameter(setting.model, function) is not None
        )

    @cached_property
    def is_too_much(self) -> bool:
        """Whether there are too many pairs to compare in reasonable time."""
        return len(self.settings) * len(self.uses(COMPILE | TRAINING)) > _MAX_PAIRS

    @property
    def has_too_many(self) -> bool:
        """Whether there are too many settings to compare pairwise."""
        return len(self.settings) ** 2 > _MAX_PAIRS

    def uses(self, members: frozenset[str]) -> tuple[Use, ...]:
        """Return the calls of methods of these names, in source order."""
        if members not in self._uses:
            self._uses[members] = self._found_uses(members)
        return self._uses[members]

    def _found_uses(self, members: frozenset[str]) -> tuple[Use, ...]:
        found = (
            (each, self.module.parent(each))
            for each in self.module.attributes
            if each.attr.value in members
        )
        return tuple(
            Use(call, node.value)
            for node, call in found
            if isinstance(call, cst.Call) and call.func is node
        )

    def is_model(self, node: cst.BaseExpression) -> bool:
        """Say whether an expression is a model of Keras: here, when made, or when compiled."""
        made = (each.call for each in self.points_to.of(node) if not each.part)
        compiled = (use.model for use in self.uses(COMPILE) if self.is_same(use.model, node))
        names = [node, *made, *compiled]
        types = (self.module.type_of(each) for each in names)
        return any(each is not None and each.kind is Kind.MODEL for each in types)

    def is_same(self, one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
        """Say whether two expressions stand for one object."""
        return self.points_to.is_same(one, other)

    def is_in(self, model: cst.BaseExpression, whole: cst.BaseExpression) -> bool:
        """Say whether a model is a part of another, by the code that makes the other."""
        added = (
            argument.value
            for use in self.uses(frozenset({"add"}))
            if self.is_same(use.model, whole)
            for argument in use.call.args
        )
        made = (each.call for each in self.points_to.made_in_function(whole) if not each.part)
        waiting = [*added, *(argument.value for call in made for argument in call.args)]
        for each in waiting:  # it grows meanwhile
            if len(waiting) > _MAX_EXPRESSIONS:
                return False
            if self.is_same(each, model):
                return True
            match each:
                case cst.Call():
                    waiting += [each.func, *(argument.value for argument in each.args)]
                case cst.List() | cst.Tuple():
                    waiting += [element.value for element in each.elements]
                case cst.Subscript() | cst.Attribute(attr=cst.Name(value=("input" | "output"))):
                    waiting.append(each.value)
                case cst.Name():
                    values = [bound.value for bound in self.module.bindings_at(each)]
                    waiting += [value for value in values if value and value not in waiting]
        return False

    # -- what comes first, for one object

    def is_after(self, node: cst.CSTNode, earlier: cst.CSTNode, of: Allocation | None) -> bool:
        """Say whether control gets to ``node`` after ``earlier``, and never without it."""
        pairs = [*self._common_runs(earlier, node, of)]
        return bool(pairs) and all(
            self.module.span(first) < self.module.span(second)
            and self._block(first) in {*self.module.ancestors(second)}
            for first, second in pairs
        )

    def may_be_before(self, node: cst.CSTNode, later: cst.CSTNode, of: Allocation | None) -> bool:
        """Say whether ``node`` stands before ``later``, in some function in which both run."""
        return any(
            self.module.span(first) < self.module.span(second)
            for first, second in self._common_runs(node, later, of)
        )

    def _common_runs(
        self, one: cst.CSTNode, other: cst.CSTNode, of: Allocation | None
    ) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
        """Yield where both run in one function, themselves or by what is called there."""
        for first in self._chains(one, of, 0):
            for second in self._chains(other, of, 0):
                scopes = {self.points_to.function_around(each): each for each in reversed(second)}
                for each in first:
                    met = scopes.get(self.points_to.function_around(each))
                    if met is not None:
                        if met is not each:
                            yield each, met
                        break

    def _chains(
        self, node: cst.CSTNode, of: Allocation | None, depth: int
    ) -> list[list[cst.CSTNode]]:
        """Return a node and the calls by which control gets there, outermost last."""
        function = self.points_to.function_around(node)
        callers = (
            () if function is None or depth > _MAX_CALL_DEPTH else self.points_to.callers(function)
        )
        # Where it is told by the object through which of them it goes, the others do not matter.
        through = [call for call in callers if of is not None and self._involves(call, of)]
        further = (self._chains(call, of, depth + 1) for call in through or callers)
        return [[node, *chain] for chains in further for chain in chains] or [[node]]

    def _involves(self, call: cst.Call, origin: Allocation) -> bool:
        """Say whether a call makes an object, or is given it."""
        return call is origin.call or any(
            origin in self.points_to.of(argument.value) for argument in call.args
        )

    def _block(self, node: cst.CSTNode) -> cst.CSTNode:
        return next(each for each in self.module.ancestors(node) if isinstance(each, _BLOCKS))


def sets_each_layer(freezing: Freezing, setting: Setting) -> bool:
    """Say whether a loop sets ``trainable`` of all layers of a model, or all but some.

    ``for layer in model.layers: if not isinstance(layer, Norm): layer.trainable = False``
    """
    for each in freezing.module.ancestors(setting.node):
        match each:
            case cst.For(iter=cst.Attribute(attr=cst.Name(value="layers")), orelse=None):
                return True
            case cst.If(
                test=cst.UnaryOperation(
                    operator=cst.Not(), expression=cst.Call(func=cst.Name(value="isinstance"))
                ),
                orelse=None,
            ):
                continue
            case _ if not isinstance(each, _PLAIN):
                return False
    return False


def fix_around(
    freezing: Freezing,
    title: str,
    model: cst.BaseExpression,
    steps: Sequence[tuple[cst.Call, str]],
    values: tuple[bool, bool],
) -> Fix | None:
    """Return the fix that sets ``trainable`` around the training steps, None where none can be.

    ``model``, which is set, gets an optimizer of its own, where another is compiled with its one.
    """
    edits = _around(freezing.module, steps, values)
    if edits is None:
        return None
    copied = _copied_optimizer(freezing, model)
    return Fix(
        title,
        (*edits, *copied),
        Applicability.UNSAFE,
        unsafe_because="layers of it that were frozen one by one are thawed too"
        + (", and the two models no longer share an optimizer" if copied else ""),
    )


def _around(
    module: Module, steps: Sequence[tuple[cst.Call, str]], values: tuple[bool, bool]
) -> tuple[Edit, ...] | None:
    """Return the lines that set ``trainable`` before and after each run of training steps.

    Each step comes with the name of what to set. None where no line can be put.
    """
    lines: dict[cst.SimpleStatementLine, str] = {}
    for call, name in steps:
        above = [*module.ancestors(call)]
        line = next((each for each in above if isinstance(each, cst.SimpleStatementLine)), None)
        if line is None or not isinstance(module.parent(line), _BLOCKS):
            return None
        if any(isinstance(each, cst.Lambda | cst.Return) for each in above):
            return None
        if lines.setdefault(line, name) != name:
            return None
    edits: list[Edit] = []
    for first, last, name in _runs(module, lines):
        start, end = module.span(first).start, module.span(last).end
        indent = margin(module.text, start)
        if indent.strip():
            return None
        end = line_end(module.text, end)
        edits += [
            Edit(Span(start, start), (f"{name}.trainable = {values[0]}\n{indent}",)),
            Edit(Span(end, end), (f"\n{indent}{name}.trainable = {values[1]}",)),
        ]
    return tuple(edits)


def _runs(
    module: Module, lines: Mapping[cst.SimpleStatementLine, str]
) -> Iterator[tuple[cst.SimpleStatementLine, cst.SimpleStatementLine, str]]:
    """Yield the first and the last of statements that follow each other directly."""
    waiting = list(lines)
    while waiting:
        first = last = waiting.pop(0)
        block = module.parent(first)
        assert isinstance(block, _BLOCKS)
        body = list(block.body)
        while (
            waiting
            and lines[waiting[0]] == lines[first]
            and waiting[0] in body
            and body.index(waiting[0]) == body.index(last) + 1
        ):
            last = waiting.pop(0)
        yield first, last, lines[first]


def name_at(freezing: Freezing, model: cst.BaseExpression, place: cst.CSTNode) -> str | None:
    """Return how to refer to a model at another place, None if the same text means another."""
    root = model
    while isinstance(root, cst.Attribute):
        root = root.value
    if not isinstance(root, cst.Name):
        return None
    module, points_to = freezing.module, freezing.points_to
    here, there = (points_to.function_around(each) for each in (root, place))
    is_same = module.scope_of(root).owner(root.value) is module.scope_of(place).owner(root.value)
    if here is not None and there is not None and not is_same:
        methods_of_one = points_to.class_around(here) is points_to.class_around(there) is not None
        is_same = (
            methods_of_one and points_to.instance(here) == points_to.instance(there) == root.value
        )
    return module.source(model) if is_same else None


def _copied_optimizer(freezing: Freezing, model: cst.BaseExpression) -> tuple[Edit, ...]:
    """Return the edits that give a model a copy of an optimizer that another is compiled with."""
    module = freezing.module
    given = [
        (freezing.is_same(use.model, model), optimizer)
        for use in freezing.uses(COMPILE)
        if (optimizer := passed(use.call, "optimizer", 0)) is not None
        if isinstance(optimizer, cst.Name)
        if (found := module.type_of(optimizer)) and found.kind is Kind.OPTIMIZER
    ]
    theirs = [module.bindings_at(value) for is_its, value in given if not is_its]
    return tuple(
        copy_optimizer_edit(module, value)
        for is_its, value in given
        if is_its and module.bindings_at(value) in theirs
    )


def copy_optimizer_edit(module: Module, optimizer: cst.BaseExpression) -> Edit:
    """Return the edit that replaces an optimizer by a copy of it."""
    name = module.source(optimizer)
    return replace_expression(module, optimizer, f"{name}.from_config({name}.get_config())")
