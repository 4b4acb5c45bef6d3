"""`metrics=[PSNR]`: the logs call a metric function `psnr`, in snake case."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.queries import File, called, files
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.training.logs import is_written, names_in_logs
from kdoctor.model import Finding, Severity
from kdoctor.rules.fixes.log_names import write_log_name
from kdoctor.rules.fixes.snake_case import in_snake_case
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import BindingKind

_FUNCTIONS = (BindingKind.FUNCTION, BindingKind.IMPORT)


def _names_one(form: object) -> bool:
    return isinstance(form, list | tuple) and any(
        isinstance(each, Expression)
        and each.kind == "Name"
        and in_snake_case(each.name) != each.name
        for each in form
    )


@rule(
    "KD443",
    severity=Severity.ERROR,
    since="3.0",
    only_alone=True,
    look_for=files(called("compile").passing("metrics", where=_names_one)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each use of a name that the logs do not have."""
    module = file.module
    named = {each for each in _metrics(module) if not _is_given(module, each)}
    if not named:
        return
    for node, name, what in names_in_logs(module):
        metric = name.removeprefix("val_")
        if metric in named:
            yield _finding(file, node, name, what)


def _metrics(module: Module) -> Iterator[str]:
    """Yield the functions with capitals that are measured."""
    for node in module.nodes(cst.Call):
        if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "compile":
            continue
        given = argument(node, "metrics")
        value = None if given is None else value_of(module, given.value)
        if isinstance(value, cst.List | cst.Tuple) and module.qualified(node.func) is None:
            yield from (
                each.value.value
                for each in value.elements
                if isinstance(each.value, cst.Name) and _is_function(module, each.value)
            )


def _is_function(module: Module, name: cst.Name) -> bool:
    bindings = module.bindings_at(name)
    return (
        in_snake_case(name.value) != name.value
        and bool(bindings)
        and all(each.kind in _FUNCTIONS for each in bindings)
    )


def _is_given(module: Module, name: str) -> bool:
    """Say whether something else of the file may be called so in the logs."""
    return is_written(module, name) or any(
        (given := argument(each, "name")) is not None and literal(given.value) == name
        for each in module.nodes(cst.Call)
    )


def _finding(file: File, node: cst.SimpleString, old: str, what: str) -> Finding:
    metric = old.removeprefix("val_")
    new = old.removesuffix(metric) + in_snake_case(metric)
    return file.finding(
        f"`{metric}` appears as `{in_snake_case(metric)}` in the logs: {what}",
        symbol=f"History.history[{old}]",
        at=node,
        help=f"Write `{new}`.",
        fix=write_log_name(file, node, old, new),
    )
