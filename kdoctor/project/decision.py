"""Decide on one target: which requirements count, and which contradict them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field
from packaging.version import Version

from kdoctor.project.evidence import Distribution, Evidence, EvidenceKind, EvidenceSource
from kdoctor.project.versions import allowed, exact, is_open, same_minor

_KERAS, _TENSORFLOW = Distribution.KERAS, Distribution.TENSORFLOW

# From TensorFlow's own metadata: 2.6 to 2.15 require the keras of the same minor, 2.16 and later
# any Keras 3; before 2.6 keras stood beside it and was any release that knew TensorFlow.
_FIRST_WITH_KERAS = Version("2.6")
FIRST_WITH_KERAS_3 = Version("2.16")
# keras 2.4 is a door to tf.keras, and raises without TensorFlow 2.2.
_ONLY_TENSORFLOW = Version("2.4")
_WANTED_BY_2_4 = Version("2.2")


class Taken(Struct, frozen=True):
    """The requirements of one source on one package, which decide."""

    source: EvidenceSource
    evidence: tuple[Evidence, ...]
    versions: tuple[Version, ...]  # allowed ones, newest first

    @property
    def first(self) -> Evidence:
        """The requirement to show: the most restrictive one."""
        pins = [each for each in self.evidence if exact(each) is not None]
        limits = [each for each in self.evidence if not is_open(each)]
        return (pins or limits or list(self.evidence))[0]


class Decision(Struct, frozen=True):
    """The versions that count, the reasons, and contradictions."""

    taken: dict[Distribution, Taken] = field(default_factory=dict)
    versions: dict[Distribution, Version] = field(default_factory=dict)
    conflicts: tuple[str, ...] = ()


def decide(sources: Sequence[EvidenceSource]) -> Decision:
    """Return the versions that follow from the sources, which are in order of precedence.

    The nearest folder that says anything decides, and in it the first source. Later sources add
    what they alone know, and an exact version within a range of the first one. From the folders
    above only a lock file narrows: a workspace keeps it at its top.
    """
    declared = [
        each for each in sources if each.evidence and each.kind is not EvidenceKind.INSTALLED
    ]
    speaking = declared or [each for each in sources if each.evidence]
    if not speaking:
        return Decision()
    near = [each for each in speaking if each.folder == speaking[0].folder]
    above = [each for each in speaking if each not in near and each.kind is EvidenceKind.LOCK]
    taken: dict[Distribution, Taken] = {}
    for source in near:
        for distribution in Distribution:
            _take(distribution, source, taken)
    for source in (*near, *above):
        for distribution in tuple(taken):
            _narrow(distribution, source, taken)
    versions, contradiction = _versions(taken)
    others = [each for each in sources if each.folder == speaking[0].folder]
    conflicts = [
        *contradiction,
        *_conflicts_within(near),
        *_contradictions(others, taken, versions),
    ]
    return Decision(taken, versions, tuple(dict.fromkeys(conflicts)))


def goes_with(keras: Version, tensorflow: Version) -> bool:
    """Say whether this keras can be installed beside this TensorFlow."""
    if tensorflow >= FIRST_WITH_KERAS_3:
        return keras.major >= 3
    if tensorflow >= _FIRST_WITH_KERAS:
        return same_minor(keras, tensorflow)
    return keras < (_FIRST_WITH_KERAS if tensorflow >= _WANTED_BY_2_4 else _ONLY_TENSORFLOW)


def _take(
    distribution: Distribution, source: EvidenceSource, taken: dict[Distribution, Taken]
) -> None:
    """Use a source for a package that no earlier source mentions."""
    found = _of(source, distribution)
    if found is None or distribution in taken:
        return
    earlier = [each for each in taken.values() if each.source is not source]
    if earlier and not _pair({**taken, distribution: found}):
        return  # it contradicts what an earlier source says of the other package
    taken[distribution] = found


def _narrow(
    distribution: Distribution, source: EvidenceSource, taken: dict[Distribution, Taken]
) -> None:
    """Replace a range by an exact version of another source that is inside it."""
    current, found = taken[distribution], _of(source, distribution)
    if found is None or len(current.versions) == 1 or source is current.source:
        return
    always = [each for each in found.evidence if not each.is_conditional]
    if len(found.versions) == 1 and always and found.versions[0] in current.versions:
        taken[distribution] = found


def _of(source: EvidenceSource, distribution: Distribution) -> Taken | None:
    evidence = tuple(each for each in source.evidence if each.distribution is distribution)
    if not evidence:
        return None
    # What an extra or a group asks for besides is for those who ask for it.
    evidence = tuple(each for each in evidence if not each.group) or evidence
    return Taken(source, evidence, allowed(evidence) or allowed(evidence[:1]))


def _pair(taken: dict[Distribution, Taken]) -> tuple[Version, Version] | tuple[()]:
    """Return the newest compatible pair of keras and TensorFlow, () if there is none."""
    if _KERAS not in taken or _TENSORFLOW not in taken:
        return (Version("0"), Version("0"))
    for keras in taken[_KERAS].versions:
        for tensorflow in taken[_TENSORFLOW].versions:
            if goes_with(keras, tensorflow):
                return keras, tensorflow
    return ()


def _versions(
    taken: dict[Distribution, Taken],
) -> tuple[dict[Distribution, Version], list[str]]:
    versions = {each: found.versions[0] for each, found in taken.items() if found.versions}
    if not {_KERAS, _TENSORFLOW} <= versions.keys():
        return versions, []
    pair = _pair(taken)
    if pair:
        versions[_KERAS], versions[_TENSORFLOW] = pair
        return versions, []
    keras, tensorflow = taken[_KERAS].first, taken[_TENSORFLOW].first
    contradiction = (
        f"{keras.place} says {keras.requirement} and {tensorflow.place} says "
        f"{tensorflow.requirement}, which are incompatible: keras {versions[_KERAS]} is used, "
        "as that is what `import keras` imports"
    )
    return versions, [contradiction]


def _conflicts_within(near: Iterable[EvidenceSource]) -> list[str]:
    """Return messages about contradictory requirements within one source."""
    found = []
    for source in near:
        for distribution in Distribution:
            always = [
                each
                for each in source.evidence
                if each.distribution is distribution and not each.is_conditional
            ]
            pins = {each.specifiers for each in always}
            if len(pins) > 1 and source.kind is not EvidenceKind.LOCK and not allowed(always):
                first, other = (
                    always[0],
                    next(e for e in always if e.specifiers != always[0].specifiers),
                )
                found.append(_conflict(other, first, "as it comes first"))
    return found


def _contradictions(
    sources: Iterable[EvidenceSource],
    taken: dict[Distribution, Taken],
    versions: dict[Distribution, Version],
) -> list[str]:
    """Return messages about sources that do not allow the chosen versions."""
    found = []
    for source in sources:
        for distribution in Distribution:
            theirs = _of(source, distribution)
            if theirs is None or all(each.is_conditional for each in theirs.evidence):
                continue
            winner = _contradicted(theirs, distribution, taken, versions)
            if winner is not None and winner.source is not source:
                found.append(_conflict(theirs.first, winner.first, _reason(winner.source, source)))
    return found


def _contradicted(
    theirs: Taken,
    distribution: Distribution,
    taken: dict[Distribution, Taken],
    versions: dict[Distribution, Version],
) -> Taken | None:
    """Return the chosen requirements that ``theirs`` contradict, None if they agree."""
    if distribution in versions:
        own = versions[distribution]
        agree = any(same_minor(own, version) for version in theirs.versions)
        return None if agree else taken[distribution]
    if distribution is _KERAS and _TENSORFLOW in versions:
        tensorflow = versions[_TENSORFLOW]
        agree = any(goes_with(version, tensorflow) for version in theirs.versions)
        return None if agree else taken[_TENSORFLOW]
    if distribution is _TENSORFLOW and _KERAS in versions:
        agree = any(goes_with(versions[_KERAS], version) for version in theirs.versions)
        return None if agree else taken[_KERAS]
    return None


def _reason(winner: EvidenceSource, loser: EvidenceSource) -> str:
    if winner.kind is EvidenceKind.LOCK and loser.kind is not EvidenceKind.LOCK:
        return "as a lock file states exactly what is installed"
    if winner.kind is loser.kind:
        return "as it is read first"
    return f"as a {winner.kind} takes precedence over a {loser.kind}"


def _conflict(loser: Evidence, winner: Evidence, reason: str) -> str:
    return (
        f"{loser.place} says {loser.requirement} and {winner.place} says {winner.requirement}: "
        f"{winner.place} is used, {reason}"
    )
