"""Infer parameter types (symbolic tensors, models) by trying hypotheses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

import libcst as cst
from msgspec.structs import replace

from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.parameters import Candidate, Parameters
from kdoctor.syntax.scope_analysis import ScopeAnalysis
from kdoctor.syntax.scopes import Binding
from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.syntax.type_sets import is_parameter_type
from kdoctor.syntax.values import OPEN, UNKNOWN, Value, merged, same_kind
from kdoctor.value_types import Kind, Type

_NOTHING: Mapping[Binding, Value] = MappingProxyType({})
# Functions that people call to make a tensor of what is none.
_OF_VALUES = frozenset(
    {"add_n", "cast", "concat", "convert_to_tensor", "one_hot", "stack", "to_float", "to_int32"}
)
_ROUNDS = 6  # in which the parameters of functions that call each other must agree


class Hypotheses(Protocol):
    """An inference that accepts assumptions."""

    def value(self, node: cst.CSTNode) -> Value:
        """Return what an expression is."""

    def assume(self, parameters: Mapping[Binding, Value]) -> None:
        """Take these parameters for what is said of them, and no others."""


class SymbolicParameters:
    """Infers the parameter types of one module."""

    def __init__(
        self,
        scope_analysis: ScopeAnalysis,
        resolver: Resolver,
        oracle: TypeOracle,
        inference: Hypotheses,
    ) -> None:
        self._scope_analysis = scope_analysis
        self._resolver = resolver
        self._oracle = oracle
        self._inference = inference
        self._assumed: dict[Binding, Value] = {}

    def settle(self) -> None:
        """Find the parameters that take symbolic tensors, and those that take models.

        Functions call each other, so all candidates are taken for symbolic until a call says
        otherwise of one; what is left when no call does is so.
        """
        candidates = Parameters(self._scope_analysis, self._resolver).candidates()
        if not candidates or not self._makes_tensors_or_layers():
            return
        confirmed = self._largest(candidates)
        grounded = self._grounded(confirmed)
        if len(grounded) < len(confirmed):
            grounded = self._largest(grounded)
        self._assume(grounded)
        self._settle_objects([each for each in candidates if each not in grounded])

    def _settle_objects(self, candidates: Sequence[Candidate]) -> None:
        """Find the parameters for which every call passes a model, or every one a list of tensors.

        What one is found to take may tell what another takes.
        """
        symbolic, found = self._assumed, dict[Binding, Value]()
        for _ in range(_ROUNDS):
            given = {each.binding: self._object(each) for each in candidates}
            more = {binding: value for binding, value in given.items() if value}
            if more == found:
                return
            found = more
            self._inference.assume({**symbolic, **found})
        self._inference.assume(symbolic)

    def _object(self, candidate: Candidate) -> Value:
        shared = merged(map(self._inference.value, candidate.arguments))
        is_one = shared.type is not None and is_parameter_type(shared.type)
        return replace(shared, exact=False) if is_one else UNKNOWN

    def _largest(self, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """Return the candidates that may all take symbolic tensors at once."""
        for _ in range(_ROUNDS):
            self._assume(candidates)
            left = tuple(each for each in candidates if self._is_confirmed(each))
            if len(left) == len(candidates):
                return left
            candidates = left
        return ()

    def _grounded(self, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """Return those that a symbolic tensor gets to: not by calling themselves alone.

        In ``x = act(Dense(4)(x))`` of a loop the tensor from before it gets to ``act``, and what
        ``act`` gives of it only then.
        """
        found: tuple[Candidate, ...] = ()
        nothing_yet = dict.fromkeys((each.binding for each in candidates), OPEN)
        for _ in range(_ROUNDS):
            self._assume(found, nothing_yet)
            more = tuple(each for each in candidates if each in found or self._gets_a_tensor(each))
            if len(more) == len(found):
                break
            found = more
        return found

    def _assume(
        self, candidates: tuple[Candidate, ...], others: Mapping[Binding, Value] = _NOTHING
    ) -> None:
        symbolic = {each.binding: self._symbolic(each) for each in candidates}
        self._assumed = {**others, **symbolic}
        self._inference.assume(self._assumed)

    def _gets_a_tensor(self, candidate: Candidate) -> bool:
        wanted = self._symbolic(candidate).type
        given = [self._inference.value(each).type for each in candidate.arguments]
        return self._makes_weights(candidate) or any(
            each is not None and wanted is not None and same_kind(each, wanted) for each in given
        )

    def _makes_tensors_or_layers(self) -> bool:
        names = self._resolver.may_be_imported
        for use in self._scope_analysis.uses:
            meaning = self._resolver.meaning_of(use.chain) if use.name in names else None
            if meaning is None:
                continue
            made = self._oracle.class_type(meaning.name) or self._oracle.result_type(meaning.name)
            if made is not None and made.kind in {Kind.TENSOR, Kind.LAYER, Kind.MODEL}:
                return True
        return False

    def _symbolic(self, candidate: Candidate) -> Value:
        tensor = self._oracle.member_type(Type(Kind.LAYER), "__call__", called=True)
        if candidate.in_list and tensor is not None:
            return Value(Type(Kind.LIST, item=tensor), exact=False)
        return Value(tensor, exact=False)

    def _is_confirmed(self, candidate: Candidate) -> bool:
        wanted = self._assumed[candidate.binding].type
        given = [self._inference.value(each) for each in candidate.arguments]
        known = [each for each in given if not each.is_none]
        if wanted is None or any(
            each.type is not None and not same_kind(each.type, wanted) for each in known
        ):
            return False
        if known and all(each.type is not None for each in known):
            return True
        return self._makes_weights(candidate)

    def _makes_weights(self, candidate: Candidate) -> bool:
        return any(
            self._is_layer(each.call, with_weights=True) and all(map(self._keeps_it, each.through))
            for each in candidate.applied
        )

    def _keeps_it(self, call: cst.Call) -> bool:
        """Say whether a call gives a symbolic tensor of one, and takes nothing but tensors."""
        if isinstance(call.func, cst.Call):
            return self._is_layer(call)
        meaning = self._resolver.meaning_of(call.func)
        if meaning is None or meaning.name.rpartition(".")[2] in _OF_VALUES:
            return False
        made = self._oracle.applied_type(meaning.name, Type(Kind.TENSOR))
        return made is not None and made.kind is Kind.TENSOR

    def _is_layer(self, call: cst.Call, *, with_weights: bool = False) -> bool:
        called = self._inference.value(call.func).type
        if called is None or called.kind not in {Kind.LAYER, Kind.MODEL}:
            return False
        return not with_weights or self._oracle.has_weights(called)
