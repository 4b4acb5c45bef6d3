"""A custom optimizer with `get_updates`, the protocol of Keras 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import defines
from kdoctor.model import Finding, Severity
from kdoctor.rules.idioms._optimizers.protocols import old_optimizers
from kdoctor.rules.idioms._optimizers.rewrite_class import finding
from kdoctor.rules.idioms._optimizers.updates import HOOK
from kdoctor.rules.rule import rule

_HELP = (
    "Create the state in `build(self, variables)` with `self.add_variable_from_reference(each, "
    "name=…)`; move the body of the loop over variables into `update_step(self, gradient, "
    "variable, learning_rate)`, with `self.assign(variable, new)` for `K.update`; name the rate "
    "`learning_rate`, as in the base class's `get_config`, and pass it to `super().__init__`. "
    "`kdoctor explain KD512` shows such a class, and one that wraps another optimizer."
)


@rule("KD512", severity=Severity.ERROR, since="3.0", look_for=files(defines(HOOK)))
def check(file: File) -> Iterator[Finding]:
    """Report each such class."""
    for optimizer in old_optimizers(file.module, file.facts, {HOOK}):
        yield finding(check, file.module, file.facts, optimizer, _HELP)
