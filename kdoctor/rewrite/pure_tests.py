"""Tests that may go: what is asked does nothing but give an answer."""

from __future__ import annotations

import libcst as cst

from kdoctor.rewrite.roots import key_of
from kdoctor.syntax import Module
from kdoctor.syntax.walk import descendants

# What a test does beside giving an answer: to go through an iterator leaves nothing of it.
_ACTS = (cst.Await, cst.BaseComp, cst.NamedExpr, cst.Yield)
_BUILTINS = frozenset({
    "abs", "bool", "callable", "float", "getattr", "hasattr", "int", "isinstance", "issubclass",
    "len", "str", "type",
})  # fmt: skip
_FUNCTIONS = frozenset({
    "distutils.version.LooseVersion", "distutils.version.StrictVersion",
    "importlib.metadata.version", "importlib_metadata.version", "looseversion.LooseVersion",
    "looseversion.StrictVersion", "os.environ.get", "os.getenv", "packaging.version.Version",
    "packaging.version.parse", "pkg_resources.parse_version", "platform.machine",
    "platform.python_version", "platform.system", "tensorflow.executing_eagerly",
    "tensorflow.is_tensor", "tensorflow.rank",
})  # fmt: skip
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


def only_asks(module: Module, test: cst.BaseExpression) -> bool:
    """Say whether working out a test does nothing but give an answer."""
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
        case cst.Attribute(attr=cst.Name(value=value)):
            return value in _OF_TEXTS
    return False
