"""TensorFlow, keras and tf_keras: whether they go together, and which of them is ``tf.keras``."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from kdoctor.diagnose.environment.environment import (
    KERAS_3_SINCE,
    LEGACY,
    LEGACY_SINCE,
    MADE_BY_KERAS,
    Environment,
    minor,
    release,
)
from kdoctor.diagnose.environment.facts import newest_for, releases
from kdoctor.diagnose.environment.health_report import (
    Check,
    CheckState,
    Remedy,
    broken,
    ok,
    warning,
)
from kdoctor.diagnose.environment.installed import Installed
from kdoctor.project.decision import goes_with

# keras 2.4 is a door to tf.keras and raises without TensorFlow 2.2. keras 2.3 is the first that
# knows TensorFlow 2 (run: 2.2.4 on TensorFlow 2.4 misses `get_default_graph`), and knows it up to
# 2.2 (run: 2.3.1 on TensorFlow 2.3 misses `_TensorLike`, on 2.2 it trains).
_DOOR, _DOOR_NEEDS = Version("2.4"), Version("2.2")
_KNOWS_TENSORFLOW_2, _KNOWS_IT_UNTIL = Version("2.3"), Version("2.3")


def check(environment: Environment) -> Iterator[Check]:
    """Check that each framework is installed and compatible, and what ``tf.keras`` is."""
    tensorflow, keras, tf_keras = environment.tensorflow, environment.keras, environment.tf_keras
    if tensorflow is None and keras is None:
        yield _nothing(environment)
        return
    yield from _tensorflow(environment)
    yield from _keras(environment)
    if tf_keras is not None:
        yield from _tf_keras(environment, tf_keras)
    if tensorflow is not None:
        yield _which(environment, tensorflow)


def _nothing(environment: Environment) -> Check:
    version = newest_for("tensorflow", environment.python.minor)
    if version is None:
        remedy = Remedy(
            note=f"there is no TensorFlow release for Python {environment.python.minor}: create an "
            f"environment with Python {max_python('tensorflow')}"
        )
    else:
        remedy = environment.install(f"tensorflow=={version}")
    return broken("tensorflow", "neither TensorFlow nor Keras is installed here", remedy)


def max_python(package: str) -> str:
    """Return the newest Python that a release of a package supports."""
    pythons = {python for each in releases(package).values() for python in each.pythons}
    return max(pythons, key=Version)


def _tensorflow(environment: Environment) -> Iterator[Check]:
    found = environment.packages.tensorflows
    if not found:
        return
    versions = {each.version for each in found}
    listed = ", ".join(f"{each.name} {each.version}" for each in found)
    in_one_place = len({each.site for each in found}) == 1
    if len(versions) > 1 and in_one_place:
        newest = max(found, key=lambda each: each.version)
        others = [each.name for each in found if each is not newest]
        message = f"{listed} are installed on top of each other: their files are mixed"
        remedy = environment.uninstall(*others)
        again = environment.install(
            f"{newest.name}=={newest.version}", options=("--force-reinstall", "--no-deps")
        )
        yield broken(
            "tensorflow", message, Remedy(f"{remedy.command} && {again.command}"), _places(found)
        )
        return
    if environment.module("tensorflow") is None:
        names = ", ".join(each.name for each in found)
        again = environment.install(
            *(f"{each.name}=={each.version}" for each in found),
            options=("--force-reinstall", "--no-deps"),
        )
        yield broken(
            "tensorflow", f"{names} is installed according to its metadata, but has no files", again
        )
        return
    yield ok("tensorflow", listed)


def _keras(environment: Environment) -> Iterator[Check]:
    tensorflow, keras = environment.tensorflow, environment.keras
    if keras is None:
        if tensorflow is None:
            return
        if release(tensorflow.version) < MADE_BY_KERAS:
            yield ok("keras", "not installed; tf.keras does not need it")
        elif environment.wants_tf_keras:
            yield ok("keras", "not installed; tf.keras is tf_keras and does not need it")
        else:
            message = f"not installed, but tensorflow {tensorflow.version} takes tf.keras from it"
            yield broken("keras", message, environment.install(keras_for(tensorflow)))
        return
    if tensorflow is None:
        yield _alone(environment, keras)
        return
    yield _pair(environment, keras, tensorflow)


def _alone(environment: Environment, keras: Installed) -> Check:
    if keras.version.major >= 3:
        return ok("keras", str(keras.version))
    wanted = tensorflow_for(keras.version)
    supported = {python for each in wanted.values() for python in each}
    if environment.python.minor not in supported:
        note = (
            f"there is no compatible TensorFlow for Python {environment.python.minor}: create an "
            f"environment with Python {max(supported, key=Version)}"
            if supported
            else "there is no compatible TensorFlow"
        )
        command = environment.install("keras>=3").command
        return broken(
            "keras",
            f"{keras.version} needs TensorFlow, which is not installed",
            Remedy(
                command, f"Keras 3 runs here, but is a different Keras; to keep this one: {note}"
            ),
        )
    version = max(
        (Version(each) for each, pythons in wanted.items() if environment.python.minor in pythons)
    )
    return broken(
        "keras",
        f"{keras.version} needs TensorFlow, which is not installed",
        environment.install(f"tensorflow=={version}"),
    )


def tensorflow_for(keras: Version) -> dict[str, tuple[str, ...]]:
    """Return the releases of TensorFlow compatible with a Keras 2, and their Pythons."""
    return {
        version: each.pythons
        for version, each in releases("tensorflow").items()
        if goes_with(keras, Version(version)) and is_known_pair(keras, Version(version))
    }


def _pair(environment: Environment, keras: Installed, tensorflow: Installed) -> Check:
    own, beside = release(keras.version), release(tensorflow.version)
    if goes_with(own, beside) and is_known_pair(own, beside):
        return ok("keras", str(keras.version))
    requirement = keras_for(tensorflow)
    if own.major >= 3 and LEGACY_SINCE <= beside < KERAS_3_SINCE:
        # Run: keras 3.0.5 on TensorFlow 2.15.1 builds, calls and saves a tf.keras model.
        return warning(
            "keras",
            f"{keras.version} is not what tensorflow {tensorflow.version} requires; tf.keras is "
            "Keras 3 with it, which the first such releases tolerate",
            environment.install(requirement),
        )
    made_for = "TensorFlow 2.16 and later" if own.major >= 3 else _made_for(own)
    return broken(
        "keras",
        f"{keras.version} is for {made_for} and does not work with tensorflow {tensorflow.version}"
        + (", nor does tf.keras" if beside >= MADE_BY_KERAS else ""),
        environment.install(requirement),
    )


def is_known_pair(keras: Version, tensorflow: Version) -> bool:
    """Say whether a Keras from before 2.6 is old enough for this TensorFlow, and new enough."""
    if keras >= MADE_BY_KERAS:
        return True
    if keras >= _DOOR:
        return tensorflow >= _DOOR_NEEDS
    return tensorflow.major < 2 or (keras >= _KNOWS_TENSORFLOW_2 and tensorflow < _KNOWS_IT_UNTIL)


def _made_for(keras: Version) -> str:
    if keras >= MADE_BY_KERAS:
        return f"TensorFlow {minor(keras)}"
    if keras >= _DOOR:
        return "TensorFlow 2.2 to 2.5"
    return "TensorFlow up to 2.2" if keras >= _KNOWS_TENSORFLOW_2 else "TensorFlow 1"


def keras_for(tensorflow: Installed) -> str:
    """Return the requirement on keras of a TensorFlow, its own where it has one."""
    for requirement in tensorflow.requirements:
        if requirement.name == "keras" and str(requirement.specifier):
            return f"keras{requirement.specifier}"
    version = release(tensorflow.version)
    if version >= KERAS_3_SINCE:
        return "keras>=3"
    if version >= MADE_BY_KERAS:
        return f"keras=={minor(version)}.*"
    return "keras==2.4.3" if version >= _DOOR_NEEDS else "keras==2.3.1"


def tf_keras_for(tensorflow: Installed) -> str:
    """Return the tf_keras requirement of a TensorFlow: the same minor release."""
    return f"tf_keras=={minor(release(tensorflow.version))}.*"


def install_tf_keras(environment: Environment, tensorflow: Installed) -> Remedy:
    """Return the command that installs the tf_keras of a TensorFlow without changing it."""
    # tf_keras asks for the package "tensorflow": pip would put it over a tensorflow-cpu.
    options = () if tensorflow.name == "tensorflow" else ("--no-deps",)
    return environment.install(tf_keras_for(tensorflow), options=options)


def _tf_keras(environment: Environment, tf_keras: Installed) -> Iterator[Check]:
    tensorflow = environment.tensorflow
    if tensorflow is None:
        message = f"{tf_keras.version} needs TensorFlow, which is not installed"
        requirement = f"tensorflow=={minor(release(tf_keras.version))}.*"
        yield broken("tf_keras", message, environment.install(requirement))
        return
    if minor(release(tf_keras.version)) == minor(release(tensorflow.version)):
        yield ok("tf_keras", str(tf_keras.version))
        return
    message = (
        f"{tf_keras.version} is for TensorFlow {minor(release(tf_keras.version))}, "
        f"but tensorflow {tensorflow.version} is installed"
    )
    # What is not used does no harm.
    fails = environment.wants_tf_keras and not _may_run_beside(tf_keras.version, tensorflow.version)
    say = broken if fails else warning
    yield say("tf_keras", message, install_tf_keras(environment, tensorflow))


def _may_run_beside(tf_keras: Version, tensorflow: Version) -> bool:
    """Say whether a tf_keras is known to work with a TensorFlow that it was not made for.

    Run: 2.16 and 2.17 build and fit a model on TensorFlow 2.18; 2.21 on 2.18 and 2.15 on 2.21
    cannot be imported.
    """
    return tf_keras < tensorflow and (tf_keras >= KERAS_3_SINCE or tensorflow < KERAS_3_SINCE)


def _which(environment: Environment, tensorflow: Installed) -> Check:
    """Say which Keras ``tf.keras`` really is."""
    version = release(tensorflow.version)
    if version < MADE_BY_KERAS:
        return ok("tf.keras", f"is TensorFlow's own Keras 2, not the package keras ({version})")
    value = environment.variables.get(LEGACY)
    if environment.wants_tf_keras:
        if environment.tf_keras is None:
            message = f"not available: {LEGACY}={value} makes it tf_keras, which is not installed"
            return broken("tf.keras", message, install_tf_keras(environment, tensorflow))
        own = next(_tf_keras(environment, environment.tf_keras))
        if own.state is CheckState.BROKEN:
            return broken("tf.keras", "cannot be imported, as tf_keras is broken", own.remedy)
        return ok("tf.keras", f"is tf_keras {environment.tf_keras.version} ({LEGACY}={value})")
    keras = next(_keras(environment))
    if keras.state is CheckState.BROKEN:
        return broken("tf.keras", "cannot be imported, as keras is broken", keras.remedy)
    assert environment.keras is not None
    return ok("tf.keras", f"is keras {environment.keras.version}")


def _places(found: tuple[Installed, ...]) -> str:
    return ", ".join(str(each.metadata) for each in found)
