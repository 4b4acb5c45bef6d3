"""What a rule is: its code, where it applies, how it looks, and the examples that hold it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from kdoctor.digests import sha256
from kdoctor.model import Confidence, Finding, Fix, Place, Severity
from kdoctor.rules.preview import PREVIEW
from kdoctor.rules.topics import Topic, topics_of

if TYPE_CHECKING:
    from kdoctor.analysis.facts import TargetFacts
    from kdoctor.analysis.triggers import Trigger
    from kdoctor.rewrite import Rewrite
    from kdoctor.syntax import Module

    Check = Callable[[Module, TargetFacts], Iterator[Finding]]
else:
    Check = Callable

FAMILIES = {
    "names": "KD1",
    "members": "KD2",
    "arguments": "KD3",
    "behaviour": "KD4",
    "idioms": "KD5",
    "saving": "KD6",
    "environment": "KD7",
    "suppression": "KD9",
}
HEADINGS = (
    "## What it does",
    "## Why it breaks",
    "## What to write instead",
    "## How we know",
)


class Example(Struct, frozen=True, dict=True):
    """Code that a rule reports: its test, its documentation and its proof case at once.

    ``after`` is what the fix makes of ``before``, None where there is no fix to apply. ``raises``
    is what ``before`` really raises on the newest Keras 3, ``"Type: text"`` (the text may be the
    beginning), None where it runs. ``unsafe``: the fix needs ``--unsafe``. ``findings`` is how
    often the rule reports here. ``on`` is the target that the example is scanned for, None for the
    newest. ``namespace`` is what is asked for with ``--namespace``, "" for nothing. ``prelude`` and
    ``check`` are run around the code when it is proven, not scanned: ``prelude`` gives what the
    excerpt takes for granted, ``check`` asserts what the result must be (of ``after``, or of
    ``before`` where there is no ``after``). ``needs`` are the packages without which the example
    cannot be run.

    The old meaning is shown with ``on_keras_2``: ``before`` is run on Keras 2 too (tf_keras under
    the names ``keras`` and ``tensorflow.keras``), where ``check`` must hold as well. ``same`` is an
    expression that must have the same value after ``before`` on Keras 2 and after ``after`` (or
    ``before``, where there is none) on Keras 3. Of a rule of severity ``change``, the check must
    fail, or the value differ, for ``before`` on Keras 3: that is the change.
    """

    before: str
    after: str | None = None
    raises: str | None = None
    unsafe: bool = False
    findings: int = 1
    on: str | None = None
    prelude: str = ""
    check: str = ""
    needs: tuple[str, ...] = ()
    on_keras_2: bool = False
    same: str = ""
    namespace: str = ""

    @property
    def error(self) -> str:
        """What ``raises`` quotes of the error, "" for nothing; what ends in a sentence goes on."""
        quoted = self.raises or ""
        return f"{quoted}…" if quoted.endswith(" ") else quoted

    @cached_property
    def id(self) -> str:
        """The key in the proof record; it changes with the code: a stale proof proves nothing."""
        parts = [self.prelude, self.before, self.after or "", self.raises or "", self.check]
        if self.on_keras_2 or self.same:
            parts += ["on Keras 2", self.same]
        digest = sha256("\0".join(parts).encode()).hexdigest()
        return f"example {digest[:16]}"


class Rule(Struct, frozen=True):
    """One pattern worth telling people about.

    ``triggers`` are identifiers: a source with none of them is never parsed for this rule; an empty
    collection means that any source which speaks of Keras is. Sharper ones are made by
    ``kdoctor.analysis.triggers``. ``since`` and ``until`` bound the
    Keras versions on which the rule can fire (``until`` excluded). ``docs``, ``valid``,
    ``invalid`` and ``rewrites`` come from the rule's module. ``only_with_namespace``: without
    ``--namespace`` the rule is silent.

    Beside a Keras 2 that stays one (``tf_keras``) a rule is shown what surely is of Keras 3, and
    nothing else is known (``kdoctor.analysis.keras_beside_keras_2``). ``asks_for_roots``: it is
    shown all, since it asks of each thing which of them it comes from. ``only_alone``: it is silent
    there, since it looks at what may be of either.
    """

    code: str
    name: str
    family: str
    severity: Severity
    check: Check
    triggers: Collection[str] | Trigger = ()
    since: str | None = None
    until: str | None = None
    only_with_namespace: bool = False
    asks_for_roots: bool = False
    only_alone: bool = False
    docs: str = ""
    valid: tuple[str, ...] = ()
    invalid: tuple[Example, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.docs.partition("\n")[0]

    @property
    def preview(self) -> bool:
        """Whether it is asked with ``--preview`` only."""
        return self.code in PREVIEW

    @property
    def topics(self) -> tuple[Topic, ...]:
        """What it is about to a user, together with rules of other families."""
        return topics_of(self.code)

    def finding(  # noqa: PLR0913 - the parts of a finding, by keyword
        self,
        place: Place,
        message: str,
        *,
        symbol: str,
        confidence: Confidence,
        severity: Severity | None = None,
        help: str = "",  # noqa: A002 - the word of ``Finding``
        fix: Fix | None = None,
        no_fix_because: str | None = None,
    ) -> Finding:
        """Return a finding of this rule.

        Raises:
            ValueError: there is neither a fix nor a reason why not, or both.
        """
        if (fix is None) == (no_fix_because is None):
            raise ValueError(f"{self.code}: a finding has a fix or says why there is none")
        return Finding(
            code=self.code,
            name=self.name,
            place=place,
            message=message,
            severity=severity or self.severity,
            confidence=confidence,
            symbol=symbol,
            help=help,
            fix=fix,
            no_fix_because=no_fix_because,
        )
