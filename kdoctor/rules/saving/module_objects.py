"""``deserialize_keras_object(…, module_objects=globals())`` finds no class of the user's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.queries import Argument, functions
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.fixes.helper_definition import not_added, spelled_helper
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module

NAME: Final = "deserialize_by_name"
HELPER: Final = '''def deserialize_by_name(config, module_objects, custom_objects=None):
    """Find what a module has, by name; text that names a class makes one."""
    given = custom_objects or {{}}
    objects = {{**module_objects, **given}}
    found = {deserialize}(config, custom_objects=objects)
    is_named = isinstance(config, str) and config not in given
    return found() if is_named and isinstance(found, type) else found'''
_NAMES: Final = {"deserialize": "keras.utils.deserialize_keras_object"}
_MODULE_OBJECTS, _CUSTOM_OBJECTS, _PRINTED = (
    "module_objects",
    "custom_objects",
    "printable_module_name",
)
_TAKEN: Final = frozenset({"config", _MODULE_OBJECTS, _CUSTOM_OBJECTS, _PRINTED})
_CALLS: Final = functions("utils.deserialize_keras_object", "saving.deserialize_keras_object")
# Where one of these is used, the classes may be found by it.
_OTHER_WAYS: Final = frozenset({"CustomObjectScope", "custom_object_scope", "get_custom_objects"})
_BEFORE_KERAS = (
    "what `custom_objects` has goes before what Keras has of the same name, also inside the "
    "configuration"
)


@rule(
    "KD621",
    severity=Severity.ERROR,
    since="3.9",
    look_for=_CALLS.argument(_MODULE_OBJECTS),
)
def check(given: Argument) -> Finding | None:
    """Report each that is given the names of a module with classes that nothing registers."""
    module = given.module
    if not _OTHER_WAYS.isdisjoint(module.words) or not _is_names_of_module(given):
        return None
    cls = next(_unregistered(module), None)
    if cls is None:
        return None
    return given.finding(
        f"`module_objects` is not searched for classes that are not registered, such as `{cls}`: "
        f"TypeError: Could not locate class '{cls}'.",
        help="Pass `custom_objects=globals()`; of text that names a class this gives the class: "
        "make an object of it. Or register the classes.",
        fix=_fix(given),
    )


def _is_names_of_module(given: Argument) -> bool:
    """Say whether it is ``globals()``: the classes of the file are among them."""
    value = value_of(given.module, given.node)
    return (
        isinstance(value, cst.Call)
        and isinstance(value.func, cst.Name)
        and value.func.value == "globals"
        and not value.args
        and not given.module.bindings_at(value.func)
    )


def _unregistered(module: Module) -> Iterator[str]:
    """Yield the classes of the module that have a configuration and no decorator."""
    for each in module.tree.body:
        if isinstance(each, cst.ClassDef) and not each.decorators and _has_config(each):
            yield each.name.value


def _has_config(node: cst.ClassDef) -> bool:
    return any(
        isinstance(each, cst.FunctionDef) and each.name.value == "get_config"
        for each in node.body.body
    )


def _fix(given: Argument) -> Fix | NoFix:
    module, call = given.module, given.call
    keywords = {each.keyword.value: each for each in call.args if each.keyword is not None}
    places = len(call.args) - len(keywords)
    if places > 1 or any(each.star for each in call.args) or not keywords.keys() <= _TAKEN:
        return NoFix("kdoctor cannot tell which argument is which")
    printed = keywords.get(_PRINTED)
    gone = remove_arguments(module, call, [printed]) if printed is not None else []
    if gone is None:
        return NoFix("a comment would be lost")
    if _CUSTOM_OBJECTS not in keywords and _is_dict(module, call):
        keyword = keywords[_MODULE_OBJECTS].keyword
        assert keyword is not None
        return given.fix(
            f"Write `{_CUSTOM_OBJECTS}` instead of `{_MODULE_OBJECTS}`",
            Edit(module.span(keyword), (_CUSTOM_OBJECTS,)),
            *gone,
            unsafe_because=_BEFORE_KERAS,
        )
    reference = given.reference
    assert reference is not None
    alike = [each.call for each in given.find(_CALLS.passing(_MODULE_OBJECTS))]
    helper = spelled_helper(module, reference, alike, NAME, (HELPER, _NAMES))
    if helper is None:
        return not_added(NAME)
    return given.fix(
        f"Call `{NAME}`, a function of this file that finds them",
        *helper.edits,
        Edit(module.span(call.func), (NAME,)),
        *gone,
        imports=helper.imports,
        unsafe_because=_BEFORE_KERAS,
    )


def _is_dict(module: Module, call: cst.Call) -> bool:
    """Say whether it runs where ``isinstance(config, dict)`` has just been asked."""
    config = call.args[0].value
    inside: cst.CSTNode = call
    for each in module.ancestors(call):
        if isinstance(each, cst.If) and inside is each.body:
            match each.test:
                case cst.Call(
                    func=cst.Name(value="isinstance"),
                    args=[cst.Arg(value=asked), cst.Arg(value=cst.Name(value="dict"))],
                ):
                    return asked.deep_equals(config)
            return False
        inside = each
    return False
