"""Models that share one optimizer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import passed
from kdoctor.analysis.dataflow.points_to_by_call import (
    LOOPS,
    CallFrame,
    MadeObject,
    Weights,
    points_to_by_call_of,
)
from kdoctor.analysis.facts import FACADES
from kdoctor.analysis.training.freezing import COMPILE, TRAINING, Freezing, Use
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.blocks import always_exits
from kdoctor.syntax.imports import dotted_name
from kdoctor.value_types import Kind

_ROOTS = ("keras", *FACADES)
_MAX_CALL_DISTANCE = 1000  # calls from a step: no such chain is that long
_MAX_COMPILE_RUNS = 200  # runs of `compile` in one file: people write a dozen


class Compiled(Struct, frozen=True, eq=False):
    """One run of ``model.compile(optimizer=given)``."""

    use: Use
    frame: CallFrame | None
    model: MadeObject
    optimizer: MadeObject
    given: cst.BaseExpression


class Step(Struct, frozen=True):
    """One run of a place in the code: of ``model.fit(…)``, of what is set."""

    node: cst.CSTNode
    frame: CallFrame | None


class Sharing:
    """Which models of a module share an optimizer, and cannot."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.freezing = Freezing(module)
        self._by_call = points_to_by_call_of(module)
        self._known_weights: dict[tuple[MadeObject, Step], Weights] = {}

    def clashes(self) -> Iterator[tuple[Compiled, ...]]:
        """Yield, for each optimizer, the models that it cannot train all; one made in each round.

        Such a one stands alone: the optimizer is made once, and the model in every round of a loop.
        """
        by_optimizer: dict[MadeObject, list[Compiled]] = {}
        for each in self._compiled:
            by_optimizer.setdefault(each.optimizer, []).append(each)
        for shared in by_optimizer.values():
            found = {
                id(each): each
                for pair in combinations(shared, 2)
                if self._clash(*pair)
                for each in pair
            }
            if found:
                yield tuple(found.values())
                continue
            yield from ((each,) for each in shared if self._is_made_anew(each))

    # -- what the file does

    @cached_property
    def _compiled(self) -> list[Compiled]:
        """Every run of a ``compile`` that gives an optimizer of Keras to a model that is known.

        Without models that are compiled with several.
        """
        found: list[Compiled] = []
        for use in self.freezing.uses(COMPILE):
            given = passed(use.call, "optimizer", 0)
            if given is None or self.module.is_guarded(use.call):
                continue
            for frame in self._by_call.runs(use.call):
                optimizer = self._by_call.made(given, frame)
                if optimizer is None:
                    continue
                found += [
                    Compiled(use, frame, each, optimizer, given)
                    for each in self._in_turn(use.model, frame)
                    if self._is_model(each)
                ]
        if len(found) > _MAX_COMPILE_RUNS:
            return []
        given_to: dict[MadeObject, set[MadeObject]] = {}
        for each in found:
            given_to.setdefault(each.model, set()).add(each.optimizer)
        return [
            each
            for each in found
            if dotted_name(each.given) and len(given_to[each.model]) == 1
            if self._is_optimizer(each.optimizer) and each.optimizer not in self._built
        ]

    @cached_property
    def _built(self) -> frozenset[MadeObject | None]:
        """What is built by hand: an optimizer may be, for the weights of all models."""
        return frozenset(
            self._by_call.made(use.model, frame)
            for use in self.freezing.uses(frozenset({"build"}))
            for frame in self._by_call.runs(use.call)
        )

    @cached_property
    def _steps(self) -> dict[MadeObject, list[Step]]:
        found: dict[MadeObject, list[Step]] = {}
        for use in self.freezing.uses(TRAINING):
            for frame in self._by_call.runs(use.call):
                for model in self._in_turn(use.model, frame):
                    found.setdefault(model, []).append(Step(use.call, frame))
        return found

    def _in_turn(self, node: cst.BaseExpression, frame: CallFrame | None) -> Sequence[MadeObject]:
        """Return the object that an expression is, or all of them that a loop goes through."""
        found, is_all = self._by_call.each_made(node, frame)
        return found if is_all else ()

    @cached_property
    def _settings(self) -> dict[MadeObject, list[tuple[object, Step]]]:
        """What ``trainable`` of models and layers is set to, and where."""
        found: dict[MadeObject, list[tuple[object, Step]]] = {}
        for setting in self.freezing.settings:
            for frame in self._by_call.runs(setting.node):
                models, is_sure = self._by_call.each_made(setting.model, frame)
                for each in models:
                    set_here = (setting.value if is_sure else None, Step(setting.node, frame))
                    found.setdefault(each, []).append(set_here)
        return found

    def _weights(self, model: MadeObject, step: Step) -> Weights:
        """Return what a model has to train when it comes to a training step for the first time."""
        key = (model, step)
        if key not in self._known_weights:
            trained = {
                each: self._is_trained(given, step) for each, given in self._settings.items()
            }
            found = self._by_call.weights(model, trained)
            # A model that is frozen freezes its layers, wherever else they are.
            frozen = [each for each, is_on in trained.items() if not is_on]
            inside = (self._by_call.weights(each, {}).possible for each in frozen)
            sure = found.sure.difference(*inside)
            self._known_weights[key] = Weights(sure, found.possible, found.is_all)
        return self._known_weights[key]

    def _is_trained(self, settings: list[tuple[object, Step]], step: Step) -> bool | None:
        """Return what ``trainable`` is at a step, by the last place that sets it before."""
        last: tuple[object, ...] = ()
        value: object = True
        for given, place in settings:
            met = self._meeting(place, step)
            if met is None:
                # What is set when an object is made, is set before its other methods run.
                outermost = self._function_around(self._chain(place)[-1])
                if outermost is None or outermost.name.value != "__init__":
                    return None
                time: tuple[object, ...] = (-_MAX_CALL_DISTANCE, self.module.span(place.node))
            elif met[0] is met[1]:
                return None
            elif self.module.span(met[0]) > self.module.span(met[1]):
                continue
            elif not self._is_before(place, step):
                return None
            else:
                time = (-self._chain(step).index(met[1]), self.module.span(met[0]))
            if not last or time > last:
                last, value = time, given
        return value if isinstance(value, bool) else None

    def _is_model(self, made: MadeObject) -> bool:
        found = self.module.type_of(made.call)
        return found is not None and found.kind is Kind.MODEL

    def _is_optimizer(self, made: MadeObject) -> bool:
        name = self.module.qualified(made.call.func)
        found = self.module.oracle.class_type(name) if name else None
        if name is None or found is None or found.kind is not Kind.OPTIMIZER:
            return False
        root = split_root(name)
        return root is not None and root[0] in _ROOTS and ".legacy." not in name

    # -- two models

    def _clash(self, one: Compiled, other: Compiled) -> bool:
        """Say whether training both raises."""
        if one.model == other.model or not self._is_one_run(one, other):
            return False
        if not self._is_known_to_trigger(one, other):
            return False
        return any(
            self._raises(one, here, other, there)
            for here in self._steps.get(one.model, ())
            for there in self._steps.get(other.model, ())
        )

    def _raises(self, one: Compiled, here: Step, other: Compiled, there: Step) -> bool:
        """Say whether one of two training steps gets weights of which the other knew nothing."""
        ours, theirs = self._weights(one.model, here), self._weights(other.model, there)
        only_ours = ours.sure - theirs.possible if theirs.is_all else frozenset()
        only_theirs = theirs.sure - ours.possible if ours.is_all else frozenset()
        if only_ours and only_theirs:
            return not self._excludes(here, there, one.optimizer)
        if only_theirs and ours.sure:
            return self._comes_first(here, other.model)
        return bool(only_ours and theirs.sure) and self._comes_first(there, one.model)

    def _comes_first(self, step: Step, model: MadeObject) -> bool:
        """Say whether a step is surely taken before all of those of a model."""
        return all(self._is_before(step, each) for each in self._steps.get(model, ()))

    def _is_one_run(self, one: Compiled, other: Compiled) -> bool:
        """Say whether both are given one and the same object, both times that it is made."""
        loops = self._loops_of(one.optimizer)
        for each in (one, other):
            if not loops <= self._by_call.loops(each.use.call, each.frame):
                return False
        here, there = (Step(each.use.call, each.frame) for each in (one, other))
        return not self._excludes(here, there, one.optimizer)

    def _is_known_to_trigger(self, one: Compiled, other: Compiled) -> bool:
        if one.use.call is other.use.call:
            places = (
                self._function_around(one.use.call),
                *self._by_call.loops_around(one.use.call),
            )
            return any(self._is_from_outside(one, each) for each in places)
        return dotted_name(one.given) == dotted_name(other.given)

    def _is_before(self, one: Step, other: Step) -> bool:
        met = self._meeting(one, other)
        if met is None or met[0] is met[1]:
            return False
        here, there = met
        if self.module.span(here) >= self.module.span(there):
            return False
        around = {*self.module.ancestors(there)}
        # Past the blocks that only it stands in: they are loops, and no branches.
        for each in self.module.ancestors(here):
            if each in around:
                return isinstance(each, cst.IndentedBlock | cst.Module)
            if isinstance(each, cst.If | cst.Try | cst.Match | cst.IfExp):
                return False
        return False

    def _excludes(self, one: Step, other: Step, optimizer: MadeObject) -> bool:
        """Say whether where one is run the other is not."""
        met = self._meeting(one, other)
        if met is None or met[0] is met[1]:
            return False
        here, there = sorted(met, key=self.module.span)
        rounds = {*self._by_call.loops_around(here)} & {*self._by_call.loops_around(there)}
        if rounds - self._loops_of(optimizer):
            return False  # another round may take the other branch
        above, around = [here, *self.module.ancestors(here)], {*self.module.ancestors(there)}
        common = next(each for each in above if each in around)
        is_branch = isinstance(common, cst.If | cst.Try | cst.Match | cst.IfExp)
        inner = above[: above.index(common)]
        return is_branch or any(
            isinstance(each, cst.If | cst.Else | cst.ExceptHandler | cst.MatchCase)
            for each in inner
        )

    def _meeting(self, one: Step, other: Step) -> tuple[cst.CSTNode, cst.CSTNode] | None:
        """Return where both run in one function, themselves or by what is called there."""
        around = self._function_around
        there = {around(each): each for each in reversed(self._chain(other))}
        for each in self._chain(one):
            if around(each) in there:
                return each, there[around(each)]
        return None

    # -- one model in each round of a loop

    def _is_made_anew(self, each: Compiled) -> bool:
        """Say whether a loop makes, compiles and trains a model with an optimizer of before."""
        by_call = self._by_call
        loops = by_call.loops(each.use.call, each.frame) & self._loops_of(each.model)
        loops -= self._loops_of(each.optimizer)
        return any(
            isinstance(loop, LOOPS)
            and not always_exits(loop.body)
            and loop in by_call.loops(step.node, step.frame)
            and any(loop in self._loops_of(part) for part in self._weights(each.model, step).sure)
            and self._is_from_outside(each, self._place_in(loop, each))
            for loop in loops
            for step in self._steps.get(each.model, ())
        )

    def _place_in(self, loop: cst.CSTNode, each: Compiled) -> cst.CSTNode | None:
        """Return the loop where the call stands in it itself, else the function around the call."""
        is_in = loop in {*self.module.ancestors(each.use.call)}
        return loop if is_in else self._function_around(each.use.call)

    def _is_from_outside(self, each: Compiled, place: cst.CSTNode | None) -> bool:
        """Say whether nothing in a loop or function assigns to what is given: as the trigger."""
        written = dotted_name(each.given)
        if place is None or (isinstance(place, cst.FunctionDef) and "." in (written or "")):
            return False
        return not any(
            dotted_name(target.target) == written and place in {*self.module.ancestors(assign)}
            for assign in self.module.nodes(cst.Assign)
            for target in assign.targets
        )

    def _loops_of(self, made: MadeObject) -> set[cst.CSTNode]:
        return self._by_call.loops(made.call, made.frame)

    def _chain(self, step: Step) -> list[cst.CSTNode]:
        return self._by_call.chain(step.node, step.frame)

    def _function_around(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        return self.freezing.points_to.function_around(node)
