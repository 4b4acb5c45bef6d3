"""Target: the Keras version that the code must run on, and how it was determined."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

# The packages that are a Keras, or hold one, in the order in which a version of theirs decides.
FRAMEWORKS: Final = ("keras", "tensorflow", "tf_keras")

LEGACY_SWITCH: Final = "TF_USE_LEGACY_KERAS"
"""The variable of the environment that makes `tf.keras` tf_keras."""
SWITCHES_ON: Final = frozenset({"1", "true", "True"})
"""The values that TensorFlow takes for a yes (its ``lazy_loader.py``)."""


class Target(Struct, frozen=True, cache_hash=True):
    """A distribution and version, e.g. ``keras 3.15.1`` because of ``--target``.

    ``keras_version`` is the release that ``import keras`` gives; ``tf_keras_version`` the release
    that ``tf.keras`` is made of. They differ only for old or mixed installations.
    ``source`` says where we learned it, for people (``--target``, ``newest Keras 3 known``);
    ``inferred``: from the project itself, not asked for. ``assumed``: neither by an
    option nor by a setting, so that what the project installs cannot contradict it. ``beside`` are
    older ones that the code must run on as well.
    """

    name: str
    version: str
    source: str
    keras_version: str
    tf_keras_version: str
    inferred: bool = False
    assumed: bool = False
    beside: tuple[Target, ...] = ()

    @property
    def is_before_keras_3(self) -> bool:
        """Whether neither ``keras`` nor ``tf.keras`` is Keras 3 there."""
        versions = (self.keras_version, self.tf_keras_version)
        return not any(version.startswith("3.") for version in versions)

    @property
    def asked(self) -> bool:
        """Whether an option or a setting asks for it."""
        return not self.assumed

    @property
    def without_source(self) -> Target:
        """The target without where it comes from: the Keras alone."""
        return replace(self, source="", inferred=False, assumed=False, beside=())

    @property
    def as_examined(self) -> Target:
        """The target with what changes a finding, without the rest."""
        beside = tuple(each.as_examined for each in self.beside)
        return replace(self, source="", inferred=False, beside=beside)

    @property
    def every(self) -> tuple[Target, ...]:
        """Each target by itself, the newest first."""
        return (replace(self, beside=()), *self.beside)

    def __str__(self) -> str:
        return f"{self.name} {self.version}"
