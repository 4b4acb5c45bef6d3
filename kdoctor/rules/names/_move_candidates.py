"""What a missing name can be rewritten to: by release data, by hand, by another root."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from functools import lru_cache

import libcst as cst
from msgspec import Struct
from msgspec.structs import replace
from packaging.version import Version

from kdoctor.analysis.facts import Proven, TargetFacts
from kdoctor.analysis.queries.callables import callee_of
from kdoctor.keras_api import EntryKind, Lookup, Presence, Signature, split_root
from kdoctor.model import Applicability, Confidence, Fix, NoFix
from kdoctor.rewrite import Rewrite, RewriteTable, rewrite
from kdoctor.rewrite.visibility import is_conditional
from kdoctor.rules.loading import load_rule
from kdoctor.rules.names._class_checks import with_question
from kdoctor.rules.names._classes_asked_for import has_no_objects, is_only_asked_for, never_one_or
from kdoctor.rules.names._definitions.fixes import DefinitionFixes
from kdoctor.rules.names._given_lists import list_for_an_array
from kdoctor.rules.names._kept_defaults import is_renamed_by, with_old_defaults
from kdoctor.rules.names._moved_calls import (
    changed_defaults,
    means_the_same,
    misplaced,
    old_defaults,
    refused_keyword,
)
from kdoctor.rules.names._public_names import home_of, public_names, twins
from kdoctor.rules.names._successors import HELD, IN_TF_KERAS, SUCCESSORS, UNLIKE, Successor
from kdoctor.syntax import ImportBinding, Module, Reference, ReferenceKind

ONLY_PRIVATE = "only a private name has it now"
_PRIVATE = "keras.src."
_CALLS_CHANGE = "a parameter or a default that its calls rely on has changed"
_NOT_RUN = "the two were not compared"
_OTHER_ROOT = "it was never public under this root; under `keras` it was the same object"
_COPY = "the class of tf.keras is not that of this copy of Keras 2"
_BY_NAME = "only their names match: no release had one object under both"


class _Move(Struct, frozen=True):
    """One way to write a missing name. ``new``: the calls must mean the same to this name."""

    row: Rewrite
    proofs: tuple[Proven, ...] = ()
    new: str | None = None
    unsafe_because: str = ""


class Moves:
    """The rewrites of one file's missing names."""

    def __init__(
        self, module: Module, ways: Ways, missing: dict[Reference, Lookup], helpers: DefinitionFixes
    ) -> None:
        self._module = module
        self._helpers = helpers
        self._facts = ways.facts
        self._moves: dict[Rewrite, _Move] = {}
        self._ratings: dict[Rewrite, tuple[Applicability, str]] = {}
        self._uses: dict[str, list[Reference]] = {}
        self._not_taken: dict[str, str] = {}
        for reference, found in missing.items():
            self._uses.setdefault(under_keras(found.qualified), []).append(reference)
        for found in missing.values():
            for move in ways.of(found):
                self._add(move)
        self._renewed: dict[ImportBinding, bool] = {}
        # A ring would keep the tree until a collector comes.
        own: Moves = weakref.proxy(self)

        def renews(binding: ImportBinding) -> bool:
            return own.renews(binding)  # `own.renews` itself would hold this

        self._table = RewriteTable(self._moves, self._facts.signature, renews)

    def is_of_a_later_release(self, found: Lookup) -> bool:
        """Say whether a missing name came only after the target."""
        target = self._facts.target
        here = target.tf_keras_version if found.root == "tf.keras" else target.keras_version
        return bool(found.since and here) and Version(found.since or "") > Version(here)

    def twins(self, found: Lookup) -> tuple[str, ...]:
        """Return the other names that a missing object had in its last release."""
        return twins(found, self._facts)

    def _add(self, move: _Move) -> None:
        """Take a move, unless it leads to a private name, of which KD104 would tell next.

        Nor where a call in this file passes what the other name surely refuses, or takes for
        something else by its place.
        """
        old, new = move.row.left.partition("(")[0], move.row.right
        if new.startswith(_PRIVATE):
            self._not_taken[old] = f"{ONLY_PRIVATE}: `{new}`, which any release may remove"
            return
        if move.unsafe_because == _BY_NAME:
            if self._is_asked_for_another(old):
                self._not_taken[old] = f"`{new}` was another class in Keras 2"
                return
            for use in self._uses[old]:
                keyword = refused_keyword(use.call, new, self._facts)
                if keyword is not None:
                    self._not_taken[old] = f"`{new}` does not accept `{keyword}=`"
                    return
                if (other := self._misplaced(use, new)) is not None:
                    before, now = other
                    self._not_taken[old] = (
                        f"`{new}` takes `{now}` where `{before}` is passed"
                        if now
                        else f"`{new}` does not accept `{before}`"
                    )
                    return
        self._moves[move.row] = move

    def _is_asked_for_another(self, old: str) -> bool:
        """Say whether a class is only asked for, and the target has no objects of it."""
        uses = self._uses[old]
        return all(is_only_asked_for(self._module, each) for each in uses) and has_no_objects(
            self._facts, self._facts.lookup(uses[0].name)
        )

    def _misplaced(self, use: Reference, new: str) -> tuple[str, str | None] | None:
        if use.call is None:
            return None
        return misplaced(use.call, self._old_signature(use), self._facts.signature(new))

    def attempt(self, reference: Reference) -> Fix | NoFix:
        """Return the fix of one name, or why there is none."""
        not_taken = self._not_taken.get(self._name_of(reference))
        if not_taken is not None:
            # An import that nothing uses may go, whatever took its place.
            attempt = self._table.attempt(self._module, reference, lambda _: Applicability.UNSAFE)
            return self._removal(reference, attempt) or NoFix(not_taken)
        if isinstance(reference.node, cst.ImportStar):
            return NoFix("kdoctor cannot tell which names a star import was meant to bring in")
        reasons: list[str] = []
        written: list[str] = []

        def rated(row: Rewrite) -> Applicability:
            written.append(row.right.partition("(")[0])
            if row not in self._ratings:
                self._ratings[row] = self._rated(self._moves[row])
            applicability, reason = self._ratings[row]
            reasons.append(reason)
            return applicability

        def plain(use: Reference) -> Fix | NoFix:
            return self._with_old_defaults(use, self._table.attempt(self._module, use, rated))

        def of_a_use(use: Reference) -> Fix | NoFix:
            attempt = self._helpers.attempt_or(use, plain)
            if isinstance(use.node, cst.Name):
                return attempt  # what becomes of a name is decided at its import
            return never_one_or(self._module, self._facts, use, attempt)

        attempt = self._table.attempt(self._module, reference, rated, of_a_use)
        attempt = self._with_old_defaults(reference, attempt)
        if isinstance(attempt, NoFix):
            return attempt
        if (removal := self._removal(reference, attempt)) is not None:
            return removal
        if not attempt.unsafe_because:
            because = "; ".join(dict.fromkeys(each for each in reasons if each))
            attempt = replace(attempt, unsafe_because=because or _CALLS_CHANGE)
        new = written[-1] if written else ""
        return with_question(self._module, self._facts, reference, new, attempt)

    def _with_old_defaults(self, reference: Reference, attempt: Fix | NoFix) -> Fix | NoFix:
        """Keep in a fix the defaults that the calls which it renames rest on."""
        if isinstance(attempt, NoFix):
            return attempt
        moved = {row.left: move.new for row, move in self._moves.items() if move.new is not None}
        calls = [
            (use.call, self._kept_at(use, new))
            for name, new in moved.items()
            for use in self._uses[name]
            if is_renamed_by(attempt, reference, use)
        ]
        return with_old_defaults(self._module, attempt, calls)

    def _kept_at(self, use: Reference, new: str) -> tuple[str, ...]:
        return old_defaults(use.call, self._old_signature(use), self._facts.signature(new))

    def _removal(self, reference: Reference, attempt: Fix | NoFix) -> Fix | None:
        """Return the fix that lets an import go that nothing uses, None where it is another.

        The import raises: without it all goes on that never began. It is safe, but where another
        file takes the name from here, and where it is no more than likely to be missing.
        """
        if isinstance(attempt, NoFix) or not attempt.drops or attempt.edits or attempt.imports:
            return None
        is_certain = reference.confidence is Confidence.CERTAIN
        if not is_certain or self._module.name_may_be_imported_elsewhere(reference.binding.local):
            return attempt
        proven = self._facts.applicability(*_group("removals"))
        is_safe = proven is Applicability.SAFE
        return replace(
            attempt, applicability=proven, unsafe_because="" if is_safe else attempt.unsafe_because
        )

    def renews(self, binding: ImportBinding) -> bool:
        """Say whether an import may be put anew, for it fails and all that reads it is rewritten.

        Where some use stays as it is, it would read what is new, and nothing would tell of it.
        """
        if binding not in self._renewed:
            # The uses that are asked now come by a name of their own.
            self._renewed[binding] = False
            self._renewed[binding] = self._fails(binding) and self._all_go_together(binding)
        return self._renewed[binding]

    def _fails(self, binding: ImportBinding) -> bool:
        return (
            isinstance(binding.statement, cst.ImportFrom)
            and not is_conditional(self._module, binding.statement)
            and self._module.oracle.exists(binding.imported) is False
        )

    def _all_go_together(self, binding: ImportBinding) -> bool:
        uses = [
            each
            for each in self._module.references
            if each.binding is binding and each.kind is not ReferenceKind.IMPORT
        ]
        everywhere = len(uses) == len(self._module.uses_of(binding))
        return everywhere and all(isinstance(self.attempt(each), Fix) for each in uses)

    def is_known(self, found: Lookup) -> bool:
        """Say whether anything stands for a name in some uses."""
        name = under_keras(found.qualified)
        return name in self._not_taken or bool(self._table.rows_for(name))

    def _name_of(self, reference: Reference) -> str:
        return under_keras(self._facts.lookup(reference.name).qualified)

    def _rated(self, move: _Move) -> tuple[Applicability, str]:
        if move.unsafe_because:
            return Applicability.UNSAFE, move.unsafe_because
        if not move.proofs:
            return Applicability.UNSAFE, _NOT_RUN
        if move.new is not None:
            name = move.row.left.partition("(")[0]
            uses = self._uses[name]
            # An import hands nothing on: what reads it does, and is asked itself.
            if not all(
                use.kind is ReferenceKind.IMPORT or self._means_the_same(use, move.new)
                for use in uses
            ):
                return Applicability.UNSAFE, self._changes(uses, move.new)
            for use in uses:
                if use.kind is not ReferenceKind.IMPORT and (
                    because := list_for_an_array(self._module, name, use.call)
                ):
                    return Applicability.UNSAFE, because
        proven = self._facts.applicability(*move.proofs)
        return proven, "" if proven is Applicability.SAFE else _NOT_RUN

    def _means_the_same(self, use: Reference, new: str) -> bool:
        old, facts = self._old_signature(use), self._facts
        return means_the_same(use.call, old, facts.signature(new), callee_of(new, facts))

    def _changes(self, uses: Sequence[Reference], new: str) -> str:
        changed = [
            text
            for use in uses
            if use.kind is not ReferenceKind.IMPORT
            for text in changed_defaults(
                [use.call], self._old_signature(use), self._facts.signature(new)
            )
        ]
        return ", ".join(dict.fromkeys(changed)) or _CALLS_CHANGE

    def _old_signature(self, use: Reference) -> Signature | None:
        found = self._facts.lookup(use.name)
        # Of some releases (2.4, which only passed TensorFlow's on) the signatures are not known.
        return self._facts.at_release(found.until).signature(use.name) or self._facts.at_release(
            found.since
        ).signature(use.name)


class Ways:
    """Where the missing names of a target are found again, whatever the file.

    ``proofs`` hold for moves by release data.
    """

    def __init__(self, facts: TargetFacts, proofs: Sequence[Proven]) -> None:
        self.facts = facts
        self._proofs = tuple(proofs)
        # The same few names are missing in file after file.
        self.of = lru_cache(maxsize=1024)(self._of)

    def _of(self, found: Lookup) -> tuple[_Move, ...]:
        """Return the ways to write a missing name, by the best source that knows any."""
        for way in (
            self._by_release_data,
            self._by_hand,
            self._in_another_module,
            self._in_tf_keras,
            self._under_another_name,
            self._beside_the_copy,
            self._under_the_other_root,
            self._by_class_name,
        ):
            moves = tuple(way(found))
            if moves:
                return moves
        return ()

    def _under_another_name(self, found: Lookup) -> Iterator[_Move]:
        """What is known of `layers.CuDNNLSTM` holds for `layers.cudnn_recurrent.CuDNNLSTM`."""
        old = under_keras(found.qualified)
        for twin in twins(found, self.facts):
            known = self.facts.lookup(twin)
            moves = list(self._by_hand(known)) or list(self._in_tf_keras(known))
            for move in moves:
                left = f"{old}{move.row.left.removeprefix(under_keras(twin))}"
                yield replace(move, row=rewrite(left, move.row.right, move.row.when))
            if moves:
                return

    def _by_release_data(self, found: Lookup) -> Iterator[_Move]:
        if found.moved_to and not is_of_the_copy(found):
            new = found.moved_to[0]
            if (held := HELD.get(under_keras(new))) is not None:
                yield _Move(held.row(under_keras(found.qualified)), _group(held.proven_by))
            yield self._renamed(found, new, self._proofs, new)

    def _by_hand(self, found: Lookup) -> Iterator[_Move]:
        for each in _successors_of(under_keras(found.qualified)):
            yield _Move(each.row, _group(each.proven_by), unsafe_because=each.unsafe_because)

    def _in_another_module(self, found: Lookup) -> Iterator[_Move]:
        """`keras.layers.regularizers` was the module `keras.regularizers`, imported there."""
        if is_of_the_copy(found):
            return
        new = self._through_aliases(found) or self._where_it_is_defined(found)
        if new is not None:
            yield self._renamed(found, new, self._proofs, new)

    def _through_aliases(self, found: Lookup) -> str | None:
        parts = found.qualified.split(".")
        for length in range(len(parts), 1, -1):
            prefix = ".".join(parts[:length])
            last = self.facts.lookup(prefix).until
            old = self.facts.at_release(last).lookup(prefix) if last else None
            if old is not None and old.kind is EntryKind.ALIAS:
                new = ".".join([old.home, *parts[length:]])
                at_target = self.facts.lookup(new)
                if at_target.presence is Presence.EXISTS:
                    return new
                return at_target.moved_to[0] if at_target.moved_to else None
        return None

    def _where_it_is_defined(self, found: Lookup) -> str | None:
        """Return the public name of what is defined where the missing name's object was."""
        split = split_root(found.qualified)
        if split is None:
            return None
        last = self.facts.at_release(found.until).target
        home = home_of(split[0], split[1], last) or home_of(*split, self.facts.target)
        names = public_names(split[0], home, self.facts.target)
        return f"{found.qualified.removesuffix(split[1])}{names[0]}" if names else None

    def _in_tf_keras(self, found: Lookup) -> Iterator[_Move]:
        split = split_root(found.qualified)
        if split is None or split[0] != "keras" or not self.facts.runs_keras_3("tf.keras"):
            return
        new = f"tensorflow.keras.{split[1]}"
        if new in found.elsewhere:
            yield _Move(
                rewrite(found.qualified, new),
                _group(IN_TF_KERAS.get(split[1], "")),
                unsafe_because=UNLIKE.get(split[1], ""),
            )

    def _beside_the_copy(self, found: Lookup) -> Iterator[_Move]:
        """What `tensorflow.python.keras` has lost, `tf.keras` may still have."""
        if not is_of_the_copy(found):
            return
        new = f"tensorflow.keras.{found.name}"
        here = self.facts.lookup(new)
        if here.presence is Presence.EXISTS:
            yield self._renamed(found, new, (), None, _COPY)
        elif here.moved_to:
            yield self._renamed(found, here.moved_to[0], (), None, _COPY)

    def _under_the_other_root(self, found: Lookup) -> Iterator[_Move]:
        split = split_root(found.qualified)
        if split is None or split[0] not in ("tf.keras", "tensorflow.python.keras"):
            return
        for other in self.facts.lookup(f"keras.{split[1]}").moved_to:
            new = f"tensorflow.{other}"
            if self.facts.lookup(new).presence is Presence.EXISTS:
                yield self._renamed(found, new, (), None, _OTHER_ROOT)
                return

    def _by_class_name(self, found: Lookup) -> Iterator[_Move]:
        if is_of_the_copy(found):
            found = self.facts.lookup(f"tensorflow.keras.{found.name}")
        leaf = found.name.rpartition(".")[2]
        if not leaf[:1].isupper() or found.elsewhere[:1] == (f"tensorflow.keras.{found.name}",):
            return
        for new in found.suggestions:
            same = new.rpartition(".")[2] == leaf and self.facts.lookup(new).kind
            if same is EntryKind.CLASS and ".legacy." not in new:
                yield self._renamed(found, new, (), None, _BY_NAME)
                return

    def _renamed(
        self,
        found: Lookup,
        new: str,
        proofs: tuple[Proven, ...],
        means: str | None,
        unsafe_because: str = "",
    ) -> _Move:
        row = rewrite(under_keras(found.qualified), under_keras(new))
        return _Move(row, proofs, means, unsafe_because)


def is_of_the_copy(found: Lookup) -> bool:
    """Say whether it is of `tensorflow.python.keras`, where nothing is worth moving to."""
    return found.root == "tensorflow.python.keras"


def under_keras(name: str) -> str:
    """Return a name of Keras as the templates call it."""
    split = split_root(name)
    return f"keras.{split[1]}" if split else name


def _group(name: str) -> tuple[Proven, ...]:
    """Return the examples of KD102 that rate some of its fixes, none by the name ""."""
    return load_rule("names.missing_name").group(name)


def _successors_of(name: str) -> list[Successor]:
    return [each for each in SUCCESSORS if each.row.left.partition("(")[0] == name]
