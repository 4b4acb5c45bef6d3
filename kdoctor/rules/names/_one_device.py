"""`multi_gpu_model(model, 2)`: on one device the model itself gives the same."""

from __future__ import annotations

from functools import lru_cache

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import Lookup
from kdoctor.model import Applicability, Fix, NoFix
from kdoctor.rewrite import RewriteTable, rewrite
from kdoctor.rewrite.guard_base import Guard, GuardAnswer, UseSite
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.libcst_walk import descendants

_ARGUMENTS = "model, gpus=None, cpu_merge=True, cpu_relocation=False"
_DEVICES = frozenset({"gpus", "cpu_merge", "cpu_relocation"})
_ACTS = (cst.Call, cst.Await, cst.NamedExpr, cst.Yield)


class _NamesDevices(Guard):
    """What is said of devices is only read: it may go."""

    parameters = pins = _DEVICES

    def __str__(self) -> str:
        return "names_devices"

    def decide(self, use_site: UseSite) -> GuardAnswer:
        values = [use_site.value(each) for each in sorted(_DEVICES)]
        return GuardAnswer.of(
            *(
                not any(isinstance(each, _ACTS) for each in (value, *descendants(value)))
                for value in values
                if value is not None
            )
        )

    def obstacles(self, use_site: UseSite) -> tuple[str, ...]:
        is_read = self.decide(use_site) is GuardAnswer.YES
        return () if is_read else ("the arguments call something",)


_ROWS = tuple(
    rewrite(f"keras.utils.{module}multi_gpu_model({_ARGUMENTS})", "model", _NamesDevices())
    for module in ("", "training_utils.", "multi_gpu_utils.")
)
_ON_ONE = (
    "it then trains on one device: for several, build and compile it under the scope of a "
    "`tf.distribute.MirroredStrategy`"
)


def on_one_device(
    module: Module, facts: TargetFacts, reference: Reference, found: Lookup
) -> Fix | None:
    """Return the fix that takes the model itself: each copy of it had the same weights."""
    if found.qualified.rpartition(".")[2] != "multi_gpu_model":
        return None
    attempt = _table(facts).attempt(module, reference, lambda _: Applicability.UNSAFE)
    if isinstance(attempt, NoFix):
        return None
    return replace(attempt, title="Take the model itself", unsafe_because=_ON_ONE)


@lru_cache(maxsize=8)
def _table(facts: TargetFacts) -> RewriteTable:
    return RewriteTable(_ROWS, facts.signature)
