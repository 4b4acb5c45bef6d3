"""A custom optimizer with `_resource_apply_dense` and slots, the protocol of `tf.keras` up to 2.10."""  # noqa: E501 - as on its page

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import defines
from kdoctor.model import Finding, Severity
from kdoctor.rules.idioms._optimizers.protocols import old_optimizers
from kdoctor.rules.idioms._optimizers.resource import DENSE, PREPARE, SLOTS, SPARSE
from kdoctor.rules.idioms._optimizers.rewrite_class import finding
from kdoctor.rules.idioms._optimizers.updates import HOOK
from kdoctor.rules.rule import rule

_HOOKS = frozenset({DENSE, SPARSE, SLOTS, PREPARE})
_HELP = (
    "Create the slots in `build(self, variables)` with "
    "`self.add_variable_from_reference(variable, name=…)`; write the update as "
    "`update_step(self, gradient, variable, learning_rate)`; keep hyperparameters as plain "
    "attributes and pass `learning_rate` to `super().__init__`. `kdoctor explain KD511` lists "
    "the replacements, `kdoctor explain KD512` shows such a class."
)


@rule("KD511", severity=Severity.ERROR, since="3.0", look_for=files(defines(*_HOOKS)))
def check(file: File) -> Iterator[Finding]:
    """Report each such class; of one that has `get_updates` as well KD512 tells."""
    for optimizer in old_optimizers(file.module, file.facts, _HOOKS):
        if HOOK not in optimizer.methods:
            yield finding(check, file.module, file.facts, optimizer, _HELP)
