"""Which Keras a target is: ``keras==3.15.1``, ``tensorflow==2.21``, ``tf_keras==2.21``."""

from __future__ import annotations

import re
from typing import Final

from packaging.version import InvalidVersion, Version

from kdoctor.errors import UsageProblem
from kdoctor.keras_api.surface import newest, releases
from kdoctor.target import Target

# TensorFlow's own metadata: 2.6-2.15 require keras of the same minor, 2.16 and later any keras
# from 3.0, which the package index resolves to the newest (facts, section 6: run with a resolver).
_TENSORFLOW_WITH_KERAS_2: Final = range(6, 16)
_TENSORFLOW_WITH_KERAS_3: Final = range(16, 22)

_SPEC: Final = re.compile(r"\s*([A-Za-z][\w.-]*?)\s*(?:===?|\s|$)\s*v?([\d.]*)\s*$")


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
        raise UsageProblem(f"'{spec}' is no target: write e.g. keras==3.15.1 or tensorflow==2.21.")
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
                f"'{matched.group(1)}' is no Keras: a target is keras, tf_keras or tensorflow "
                "with a version, e.g. keras==3.15.1."
            )


def _keras(version: str, source: str) -> Target:
    known, source = _known("keras", version, source)
    return Target("keras", _shown(version, known), source, known, _tf_keras_of(known))


def _tf_keras(version: str, source: str) -> Target:
    known, source = _known("tf_keras", version, source)
    parsed = Version(known)
    keras = newest("keras") if parsed.minor >= 16 else _same_minor("keras", parsed)
    return Target("tf_keras", _shown(version, known), source, keras, known)


def _tensorflow(version: str, source: str) -> Target:
    known = f"kdoctor knows tensorflow 2.6 to 2.{_TENSORFLOW_WITH_KERAS_3[-1]}."
    if not version:
        version = f"2.{_TENSORFLOW_WITH_KERAS_3[-1]}"
    parsed = _parsed("tensorflow", version, known)
    if parsed.major == 2 and parsed.minor in _TENSORFLOW_WITH_KERAS_3:
        keras = newest("keras")
    elif parsed.major == 2 and parsed.minor in _TENSORFLOW_WITH_KERAS_2:
        keras = _same_minor("keras", parsed)
    else:
        raise UsageProblem(f"tensorflow {version} is not known: {known}")
    return Target("tensorflow", version, f"{source}, with keras {keras}", keras, keras)


def _tf_keras_of(keras: str) -> str:
    """Return the ``tf.keras`` that an installation with this keras has; "" where it is open.

    Up to 2.4 any TensorFlow could stand beside keras.
    """
    return keras if keras in releases("tf.keras") else ""


def _same_minor(root: str, version: Version) -> str:
    return next(
        known
        for known in reversed(releases(root))
        if Version(known).release[:2] == version.release[:2]
    )


def _known(root: str, version: str, source: str) -> tuple[str, str]:
    """Return the known release to read for ``version``, and the source with what was done."""
    all_known = releases(root)
    known = f"kdoctor knows {root} {_minor(all_known[0])} to {all_known[-1]}."
    if not version:
        return all_known[-1], source
    wanted = _parsed(root, version, known).release
    given = version.count(".") + 1
    begins = [
        r for r in all_known if Version(r).release[: min(given, 2)] == wanted[: min(given, 2)]
    ]
    if begins:
        # Patches of one minor share an API; the data holds the last one.
        chosen = begins[-1]
    else:
        older = [r for r in all_known if Version(r).release <= wanted]
        if not older or older[-1] == all_known[-1]:
            raise UsageProblem(f"{root} {version} is not known: {known}")
        chosen = older[-1]
    if (given >= 3 and Version(chosen) != Version(version)) or not begins:
        source = f"{source}; read as {root} {chosen}, the nearest release known"
    return chosen, source


def _parsed(name: str, version: str, known: str) -> Version:
    try:
        return Version(version)
    except InvalidVersion:
        raise UsageProblem(f"'{version}' is no version of {name}: {known}") from None


def _shown(version: str, known: str) -> str:
    return version if version.count(".") >= 2 else known


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
