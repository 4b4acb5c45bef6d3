"""``history.history["acc"]`` after ``metrics=["accuracy"]``: the key is the name you passed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.queries import File, called, files
from kdoctor.analysis.queries.conditions import texts
from kdoctor.analysis.queries.forms import DictForm
from kdoctor.analysis.training.logs import (
    NO_PATH,
    fields_of_paths,
    keys_of_logs,
    monitored,
)
from kdoctor.analysis.training.loss_names import LONG_NAMES
from kdoctor.lazy_regex import pattern
from kdoctor.model import Finding, Severity
from kdoctor.rules.fixes.log_names import renamed
from kdoctor.rules.fixes.snake_case import in_snake_case
from kdoctor.rules.members._log_key_fallbacks import has_a_fallback
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

_NAMES = {
    "acc": ("accuracy",),
    "accuracy": ("acc",),
    **{
        long: tuple(short for short, other in LONG_NAMES.items() if other == long)
        for long in LONG_NAMES.values()
        if long.startswith("mean_")
    },
}
"""What stands in the logs by the names on the right, where these are what `compile` was given."""
_GIVEN = frozenset(chain.from_iterable(_NAMES.values()))
_ANY = "|".join(sorted(_NAMES, key=len, reverse=True))
_KEY = pattern(rf"(?P<output>\w+_)?(?P<leaf>{_ANY})")
_ENDING = pattern(rf"(?<![a-zA-Z0-9])(?:{'|'.join(sorted({*_NAMES, *_GIVEN}))})(?!\w)")
_FIELD = pattern(rf"\{{((?:\w+_)?(?:{_ANY}))(?=[:!}}])")


def _names_one(metrics: object) -> bool:
    """Say whether one of these is named in the form of a list or a dict, however deep."""
    if isinstance(metrics, DictForm):
        return any(_names_one(each) for pair in metrics.items for each in pair)
    if isinstance(metrics, list | tuple):
        return any(map(_names_one, metrics))
    return isinstance(metrics, str) and metrics in _GIVEN


def _name_one_otherwise(written: str) -> bool:
    found = set(_ENDING.findall(written))
    return any(not found.isdisjoint(_NAMES.get(each, ())) for each in found)


@rule(
    "KD215",
    severity=Severity.ERROR,
    only_alone=True,
    look_for=files(
        called("compile").passing("metrics", where=_names_one),
        texts(_name_one_otherwise),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each key and each monitored name that no metric of the file has."""
    module = file.module
    named = _named_by_compile(module)
    if not named:
        return
    unnamed = _may_be_named(module)
    fields = ((node, name, NO_PATH) for node, name in fields_of_paths(module, _FIELD))
    keys = (
        (node, node.raw_value, what)
        for node, what in keys_of_logs(module)
        if _others(node.raw_value.removeprefix("val_")) & named
        and not has_a_fallback(module, node, _alike(node.raw_value))
    )
    watched = ((node, node.raw_value, what) for node, what in monitored(module))
    for node, old, what in (*fields, *keys, *watched):
        metric = old.removeprefix("val_")
        others = _others(metric) & named
        found = _KEY.fullmatch(metric)
        if found is None or len(others) != 1 or metric in named or found["leaf"] in unnamed:
            continue
        if not module.is_guarded(node):
            yield _finding(file, node, (old, old.removesuffix(metric) + min(others)), what)


def _others(metric: str) -> frozenset[str]:
    """Return how such a metric is called otherwise, nothing of anything else."""
    found = _KEY.fullmatch(metric)
    if found is None:
        return frozenset()
    return frozenset(f"{found['output'] or ''}{each}" for each in _NAMES[found["leaf"]])


def _alike(key: str) -> frozenset[str]:
    """Return the keys that stand beside one in the logs, under each of their names."""
    metric = key.removeprefix("val_")
    return frozenset(
        f"{prefix}{name}" for prefix in ("", "val_") for name in (metric, *_others(metric))
    )


def _named_by_compile(module: Module) -> set[str] | None:
    """Return the metrics that are named in this file, None where one is not written out."""
    found: set[str] = set()
    for node in module.nodes(cst.Call):
        if not isinstance(node.func, cst.Attribute):
            continue
        if node.func.attr.value != "compile" or module.qualified(node.func) is not None:
            continue
        metrics = argument(node, "metrics")
        if metrics is None:
            if any(each.star for each in node.args) or len(node.args) > 2:
                return None
            continue
        names = _named(value_of(module, metrics.value))
        if names is None:
            return None
        found |= names
    return found


def _may_be_named(module: Module) -> set[str]:
    """Return what metrics may be called that are functions, or are made in the call."""
    return {
        in_snake_case(each.value)
        for node in module.nodes(cst.Call)
        if (given := argument(node, "metrics")) is not None
        for each in descendants(value_of(module, given.value))
        if isinstance(each, cst.Name)
    }


def _named(metrics: cst.BaseExpression) -> set[str] | None:
    """Return what the metrics of one model are called, as far as they are named by a text."""
    if isinstance(metrics, cst.List | cst.Tuple):
        return _texts([each.value for each in metrics.elements])
    if not isinstance(metrics, cst.Dict):
        return None
    found: set[str] = set()
    for each in metrics.elements:
        if not isinstance(each, cst.DictElement) or not isinstance(each.key, cst.SimpleString):
            return None
        of_one = each.value
        several = of_one.elements if isinstance(of_one, cst.List | cst.Tuple) else None
        names = _texts([of_one] if several is None else [one.value for one in several])
        if names is None:
            return None
        found |= {f"{each.key.raw_value}_{name}" for name in names}
    return found


def _texts(values: Iterable[cst.BaseExpression]) -> set[str] | None:
    found: set[str] = set()
    for each in values:
        if isinstance(each, cst.SimpleString):
            found.add(each.raw_value)
        elif not isinstance(each, cst.Call | cst.Name | cst.Attribute):
            return None
    return found


def _finding(file: File, node: cst.SimpleString, names: tuple[str, str], what: str) -> Finding:
    old, new = names
    quoted = [f"{node.quote}{each}{node.quote}" for each in (new, old)]
    return file.finding(
        f"the metrics in this file have another name: {what}",
        at=node,
        symbol=f"History.history[{old}]",
        help=f"`compile` names the metric: it is `{new}`.",
        fix=file.fix(
            f"Write {quoted[0]} instead of {quoted[1]}", renamed(file.module, node, old, new)
        ),
    )
