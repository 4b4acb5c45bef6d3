"""Chain of evidence: the places examined, what they say, and the target that follows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from packaging.version import Version

from kdoctor.errors import UsageProblem
from kdoctor.interpreters import folders_above
from kdoctor.keras_api import (
    known_releases,
    newest_target,
    resolve_target,
    resolve_targets,
    with_tf_keras,
)
from kdoctor.project.decision import Decision, Taken, decide
from kdoctor.project.evidence import (
    Distribution,
    Evidence,
    EvidenceKind,
    EvidenceSource,
    Flag,
    Problem,
)
from kdoctor.project.installed import active_environments, environments_in
from kdoctor.project.root import start_of
from kdoctor.project.search import sources_in
from kdoctor.project.settings import NO_SETTINGS, Configs, Settings
from kdoctor.project.versions import exact, is_open
from kdoctor.target import LEGACY_SWITCH, Target


class Chain(Struct, frozen=True):
    """A project's target and how it was determined.

    ``settings`` are kdoctor's own. ``sources`` are the places that were looked at, in the order of
    asking; ``taken`` the requirements that decided. ``flag`` is the setting of
    ``TF_USE_LEGACY_KERAS`` that counts. ``tensorflow`` is the version of TensorFlow, "" where
    nothing says it.
    """

    target: Target
    start: str
    explicit: str = ""
    settings: Settings = NO_SETTINGS
    sources: tuple[EvidenceSource, ...] = ()
    taken: tuple[Evidence, ...] = ()
    flag: Flag | None = None
    tensorflow: str = ""
    conflicts: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class Projects:
    """The projects of one run's files. Each folder is read once."""

    def __init__(
        self, environ: Mapping[str, str] = os.environ, configs: Configs | None = None
    ) -> None:
        self._environ = environ
        self._configs = configs or Configs()
        self._folders: dict[Path, _FolderSources] = {}
        self._chains: dict[tuple[int, ...], Chain] = {}
        self._active: tuple[EvidenceSource, ...] | None = None

    def chain(self, start: Path) -> Chain:
        """Return the chain of evidence for the files in a folder.

        Raises:
            UsageProblem: a setting of kdoctor is unknown or names no Keras.
        """
        settings = self._configs.of(str(start))
        looks = [self._folder_sources(folder) for folder in map(Path, folders_above(str(start)))]
        telling = [look for look in looks if look.sources]
        key = (id(settings), *map(id, telling))
        if key not in self._chains:
            self._chains[key] = self._decided(settings, telling)
        return replace(self._chains[key], start=str(start))

    def asked(self, start: Path) -> Target | None:
        """Return the target that kdoctor's own settings name for a folder, None if they do not.

        Raises:
            UsageProblem: a setting of kdoctor is unknown or names no Keras.
        """
        settings = self._configs.of(str(start))
        return _configured(settings) if settings.layer("target") is not None else None

    def inferred(self, start: Path) -> Chain:
        """Return the chain that results without kdoctor's own settings."""
        return self._inferred(
            [self._folder_sources(folder) for folder in map(Path, folders_above(str(start)))]
        )

    def _decided(self, settings: Settings, looks: Sequence[_FolderSources]) -> Chain:
        if settings.layer("target") is not None:
            return Chain(_configured(settings), "", settings=settings)
        return replace(self._inferred(looks), settings=settings)

    def _inferred(self, looks: Sequence[_FolderSources]) -> Chain:
        sources = [source for look in looks for source in look.sources]
        known = {source.path for source in sources}
        if self._active is None:
            self._active = tuple(active_environments(self._environ))
        sources += (each for each in self._active if each.path not in known)
        decision = decide(sources)
        flag = _flag(sources, self._environ)
        target = _assumed(_with_flag(_target(decision), flag, decision))
        tensorflow = decision.versions.get(Distribution.TENSORFLOW)
        return Chain(
            target,
            "",
            sources=tuple(sources),
            taken=tuple(taken.first for taken in decision.taken.values()),
            flag=flag,
            tensorflow=str(tensorflow or ""),
            conflicts=decision.conflicts,
            problems=tuple(problem for source in sources for problem in source.problems),
        )

    def _folder_sources(self, folder: Path) -> _FolderSources:
        if folder not in self._folders:
            self._folders[folder] = _FolderSources((*sources_in(folder), *environments_in(folder)))
        return self._folders[folder]


class _FolderSources(Struct, frozen=True, eq=False):
    """What was found in one folder."""

    sources: tuple[EvidenceSource, ...]


def find_target(
    paths: Iterable[str | os.PathLike[str]], environ: Mapping[str, str] = os.environ
) -> Chain:
    """Return the Keras that the project in which the paths lie runs on.

    Asked in this order: kdoctor's own settings; lock files; requirements files; ``pyproject.toml``,
    ``setup.cfg``, ``setup.py``; a conda environment file; ``Pipfile``; the project's and the active
    virtual environment. Where none says anything, it is the newest Keras 3 known.

    Raises:
        UsageProblem: a setting of kdoctor is unknown or names no Keras.
    """
    return Projects(environ).chain(start_of(paths))


def target_of(evidence: Iterable[Evidence], path: str) -> Target | None:
    """Return the target that follows from the requirements of one file and nothing else.

    None where they leave it open, or contradict each other.
    """
    source = EvidenceSource(EvidenceKind.REQUIREMENTS, path, "", tuple(evidence))
    decision = decide([source])
    if decision.conflicts or all(map(is_all_open, decision.taken.values())):
        return None
    return _assumed(_target(decision)) if decision.versions else None


def show_chain(
    paths: Iterable[str | os.PathLike[str]],
    explicit: str | None = None,
    environ: Mapping[str, str] = os.environ,
    configs: Configs | None = None,
) -> Chain:
    """Like :func:`find_target`, but examine all places, even if the first one decides.

    Raises:
        UsageProblem: a setting of kdoctor or ``explicit`` is unknown or names no Keras.
    """
    projects, start = Projects(environ, configs), start_of(paths)
    chain = projects.chain(start)
    if explicit is None and chain.settings.layer("target") is None:
        return chain
    inferred = projects.inferred(start)
    return replace(
        inferred,
        target=chain.target if explicit is None else resolve_targets(explicit, "--target"),
        start=chain.start,
        explicit=explicit or "",
        settings=chain.settings,
        taken=(),
        flag=None,
        tensorflow="",
        conflicts=(),
    )


def _assumed(target: Target) -> Target:
    return replace(target, inferred=True, assumed=True)


def _configured(settings: Settings) -> Target:
    layer = settings.layer("target")
    assert layer is not None
    place = layer.place("target")
    try:
        target = resolve_targets(settings.value("target"), place)
    except UsageProblem as problem:
        raise UsageProblem(f"{place}: target: {problem}") from None
    return replace(target, inferred=True)


def _flag(sources: Iterable[EvidenceSource], environ: Mapping[str, str]) -> Flag | None:
    """Return the setting that counts: this process' own, else the nearest in a file."""
    if environ.get(LEGACY_SWITCH):
        return Flag(environ[LEGACY_SWITCH], f"${LEGACY_SWITCH}")
    return next((flag for source in sources for flag in source.flags), None)


def _target(decision: Decision) -> Target:
    versions, taken = decision.versions, decision.taken
    keras, tensorflow = (
        versions.get(Distribution.KERAS),
        versions.get(Distribution.TENSORFLOW),
    )
    if keras is not None:
        source = _why(taken[Distribution.KERAS], keras)
        target = _nearest("keras", keras, source)
        if tensorflow is None:
            return target
        beside = taken[Distribution.TENSORFLOW]
        if is_all_open(taken[Distribution.KERAS]) and not is_all_open(beside):
            # `keras` beside `tensorflow==2.10`: it is TensorFlow that decides.
            source = _why(beside, tensorflow)
            target = replace(target, source=f"{source}, with keras {target.keras_version}")
            target = replace(target, name="tensorflow", version=str(tensorflow))
        elif beside.first.path != taken[Distribution.KERAS].first.path:
            source = f"{target.source}, with tensorflow {tensorflow} from {beside.first.place}"
            target = replace(target, source=source)
        own = _nearest("tensorflow", tensorflow, "").tf_keras_version
        is_apart = tensorflow < Version("2.6")
        return replace(target, tf_keras_version=own if is_apart else target.keras_version)
    if tensorflow is not None:
        return _nearest("tensorflow", tensorflow, _why(taken[Distribution.TENSORFLOW], tensorflow))
    tf_keras = versions.get(Distribution.TF_KERAS)
    if tf_keras is None:
        return newest_target()
    target = _nearest("tf_keras", tf_keras, _why(taken[Distribution.TF_KERAS], tf_keras))
    # Without TF_USE_LEGACY_KERAS, tf_keras beside TensorFlow leaves tf.keras what it is.
    return replace(target, tf_keras_version=target.keras_version)


def is_all_open(taken: Taken) -> bool:
    """Say whether the chosen requirements leave the version open."""
    return all(is_open(each) for each in taken.evidence)


def _with_flag(target: Target, flag: Flag | None, decision: Decision) -> Target:
    """Return the target with tf_keras as ``tf.keras``, if the flag says so."""
    if flag is None or not flag.on:
        return target
    versions = decision.versions
    beside = versions.get(Distribution.TF_KERAS) or versions.get(Distribution.TENSORFLOW)
    switched = with_tf_keras(target, beside)
    if switched is target:
        return target
    where = flag.path if flag.path.startswith("$") else f"{LEGACY_SWITCH} in {flag.place}"
    source = f"{target.source}; tf.keras is tf_keras {switched.tf_keras_version}: {where}"
    return replace(switched, source=source)


def _why(taken: Taken, version: Version) -> str:
    """Say where the version comes from, and how it was chosen."""
    first = taken.first
    if first.nightly:
        return f"{first.place} says {first.requirement}: treated as the newest known release"
    if exact(first) == version:
        return (
            f"installed in {first.place}"
            if taken.source.kind is EvidenceKind.INSTALLED
            else first.place
        )
    if is_all_open(taken):
        return f"{first.place} leaves {first.distribution} open: the newest known release"
    return f"{first.place} says {first.requirement}: the newest matching release"


def _nearest(name: str, version: Version, source: str) -> Target:
    """Return the target of a pinned version; for an unknown one, the nearest known."""
    text = ".".join(map(str, (*version.release, 0, 0)[: max(3, len(version.release))]))
    try:
        return resolve_target(f"{name}=={text}", source)
    except UsageProblem:
        pass
    newest = resolve_target(name, source)
    number = newest.version if name == "tensorflow" else known_releases(name)[-1]
    if version < Version(number):
        newest = _oldest(name, source)
        number = newest.version
    note = f"{name} {text} is not known to kdoctor; treated as {number}"
    return replace(newest, version=text, source=f"{source}; {note}")


def _oldest(name: str, source: str) -> Target:
    if name != "tensorflow":
        return resolve_target(f"{name}=={known_releases(name)[0]}", source)
    for text in ("1.15", *(f"2.{minor}" for minor in range(20))):
        try:
            return resolve_target(f"{name}=={text}", source)
        except UsageProblem:
            continue
    return newest_target()
