"""`loss = K.variable(0.)`, to which the rest is added: the beginning of a sum, not a variable.

In the graph of Keras 2 a variable and a tensor added up. A `keras.Variable` refuses a symbolic
tensor to its right. Where that is known, KD519 mends the sum; where it is not, a tensor that holds
the same number takes either.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES
from kdoctor.model import Applicability, Edit, Fix, Hole, ImportNeed, Precedence
from kdoctor.rules.names._backend.later_reads import places_of
from kdoctor.rules.names._backend.variables import ASSIGNING
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import Binding, BindingKind

_MAKES_A_TENSOR = (
    "a tensor is written, for what is added may be symbolic, which a `keras.Variable` refuses; if "
    "nothing is added it stays a tensor where Keras 2 had a variable"
)


def as_beginning_of_a_sum(module: Module, call: cst.Call) -> Fix | None:
    """Return the fix of ``K.variable(0.)`` that begins a sum of what is not known."""
    if len(call.args) != 1 or call.args[0].keyword or not _begins_a_sum(module, call):
        return None
    speller = speller_at(module, call)
    convert, config = speller.spell("keras.ops.convert_to_tensor"), speller.spell("keras.config")
    needs: list[ImportNeed] = [need for _, need in (convert, config) if need is not None]
    value = Hole(module.span(call.args[0].value))
    parts = (f"{convert[0]}(", value, f", dtype={config[0]}.floatx())")
    return Fix(
        f"Begin the sum with a tensor: `{convert[0]}`",
        (Edit(module.span(call), parts, Precedence.PRIMARY),),
        Applicability.UNSAFE,
        tuple(needs),
        unsafe_because=_MAKES_A_TENSOR,
    )


def _begins_a_sum(module: Module, call: cst.Call) -> bool:
    """Say whether what is made is only added to, at least once something unknown."""
    match module.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)]):
            bindings = module.scope_of(name).bindings.get(name.value, [])
        case _:
            return False
    if not isinstance(call.args[0].value, cst.BaseNumber):
        return False
    if module.context_of(call) in RUN_WITH_VALUES:
        return False
    added = [_added(module, each) for each in bindings if each.node is not name]
    return (
        bool(added)
        and all(added)
        and any(module.type_of(one) is None for each in added for one in each)
        and not any(_is_a_variables(module, each) for each in places_of(module, name))
    )


def _added(module: Module, binding: Binding) -> list[cst.BaseExpression]:
    """Return what a name gets beside what it was: `a` and `b` of ``loss = loss + a + b``."""
    if binding.remote:
        return []
    parent = module.parent(binding.node)
    if binding.kind is BindingKind.AUGMENT and isinstance(parent, cst.AugAssign):
        return [parent.value]
    if binding.kind is not BindingKind.ASSIGN or binding.path or binding.value is None:
        return []
    found: list[cst.BaseExpression] = []
    operand = binding.value
    while isinstance(operand, cst.BinaryOperation):
        found.append(operand.right)
        operand = operand.left
    return found if isinstance(operand, cst.Name) and operand.value == binding.name else []


def _is_a_variables(module: Module, place: cst.CSTNode) -> bool:
    """Say whether only a variable can stand in a place: ``loss.assign``, ``K.update(loss, …)``."""
    parent = module.parent(place)
    if isinstance(parent, cst.Attribute) and parent.value is place:
        return True
    call = module.parent(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call) or call.args[0] is not parent:
        return False
    match call.func:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name in ASSIGNING
    return False
