"""Resolve targets: ``keras==3.15.1``, ``tensorflow==2.21``, ``tf_keras==2.21``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace
from packaging.version import Version

from kdoctor.errors import UsageProblem
from kdoctor.keras_api.surface import TENSORFLOW, known_releases, minor, newest
from kdoctor.lazy_regex import pattern
from kdoctor.target import Target

# TensorFlow's own metadata: 2.6-2.15 require keras of the same minor, 2.16 and later any keras
# from 3.0, which the package index resolves to the newest (facts, section 6: run with a resolver).
# Up to 2.5 it brings its own tf.keras, and whichever keras stands beside it, if any, is open.
_OWN_KERAS: Final = (2, 5)
_KERAS_2: Final = (2, 15)
_MAX_QUOTED_LENGTH: Final = 60  # characters of a version in a message

_SPEC: Final = pattern(r"\s*([A-Za-z][\w.-]*?)\s*(?:===?|\s|$)\s*v?([\d.]*)\s*$")


def newest_target() -> Target:
    """Return the newest Keras 3 that the data knows."""
    version = newest("keras")
    return Target("keras", version, "newest Keras 3 known", version, version)


def resolve_target(spec: str, source: str) -> Target:
    """Return the target that ``spec`` names, e.g. ``keras==3.15.1`` or ``tensorflow 2.21``.

    One or two components mean the newest known release that begins so. A release between known
    ones is read as its neighbour, and ``Target.source`` says so.

    Raises:
        UsageProblem: no such distribution or version is known.
    """
    matched = _SPEC.match(spec)
    if matched is None:
        raise UsageProblem(
            f"'{spec}' is not a valid target: write e.g. keras==3.15.1 or tensorflow==2.21; "
            f"{_all_known()}."
        )
    name, version = matched.group(1).lower().replace("-", "_"), matched.group(2)
    match name:
        case "keras":
            return _keras(version, source)
        case "tf_keras":
            return _tf_keras(version, source)
        case "tensorflow" | "tensorflow_cpu" | "tensorflow_gpu" | "tf":
            return _tensorflow(version, source)
        case _:
            raise UsageProblem(
                f"'{matched.group(1)}' is not a Keras distribution: a target is keras, "
                f"tf_keras or tensorflow with a version, e.g. keras==3.15.1; {_all_known()}."
            )


def resolve_targets(specs: str | Iterable[str], source: str) -> Target:
    """Return the newest of several targets, with the others ``beside`` it.

    ``specs`` is one text with commas, or several texts.

    Raises:
        UsageProblem: one of them is not known, or there is none.
    """
    named = [specs] if isinstance(specs, str) else list(specs)
    parts = [part for text in named for part in text.split(",")] or [""]
    every = [resolve_target(part, source) for part in parts]
    once = {each.without_source: each for each in every}
    newest_first = sorted(once.values(), key=_release, reverse=True)
    return replace(newest_first[0], beside=tuple(newest_first[1:]))


def _release(target: Target) -> tuple[Version, str]:
    """Sort key of targets: the Keras that there is, then the name."""
    keras = [Version(each) for each in (target.keras_version, target.tf_keras_version) if each]
    return max(keras), target.name


def with_tf_keras(target: Target, beside: Version | None = None) -> Target:
    """Return the target with tf_keras in the place of ``tf.keras``: ``TF_USE_LEGACY_KERAS=1``.

    That is the target itself where ``tf.keras`` is no Keras 3: before, the two are the same code.
    ``beside`` is the tf_keras or TensorFlow that is there, where that is known.
    """
    if not target.tf_keras_version.startswith("3."):
        return target
    known = known_releases("tf_keras")
    same = [each for each in known if beside is not None and minor(each) == beside.release[:2]]
    return replace(target, tf_keras_version=(same or known)[-1])


def _keras(version: str, source: str) -> Target:
    known, source = _known("keras", version, source, "keras")
    return Target("keras", _shown(version, known), source, known, _tf_keras_of(known))


def _tf_keras(version: str, source: str) -> Target:
    known, source = _known("tf_keras", version, source, "tf_keras")
    keras = newest("keras") if minor(known) > _KERAS_2 else _same_minor("keras", known)
    return Target("tf_keras", _shown(version, known), source, keras, known)


def _tensorflow(version: str, source: str) -> Target:
    # Its patches mend security holes and leave the API alone: the minor is enough.
    release, source = _known(TENSORFLOW, ".".join(version.split(".")[:2]), source, "tensorflow")
    shown = version or _minor(release)
    if minor(release) <= _OWN_KERAS:
        return Target("tensorflow", shown, f"{source}, with its own tf.keras", "", release)
    keras = newest("keras") if minor(release) > _KERAS_2 else _same_minor("keras", release)
    return Target("tensorflow", shown, f"{source}, with keras {keras}", keras, keras)


def _tf_keras_of(keras: str) -> str:
    """Return the ``tf.keras`` that an installation with this keras has; "" where it is open.

    Up to 2.4 any TensorFlow could stand beside keras.
    """
    return keras if minor(keras) > _OWN_KERAS else ""


def _same_minor(root: str, version: str) -> str:
    return next(known for known in reversed(known_releases(root)) if minor(known) == minor(version))


def _known(root: str, version: str, source: str, name: str) -> tuple[str, str]:
    """Return the known release to read for ``version``, and the source with what was done."""
    all_known = known_releases(root)
    known = f"kdoctor knows {_range(root, name)}."
    if not version:
        return all_known[-1], source
    wanted = _parsed(name, version, known)
    given = version.count(".") + 1
    if given == 1:
        same = [r for r in all_known if Version(r).major == wanted.major]
    else:
        same = [r for r in all_known if minor(r) == wanted.release[:2]]
    if same:
        chosen = _nearest_patch(same, wanted.micro) if given >= 3 else same[-1]
    else:
        older = [r for r in all_known if Version(r) <= wanted]
        if not older or older[-1] == all_known[-1]:
            raise UsageProblem(f"{name} {version} is not a known release: {known}")
        chosen = older[-1]
    if (given >= 3 and Version(chosen) != wanted) or not same:
        source = f"{source}; treated as {name} {chosen}, the nearest known release"
    return chosen, source


def _nearest_patch(releases_of_minor: list[str], patch: int) -> str:
    """Return the nearest patch release; of two as near the later one.

    Where a minor's first patch has the names of its last, only the last is in the data.
    """
    return min(reversed(releases_of_minor), key=lambda known: abs(Version(known).micro - patch))


def _all_known() -> str:
    ranges = [_range("keras", "keras"), _range(TENSORFLOW, "tensorflow")]
    return f"kdoctor knows {', '.join(ranges)} and {_range('tf_keras', 'tf_keras')}"


def _range(root: str, name: str) -> str:
    known = known_releases(root)
    return f"{name} {_minor(known[0])} to {known[-1]}"


def _parsed(name: str, version: str, known: str) -> Version:
    try:
        return Version(version)
    except ValueError:  # also a number of thousands of digits
        shown = (
            version if len(version) <= _MAX_QUOTED_LENGTH else f"{version[:_MAX_QUOTED_LENGTH]}…"
        )
        raise UsageProblem(f"'{shown}' is not a version of {name}: {known}") from None


def _shown(version: str, known: str) -> str:
    return version if version.count(".") >= 2 else known


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
