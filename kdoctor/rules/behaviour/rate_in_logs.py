"""`history.history["lr"]`: the learning rate is now logged as `learning_rate`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import instances
from kdoctor.analysis.queries import File, Instance, classes, constructs, files
from kdoctor.analysis.queries.conditions import string
from kdoctor.analysis.training.logs import is_written, keys_of_logs, logs_asked_for
from kdoctor.model import Edit, Finding, Hole, Severity
from kdoctor.rules.fixes.log_names import write_log_name
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_OLD, _NEW = "lr", "learning_rate"
_WRITERS = ("LearningRateScheduler", "ReduceLROnPlateau")


@rule(
    "KD441",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(
        string(_OLD),
        constructs(*(Instance(Kind.CALLBACK, each) for each in _WRITERS)) | classes(Kind.CALLBACK),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such key where only Keras can have written it, or may have in a callback."""
    module = file.module
    asked = [each for each in keys_of_logs(module) if each[0].raw_value == _OLD]
    if not asked or _is_own(module):
        return
    is_of_keras = _is_written_by_keras(file)
    for node, what in asked:
        if module.is_guarded(node):
            continue
        if is_of_keras:
            yield _finding(file, node, what)
        elif (logs := logs_asked_for(module, node)) is not None:
            yield _of_a_callback(file, node, what, logs)


def _is_written_by_keras(file: File) -> bool:
    made = instances(file.module, Kind.CALLBACK, file.facts)
    return any(each.cls in _WRITERS for _, _, each in made)


def _is_own(module: Module) -> bool:
    """Say whether the file may write that key itself, by a callback or a metric so called."""
    return is_written(module, _OLD) or any(
        each.name.value == _OLD for each in module.nodes(cst.FunctionDef)
    )


def _of_a_callback(file: File, node: cst.SimpleString, what: str, logs: cst.Name) -> Finding:
    """Tell of a callback that another file may train with: who writes the key is not seen."""
    module, name = file.module, logs.value
    quoted = f"{node.prefix}{node.quote}{_NEW}{node.quote}"
    key = module.span(node)
    edit = Edit(key, (f"{quoted} if {quoted} in {name} else ", Hole(key)))
    return file.finding(
        f"the callbacks of Keras log the learning rate as `{_NEW}`: {what}",
        symbol=f"History.history[{_OLD}]",
        at=node,
        severity=Severity.LEGACY,
        help=f"Ask for `{_NEW}`, and for `{_OLD}` where a callback of your own writes it.",
        fix=file.fix(
            f"Read `{_NEW}` where it is there",
            edit,
            proven_by=[each for each in check.invalid if " in logs else " in (each.after or "")],
        ),
    )


def _finding(file: File, node: cst.SimpleString, what: str) -> Finding:
    return file.finding(
        f"the learning rate is logged as `{_NEW}`: {what}",
        symbol=f"History.history[{_OLD}]",
        at=node,
        help=f"Use `{_NEW}`.",
        fix=write_log_name(file, node, _OLD, _NEW),
    )
