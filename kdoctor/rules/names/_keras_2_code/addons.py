"""Which names of ``tensorflow_addons`` can be written out; the package is not for Keras 3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Final

import msgspec

from kdoctor.rules.names._keras_2_code.written_out import Helper

PACKAGE: Final = "tensorflow_addons"
_UNLIKE: Final = {
    "StochasticDepth": "other random numbers are drawn",
    "WeightNormalization": "the first batch is put through the weights as they are then, where "
    "`tensorflow_addons` took those that it was built with",
}


WRITTEN: Final = (
    *("gelu", "hardshrink", "lisht", "mish", "snake", "softshrink", "sparsemax", "tanhshrink"),
    *("sigmoid_focal_crossentropy", "SigmoidFocalCrossEntropy", "triplet_semihard_loss"),
    *("TripletSemiHardLoss", "triplet_hard_loss", "TripletHardLoss", "contrastive_loss"),
    *("ContrastiveLoss", "giou_loss", "GIoULoss", "pinball_loss", "PinballLoss"),
    *("WeightedKappaLoss", "CohenKappa", "MatthewsCorrelationCoefficient", "HammingLoss"),
    *("MultiLabelConfusionMatrix", "AdamW", "SGDW", "LazyAdam", "RectifiedAdam", "LAMB"),
    *("Lookahead", "CyclicalLearningRate", "TriangularCyclicalLearningRate"),
    *("Triangular2CyclicalLearningRate", "ExponentialCyclicalLearningRate", "GELU", "Maxout"),
    *("StochasticDepth", "WeightNormalization", "transform", "rotate", "translate"),
    *("angles_to_projective_transforms", "translations_to_projective_transforms"),
    *("compose_transforms", "gaussian_filter2d"),
)
"""The definitions in ``kdoctor.reference.addons`` that have the name of what they stand for."""


class _Name(msgspec.Struct, frozen=True):
    """``parameters``: without types; ``file``: the module below the package that defines it."""

    parameters: str
    file: str


class _Record(msgspec.Struct, frozen=True):
    source: str
    names: dict[str, _Name]


@cache
def recorded() -> _Record:
    """Return the public names of the last release, as `python -m tools.addons_oracle` has them."""
    data = Path(__file__).with_name("addons.json").read_bytes()
    return msgspec.json.decode(data, type=_Record)


def _helpers() -> Iterator[tuple[str, Helper]]:
    for name, about in recorded().names.items():
        home, _, leaf = name.rpartition(".")
        if leaf in WRITTEN:
            helper = Helper(leaf, home, leaf, unlike=_UNLIKE.get(leaf, ""), package=PACKAGE)
            yield name, helper
            yield f"{about.file}.{leaf}", helper


class _Addons:
    """The helpers by their names below the package, read when the first is asked for."""

    @cached_property
    def _found(self) -> Mapping[str, Helper]:
        return dict(_helpers())

    def of(self, name: str) -> tuple[Helper, int] | None:
        """Return the helper that a dotted name is or reads from, and the parts behind it."""
        rest = name.removeprefix(f"{PACKAGE}.")
        beyond = 0
        while rest:
            if (found := self._found.get(rest)) is not None:
                return found, beyond
            rest, _, _ = rest.rpartition(".")
            beyond += 1
        return None

    def all(self) -> tuple[Helper, ...]:
        """Return each helper once."""
        return tuple(dict.fromkeys(self._found.values()))


ADDONS: Final = _Addons()
