"""Reads of training logs: `fit`'s history, and callbacks' logs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.calls import argument, binding_of, instances, passed, value_of
from kdoctor.analysis.dataflow.uses import names_of_variable
from kdoctor.lazy_regex import pattern
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

NO_PATH = "KeyError: 'Failed to format this callback filepath"
FIELD = pattern(r"\{(\w+)(?=[:!}])")
"""What `ModelCheckpoint` puts into a path: `{val_loss:.2f}`."""
# Where `monitor` and `mode` stand by position.
_PLACES = {"EarlyStopping": (0, 4), "ReduceLROnPlateau": (0, 4), "ModelCheckpoint": (1, 5)}
_ADDING = frozenset({"setdefault", "update"})
_FITS = frozenset({"fit", "fit_generator"})
_GETS_LOGS = pattern(r"on_(?:epoch|batch|train|test|train_batch|test_batch)_end\Z")


def keys_of_logs(module: Module) -> Iterator[tuple[cst.SimpleString, str]]:
    """Yield each key read from a history or logs, and what happens without it.

    They are ``h.history["acc"]`` and ``logs.get("acc")``.
    """
    for node in (*module.nodes(cst.Subscript), *module.nodes(cst.Call)):
        match node:
            case cst.Subscript(
                value=owner,
                slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))],
            ) if _is_history(module, owner):
                yield key, f"KeyError: '{key.raw_value}'"
            case cst.Call(
                func=cst.Attribute(value=owner, attr=cst.Name(value="get")),
                args=[cst.Arg(value=cst.SimpleString() as key), *_],
            ) if _is_history(module, owner):
                yield key, "it returns None"


def logs_asked_for(module: Module, key: cst.SimpleString) -> cst.Name | None:
    """Return the `logs` of a callback's method that is asked for a key, None for a history."""
    for each in module.ancestors(key):
        match each:
            case cst.Subscript(value=cst.Name() as owner) if _is_logs(module, owner):
                return owner
            case cst.Call(func=cst.Attribute(value=cst.Name() as owner)):
                return owner if _is_logs(module, owner) else None
            case cst.BaseExpression():
                return None
    return None


def _is_history(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether an expression is the dict of what ``fit`` returned, or a callback's logs."""
    if isinstance(node, cst.Name) and _is_logs(module, node):
        return True
    node = value_of(module, node)
    if not isinstance(node, cst.Attribute) or node.attr.value != "history":
        return False
    found = module.type_of(node.value)
    if found is not None:
        return found.kind is Kind.HISTORY
    made = value_of(module, node.value)
    return (
        isinstance(made, cst.Call)
        and isinstance(made.func, cst.Attribute)
        and made.func.attr.value in _FITS
    )


def _is_logs(module: Module, name: cst.Name) -> bool:
    """Say whether a name is the last parameter of a function that Keras calls with its logs."""
    bound = binding_of(module, name)
    if bound is None or bound.kind is not BindingKind.PARAMETER:
        return False
    function = bound.scope.node
    if not isinstance(function, cst.FunctionDef | cst.Lambda) or not function.params.params:
        return False
    return function.params.params[-1].name.value == name.value and (
        _is_hook(module, function) or _is_handed_on_as_hook(module, function)
    )


def _is_hook(module: Module, function: cst.FunctionDef | cst.Lambda) -> bool:
    """Say whether it is a method of a callback that gets the logs."""
    if isinstance(function, cst.Lambda) or not _GETS_LOGS.match(function.name.value):
        return False
    around = next(
        (each for each in module.ancestors(function) if isinstance(each, cst.ClassDef)), None
    )
    known = module.oracle.class_type
    bases = [module.qualified(each.value) for each in around.bases] if around is not None else []
    return any(
        made is not None and made.kind is Kind.CALLBACK
        for each in bases
        if (made := known(each or ""))
    )


def _is_handed_on_as_hook(module: Module, function: cst.FunctionDef | cst.Lambda) -> bool:
    """Say whether a ``LambdaCallback`` is given it: ``on_epoch_end=lambda epoch, logs: …``."""
    written: Sequence[cst.BaseExpression] = (
        [function] if isinstance(function, cst.Lambda) else names_of_variable(module, function.name)
    )
    return any(
        isinstance(given, cst.Arg)
        and given.keyword is not None
        and _GETS_LOGS.match(given.keyword.value) is not None
        and isinstance(call, cst.Call)
        and (made := module.type_of(call)) is not None
        and made.kind is Kind.CALLBACK
        and made.cls == "LambdaCallback"
        for each in written
        for given in (module.parent(each),)
        for call in (None if given is None else module.parent(given),)
    )


def fields_of_paths(
    module: Module, field: re.Pattern[str]
) -> Iterator[tuple[cst.SimpleString, str]]:
    """Yield each name in braces in a path of a ``ModelCheckpoint``: group 1 of ``field``."""
    for _, call, made in instances(module, Kind.CALLBACK):
        given = passed(call, "filepath", 0) if made.cls == "ModelCheckpoint" else None
        if given is None:
            continue
        path = value_of(module, given)
        for each in (path, *descendants(path)):
            if isinstance(each, cst.SimpleString):
                yield from ((each, found[1]) for found in field.finditer(each.value))


def monitored(module: Module) -> Iterator[tuple[cst.SimpleString, str]]:
    """Yield each name that a callback monitors, and what happens if it is missing."""
    for _, call, made in instances(module, Kind.CALLBACK):
        places = _PLACES.get(made.cls or "")
        given = passed(call, "monitor", places[0]) if places else None
        if places is None or given is None or not isinstance(given, cst.SimpleString):
            continue
        told = argument(call, "mode", places[1]) is not None
        name = given.raw_value
        yield (
            given,
            "there is nothing of that name to monitor"
            if told
            else f"ValueError: {made.cls} callback received monitor={name}, but Keras isn't able "
            "to automatically determine whether that metric should be maximized or minimized",
        )


def names_in_logs(module: Module) -> Iterator[tuple[cst.SimpleString, str, str]]:
    """Yield each name that the logs are asked for, and what happens if it is missing.

    Not in code that is guarded.
    """
    fields = ((node, name, NO_PATH) for node, name in fields_of_paths(module, FIELD))
    asked = (*keys_of_logs(module), *monitored(module))
    for node, name, what in (*fields, *((node, node.raw_value, what) for node, what in asked)):
        if not module.is_guarded(node):
            yield node, name, what


def is_written(module: Module, key: str) -> bool:
    """Say whether the file may write a log key itself: ``logs["lr"] = …``."""
    return any(
        isinstance(each, cst.SimpleString) and each.raw_value == key
        for place in _stores(module)
        for each in descendants(place)
    )


def _stores(module: Module) -> Iterator[cst.CSTNode]:
    """Yield what is assigned to, and the calls that add to a dict."""
    yield from module.nodes(cst.AssignTarget)
    yield from (
        each
        for each in module.nodes(cst.Call)
        if isinstance(each.func, cst.Attribute) and each.func.attr.value in _ADDING
    )
