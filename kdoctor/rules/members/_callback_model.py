"""``self.model = model`` in a callback, which Keras 3 does by ``set_model``."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import has_builtin
from kdoctor.analysis.dataflow.statements import statement_slot
from kdoctor.analysis.models.user_classes import (
    class_around,
    class_of,
    lineage_with_base,
    member_of_self,
    methods_in,
)
from kdoctor.model import Applicability, Edit, Fix, Span
from kdoctor.syntax import MemberStore, Module
from kdoctor.value_types import Kind

_SETS = "set_model"
_MAY_DO_MORE = "`set_model` of a class outside this file may do more"


def by_set_model(module: Module, store: MemberStore, rating: Applicability) -> Fix | None:
    """Return the fix that calls ``set_model``, which does nothing else in ``Callback`` itself.

    Of an instance whose class is not in sight it is unsafe. None where a class of the file has a
    ``set_model``, or is made from another callback: that of `TensorBoard` opens its writers.
    """
    line = statement_slot(module, store.node)
    if store.member != "model" or store.owner.kind is not Kind.CALLBACK or not store.is_plain:
        return None
    if line is None or not line.assigns_once or store.value is None or store.value.lpar:
        return None
    if _SETS in module.words:
        return _by_that_of_base(module, store, rating)
    is_plain = _is_plain_callback(module, store)
    if is_plain is False:
        return None
    is_seen = is_plain and not module.is_written_by_importers(_SETS)
    name, value_span = module.span(store.node.attr), module.span(store.value)
    return Fix(
        "Call `set_model` of the callback",
        (
            Edit(Span(name.start, value_span.start), (f"{_SETS}(",)),
            Edit(Span(value_span.end, value_span.end), (")",)),
        ),
        rating if is_seen else Applicability.UNSAFE,
        unsafe_because="" if is_seen else _MAY_DO_MORE,
    )


def _by_that_of_base(module: Module, store: MemberStore, rating: Applicability) -> Fix | None:
    """Return the fix for a ``set_model`` of the user's own: that of ``Callback`` assigns it.

    ``self.model = model`` becomes ``super().set_model(model)``.
    """
    method = next((e for e in module.ancestors(store.node) if isinstance(e, cst.FunctionDef)), None)
    cls = class_around(module, store.node)
    if method is None or cls is None or method.name.value != _SETS or store.value is None:
        return None
    if member_of_self(store.node, method) is None or not _is_plain_callback(module, store):
        return None
    line, _ = lineage_with_base(module, cls)
    if any(_SETS in methods_in(each) for each in line[1:]) or not has_builtin(
        module, store.node, "super"
    ):
        return None
    start, value_span = module.span(store.node).start, module.span(store.value)
    return Fix(
        "Call `set_model` of the base class",
        (
            Edit(Span(start, value_span.start), (f"super().{_SETS}(",)),
            Edit(Span(value_span.end, value_span.end), (")",)),
        ),
        rating,
    )


def _is_plain_callback(module: Module, store: MemberStore) -> bool | None:
    """Say whether the instance's classes end in ``Callback``; None where they are not in sight."""
    around = (each for each in module.ancestors(store.node) if isinstance(each, cst.FunctionDef))
    method = next(around, None)
    is_own = method is not None and member_of_self(store.node, method) is not None
    cls = class_around(module, store.node) if is_own else class_of(module, store.owner)
    if cls is None:
        return False if _class_of_keras(module, store.owner.qualified) else None
    _, base = lineage_with_base(module, cls)
    return base is not None and _class_of_keras(module, module.qualified(base)) == "Callback"


def _class_of_keras(module: Module, qualified: str | None) -> str | None:
    made = module.oracle.class_type(qualified) if qualified else None
    return None if made is None else made.cls
