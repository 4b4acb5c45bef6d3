"""Tests without side effects, which may be removed."""

from __future__ import annotations

import libcst as cst

from kdoctor.rewrite.roots import key_of
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

# What a test does beside giving an answer: to go through an iterator leaves nothing of it.
_ACTS = (cst.Await, cst.BaseComp, cst.NamedExpr, cst.Yield)
_BUILTINS = frozenset({
    "abs", "bool", "callable", "float", "getattr", "hasattr", "int", "isinstance", "issubclass",
    "len", "str", "type",
})  # fmt: skip
_GIVE_TEXTS = frozenset({
    "importlib.metadata.version", "importlib_metadata.version", "os.environ.get", "os.getenv",
    "platform.machine", "platform.python_version", "platform.system",
})  # fmt: skip
_FUNCTIONS = _GIVE_TEXTS | {
    "distutils.version.LooseVersion", "distutils.version.StrictVersion",
    "looseversion.LooseVersion", "looseversion.StrictVersion", "packaging.version.Version",
    "packaging.version.parse", "pkg_resources.parse_version", "tensorflow.executing_eagerly",
    "tensorflow.is_tensor", "tensorflow.rank",
}  # fmt: skip
# Of any root of Keras, under the name that the template's root has for them.
_OF_KERAS = frozenset({
    "backend", "dtype", "epsilon", "floatx", "image_data_format", "image_dim_ordering",
    "int_shape", "is_keras_tensor", "is_sparse", "is_tensor", "ndim",
})  # fmt: skip
_MODULES_OF_KERAS = ("keras.backend.", "keras.config.")
_OF_TEXTS = frozenset({
    "endswith", "lower", "lstrip", "partition", "replace", "rpartition", "rsplit", "rstrip",
    "split", "startswith", "strip", "upper",
})  # fmt: skip
_TEXTS = frozenset({"os.name", "sys.platform", "sys.version"})


def is_pure_test(module: Module, test: cst.BaseExpression) -> bool:
    """Say whether evaluating a test has no side effect."""
    return not any(
        isinstance(each, _ACTS) or (isinstance(each, cst.Call) and not _only_answers(module, each))
        for each in descendants(test)
    )


def _only_answers(module: Module, call: cst.Call) -> bool:
    function = call.func
    name = module.qualified(function)
    if name is not None:
        key = key_of(name)
        of_keras = any(key == f"{each}{key.rpartition('.')[2]}" for each in _MODULES_OF_KERAS)
        if name in _FUNCTIONS or (of_keras and key.rpartition(".")[2] in _OF_KERAS):
            return True
    match function:
        case cst.Name(value=value):
            owner = module.scope_of(function).owner(value)
            return value in _BUILTINS and owner is None
        case cst.Attribute(value=owner, attr=cst.Name(value=value)):
            return value in _OF_TEXTS and _is_text(module, owner)
    return False


def _is_text(module: Module, value: cst.BaseExpression) -> bool:
    """Say whether a value is a text: an object of another class may do anything in ``split``."""
    match value:
        case cst.BaseString():
            return True
        case cst.Subscript(value=cst.Call(func=cst.Attribute(value=inner))):  # one of its parts
            return _is_text(module, inner)
        case cst.Call(func=cst.Name(value="str") as function):
            return module.scope_of(function).owner("str") is None
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=method))) if (
            method in _OF_TEXTS and _is_text(module, inner)
        ):
            return True
        case cst.Call(func=function):
            name = module.qualified(function) or ""
            return name in _GIVE_TEXTS or key_of(name) == "keras.backend.backend"
        case cst.Name() | cst.Attribute():
            name = module.qualified(value) or ""
            return name in _TEXTS or name.endswith(".__version__")
    return False
