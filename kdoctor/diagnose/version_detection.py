"""Detect the releases that a text comes from: by paths, module names and version lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from packaging.version import Version

from kdoctor.diagnose.tracebacks import Raised
from kdoctor.errors import UsageProblem
from kdoctor.keras_api import known_releases, newest_target, resolve_target
from kdoctor.target import FRAMEWORKS, Target

# The table whose releases are all of TensorFlow's.
_OF_TENSORFLOW: Final = "tensorflow.contrib.keras"
_FIRST, _LAST = Version("0"), Version("99")


@dataclass(frozen=True, slots=True)
class DetectedVersion:
    """The releases of Keras that the text leaves open, and what in it says so."""

    since: Version = _FIRST
    until: Version = _LAST  # the first release that is ruled out
    because: str = ""

    def holds(self, target: Target) -> bool:
        """Say whether the Keras of a target may be the one of the text."""
        version = target.keras_version or target.tf_keras_version
        return not version or self.since <= Version(version) < self.until

    @property
    def in_words(self) -> str:
        """``the text is of Keras 3 or later (keras._tf_keras)``."""
        if not self.since.major:
            releases = f"before {self.until}"
        elif self.until == _LAST:
            releases = f"{self.since} or later"
        else:
            releases = f"{self.since} or later, before {self.until}"
        return f"the text comes from Keras {releases} ({self.because})"

    def __and__(self, other: DetectedVersion) -> DetectedVersion:
        since, until = max(self.since, other.since), min(self.until, other.until)
        if since >= until:  # traces of two releases: the text is of a broken mixture
            return self
        narrower = other.because if (since, until) != (self.since, self.until) else self.because
        return DetectedVersion(since, until, narrower)


def _detected(since: str, until: str) -> tuple[Version, Version]:
    return Version(since), Version(until)


# Paths and module names that only some releases have. Source: the listings of the wheels.
_TRACES: Final = (
    (r"keras[/.]_tf_keras", _detected("3", "99")),
    (
        r"keras[/.]src[/.](?:trainers|random|ops|export|tree|wrappers|quantizers)\b",
        _detected("3", "99"),
    ),
    (r"keras[/.]src[/.]backend[/.](?:common|tensorflow|jax|torch)\b", _detected("3", "99")),
    (r"keras[/.]src[/.]models[/.](?:model|functional|sequential)\b", _detected("3", "99")),
    (r"keras[/.]src[/.]layers[/.]layer\b", _detected("3", "99")),
    (
        r"keras[/.]src[/.](?:engine|utils[/.]tf_utils|optimizers[/.]legacy)\b",
        _detected("2.13", "3"),
    ),
    (r"keras[/.]api[/.]_v[12]", _detected("2.6", "3")),
    (r"(?<!tf_)keras[/.]src\b", _detected("2.13", "99")),
    (r"(?<!python/)(?<!python\.)\bkeras[/.]engine[/.]", _detected("0", "2.13")),
    (r"tensorflow_core\b", _detected("0", "2.4")),
    # The last releases for these Pythons.
    (r"python3\.6/", _detected("0", "2.7")),
    (r"python3\.7/", _detected("0", "2.12")),
    (r"python3\.8/", _detected("0", "2.14")),
)
_STATED: Final = re.compile(
    r"(?<!requires )(?<!needs )\b(?P<name>keras|tensorflow|tf[_-]keras)(?:[ _-](?:cpu|gpu))?"
    r"(?:\.__version__|,? version)?\s*(?:===?|[:=]| )\s*"
    r"['\"]?v?(?P<version>[123]\.\d+(?:\.\d+)?)\b(?! (?:or|and) (?:higher|later|newer|above))",
    re.IGNORECASE,
)
_ABSENT: Final = re.compile(r"No module named ['\"`]?[\w.]+")
_SINGULAR: Final = {"tf-keras": "tf_keras"}


def detected_version(error: Raised) -> DetectedVersion:
    """Return the releases of Keras that an exception and its frames can be of."""
    detected = DetectedVersion()
    # A module that is not there is of another release than the one that ran.
    message = _ABSENT.sub("", error.message)
    shown = [message, *(frame.path.replace("\\", "/") for frame in error.frames)]
    for pattern, (since, until) in _TRACES:
        for text in shown:
            if found := re.search(pattern, text):
                detected &= DetectedVersion(since, until, found.group())
                break
    return detected


def versions_in(text: str) -> dict[str, str]:
    """Return the versions that a text states: ``tensorflow==2.10.0``, ``Keras version: 3.5``."""
    found = {}
    for each in _statements(text):
        name = each["name"].lower()
        found[_SINGULAR.get(name, name)] = each["version"]
    return found


def _statements(text: str) -> Iterator[re.Match[str]]:
    """Yield where versions are stated, only on lines that mention these packages."""
    lowered = text.lower()
    if len(lowered) != len(text):  # places in the one are not those in the other
        yield from _STATED.finditer(text)
        return
    behind = 0
    for word in re.finditer("keras|tensorflow", lowered):
        for start in (word.start() - len("tf_"), word.start()):
            if start >= behind and (stated := _STATED.match(text, start)):
                behind = stated.end()
                yield stated
                break


def target_of(versions: Mapping[str, str], source: str) -> Target | None:
    """Return the target that installed versions amount to; None where none of it is known."""
    found = [
        known for name in FRAMEWORKS if (known := _target(name, versions.get(name, ""), source))
    ]
    if not found:
        return None
    if found[0].name == "keras" and not found[0].tf_keras_version and len(found) > 1:
        main, other = found[:2]
        return Target(main.name, main.version, source, main.keras_version, other.tf_keras_version)
    return found[0]


def _target(name: str, version: str, source: str) -> Target | None:
    try:
        return resolve_target(f"{name}=={Version(version).base_version}", source)
    except (UsageProblem, ValueError):
        return None


def all_targets(detected: DetectedVersion, root: str = "keras") -> Iterator[Target]:
    """Yield a target for each known release of the era, the newest first.

    For the roots inside TensorFlow these are TensorFlow's releases.
    """
    source = f"the text ({detected.because})" if detected.because else "the known releases"
    if root in {"keras", "tf_keras"}:
        specs = [f"{root}=={release}" for release in known_releases(root)]
    else:
        specs = [f"tensorflow=={release}" for release in known_releases(_OF_TENSORFLOW)]
    for spec in reversed(specs):
        target = resolve_target(spec, source)
        if detected.holds(target):
            yield target


def first_fitting(candidates: Iterable[Target | None], detected: DetectedVersion) -> Target:
    """Return the first candidate that can be of the era, else the newest release of it."""
    for target in candidates:
        if target is not None and detected.holds(target):
            return target
    return next(all_targets(detected), newest_target())
