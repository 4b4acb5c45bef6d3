"""Calls of Keras' own callables, with what they took once and what they take on the target."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import argument, arguments
from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import KINDS, EntryKind, Presence, Signature, ever_members
from kdoctor.memoize import once
from kdoctor.model import Confidence
from kdoctor.syntax import MemberUse, Module, Reference
from kdoctor.syntax.type_oracle import PARTIAL
from kdoctor.value_types import Kind, Type

# Whose methods are called on an instance of which only the kind is known.
BASES: Final = {
    Kind.MODEL: "keras.Model",
    Kind.LAYER: "keras.layers.Layer",
    Kind.OPTIMIZER: "keras.optimizers.Optimizer",
    Kind.METRIC: "keras.metrics.Metric",
    Kind.LOSS: "keras.losses.Loss",
}
# Which class of the TensorFlow backend defines them: Python's messages name it.
_DEFINERS: Final = {
    **dict.fromkeys(("fit", "evaluate", "predict"), "TensorFlowTrainer"),
    **dict.fromkeys(("train_on_batch", "test_on_batch", "predict_on_batch"), "TensorFlowTrainer"),
    "compile": "Trainer",
    **dict.fromkeys(("add_loss", "add_weight"), "Layer"),
    **dict.fromkeys(("get_layer", "summary"), "Model"),
    "apply_gradients": "BaseOptimizer",
}
# What some of Keras' own layers take by other names: `Embedding.compute_mask(inputs, mask=None)`.
_DIFFERS: Final = frozenset({"compute_mask"})
_BY_NAME: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
RELEASES: Final = ("2.15.0", "2.13.1", "2.10.0", "2.6.0", "2.3.1", "2.2.5", "2.1.6", "2.0.9")


class KerasCall(Struct, frozen=True):
    """One call. ``name`` is the callable's dotted name under ``keras``, as the target has it.

    ``kind`` is what a class makes, None for a function; ``owner`` that of which a method is called.
    ``made`` is the class as messages name it, ``base`` the one whose ``__init__`` a subclass calls.
    """

    call: cst.Call
    name: str
    kind: Kind | None
    new: Signature
    confidence: Confidence
    owner: Type | None = None
    made: str = ""
    reference: Reference | None = None
    base: str = ""

    @property
    def is_known(self) -> bool:
        """Whether the parameters are told: ``*args, **kwargs`` are those of another class."""
        return is_known(self.new)

    @property
    def method(self) -> bool:
        """Whether it is a call of a method."""
        return self.owner is not None

    @property
    def takes(self) -> frozenset[str]:
        """The names of the parameters."""
        return frozenset(each.name for each in self.new.parameters)

    @property
    def required(self) -> tuple[tuple[str, int], ...]:
        """The parameters without a default that may be named: name and position."""
        return required(self.new)

    @property
    def is_partial(self) -> bool:
        """Whether it is a call of ``functools.partial`` with the callable."""
        return self.reference is not None and self.reference.call is None

    @property
    def args(self) -> Sequence[cst.Arg]:
        """What it passes: not the object itself, which ``Base.__init__(self, …)`` names."""
        return arguments(self.call)

    @property
    def leaf(self) -> str:
        """The last part of the name: ``Adam``, ``fit``."""
        return self.name.rpartition(".")[2]

    @property
    def written(self) -> str:
        """How Python names the callable in a TypeError."""
        if self.owner is not None:
            definer = _DEFINERS.get(self.leaf) or self._own_definer
            if definer == "Layer" and self.owner.kind is Kind.METRIC:
                definer = "Metric"
            return f"{definer}.{self.leaf}()" if definer else f"{self.leaf}()"
        made = self.base or self.made
        return f"{made}.__init__()" if made else f"{self.leaf}()"

    @property
    def _own_definer(self) -> str | None:
        """The class that has a method which not all of its kind have."""
        path = self.name.split(".")
        if path[-2] == "Layer" or self.owner is None or self.owner.kind is not Kind.LAYER:
            return None
        return "RNN" if self.leaf == "reset_states" and path[-2] != "Bidirectional" else path[-2]

    def olds(self, facts: TargetFacts) -> Iterator[Signature]:
        """Yield the signatures of earlier releases, newest first."""
        for release in RELEASES:
            found = facts.at_release(release).signature(self.name)
            if found is not None:
                yield found

    def keyword(self, name: str) -> cst.Arg | None:
        """Return the argument that is passed by this keyword."""
        return argument(self.call, name)


def is_known(signature: Signature) -> bool:
    """Say whether parameters are told: ``*args, **kwargs`` are those of another class."""
    kinds = {each.kind for each in signature.parameters}
    return not {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= kinds


def required(signature: Signature) -> tuple[tuple[str, int], ...]:
    """Return the parameters without a default that may be named: name and position."""
    return tuple(
        (each.name, position)
        for position, each in enumerate(signature.parameters)
        if each.default is None and each.kind in _BY_NAME
    )


@once
def keras_calls(module: Module, facts: TargetFacts) -> tuple[KerasCall, ...]:
    """Return the calls of Keras' own classes, functions and methods whose parameters are known."""
    return tuple(_found(module, facts))


@once
def partial_calls(module: Module, facts: TargetFacts) -> tuple[KerasCall, ...]:
    """Return each ``partial(Conv2D, padding="same")``: its keywords are those of the class.

    Its positions are not, and more arguments come with the call of what it gives.
    """
    return tuple(_found_partial(module, facts))


def _found_partial(module: Module, facts: TargetFacts) -> Iterator[KerasCall]:
    for reference in module.references:
        argument = module.parent(reference.node) if reference.call is None else None
        call = None if argument is None else module.parent(argument)
        if (
            isinstance(call, cst.Call)
            and call.args
            and call.args[0] is argument
            and not (call.args[0].star or call.args[0].keyword)
            and module.qualified(call.func) == PARTIAL
        ):
            found = _of_name(facts, reference, call)
            if found is not None:
                yield found


def _found(module: Module, facts: TargetFacts) -> Iterator[KerasCall]:
    for reference in module.references:
        if reference.call is not None:
            found = _of_name(facts, reference, reference.call)
            if found is not None:
                yield found
    for use in module.members_named("__init__", *ever_members()):
        if use.called is None or use.owner_defines:
            continue
        if use.member == "__init__":
            found = _of_base(module, facts, use, use.called)
            if found is not None:
                yield found
            continue
        base = BASES.get(use.owner.kind)
        if base is None or use.member.startswith("__"):
            continue
        name = _name_of_method(facts, use, base)
        new = _of_method(facts, use, name)
        if new is not None and facts.member(use.owner, use.member) is Presence.EXISTS:
            yield KerasCall(use.called, name, None, new, use.confidence, owner=use.owner)


def _name_of_method(facts: TargetFacts, use: MemberUse, base: str) -> str:
    """Return the dotted name of a method: that of the base, where it is one of all its classes."""
    name = f"{base}.{use.member}"
    if use.owner.qualified is None or facts.signature(name) is not None:
        return name
    found = facts.lookup(use.owner.qualified)
    return f"keras.{found.name}.{use.member}" if facts.runs_keras_3(found.root or "") else name


def _of_method(facts: TargetFacts, use: MemberUse, name: str) -> Signature | None:
    """Return the parameters of a method, as the class that is known, or its Keras base, has it."""
    if use.owner.qualified is None:
        return None if use.member in _DIFFERS else facts.signature(name)
    found = facts.lookup(use.owner.qualified)
    qualified = found.moved_to[0] if found.moved_to else found.qualified
    return facts.signature(f"{qualified}.{use.member}") or facts.signature(name)


def _of_base(
    module: Module, facts: TargetFacts, use: MemberUse, call: cst.Call
) -> KerasCall | None:
    """Return ``super().__init__(…)`` in a class of the user's, where the base is one of Keras'."""
    if use.owner.qualified is None or not use.owner.is_of_imported_class:
        return None
    found = facts.lookup(use.owner.qualified)
    if found.moved_to:
        found = facts.lookup(found.moved_to[0])
    new = facts.signature(found.qualified)
    if found.presence is not Presence.EXISTS or found.stub or new is None:
        return None
    if not facts.runs_keras_3(found.root or ""):
        return None
    cls = next(
        (each for each in module.ancestors(use.node) if isinstance(each, cst.ClassDef)), None
    )
    return KerasCall(
        call,
        f"keras.{found.name}",
        KINDS.get(found.family),
        new,
        use.confidence,
        made=cls.name.value if cls is not None else found.home.rpartition(".")[2],
        base=found.home.rpartition(".")[2],
    )


def _of_name(facts: TargetFacts, reference: Reference, call: cst.Call) -> KerasCall | None:
    found = facts.lookup(reference.name)
    if found.moved_to:
        found = facts.lookup(found.moved_to[0])
    if found.presence is not Presence.EXISTS or found.stub:
        return None
    if not facts.runs_keras_3(found.root or ""):
        return None
    new = facts.signature(found.qualified)
    if new is None:
        return None
    is_class = found.kind is EntryKind.CLASS
    return KerasCall(
        call,
        f"keras.{found.name}",
        KINDS.get(found.family) if is_class else None,
        new,
        reference.confidence,
        made=found.home.rpartition(".")[2] if is_class else "",
        reference=reference,
    )
