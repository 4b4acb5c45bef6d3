"""Code that Keras runs on its backend: what layers, losses, metrics and models of a file reach.

On another backend than TensorFlow this code gets other tensors. What else a file does with
TensorFlow stays as it is: a ``tf.data`` pipeline, an export, a serving signature, a script.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Final, NamedTuple

import libcst as cst

from kdoctor.analysis.backends.checks import asks_for_the_backend
from kdoctor.analysis.backends.function_flow import is_kept, places_of
from kdoctor.analysis.backends.mixed_calls import is_mixed_with_keras
from kdoctor.analysis.backends.tensorflow_only import (
    Function,
    gets_tensors_of_tensorflow,
    is_at_the_top,
    is_for_tensorflow_alone,
    runs_in_a_pipeline,
    stands_beside_a_tape,
    uses_elsewhere,
    works_elsewhere,
)
from kdoctor.analysis.dataflow.captures import function_around
from kdoctor.analysis.models.user_classes import decorated_by, kind_of_class, with_bases
from kdoctor.keras_api import split_root
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.classes import unsubscripted
from kdoctor.value_types import Context, Kind

_OF_LAYERS: Final = frozenset({
    *("__init__", "build", "call", "compute_mask", "compute_output_shape"),
    *("compute_output_spec", "get_initial_state"),
})  # fmt: skip
_RUN: Final = {
    Kind.LAYER: _OF_LAYERS,
    Kind.MODEL: _OF_LAYERS | {"compute_loss"},
    Kind.LOSS: frozenset({"__init__", "call", "__call__"}),
    Kind.METRIC: frozenset({"__init__", "build", "update_state", "result", "reset_state"}),
    Kind.OPTIMIZER: frozenset({"__init__", "build", "update_step"}),
}
# Classes of Keras without a kind, by the module that has them.
_RUN_OF_MODULES: Final = {
    module: frozenset({"__init__", "__call__"})
    for module in ("initializers", "regularizers", "constraints", "optimizers.schedules")
}
# What takes functions that Keras runs, by the end of the keyword.
_TAKES_FUNCTIONS: Final = ("activation", "initializer", "regularizer", "constraint")
_OF_NAMES: Final = frozenset({"custom_objects", "get_custom_objects"})
_REGISTERS: Final = "register_keras_serializable"
_FILES: Final = 2  # through which a function is followed to who calls it
_VALUES: Final = (Context.CALL, Context.LOSS_OR_METRIC)


class _Use(enum.Enum):
    RUN = enum.auto()  # by Keras
    HARMLESS = enum.auto()  # the module itself calls it, with tensors of whatever sort
    AMONG_OTHERS = enum.auto()  # a function that Keras runs calls it, and is called by others, too
    UNKNOWN = enum.auto()  # a function calls it that nobody is known to run
    WITH_A_TAPE = enum.auto()  # code of TensorFlow calls it while it watches
    ELSEWHERE = enum.auto()  # code of JAX or PyTorch calls it
    OTHER = enum.auto()


# Of these one is enough to say that Keras does not run a function.
_DECIDE: Final = frozenset({_Use.OTHER, _Use.WITH_A_TAPE})


class _View(NamedTuple):
    """A module, and through how many other files its functions are followed to who calls them.

    So no question leads back to itself through other files.
    """

    module: Module
    further: int


class _Reach(enum.Enum):
    """Who runs a function."""

    NOT = enum.auto()  # not Keras, or TensorFlow on purpose
    ALSO = enum.auto()  # Keras, and functions that may have tensors of TensorFlow
    ONLY = enum.auto()  # Keras, with tensors of its backend


def is_run_by_keras(module: Module, node: cst.CSTNode) -> bool:
    """Say whether Keras surely runs a line, with tensors of whatever backend it has.

    That is what methods of layers, models, losses, metrics, optimizers, initializers, regularizers
    and constraints do, functions that Keras is given (an activation, a loss, that of a ``Lambda``),
    and functions of the file that are called from there. So does what takes from ``keras.ops``, or
    gives to it (``mixed_calls``). Nothing that is for TensorFlow alone (``tensorflow_only``), or
    asks which backend there is (``checks``).
    """
    around = list(_functions_around(module, node))
    if not around or asks_for_the_backend(module, node):
        return False  # first: a file for one backend may have hundreds of functions
    if any(is_for_tensorflow_alone(module, each) for each in around):
        return False
    view = _View(module, _FILES)
    return any(_is_run(view, each) for each in around) or is_mixed_with_keras(module, node)


def is_run_by_keras_alone(module: Module, node: cst.CSTNode) -> bool:
    """Say whether no function calls a line, too, that may have tensors of TensorFlow.

    A function of the file that a loss calls may be called by another one, of which nobody knows who
    calls it: Keras runs the line, but not it alone. And what ``@tf.function`` or ``tf.map_fn`` runs
    gets tensors of TensorFlow, as long as these stay.
    """
    around = list(_functions_around(module, node))
    if any(gets_tensors_of_tensorflow(module, each) for each in around):
        return False
    return is_run_by_keras(module, node) and (
        any(_reach(_View(module, _FILES), each) is _Reach.ONLY for each in around)
        or is_mixed_with_keras(module, node)
    )


def _functions_around(module: Module, node: cst.CSTNode) -> Iterator[Function]:
    """Yield the functions around a node, the innermost first."""
    found = function_around(module, node)
    while found is not None:
        yield found
        found = function_around(module, found)


@once
def _verdicts(_module: Module, _further: int) -> dict[Function, _Reach | None]:
    """Return what is known of functions, to be filled in; None of one that is being asked."""
    return {}


def _is_run(view: _View, function: Function) -> bool | None:
    """Say whether Keras runs a function; None within the question itself."""
    reach = _reach(view, function)
    return None if reach is None else reach is not _Reach.NOT


def _reach(view: _View, function: Function) -> _Reach | None:
    known = _verdicts(*view)
    if function not in known:
        known[function] = None
        found = _find_reach(view, function)
        if found is _Reach.ONLY and gets_tensors_of_tensorflow(view.module, function):
            found = _Reach.ALSO
        known[function] = found
    return known[function]


def _find_reach(view: _View, function: Function) -> _Reach:
    module, owner = view.module, _class_of(view.module, function)
    if owner is not None and isinstance(function, cst.FunctionDef):
        methods = methods_run(module, owner)
        if not methods:
            return _Reach.NOT
        if function.name.value in methods:
            return _Reach.ONLY
    elif module.context_of(function.body) in _VALUES:
        is_prepared = isinstance(function, cst.FunctionDef) and runs_in_a_pipeline(module, function)
        return _Reach.NOT if is_prepared else _Reach.ONLY
    if isinstance(function, cst.Lambda):
        return _Reach.NOT
    if _REGISTERS in (each.rpartition(".")[2] for each in decorated_by(module, function)):
        return _Reach.ONLY
    if owner is not None:
        uses = [_use(view, each, is_method=True) for each in _reads_of_member(module, function)]
    else:
        uses = [use for each in _reads(module, function) for use in _uses(view, each)]
        if _DECIDE.isdisjoint(uses):
            uses += _uses_elsewhere(view, function)
    if {_Use.WITH_A_TAPE, _Use.ELSEWHERE} == {*uses}:
        return _Reach.ALSO  # what the steps of all backends share
    if not {_Use.RUN, _Use.AMONG_OTHERS}.intersection(uses) or not _DECIDE.isdisjoint(uses):
        return _Reach.NOT
    if owner is None and _may_be_used_unseen(view, function):
        return _Reach.ALSO
    is_alone = {_Use.AMONG_OTHERS, _Use.UNKNOWN, _Use.ELSEWHERE}.isdisjoint(uses)
    return _Reach.ONLY if is_alone else _Reach.ALSO


def _uses_elsewhere(view: _View, function: cst.FunctionDef) -> Iterator[_Use]:
    """Yield who uses a function in the project's other files."""
    module, name = view.module, function.name.value
    if not is_at_the_top(module, function):
        return
    for each in uses_elsewhere(module, name).uses if view.further else ():
        opened = each.open()
        if opened is None:
            yield _Use.UNKNOWN
            continue
        there, node, noted = opened
        yield from noted(lambda: list(_uses(_View(there, view.further - 1), node)))  # noqa: B023


def _may_be_used_unseen(view: _View, function: cst.FunctionDef) -> bool:
    """Say whether another file may use a function where nobody looks."""
    module, name = view.module, function.name.value
    if not is_at_the_top(module, function):
        return False
    found = uses_elsewhere(module, name)
    if view.further and (found.uses or not found.are_all):
        return not found.are_all
    return module.name_may_be_imported_elsewhere(name)  # by a text, or as a part of a package


def methods_run(module: Module, owner: cst.ClassDef) -> frozenset[str]:
    """Return the methods of a user's class that Keras calls, none of one that is not Keras'."""
    kind = kind_of_class(module, owner)
    if kind is not None:
        return _RUN.get(kind, frozenset())
    for each in with_bases(module, owner):
        for base in each.bases:
            split = split_root(module.qualified(unsubscripted(base.value)) or "")
            found = None if split is None else _RUN_OF_MODULES.get(split[1].rpartition(".")[0])
            if found is not None:
                return found
    return frozenset()


def _class_of(module: Module, function: Function) -> cst.ClassDef | None:
    block = module.parent(function)
    holder = None if block is None else module.parent(block)
    return holder if isinstance(holder, cst.ClassDef) else None


def _reads(module: Module, function: cst.FunctionDef) -> Iterator[cst.Name]:
    """Yield the places where a function is named."""
    for each in _names(module).get(function.name.value, ()):
        if any(bound.node is function for bound in module.bindings_at(each)):
            yield each


@once
def _names(module: Module) -> dict[str, list[cst.Name]]:
    """Return the reads of the names of functions."""
    wanted = {each.name.value for each in module.nodes(cst.FunctionDef)}
    found: dict[str, list[cst.Name]] = {}
    for each in module.nodes(cst.Name):
        parent = module.parent(each)
        if each.value in wanted and not (
            (isinstance(parent, cst.FunctionDef | cst.Param) and parent.name is each)
            or (isinstance(parent, cst.Attribute) and parent.attr is each)
            or (isinstance(parent, cst.Arg) and parent.keyword is each)
        ):
            found.setdefault(each.value, []).append(each)
    return found


def _reads_of_member(module: Module, method: cst.FunctionDef) -> Iterator[cst.Attribute]:
    """Yield the places where something has a member of that name."""
    return (each for each in module.attributes if each.attr.value == method.name.value)


def _uses(view: _View, name: cst.BaseExpression) -> Iterator[_Use]:
    """Yield who uses a function where it is named, and where it is read again after it was kept."""
    for each in places_of(view.module, name):
        if not is_kept(view.module, each) and not asks_for_the_backend(view.module, each):
            yield _use(view, each, is_method=each is not name)


def _use(view: _View, node: cst.BaseExpression, *, is_method: bool) -> _Use:
    """Say who uses a function where it is named."""
    module = view.module
    around = list(_functions_around(module, node))
    parent = module.parent(node)
    is_called = isinstance(parent, cst.Call) and parent.func is node
    if any(is_for_tensorflow_alone(module, each) for each in around):
        return _Use.WITH_A_TAPE if is_called and stands_beside_a_tape(module, node) else _Use.OTHER
    is_run = any(_is_run(view, each) for each in around)
    if is_called:
        if any(_reach(view, each) is _Reach.ONLY for each in around):
            return _Use.RUN
        if is_run:
            return _Use.AMONG_OTHERS
        if not works_elsewhere(module).isdisjoint(around):
            return _Use.ELSEWHERE
        is_asked_already = any(_is_run(view, each) is None for each in around)
        return _Use.HARMLESS if not around or is_method or is_asked_already else _Use.UNKNOWN
    if module.context_as_argument(node) in _VALUES:
        return _Use.RUN  # `Lambda(f)`, `loss=[f, g]`
    if isinstance(parent, cst.Arg):
        return _Use.RUN if _is_given_to_keras(module, parent, is_run=is_run) else _Use.OTHER
    return _Use.RUN if _is_named_for_keras(module, node) else _Use.OTHER


def _is_given_to_keras(module: Module, given: cst.Arg, *, is_run: bool) -> bool:
    """Say whether a call hands a function to Keras, or to what runs it on the spot."""
    call = module.parent(given)
    if not isinstance(call, cst.Call):
        return False
    name = module.qualified(call.func) or ""
    if is_run and (name.startswith("tensorflow.") or split_root(name) is not None):
        return True  # `tf.map_fn`, `keras.ops.cond`
    if given.keyword is not None and given.keyword.value.endswith(_TAKES_FUNCTIONS):
        made = module.type_of(call)
        return split_root(name) is not None or (made is not None and made.kind in _RUN)
    return False


def _is_named_for_keras(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether a function is among the objects that a saved model may name."""
    for each in module.ancestors(node):
        if isinstance(each, cst.Arg) and each.keyword is not None:
            return each.keyword.value in _OF_NAMES
        if isinstance(each, cst.BaseStatement | cst.BaseSmallStatement):
            return False
    return False
