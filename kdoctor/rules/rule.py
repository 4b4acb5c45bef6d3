"""What a rule is: its code, where it applies, how it looks, and the examples that hold it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, TypeVar, cast, overload

from msgspec import Struct
from packaging.version import Version

from kdoctor.analysis.facts import TargetFacts, applicability_of
from kdoctor.config import ALL_BACKENDS, OF_BACKENDS
from kdoctor.keras_api.surface import known_releases
from kdoctor.model import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    ImportNeed,
    NoFix,
    Place,
    Severity,
    Span,
)
from kdoctor.rules.example import Example, block
from kdoctor.rules.pages import Page, own_page, page_of
from kdoctor.rules.preview import PREVIEW
from kdoctor.rules.topics import Topic, topics_of

if TYPE_CHECKING:
    from kdoctor.analysis.facts import Proven, TargetFacts
    from kdoctor.analysis.queries import Match, Query
    from kdoctor.analysis.triggers import Trigger
    from kdoctor.rewrite import Rewrite
    from kdoctor.syntax import Module

    Check = Callable[[Module, TargetFacts], Iterator[Finding]]
    M = TypeVar("M", bound=Match)
    Found = Iterator[Finding] | Finding | None
else:
    Check = Callable
    M = TypeVar("M")

__all__ = ["FAMILIES", "OWN", "Check", "Example", "Rule", "block", "rule"]

_RULES = ["kdoctor", "rules"]

FAMILIES = {
    "names": "KD1",
    "members": "KD2",
    "arguments": "KD3",
    "behaviour": "KD4",
    "idioms": "KD5",
    "saving": "KD6",
    "environment": "KD7",
    "backends": "KD8",
    "suppression": "KD9",
}
OWN = "own"  # the family of rules of one's own


class Rule(Struct, frozen=True, kw_only=True):
    """One pattern worth telling people about.

    Without a ``family`` it is a rule of one's own.

    ``triggers`` are identifiers: a source with none of them is never parsed for this rule; an empty
    collection means that any source which speaks of Keras is. Sharper ones are made by
    ``kdoctor.analysis.triggers``. ``since`` and ``until`` bound the
    Keras versions on which the rule can fire (``until`` excluded). ``rewrites`` come from the
    rule's module, documentation and examples from the page beside it, which is read when one of
    them is asked for. ``only_with_namespace``: without ``--namespace`` the rule is silent. Rules
    of the family ``backends`` are silent without ``--backend``.

    Beside a Keras 2 that stays one (``tf_keras``) a rule is shown what surely is of Keras 3, and
    nothing else is known (``kdoctor.analysis.keras_beside_keras_2``). ``asks_for_roots``: it is
    shown all, since it asks of each thing which of them it comes from. ``only_alone``: it is silent
    there, since it looks at what may be of either.
    """

    code: str
    name: str
    family: str = OWN
    severity: Severity
    check: Check
    triggers: Collection[str] | Trigger = ()
    since: str | None = None
    until: str | None = None
    only_with_namespace: bool = False
    asks_for_roots: bool = False
    only_alone: bool = False
    rewrites: tuple[Rewrite, ...] = ()

    @property
    def page(self) -> Page:
        """The page beside its module."""
        return own_page(self.code) or page_of(self.check.__module__)

    @property
    def docs(self) -> str:
        """The documentation, without the examples."""
        return self.page.docs

    @property
    def valid(self) -> tuple[str, ...]:
        """Code that it leaves alone."""
        return self.page.valid

    @property
    def target_of_valid(self) -> str | None:
        """The target on which to ask about that code: the last one that the rule can fire on.

        None is the newest, where it still can.
        """
        if self.until is None:
            return None
        end = Version(self.until)
        return f"keras=={max(e for e in map(Version, known_releases('keras')) if e < end)}"

    @property
    def invalid(self) -> tuple[Example, ...]:
        """Code that it reports."""
        return self.page.invalid

    @property
    def spellings(self) -> tuple[str, ...]:
        """Code that it reports, too, in unusual spellings that are not run."""
        return self.page.spellings

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.docs.partition("\n")[0]

    @property
    def preview(self) -> bool:
        """Whether it is asked with ``--preview`` only."""
        return self.code in PREVIEW

    @property
    def backend(self) -> str | None:
        """What it needs ``--backend`` to be, to be asked; None: it is asked in any case."""
        return ALL_BACKENDS if self.family == OF_BACKENDS else None

    @property
    def topics(self) -> tuple[Topic, ...]:
        """What it is about to a user, together with rules of other families."""
        return topics_of(self.code)

    def applicability(self, proven_by: Iterable[Proven] | None = None) -> Applicability:
        """Return SAFE if the record holds for all that proves a fix, UNSAFE otherwise.

        ``proven_by``: only these, not all examples of the rule whose fix is applied without
        ``--unsafe``.
        """
        return applicability_of(self._proofs(proven_by), self.page.proven)

    def _proofs(self, proven_by: Iterable[Proven] | None) -> list[Proven]:
        if proven_by is not None:
            return list(proven_by)
        return [each for each in self.invalid if each.after and not each.unsafe]

    def group(self, name: str) -> tuple[Example, ...]:
        """Return the examples of a group: those that rate some of the rule's fixes."""
        return tuple(each for each in self.invalid if name in each.groups)

    @overload
    def fix(
        self,
        title: str,
        *edits: Edit,
        imports: Iterable[ImportNeed | None] = (),
        drops: Iterable[Span] = (),
        unsafe_because: str = "",
        proven_by: Iterable[Proven] | None = None,
        facts: TargetFacts | None = None,
    ) -> Fix: ...
    @overload
    def fix(
        self,
        title: str,
        *edits: Edit | NoFix,
        imports: Iterable[ImportNeed | None] = (),
        drops: Iterable[Span] = (),
        unsafe_because: str = "",
        proven_by: Iterable[Proven] | None = None,
        facts: TargetFacts | None = None,
    ) -> Fix | NoFix: ...
    def fix(  # noqa: PLR0913 - the parts of a fix, by keyword
        self,
        title: str,
        *edits: Edit | NoFix,
        imports: Iterable[ImportNeed | None] = (),
        drops: Iterable[Span] = (),
        unsafe_because: str = "",
        proven_by: Iterable[Proven] | None = None,
        facts: TargetFacts | None = None,
    ) -> Fix | NoFix:
        """Return a fix, which is safe where its examples are proven and nothing makes it unsafe.

        Where one of the edits cannot be made, that is the answer. Of ``imports``, a None is an
        import that the file does not need. ``proven_by``: only these prove it, not all examples of
        the rule (see ``applicability``). A rule that makes code run on other backends must be
        proven on each that is asked for, of which ``facts`` tell.
        """
        if NoFix in map(type, edits):  # a fix may have as many edits as the file has lines
            return next(each for each in edits if isinstance(each, NoFix))
        proven_by = self._proofs(proven_by)
        if facts is not None and self.backend is not None and not unsafe_because:
            reasons = map(facts.example_unproven_elsewhere, proven_by)
            unsafe_because = next(filter(None, reasons), "")
        return Fix(
            title,
            cast("tuple[Edit, ...]", edits),
            Applicability.UNSAFE if unsafe_because else self.applicability(proven_by),
            tuple(dict.fromkeys(each for each in imports if each is not None)),
            tuple(drops),
            unsafe_because,
        )

    def finding(  # noqa: PLR0913 - the parts of a finding, by keyword
        self,
        place: Place,
        message: str,
        *,
        symbol: str,
        confidence: Confidence,
        severity: Severity | None = None,
        help: str = "",  # noqa: A002 - the word of ``Finding``
        fix: Fix | NoFix,
    ) -> Finding:
        """Return a finding of this rule, with its fix or the reason why there is none."""
        return Finding(
            code=self.code,
            name=self.name,
            place=place,
            message=message,
            severity=severity or self.severity,
            confidence=confidence,
            symbol=symbol,
            help=help,
            fix=fix if isinstance(fix, Fix) else None,
            no_fix_because=fix.reason if isinstance(fix, NoFix) else None,
        )


def rule(  # noqa: PLR0913 - the fields of a rule, by keyword
    code: str,
    *,
    severity: Severity,
    look_for: Query[M],
    since: str | None = None,
    until: str | None = None,
    only_with_namespace: bool = False,
    asks_for_roots: bool = False,
    only_alone: bool = False,
) -> Callable[[Callable[[M], Found]], Rule]:
    """Return the decorator that makes a rule of the function which checks a match.

    The function is given what ``look_for`` finds, one match at a time, and returns a finding, None,
    or yields findings. Name and family of the rule are those of its file and folder; the family of
    a rule from elsewhere is ``OWN``. The other fields are those of ``Rule``.
    """

    def made(check: Callable[[M], Found]) -> Rule:
        *above, stem = check.__module__.split(".")

        @wraps(check)
        def checked(module: Module, facts: TargetFacts) -> Iterator[Finding]:
            for match in look_for.find(module, facts):
                match.rule = new
                found = check(match)
                if isinstance(found, Finding):
                    yield found
                elif found is not None:
                    yield from found

        new = Rule(
            code=code,
            name=stem.replace("_", "-"),
            family=above[-1] if above[:-1] == _RULES else OWN,
            severity=severity,
            check=checked,
            triggers=look_for.trigger,
            since=since,
            until=until,
            only_with_namespace=only_with_namespace,
            asks_for_roots=asks_for_roots,
            only_alone=only_alone,
        )
        return new

    return made
