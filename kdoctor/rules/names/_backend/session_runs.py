"""What a session ran: ``K.get_session().run(x)``, ``x.eval(session=K.get_session())``."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.dataflow.statements import left_out
from kdoctor.model import Applicability, Edit, Fix, Hole, Precedence
from kdoctor.rewrite import Speller
from kdoctor.rewrite.precedence import binds
from kdoctor.rules.names._backend.sessions import line_of
from kdoctor.syntax import Module, Reference
from kdoctor.value_types import Kind

_VALUES = (
    "a tensor that is computed outside a graph has its value right away; a symbolic tensor has none"
)
_INITIAL = (
    "variables have their values as soon as they are created, but not those of a TensorFlow 1 graph"
)
_NOT_ONE_VARIABLE = (Kind.TENSOR, Kind.LIST)  # a session runs each of a list
_INITIALIZERS = (
    "global_variables_initializer", "local_variables_initializer", "initialize_all_variables",
    "tables_initializer",
)  # fmt: skip


def session_fix(module: Module, reference: Reference) -> Fix | None:
    """Return the fix of a use of ``K.get_session()`` on the spot; None for a session that is kept.

    The initialization of variables goes; a value is taken as it is.
    """
    if reference.call is None or reference.call.args:
        return None
    match _run(module, reference.call):
        case cst.Call() as run, cst.BaseExpression() as value:
            pass
        case _:
            return None
    if isinstance(value, cst.Call) and _initializes(module, value):
        return _without(module, run)
    kind = module.type_of(value)
    if _may_be_several(module, value) or (kind and kind.kind in _NOT_ONE_VARIABLE):
        return None
    if isinstance(module.parent(run), cst.Expr):
        return _for_its_effect(module, run, value)
    new, need = Speller.at(module, reference).spell("keras.ops.convert_to_numpy")
    hole = Hole(module.span(value), Precedence.ANY, binds(value))
    return Fix(
        f"Write `{new}(…)[()]`",
        # A session gave a number where there are no axes: [()] takes it out of the array.
        (Edit(module.span(run), (f"{new}(", hole, ")[()]"), Precedence.PRIMARY),),
        Applicability.UNSAFE,
        () if need is None else (need,),
        unsafe_because=_VALUES,
    )


def _run(module: Module, call: cst.Call) -> tuple[cst.Call, cst.BaseExpression] | None:
    """Return the call that runs something in the session, and what it runs."""
    parent = module.parent(call)
    outer = None if parent is None else module.parent(parent)
    if not isinstance(outer, cst.Call):
        return None
    match parent, outer.func, outer.args:
        case cst.Attribute(attr=cst.Name(value="run")), _, [cst.Arg(keyword=None, value=value)]:
            return (outer, value) if outer.func is parent else None
        case (
            cst.Arg(keyword=cst.Name(value="session")),
            cst.Attribute(value=value, attr=cst.Name(value="eval")),
            [_],
        ):
            return outer, value
    return None


def _may_be_several(module: Module, value: cst.CSTNode) -> bool:
    bindings = module.bindings_at(value) if isinstance(value, cst.Name) else ()
    several = cst.List | cst.Tuple | cst.ListComp | cst.Dict
    return any(isinstance(each, several) for each in (value, *(one.value for one in bindings)))


def _for_its_effect(module: Module, run: cst.Call, value: cst.BaseExpression) -> Fix | None:
    """Return the fix of a statement whose values nobody takes.

    A call that stands there does its work; what was bound to a name before did it then, once.
    """
    if not isinstance(value, cst.Call):
        return None
    hole = Hole(module.span(value), Precedence.ANY, binds(value))
    return Fix(
        f"Call `{module.source(value.func)}(…)` directly: it runs eagerly",
        (Edit(module.span(run), (hole,), Precedence.PRIMARY),),
        Applicability.UNSAFE,
        unsafe_because=_VALUES,
    )


def _initializes(module: Module, value: cst.Call) -> bool:
    name = module.qualified(value.func) or ""
    return name.startswith("tensorflow.") and name.endswith(_INITIALIZERS)


def _without(module: Module, run: cst.Call) -> Fix | None:
    line = line_of(module, run)
    if line is None or not isinstance(module.parent(run), cst.Expr):
        return None
    return Fix(
        "Remove the initialization: variables have their values as soon as they are created",
        (left_out(module, run),),
        Applicability.UNSAFE,
        unsafe_because=_INITIAL,
    )
