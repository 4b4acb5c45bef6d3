"""An optimizer shared by two models raises when the second one is trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kdoctor.analysis.queries import File, called, constructs, files
from kdoctor.analysis.queries.conditions import attribute, repeated
from kdoctor.analysis.training.freezing import TRAINING, copy_optimizer_edit
from kdoctor.model import Finding, Severity
from kdoctor.rules.behaviour._shared_optimizers import Compiled, Sharing
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_RAISED = "ValueError: Unknown variable"


@rule(
    "KD446",
    severity=Severity.ERROR,
    since="2.11",
    look_for=files(
        attribute(*TRAINING),
        constructs(Kind.OPTIMIZER),
        repeated(called("compile").passing("optimizer", place=0), "optimizer", 0),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each optimizer of several models, where the second is compiled."""
    sharing = Sharing(file.module)
    if sharing.freezing.is_too_much:
        return
    for clash in sharing.clashes():
        yield _finding(file, clash)


def _finding(file: File, clash: Sequence[Compiled]) -> Finding:
    module = file.module
    ordered = sorted(clash, key=lambda each: module.span(each.given))
    places = {module.span(each.given): each for each in ordered}
    several = list(places.values())
    here = several[min(1, len(several) - 1)]
    written, model = module.source(here.given), module.source(here.use.model)
    made = module.type_of(here.optimizer.call)
    if len(several) == 1:
        message = (
            f"`{written}` is created once, but `{model}` is a new model each time: it only knows "
            f"the weights of the first, and training the second raises `{_RAISED}`"
        )
    else:
        message = (
            f"`{written}` is also the optimizer of `{module.source(several[0].use.model)}`: it "
            "only knows the weights of the model that is trained first, and training the other "
            f"raises `{_RAISED}`"
        )
    changed = several if len(several) == 1 else several[:-1]
    return file.finding(
        message,
        at=here.given,
        symbol=f"{(made and made.cls) or 'Optimizer'}.apply",
        help="Create one optimizer per model.",
        fix=file.fix(
            f"Give each model its own optimizer, a copy of `{written}`",
            *(copy_optimizer_edit(module, each.given) for each in changed),
            unsafe_because="each copy counts the steps of its own model, and a rate that is set "
            "later applies to only one of them",
        ),
    )
