"""Find the targets that a model gets in training and evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, passed, value_of
from kdoctor.analysis.tensors.constructors import ArrayData, NumberKind
from kdoctor.analysis.tensors.rank import Ranks
from kdoctor.analysis.training.batch_sizes import draws_images
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal

TRAINED: Final = ("fit", "evaluate", "train_on_batch", "test_on_batch")
BY_GENERATORS: Final = ("fit_generator", "evaluate_generator")
_KEPT: Final = frozenset({"cache", "prefetch", "repeat", "shuffle", "skip", "take", "with_options"})
_CLASSES: Final = frozenset({"binary", "sparse"})
_FOLDERS: Final = frozenset({"image_dataset_from_directory", "text_dataset_from_directory"})
_MAX_DEPTH: Final = 16  # steps of a dataset


def targets_given(
    module: Module, arrays: Ranks, member: str, call: cst.Call
) -> Iterator[tuple[cst.BaseExpression, ArrayData]]:
    """Yield the targets in a call of ``fit`` and its like that are known, with where they stand."""
    if is_hidden(call):
        return
    given = passed(call, "y", 1) if member in TRAINED else None
    generators_of = argument(call, "generator" if member in BY_GENERATORS else "x", 0)
    tested = argument(call, "validation_data")
    nodes = [] if given is None else [given]
    for each in (generators_of, tested):
        value = None if each is None else value_of(module, each.value)
        if isinstance(value, cst.Tuple) and len(value.elements) > 1 and each is tested:
            nodes.append(value.elements[1].value)
        elif isinstance(value, cst.Call):
            found = _of_batches(module, arrays, value)
            if found is not None:
                yield value, found
    for node in nodes:
        found = arrays.of(node)
        if found is not None:
            yield node, found


def _of_batches(module: Module, arrays: Ranks, call: cst.Call) -> ArrayData | None:
    """Return the targets in what gives batches: an iterator over images, a ``tf.data.Dataset``."""
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value="flow")):
            given = argument(call, "y", 1)
            return arrays.of(given.value) if given and draws_images(module, owner) else None
        case cst.Attribute(
            value=owner, attr=cst.Name(value="flow_from_directory" | "flow_from_dataframe")
        ):
            told = literal(value_of(module, passed(call, "class_mode")))
            is_known = told in _CLASSES and draws_images(module, owner)
            return ArrayData(axes=1, numbers=NumberKind.FLOAT) if is_known else None
    return _of_dataset(module, arrays, call)


def _of_dataset(module: Module, arrays: Ranks, dataset: cst.BaseExpression) -> ArrayData | None:
    is_batched = False
    for _ in range(_MAX_DEPTH):
        call = value_of(module, dataset)
        if not isinstance(call, cst.Call):
            return None
        name = module.qualified(call.func)
        if name is not None:
            return _made(module, arrays, name, call, is_batched=is_batched)
        match call.func:
            case cst.Attribute(value=dataset, attr=cst.Name(value="batch")) if not is_batched:
                is_batched = True
            case cst.Attribute(value=dataset, attr=cst.Name(value=method)) if method in _KEPT:
                pass
            case _:
                return None
    return None


def _made(
    module: Module, arrays: Ranks, name: str, call: cst.Call, *, is_batched: bool
) -> ArrayData | None:
    if name.endswith(".data.Dataset.from_tensor_slices"):
        pair = value_of(module, call.args[0].value) if len(call.args) == 1 else None
        if not isinstance(pair, cst.Tuple) or len(pair.elements) < 2 or not is_batched:
            return None
        found = arrays.of(pair.elements[1].value)
        if found is None or found.numbers is not NumberKind.FLOAT:
            return found
        return ArrayData(found.form, found.axes)  # of 64 bits perhaps, which are left as they are
    split = split_root(name)
    if split is None or split[1].rpartition(".")[2] not in _FOLDERS or is_batched:
        return None
    is_plain = literal(passed(call, "label_mode"), absent="int") == "int"
    is_inferred = literal(passed(call, "labels"), absent="inferred") == "inferred"
    return ArrayData(axes=1, numbers=NumberKind.INT) if is_plain and is_inferred else None
