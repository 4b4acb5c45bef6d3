"""`def on_train_batch_end(self, batch, log=None)`: Keras 3 passes `logs` by keyword."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.dataflow.uses import is_keyword_or_member
from kdoctor.analysis.models.user_classes import holds_original_argument
from kdoctor.analysis.queries import Argument, Instance, Method, constructs, methods
from kdoctor.analysis.queries.forms import is_lambda
from kdoctor.analysis.queries.signatures import FormalSignature, signature_of
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_LOGS: Final = "logs"
HOOKS: Final = tuple(
    f"on_{sort}batch_{end}"
    for sort in ("", "train_", "test_", "predict_")
    for end in ("begin", "end")
)
_ERROR: Final = "TypeError: {}() got an unexpected keyword argument 'logs'"


def _takes_no_logs(hook: FormalSignature, place: int = 2) -> bool:
    """Say whether the logs, at this place, cannot be passed by name."""
    return (
        not hook.is_decorated
        and not hook.var_keyword
        and not hook.has_positional_only
        and len(hook.by_position) == place + 1
        and hook.parameter(_LOGS) not in hook.parameters[place:]
    )


@rule(
    "KD460",
    severity=Severity.ERROR,
    since="3.0",
    look_for=methods(*HOOKS, of=Kind.CALLBACK, where=_takes_no_logs)
    | constructs(Instance(Kind.CALLBACK, "LambdaCallback"))
    .even(hidden=True)
    .arguments(*HOOKS, where=is_lambda),
)
def check(hook: Method | Argument) -> Finding | None:
    """Report each such parameter."""
    if isinstance(hook, Method):
        # Who calls it may name the parameter.
        if any(each.attr.value == hook.name for each in hook.module.attributes):
            return None
        name, called, parameter = hook.name, hook.symbol, _by_position(hook.node)[2]
    elif isinstance(hook.node, cst.Lambda) and _takes_no_logs(signature_of(hook.node), 1):
        name, called, parameter = hook.keyword, "<lambda>", _by_position(hook.node)[1]
    else:
        return None
    old = parameter.name.value
    return hook.finding(
        f"Keras 3 passes the logs to `{name}` as `logs=`, not `{old}`: {_ERROR.format(called)}",
        at=parameter.name,
        symbol=f"Callback.{name}({old})",
        confidence=Confidence.CERTAIN,
        help=f"Rename it to `{_LOGS}`.",
        fix=_renaming(hook, parameter),
    )


def _renaming(hook: Method | Argument, parameter: cst.Param) -> Fix | NoFix:
    """Return the fix that calls a parameter ``logs``, unless that means something already."""
    module, function = hook.module, hook.node
    assert isinstance(function, cst.FunctionDef | cst.Lambda)
    refused = NoFix(f"`{_LOGS}` is another name in the function")
    nodes: list[cst.CSTNode] = [parameter.name]
    for each in descendants(function.body):
        if not isinstance(each, cst.Name) or is_keyword_or_member(module, each):
            continue
        if each.value == _LOGS:
            return refused
        if each.value == parameter.name.value:
            if not holds_original_argument(module, each, parameter):
                return refused  # it is bound anew
            nodes.append(each)
    is_called = isinstance(hook, Method) and module.is_written_by_importers(hook.name)
    return hook.fix(
        f"Rename it to `{_LOGS}`",
        *(Edit(module.span(each), (_LOGS,)) for each in nodes),
        unsafe_because="another file may call it with this name of the parameter"
        if is_called
        else "",
    )


def _by_position(function: cst.FunctionDef | cst.Lambda) -> list[cst.Param]:
    return [*function.params.posonly_params, *function.params.params]
