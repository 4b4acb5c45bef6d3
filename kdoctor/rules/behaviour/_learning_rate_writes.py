"""Code that sets an optimizer's learning rate, which is not possible with a schedule."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import is_hidden, passed, value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.points_to_by_call import CallFrame, MadeObject, points_to_by_call_of
from kdoctor.analysis.dataflow.uses import names_of_variable
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.analysis.text_mentions import mentions
from kdoctor.analysis.training.freezing import COMPILE, TRAINING, Freezing, Use
from kdoctor.keras_api import split_root
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once, unowned
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.scopes import ScopeKind

_RATES = frozenset({"lr", "learning_rate"})
_SPOKEN_OF = pattern(
    r"ReduceLROnPlateau|LearningRateScheduler|\.(lr|learning_rate)\b|[\"'](lr|learning_rate)[\"']"
)
_SETTERS = frozenset({"LearningRateScheduler", "ReduceLROnPlateau"})
# Read in the callbacks of Keras 3.15.1: none of these sets the rate.
_OTHERS = frozenset({
    "BackupAndRestore", "CSVLogger", "EarlyStopping", "History", "ModelCheckpoint",
    "ProgbarLogger", "RemoteMonitor", "TensorBoard", "TerminateOnNaN",
})  # fmt: skip
_PLACES = {"fit": 5, "fit_generator": 4}
_MAX_RETURNS = 4  # from one function to the next
_HAVE_CALLBACKS = TRAINING - {"train_on_batch"}
_STEPS_ASIDE = "this file sets or reads the learning rate"
_UNSEEN = "the callbacks of the training are not visible here: one of them may set the rate"


class Rates:
    """What sets the learning rates of the optimizers of one module."""

    def __init__(self, module: Module) -> None:
        self._module = unowned(module)
        self._freezing = Freezing(module)
        self._by_call = points_to_by_call_of(module)

    def setter(self, optimizer: cst.Call) -> str | None:
        """Return what surely sets the rate of an optimizer, as it is written; None for nothing."""
        models = [made for made, _ in self._models(optimizer)]
        for owner in self._set_by_hand():
            if self._is_of(owner, optimizer, models):
                return f"{self._module.source(owner)}.learning_rate = …"
        for use, _ in self._trainings(models):
            for each in self._callbacks(use) or ():
                if self._sets(each):
                    assert isinstance(each, cst.Call)
                    return self._module.source(each.func)
        return None

    def doubt(self, optimizer: cst.Call) -> str:
        """Return why it is not sure that nothing sets the rate of an optimizer, "" where it is."""
        if mentions(self._module, _SPOKEN_OF):
            return _STEPS_ASIDE
        models = self._models(optimizer)
        trainings = [*self._trainings([made for made, _ in models])]
        if not trainings or any(self._is_handed_out(optimizer, use) for _, use in models):
            return _UNSEEN
        for use, _ in trainings:
            callbacks = self._callbacks(use)
            if callbacks is None or not all(map(self._is_harmless, callbacks)):
                return _UNSEEN
        return ""

    # -- from the optimizer to what trains with it

    def _models(self, optimizer: cst.Call) -> list[tuple[MadeObject, Use]]:
        """Return the models that are compiled with an optimizer."""
        found = []
        for use in self._freezing.uses(COMPILE):
            given = passed(use.call, "optimizer", 0)
            for frame in () if given is None else self._by_call.runs(use.call):
                assert given is not None
                made = self._by_call.made(_copied(given), frame)
                model = self._by_call.made(use.model, frame)
                if made is not None and made.call is optimizer and model is not None:
                    found.append((model, use))
        return found

    def _trainings(self, models: list[MadeObject]) -> Iterator[tuple[Use, CallFrame | None]]:
        for use in self._freezing.uses(TRAINING):
            for frame in self._by_call.runs(use.call):
                if self._by_call.made(use.model, frame) in models:
                    yield use, frame

    def _is_handed_out(self, optimizer: cst.Call, compiled: Use) -> bool:
        """Say whether other code may get hold of the optimizer, or of the model that has it.

        It may where either is more than a local name of the code that compiles the model: where
        it is kept in an attribute, passed to anything but Keras, or returned to code that is not
        seen, or that hands it out.
        """
        names: list[cst.BaseExpression] = [compiled.model]
        target = self._module.parent(optimizer)
        if isinstance(target, cst.Assign) and len(target.targets) == 1:
            names.append(target.targets[0].target)
        elif target not in compiled.call.args:
            return True
        return not all(map(self._is_local, names))

    def _is_local(self, target: cst.BaseExpression, depth: int = 0) -> bool:
        """Say whether a name is one that no other code reads, here or in another file."""
        if not isinstance(target, cst.Name):
            return False
        owner = self._module.scope_of(target).owner(target.value)
        is_of_module = owner is not None and owner.kind is ScopeKind.MODULE
        if is_of_module and self._module.name_may_be_imported_elsewhere(target.value):
            return False
        return all(self._is_kept(each, depth) for each in names_of_variable(self._module, target))

    def _is_kept(self, name: cst.Name, depth: int) -> bool:
        parent = self._module.parent(name)
        if isinstance(parent, cst.Return):
            return depth < _MAX_RETURNS and self._is_kept_by_callers(parent, depth + 1)
        if isinstance(parent, cst.Arg) and parent.value is name:
            call = self._module.parent(parent)
            assert isinstance(call, cst.Call)
            is_compiled = isinstance(call.func, cst.Attribute) and call.func.attr.value in COMPILE
            split = split_root(self._module.qualified(call.func) or "")
            return is_compiled or (split is not None and "callbacks" not in split[1])
        if isinstance(parent, cst.Attribute) and parent.value is name:
            return parent.attr.value != "optimizer"
        return isinstance(parent, cst.AssignTarget)

    def _is_kept_by_callers(self, statement: cst.Return, depth: int) -> bool:
        """Say whether all that call the function around keep what it returns to themselves."""
        around = self._module.ancestors(statement)
        function = next((each for each in around if isinstance(each, cst.FunctionDef)), None)
        if (
            function is None
            or function.decorators
            or self._module.parent(function) is not self._module.tree
            or self._module.name_may_be_imported_elsewhere(function.name.value)
        ):
            return False
        for name in names_of_variable(self._module, function.name):
            call = self._module.parent(name)
            if name is function.name:
                continue
            if not isinstance(call, cst.Call) or call.func is not name:
                return False
            assigned = self._module.parent(call)
            if isinstance(assigned, cst.Expr):
                continue
            if not isinstance(assigned, cst.Assign) or len(assigned.targets) != 1:
                return False
            if not self._is_local(assigned.targets[0].target, depth):
                return False
        return True

    # -- callbacks

    def _callbacks(self, use: Use) -> list[cst.BaseExpression] | None:
        """Return what a training is called back by, None where that is not all seen."""
        if is_hidden(use.call):
            return None
        assert isinstance(use.call.func, cst.Attribute)
        member = use.call.func.attr.value
        given = passed(use.call, "callbacks", _PLACES.get(member))
        if given is None or member not in _HAVE_CALLBACKS:
            return []
        listed = value_of(self._module, given)
        if isinstance(listed, cst.Name) and listed.value == "None":
            return []
        if not isinstance(listed, cst.List | cst.Tuple):
            return None
        if isinstance(given, cst.Name) and not self._is_as_written(given):
            return None
        return [value_of(self._module, each.value) for each in listed.elements]

    def _is_as_written(self, name: cst.Name) -> bool:
        """Say whether a list is not changed by its name: that is given to trainings, no more."""
        trainings = {use.call for use in self._freezing.uses(TRAINING)}
        parents = [self._module.parent(each) for each in names_of_variable(self._module, name)]
        return all(
            isinstance(each, cst.AssignTarget)
            or (isinstance(each, cst.Arg) and self._module.parent(each) in trainings)
            for each in parents
        )

    def _sets(self, callback: cst.BaseExpression) -> bool:
        if not isinstance(callback, cst.Call):
            return False
        if self._name_in_keras(callback) in _SETTERS:
            return True
        cls = class_named(self._module, callback.func)
        inside = set() if cls is None else set(descendants(cls))
        return any(owner in inside for owner in self._set_by_hand())

    def _is_harmless(self, callback: cst.BaseExpression) -> bool:
        if not isinstance(callback, cst.Call):
            return False
        if self._name_in_keras(callback) in _OTHERS:
            return True
        cls = class_named(self._module, callback.func)
        only = None if cls is None or cls.decorators else only_base(self._module, cls)
        if cls is None or only is None:
            return False
        base = split_root(self._module.qualified(only) or "")
        if base is None or base[1] != "callbacks.Callback":
            return False
        # Neither the optimizer nor the model is spoken of, so nothing of either is set.
        written = self._module.source(cls)
        return re.search(r"\b(optimizer|model|getattr|setattr|vars|__dict__)\b", written) is None

    def _name_in_keras(self, call: cst.Call) -> str:
        split = split_root(self._module.qualified(call.func) or "")
        parent, _, leaf = split[1].rpartition(".") if split else ("", "", "")
        return leaf if parent == "callbacks" else ""

    # -- what sets a rate

    def _set_by_hand(self) -> Iterator[cst.BaseExpression]:
        """Yield each optimizer whose rate is assigned to, in one of the ways that there are."""
        for store in self._module.member_stores:
            if store.member in _RATES:
                yield store.node.value
        for call in self._module.nodes(cst.Call):
            split = split_root(self._module.qualified(call.func) or "")
            match call:
                case cst.Call(
                    func=cst.Attribute(value=cst.Attribute() as rate, attr=cst.Name(value="assign"))
                ):
                    pass
                case cst.Call(args=[cst.Arg(value=cst.Attribute() as rate), _]) if (
                    split is not None and split[1] == "backend.set_value"
                ):
                    pass
                case _:
                    continue
            if rate.attr.value in _RATES:
                yield rate.value

    def _is_of(
        self, owner: cst.BaseExpression, optimizer: cst.Call, models: list[MadeObject]
    ) -> bool:
        """Say whether an expression is an optimizer, or that of one of the models."""
        is_read = isinstance(owner, cst.Attribute) and owner.attr.value == "optimizer"
        for frame in self._by_call.runs(owner):
            made = self._by_call.made(owner, frame)
            if made is not None and made.call is optimizer:
                return True
            if is_read:
                assert isinstance(owner, cst.Attribute)
                if self._by_call.made(owner.value, frame) in models:
                    return True
        return False


@once
def rates_of(module: Module) -> Rates:
    """Return what sets the learning rates of the optimizers of a module."""
    return Rates(module)


def _copied(optimizer: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``x`` of ``x.from_config(x.get_config())``, which has the rate that ``x`` has."""
    match optimizer:
        case cst.Call(
            func=cst.Attribute(attr=cst.Name(value="from_config")),
            args=[
                cst.Arg(
                    value=cst.Call(
                        func=cst.Attribute(value=copied, attr=cst.Name(value="get_config")), args=[]
                    )
                )
            ],
        ):
            return copied
    return optimizer
