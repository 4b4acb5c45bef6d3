"""Libraries built on Keras, mostly from Keras 2 times, and what they need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from packaging.utils import canonicalize_name
from packaging.version import Version

from kdoctor.diagnose.environment.checks.searching import set_by_the_project
from kdoctor.diagnose.environment.environment import Environment, release
from kdoctor.diagnose.environment.health_report import Check, Remedy, broken, ok, warning
from kdoctor.diagnose.environment.installed import Installed
from kdoctor.keras_api import Presence, lookup, resolve_target
from kdoctor.project.evidence import distribution_of

FRAMEWORK: Final = "SM_FRAMEWORK"
_LIBRARIES: Final = (
    *("segmentation-models", "efficientnet", "image-classifiers"),
    *("keras-applications", "keras-contrib", "tensorflow-addons"),
)
_KERAS_3: Final = Version("3")
# Run: tensorflow-addons 0.23.0 imports keras.src.engine, which Keras 3 has not, with or without
# TF_USE_LEGACY_KERAS; beside TensorFlow 2.15 with Keras 2.15 it imports.
_NO_MORE_ADDONS: Final = Version("2.16")
_GENERIC: Final = "keras.utils.generic_utils"


def check(environment: Environment) -> Iterator[Check]:
    """Check that each installed library has what it needs."""
    for name in _LIBRARIES:
        library = environment.packages.get(name)
        if library is None:
            continue
        found = [*_requirements(environment, library), *_own(environment, library)]
        yield from found or [ok(library.name, str(library.version))]


def _requirements(environment: Environment, library: Installed) -> Iterator[Check]:
    for requirement in library.requirements:
        marker = requirement.marker
        if marker is not None and not marker.evaluate({**environment.python.markers, "extra": ""}):
            continue
        if distribution_of(requirement.name) is not None:
            continue
        installed = environment.packages.get(requirement.name)
        wanted = f"{requirement.name}{requirement.specifier}"
        remedy = environment.install(wanted)
        if installed is None:
            message = f"{library.version} needs {wanted}, which is not installed"
            yield broken(library.name, message, remedy)
        elif not requirement.specifier.contains(installed.version, prereleases=True):
            message = f"{library.version} requires {wanted}, but {installed.version} is installed"
            yield warning(library.name, message, remedy)


def _own(environment: Environment, library: Installed) -> Iterator[Check]:
    match canonicalize_name(library.name):
        case "segmentation-models":
            yield from _segmentation_models(environment, library)
        case "efficientnet" if not _has_generic_utils(environment):
            message = (
                f"{library.version}: efficientnet.keras cannot be imported here "
                f"({_GENERIC} was removed); efficientnet.tfkeras can"
            )
            yield ok(library.name, message)
        case "keras-contrib" if environment.has_keras_3:
            # Run: its layers import with Keras 3 and raise when data comes (see KD106).
            message = (
                f"{library.version} was abandoned before Keras 3: with keras "
                f"{_version(environment)} its applications cannot be imported, and most of its "
                "layers raise when called"
            )
            note = "`kdoctor scan` shows what replaces each name"
            yield warning(library.name, message, Remedy(note=note))
        case "tensorflow-addons":
            yield from _addons(environment, library)


def _segmentation_models(environment: Environment, library: Installed) -> Iterator[Check]:
    value = environment.variables.get(FRAMEWORK)
    to_tf_keras = environment.set(FRAMEWORK, "tf.keras")
    if value is not None and value.lower() not in {"keras", "tf.keras"}:
        message = f"{FRAMEWORK}={value}: importing segmentation_models raises ValueError"
        yield broken(FRAMEWORK, message, to_tf_keras)
        return
    if value is not None and value.lower() == "tf.keras":
        if environment.tensorflow is None:
            message = f"{library.version} should use tf.keras, but TensorFlow is not installed"
            yield broken(library.name, message, environment.install("tensorflow"))
        return
    if _has_generic_utils(environment):
        return
    place = set_by_the_project(environment.folder, FRAMEWORK)
    said = f"{FRAMEWORK} is not set" if value is None else f"{FRAMEWORK}={value}"
    if place is not None:
        yield ok(FRAMEWORK, f"{said} in the shell; {place} mentions it")
        return
    message = (
        f"{said}: segmentation_models {library.version} then uses the package keras, and "
        f"importing it raises AttributeError: module 'keras.utils' has no attribute 'generic_utils'"
    )
    if environment.keras is None:
        message = f"{said}: segmentation_models then uses the package keras, which is missing"
    yield broken(FRAMEWORK, message, Remedy(to_tf_keras.command, _BEFORE))


_BEFORE: Final = (
    'in a program: os.environ["SM_FRAMEWORK"] = "tf.keras" above the import of segmentation_models'
)


def _addons(environment: Environment, library: Installed) -> Iterator[Check]:
    tensorflow = environment.tensorflow
    if tensorflow is None:
        message = f"{library.version} needs TensorFlow, which is not installed"
        yield broken(library.name, message, environment.install("tensorflow==2.15.*"))
    elif release(tensorflow.version) >= _NO_MORE_ADDONS and environment.has_keras_3:
        message = (
            f"{library.version} cannot be imported with keras {_version(environment)}: it is for "
            "Keras 2, its last release for TensorFlow 2.15"
        )
        cure = environment.uninstall(library.name)
        note = "Keras 3 has AdamW, F1Score and SpectralNormalization itself"
        yield broken(library.name, message, Remedy(cure.command, note))


def _has_generic_utils(environment: Environment) -> bool:
    """Say whether the ``keras`` here shows the module that efficientnet.keras reads."""
    if environment.keras is None:
        return False
    version = ".".join(map(str, environment.keras.version.release[:2]))
    if environment.keras.version.major >= _KERAS_3.major:
        return False
    target = resolve_target(f"keras=={version}", "")
    return lookup(_GENERIC, target).presence is not Presence.MISSING


def _version(environment: Environment) -> str:
    return str(environment.keras.version) if environment.keras is not None else ""
