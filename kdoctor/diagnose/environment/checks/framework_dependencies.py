"""Requirements of the frameworks, compared with what is installed.

That a wheel asks for less than what is installed breaks nothing by itself: TensorFlow 2.13 asks
for NumPy up to 1.24.3 and runs with 1.26. What was tried (``neighbours.json``) decides between a
warning and broken; so does what no wheel says: TensorFlow 2.10 allows NumPy 2, and fails with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kdoctor.diagnose.environment.environment import Environment, release
from kdoctor.diagnose.environment.facts import Neighbour, neighbours
from kdoctor.diagnose.environment.health_report import Check, broken, ok, warning
from kdoctor.diagnose.environment.installed import Installed
from kdoctor.project.evidence import distribution_of

SHOWN = ("numpy", "protobuf", "h5py", "ml-dtypes")
# What `import tensorflow` and `import keras` do without (run with TensorFlow 2.10 to 2.21).
_NOT_AT_IMPORT = {
    *("libclang", "google-pasta", "grpcio", "keras-preprocessing", "setuptools", "tensorboard"),
    *("tensorflow-estimator", "tensorflow-io-gcs-filesystem"),
}


def check(environment: Environment) -> Iterator[Check]:
    """Compare the requirements of TensorFlow, keras and tf_keras with what is installed."""
    said = set()
    for asking in _asking(environment):
        for requirement in asking.requirements:
            if not _counts(requirement, environment):
                continue
            name = canonicalize_name(requirement.name)
            found = _compared(environment, asking, requirement)
            if found is not None and name not in said:
                said.add(name)
                yield found
    for name in map(canonicalize_name, SHOWN):
        installed = environment.packages.get(name)
        if name in said or installed is None:
            continue
        tried = _tried(environment, installed)
        if tried is not None and tried.error:
            yield _does_not_run(environment, installed, tried)
        else:
            yield ok(name, str(installed.version))


def _asking(environment: Environment) -> list[Installed]:
    own = (*environment.packages.tensorflows, environment.keras, environment.tf_keras)
    return [each for each in own if each is not None]


def _counts(requirement: Requirement, environment: Environment) -> bool:
    """Say whether a requirement is on this platform, and is not one that other checks judge."""
    if distribution_of(requirement.name) is not None:
        return False
    marker = requirement.marker
    return marker is None or marker.evaluate({**environment.python.markers, "extra": ""})


def _compared(
    environment: Environment, asking: Installed, requirement: Requirement
) -> Check | None:
    installed = environment.packages.get(requirement.name)
    name = canonicalize_name(requirement.name)
    wanted = f"{asking.name} {asking.version} requires {requirement.name}{requirement.specifier}"
    remedy = environment.install(f"{requirement.name}{_bounds(environment, name)}")
    if installed is None:
        if name in _NOT_AT_IMPORT:
            return warning(name, f"not installed; {wanted}", remedy)
        return broken(name, f"not installed; {wanted}", remedy)
    if requirement.specifier.contains(installed.version, prereleases=True):
        return None
    tried = _tried(environment, installed) if asking.is_tensorflow else None
    if tried is None:
        return warning(name, f"{installed.version} is installed; {wanted}", remedy)
    if tried.error:
        return _does_not_run(environment, installed, tried)
    seen = f"it was seen to run with {tried.version}"
    return warning(name, f"{installed.version} is installed; {wanted}, though {seen}", remedy)


def _tried(environment: Environment, installed: Installed) -> Neighbour | None:
    """Return the recorded trial that applies to the installed version, None if none does.

    What fails with one version fails with newer ones, where older ones ran; and the other way
    round. What ran with one, runs with those between it and others that ran.
    """
    if environment.tensorflow is None:
        return None
    tried = neighbours(release(environment.tensorflow.version), installed.name)
    ran = [each for each in tried if not each.error]
    for each in tried:
        if each.error and _is_too_new(each, ran):
            width = _width(each)
            if each.version.release[:width] <= installed.version.release[:width]:
                return each
    minor = environment.tensorflow.version.release[:2]
    own = [each for each in tried if each.tensorflow.release[:2] == minor]
    for each in own:
        if each.error and not _is_too_new(each, ran) and installed.version <= each.version:
            return each
    # An older TensorFlow may run with what is too old for this one: only its own trials count.
    return next((e for e in own if not e.error and e.version >= installed.version), None)


def _is_too_new(failed: Neighbour, ran: Sequence[Neighbour]) -> bool:
    return all(each.version < failed.version for each in ran)


def _width(failed: Neighbour) -> int:
    """Return how many numbers of a version count: only the major if it broke the ABI."""
    return 1 if failed.version.major > 0 else 2


def _bounds(environment: Environment, name: str) -> str:
    """Return the combined requirements of all frameworks on a package."""
    required = (
        specifier
        for asking in _asking(environment)
        for requirement in asking.requirements
        if canonicalize_name(requirement.name) == name and _counts(requirement, environment)
        for specifier in str(requirement.specifier).split(",")
    )
    return ",".join(dict.fromkeys(filter(None, required)))


def _does_not_run(environment: Environment, installed: Installed, tried: Neighbour) -> Check:
    tensorflow = environment.tensorflow
    assert tensorflow is not None
    beside = neighbours(release(tensorflow.version), installed.name)
    is_new = _is_too_new(tried, [each for each in beside if not each.error])
    limit = ".".join(map(str, tried.version.release[: _width(tried)]))
    required = _bounds(environment, canonicalize_name(installed.name))
    bounds = ",".join(filter(None, [required, f"<{limit}" if is_new else ""]))
    who = "which" if release(tensorflow.version) == tried.tensorflow else f"as {tried.tensorflow}"
    message = (
        f"{installed.version} is too {'new' if is_new else 'old'} for tensorflow "
        f"{tensorflow.version}, {who} fails with {tried.version}: {tried.error}"
    )
    return broken(installed.name, message, environment.install(f"{installed.name}{bounds}"))
