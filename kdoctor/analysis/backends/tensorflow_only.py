"""Functions and classes that are TensorFlow's on purpose, whatever the backend of Keras is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import binding_of
from kdoctor.analysis.dataflow.captures import function_around
from kdoctor.analysis.models.user_classes import class_around, decorated_by, with_bases
from kdoctor.analysis.queries.functions_given import function_of
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.project_types import UseElsewhere, UsesElsewhere
from kdoctor.syntax.scopes import ScopeKind

Function = cst.FunctionDef | cst.Lambda

_STEPS: Final = frozenset({"train_step", "test_step", "predict_step"})
_TAPES: Final = frozenset({"tensorflow.GradientTape"})
_TO_ARRAYS: Final = ".convert_to_numpy"
_FUNCTION: Final = "tensorflow.function"
_ROOT: Final = "tensorflow."
_KERAS: Final = "tensorflow.keras."
# These pass nothing to the functions that they are given.
_CALL_AS_IS: Final = frozenset({"tensorflow.case", "tensorflow.cond", "tensorflow.switch_case"})
# Methods of `tf.data.Dataset` that take functions.
_OF_DATASETS: Final = frozenset({
    *("map", "filter", "flat_map", "interleave", "from_generator", "group_by_window", "apply"),
    *("take_while", "scan", "reduce", "bucket_by_sequence_length"),
})  # fmt: skip
_PIPES: Final = pattern(
    r"tf\.data|\.(?:map|filter|interleave|flat_map|from_generator|apply|group_by_window)\s*\("
)
_OF_PYTHON: Final = frozenset({"tensorflow.py_function", "tensorflow.numpy_function"})
# What data is prepared with, and what no other backend has: a layer that works with it runs in the
# pipeline, or before the model.
_PREPARES: Final = (
    *("tensorflow.strings.", "tensorflow.lookup.", "tensorflow.data.", "tensorflow.io."),
    *("tensorflow.ragged.", "tensorflow.RaggedTensor", "tensorflow_text."),
    *_OF_PYTHON,
)
_OTHER_FRAMEWORKS: Final = ("jax.", "torch.")
_PREPARING: Final = pattern(r"(?i)preprocess|tokeniz|vectoriz|augment|tf_?data|datalayer|dataset")


def is_for_tensorflow_alone(module: Module, function: Function) -> bool:
    """Say whether a function stays on TensorFlow, with all that stands in it.

    A part of a ``tf.data`` pipeline, a serving signature, a step of training (one with a gradient
    tape, or called like one): these are another matter than a function of TensorFlow in a layer. So
    is a method of a class that prepares data, and a function that turns its tensors into arrays.
    """
    if function in _of_pipelines(module) or function in _with_tapes_or_arrays(module):
        return True
    if not isinstance(function, cst.FunctionDef):
        return False
    if function.name.value in _STEPS or _has_a_signature(module, function):
        return True
    if any(map(_PREPARING.search, decorated_by(module, function))):
        return True  # `@preprocessing_function`
    owner = class_around(module, function)
    return owner is not None and _prepares_data(module, owner)


@once
def _of_pipelines(module: Module) -> frozenset[cst.CSTNode]:
    """Return the functions that a dataset is given, and classes whose objects these call."""
    found: set[cst.CSTNode] = set()
    for call in module.nodes(cst.Call):
        if _takes_for_a_pipeline(module, call):
            for given in call.args:
                function = function_of(module, given.value) or _method(module, given.value)
                if function is not None:
                    found.add(function)
    return frozenset(found)


def _takes_for_a_pipeline(module: Module, call: cst.Call) -> bool:
    name = module.qualified(call.func)
    if name is not None:
        name = by_the_short_way(name)
        return name in _OF_PYTHON or name.startswith("tensorflow.data.")
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in _OF_DATASETS


def _method(module: Module, given: cst.BaseExpression) -> cst.FunctionDef | None:
    """Return the method of the class around that ``self.parse`` is."""
    if not isinstance(given, cst.Attribute) or not isinstance(given.value, cst.Name):
        return None
    owner = class_around(module, given)
    for each in () if owner is None else owner.body.body:
        if isinstance(each, cst.FunctionDef) and each.name.value == given.attr.value:
            return each
    return None


@once
def called_in_pipelines(module: Module) -> frozenset[str]:
    """Return the names of what a pipeline calls: functions, classes, layers.

    Be it that a function of the pipeline calls them, or that they are given to it.
    """
    found: set[str] = set()
    for call in module.nodes(cst.Call):
        if _takes_for_a_pipeline(module, call):
            found.update(name for each in call.args for name in _called(module, each.value))
    for function in _of_pipelines(module):
        for each in descendants(function):
            if isinstance(each, cst.Call):
                found.update(_called(module, each.func))
    return frozenset(found)


def runs_in_a_pipeline(module: Module, defined: cst.FunctionDef | cst.ClassDef) -> bool:
    """Say whether a pipeline calls a function or a class, be it one of another file."""
    name = defined.name.value
    return name in called_in_pipelines(module) or (
        is_at_the_top(module, defined) and _is_piped_elsewhere(module, name)
    )


@once
def _is_piped_elsewhere(module: Module, name: str) -> bool:
    return any(_is_piped(each) for each in uses_elsewhere(module, name).uses)


def _is_piped(use: UseElsewhere) -> bool:
    opened = use.open() if _PIPES.search(use.text) else None
    if opened is None:
        return False
    module, node, noted = opened
    leaf = node.value if isinstance(node, cst.Name) else node.attr.value
    return leaf in noted(lambda: called_in_pipelines(module))


@once
def uses_elsewhere(module: Module, name: str) -> UsesElsewhere:
    """Return where other files of the project use what a module defines at its top level."""
    package = module.package
    if package is None or not package.follows_types:
        return UsesElsewhere((), are_all=True)
    return package.uses_elsewhere(module.path, name, module.oracle)


def is_at_the_top(module: Module, defined: cst.FunctionDef | cst.ClassDef) -> bool:
    """Say whether other files may import a function or a class."""
    return module.scope_of(defined).kind is ScopeKind.MODULE


def _called(module: Module, callee: cst.BaseExpression) -> Iterator[str]:
    yield (dotted_name(callee) or "").rpartition(".")[2]
    made = module.type_of(callee)
    if made is not None and made.cls is not None:
        yield made.cls
    bound = binding_of(module, callee)
    if bound is not None and isinstance(bound.value, cst.Call):
        yield (dotted_name(bound.value.func) or "").rpartition(".")[2]


@once
def _with_tapes_or_arrays(module: Module) -> frozenset[cst.CSTNode]:
    found: set[cst.CSTNode] = set()
    for reference in module.references:
        name = by_the_short_way(reference.name)
        if name in _TAPES or name.endswith(_TO_ARRAYS):
            around = function_around(module, reference.node)
            if around is not None:
                found.add(around)
    return frozenset(found)


def stands_beside_a_tape(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a function around a node, or the file outside of functions, has a tape.

    What such code computes with stays TensorFlow's, whatever else of it is changed.
    """
    with_tapes = _with_tapes(module)
    around: cst.CSTNode | None = node
    while around is not None:
        around = function_around(module, around)
        if around in with_tapes:
            return True
    return False


@once
def _with_tapes(module: Module) -> frozenset[cst.CSTNode | None]:
    """Return the functions that have one; None stands for what is in no function."""
    return frozenset(
        function_around(module, each.node)
        for each in module.references
        if by_the_short_way(each.name) in _TAPES
    )


@once
def works_elsewhere(module: Module) -> frozenset[cst.CSTNode]:
    """Return the functions that call JAX or PyTorch: their tensors are of these."""
    around = (
        function_around(module, each.node)
        for each in module.references
        if each.name.startswith(_OTHER_FRAMEWORKS)
    )
    return frozenset(each for each in around if each is not None)


def gets_tensors_of_tensorflow(module: Module, function: Function) -> bool:
    """Say whether what calls a function is TensorFlow, as long as nobody changes that.

    It is decorated with ``@tf.function``, or given to it, to ``tf.map_fn``, ``tf.while_loop`` and
    their like: these make tensors of TensorFlow of whatever they are given.
    """
    if isinstance(function, cst.FunctionDef) and _is_compiled(module, function):
        return True
    return function in _given_to_tensorflow(module)


@once
def _given_to_tensorflow(module: Module) -> frozenset[cst.CSTNode]:
    found: set[cst.CSTNode] = set()
    for call in module.nodes(cst.Call):
        name = by_the_short_way(module.qualified(call.func) or "")
        if name.startswith(_ROOT) and not name.startswith(_KERAS) and name not in _CALL_AS_IS:
            for given in call.args:
                function = function_of(module, given.value) or _method(module, given.value)
                if function is not None:
                    found.add(function)
    return frozenset(found)


def _is_compiled(module: Module, function: cst.FunctionDef) -> bool:
    return _FUNCTION in map(by_the_short_way, decorated_by(module, function))


def _has_a_signature(module: Module, function: cst.FunctionDef) -> bool:
    """Say whether it is decorated with ``@tf.function(input_signature=…)``."""
    return _is_compiled(module, function) and any(
        isinstance(each.decorator, cst.Call) and each.decorator.args for each in function.decorators
    )


@once
def _prepares_data(module: Module, owner: cst.ClassDef) -> bool:
    """Say whether a class works on what no backend but TensorFlow has, or is called like one."""
    if runs_in_a_pipeline(module, owner):
        return True
    names = [each.name.value for each in with_bases(module, owner)]
    names += [dotted_name(each.value) or "" for each in owner.bases]
    return any(map(_PREPARING.search, names)) or owner in _classes_preparing(module)


@once
def _classes_preparing(module: Module) -> frozenset[cst.ClassDef]:
    return frozenset(
        owner
        for reference in module.references
        if _in_tensorflow(reference.name).startswith(_PREPARES)
        for owner in (class_around(module, reference.node),)
        if owner is not None
    )


def _in_tensorflow(name: str) -> str:
    """Return the name that a function has in TensorFlow.

    Some import TensorFlow late: ``from keras.src.utils.module_utils import tensorflow as tf``.
    """
    _, late, rest = name.partition(f".{_ROOT}")
    return by_the_short_way(f"{_ROOT}{rest}" if late else name)
