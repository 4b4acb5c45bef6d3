"""Facts about the target: its API, and the proof record."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from packaging.version import Version

from kdoctor import keras_api
from kdoctor.config import WRITE
from kdoctor.keras_api import Lookup, Presence, Signature
from kdoctor.keras_api.surface import COMPATIBLE
from kdoctor.model import Applicability
from kdoctor.target import Target
from kdoctor.value_types import Kind, Type

BACKEND_NAMES: Final = {"jax": "JAX", "torch": "PyTorch"}
"""What people call the backends beside TensorFlow."""
_EXAMPLE: Final = "example "  # how the ids of examples begin
_NOT_RUN: Final = "it was not run there"

RECORD: Final = Path(__file__).parents[1] / "rules" / "proofs.json"

FACADES: Final = ("tf.keras", *COMPATIBLE)
"""The roots under which TensorFlow hands on Keras: one and the same, if that is Keras 3."""


class Proven(Protocol):
    """Something with an id in the proof record: a ``Rewrite``, an ``Example``."""

    @property
    def id(self) -> str:
        """The key."""


class TargetFacts(Struct, frozen=True, cache_hash=True):
    """The target, its API, and the proof record.

    ``namespace`` is the root that Keras is to be imported from, "" where each file keeps its own.
    ``keras_2_helpers``: whether a fix is to ``write`` helpers of Keras 2 or to ``import`` them.
    ``open_roots``: the roots of which a file does not show whether they lead to Keras 2 or 3
    (``modules.legacy_switch``): nothing is said of what is read from them. ``backends`` are those
    beside TensorFlow that the code must run on, too; none where nobody asked (``--backend``).
    """

    target: Target
    namespace: str = ""
    keras_2_helpers: str = WRITE
    open_roots: frozenset[str] = frozenset()
    backends: tuple[str, ...] = ()

    def lookup(self, qualified: str) -> Lookup:
        """Look up a dotted name on the target: does it exist, where did it move."""
        if self.is_open(qualified):
            return Lookup(qualified, Presence.UNKNOWN)
        return keras_api.lookup(qualified, self.target)

    def signature(self, qualified: str) -> Signature | None:
        """Return the signature of a callable on the target, None if unknown."""
        return None if self.is_open(qualified) else keras_api.signature(qualified, self.target)

    def is_open(self, qualified: str) -> bool:
        """Say whether a dotted name is of a root that may lead to Keras 2 or to Keras 3."""
        split = keras_api.split_root(qualified) if self.open_roots else None
        return split is not None and split[0] in self.open_roots

    def methods(self, qualified: str) -> frozenset[str]:
        """Return the names of all methods of a class that have a signature, and more."""
        return keras_api.methods(qualified, self.target)

    def member(self, owner: Type, member: str) -> Presence:
        """Say whether an instance has a member on the target.

        Of the user's own class: whether its Keras base has it. What the class itself defines is
        for the caller to know (``MemberUse.owner_defines``).
        """
        base = owner
        if _is_own(owner):
            # A class of models may be built by calls (`super().__init__(inputs, outputs)`): it is
            # a `Functional` then.
            is_model = owner.kind is Kind.MODEL
            base = Type(owner.kind, qualified=None if is_model else owner.qualified)
        return keras_api.member_lookup(base, member, self.target)

    def member_until(self, owner: Type, member: str) -> str | None:
        """Return the last release whose class of that name still had a member."""
        return keras_api.member_until(owner, member, self.target)

    def at_release(self, version: str | None) -> TargetFacts:
        """Return the facts of another release, None for this one: what a name was, once."""
        return self if version is None else _at_release(self, version)

    def runs_keras_3(self, root: str) -> bool:
        """Say whether importing ``root`` (``keras``, ``tf.keras``) gives Keras 3.

        ``tf.compat.v1.keras`` is what ``tf.keras`` is.
        """
        if (root != "keras" and root not in FACADES) or root in self.open_roots:
            return False
        version = self.target.keras_version if root == "keras" else self.target.tf_keras_version
        return bool(version) and _major(version) >= 3

    def applicability(self, *proofs: Proven) -> Applicability:
        """Return what kdoctor's record says of proofs; a rule's own fixes ``Rule.fix`` rates.

        A rewrite must hold on each backend that was asked for.
        """
        if self.backends and any(map(self.unproven_elsewhere, proofs)):
            return Applicability.UNSAFE
        return applicability_of(proofs)

    def unproven_elsewhere(self, proof: Proven) -> str:
        """Return where a rewrite that holds on TensorFlow is not proven, by name; "" for nowhere.

        "not proven on JAX: shape: (2, 3) instead of (3,)". Nothing of examples: they are run on
        TensorFlow, and those of KD8 alone on the others (``example_unproven_elsewhere``).
        """
        return "" if proof.id.startswith(_EXAMPLE) else self.example_unproven_elsewhere(proof)

    def example_unproven_elsewhere(self, proof: Proven) -> str:
        """Return the same of an example of a rule that makes code run on other backends."""
        if proof.id not in proofs_that_hold():
            return ""
        return "; ".join(
            f"not proven on {BACKEND_NAMES[backend]}: {why}"
            for backend in self.backends
            if (why := _failures_on(backend).get(proof.id, _NOT_RUN))
        )


@lru_cache(maxsize=256)
def _at_release(facts: TargetFacts, version: str) -> TargetFacts:
    target = replace(facts.target, keras_version=version, tf_keras_version=version)
    return replace(facts, target=target)


@lru_cache(maxsize=256)
def _major(version: str) -> int:
    return Version(version).major


def _is_own(owner: Type) -> bool:
    """Say whether the class is one of the user's: it is not called like what it was made from."""
    if owner.cls is None or owner.qualified is None or owner.cls == "Functional":
        return False
    return not owner.is_of_imported_class


class _Verdict(Struct):
    holds: Any = None


class _Elsewhere(Struct):
    holds: bool = False
    failures: list[dict[str, str]] = []


class _Backends(Struct):
    backends: dict[str, Any] = {}


def applicability_of(proofs: Iterable[Proven], own: Collection[str] = frozenset()) -> Applicability:
    """Return SAFE if the record holds for every proof, UNSAFE otherwise and where there is none.

    Nothing else makes a fix safe: without a record there was no run behind it. ``own`` are the ids
    that hold in another record: the one beside a rule of one's own.
    """
    ids = [proof.id for proof in proofs]
    is_safe = bool(ids) and all(each in own or each in proofs_that_hold() for each in ids)
    return Applicability.SAFE if is_safe else Applicability.UNSAFE


@cache
def proofs_that_hold() -> frozenset[str]:
    """Return the ids of the proofs that held; none if none was run."""
    verdicts = msgspec.json.decode(_recorded(), type=dict[str, _Verdict])
    return frozenset(key for key, verdict in verdicts.items() if verdict.holds is True)


@cache
def _failures_on(backend: str) -> Mapping[str, str]:
    """Return what differed on a backend, by proof id; "" where nothing did."""
    found: dict[str, str] = {}
    for key, entry in msgspec.json.decode(_recorded(), type=dict[str, _Backends]).items():
        if backend in entry.backends and not isinstance(entry.backends[backend], str):
            verdict = msgspec.convert(entry.backends[backend], _Elsewhere)
            first = next((each.get("what", "") for each in verdict.failures), "")
            found[key] = "" if verdict.holds else first or "it differs"
    return found


def proof_record() -> Mapping[str, Mapping[str, Any]]:
    """Return the record of ``make prove`` by proof id; empty if none was run."""
    record: Mapping[str, Mapping[str, Any]] = msgspec.json.decode(_recorded())
    return record


def _recorded() -> bytes:
    return RECORD.read_bytes() if RECORD.is_file() else b"{}"
