"""A rule as far as it is known before its module is imported."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from kdoctor.config import OF_BACKENDS
from kdoctor.rules.preview import PREVIEW

if TYPE_CHECKING:
    from packaging.version import Version

    from kdoctor.analysis.facts import TargetFacts
    from kdoctor.analysis.triggers import Need
    from kdoctor.rules.rule import Rule
else:
    Need = tuple


class RuleEntry(Struct, frozen=True, kw_only=True):
    """A rule as far as it is known before its module is imported: ``load`` does that.

    ``needs`` are those of its trigger, ``Trigger.needs``.
    """

    code: str
    name: str
    family: str
    since: str | None = None
    until: str | None = None
    only_with_namespace: bool = False
    needs: tuple[Need, ...] = ()
    load: Callable[[], Rule]

    @property
    def preview(self) -> bool:
        """Whether it is asked with ``--preview`` only."""
        return self.code in PREVIEW


def applies(rule: Rule | RuleEntry, facts: TargetFacts) -> bool:
    """Say whether the rule can fire for ``keras`` or for ``tf.keras`` on this target."""
    return _is_asked_for(rule, facts) and any(
        (rule.since is None or _version(rule.since) <= _version(version))
        and (rule.until is None or _version(version) < _version(rule.until))
        for version in (facts.target.keras_version, facts.target.tf_keras_version)
        if version
    )


def _is_asked_for(rule: Rule | RuleEntry, facts: TargetFacts) -> bool:
    """Say whether no option is missing without which the rule is silent."""
    return (bool(facts.namespace) or not rule.only_with_namespace) and (
        bool(facts.backends) or rule.family != OF_BACKENDS
    )


@lru_cache(maxsize=256)
def _version(text: str) -> Version:
    from packaging.version import Version  # noqa: PLC0415 - of no use to who only reads the index

    return Version(text)
