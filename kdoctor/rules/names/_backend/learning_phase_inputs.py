"""Functions of ``K.function`` that take the learning phase as their last input."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.model import Applicability, Edit, Fix, ImportNeed, Precedence, Span
from kdoctor.rewrite import Speller
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.libcst_walk import descendants

_ARRAYS = (
    "a keras.Model returns tensors where K.function returned NumPy arrays; its inputs and outputs "
    "must be symbolic tensors of a model"
)
_PHASES = {
    **dict.fromkeys(("0", "0.", "0.0", "False"), "False"),
    **dict.fromkeys(("1", "1.", "1.0", "True"), "True"),
}
_ARGUMENTS = ("inputs", "outputs")


def with_phase(module: Module, reference: Reference) -> Fix | None:
    """Return the fix of ``f = K.function([x, K.learning_phase()], [y])`` and of each ``f([a, 0])``.

    ``f`` becomes a model, and each call says ``training=``. ``reference`` is the function or the
    phase. None where a use is no such call.
    """
    call = function_around(module, reference)
    if call is None or len(call.args) != len(_ARGUMENTS) or any(each.star for each in call.args):
        return None
    names = [each.keyword.value if each.keyword else None for each in call.args]
    if any(name not in (None, wanted) for name, wanted in zip(names, _ARGUMENTS, strict=True)):
        return None
    phase, outputs = _last_of(call.args[0].value), call.args[1].value
    if phase is None or not _is_phase(module, phase[1]) or not isinstance(outputs, cst.List):
        return None
    edits = [_without_last(module, phase)]
    uses = list(_uses(module, call))
    for use in uses:
        edit = _with_training(module, use, alone=len(outputs.elements) == 1)
        if edit is None:
            return None
        edits += edit
    speller = Speller.at(module, reference)
    new, need = speller.spell("keras.Model")
    edits.append(Edit(module.span(call.func), (new,), Precedence.PRIMARY))
    needs: tuple[ImportNeed, ...] = () if need is None else (need,)
    if not uses:
        return None
    title = f"Make it a model: `{new}(inputs, outputs)(x, training=…)`"
    return Fix(title, tuple(edits), Applicability.UNSAFE, needs, unsafe_because=_ARRAYS)


def function_around(module: Module, reference: Reference) -> cst.Call | None:
    """Return the call of ``K.function`` that is, or stands around, a reference."""
    nodes = [reference.call, *module.ancestors(reference.node)]
    for each in nodes:
        if isinstance(each, cst.Call):
            name = module.qualified(each.func) or ""
            if name.endswith("backend.function"):
                return each
        if isinstance(each, cst.SimpleStatementLine):
            return None
    return None


def asks_the_phase(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether the learning phase is in an expression, called or not."""
    names = (module.qualified(each) or "" for each in (node, *descendants(node)))
    return any(each.rpartition(".")[2] == "learning_phase" for each in names)


def _is_phase(module: Module, node: cst.BaseExpression) -> bool:
    name = module.qualified(node.func) if isinstance(node, cst.Call) else None
    return (name or "").endswith("backend.learning_phase")


def _last_of(inputs: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """Return the last of several inputs, and what stands before it: ``[x, last]``, ``x + [last]``.

    None for anything else, and where it is the only one.
    """
    match inputs:
        case cst.List(elements=[*_, cst.Element(value=before), cst.Element(value=last)]):
            return before, last
        case cst.BinaryOperation(
            operator=cst.Add(), left=before, right=cst.List(elements=[cst.Element(value=last)])
        ):
            return before, last
    return None


def _without_last(module: Module, pair: tuple[cst.BaseExpression, cst.BaseExpression]) -> Edit:
    before, last = pair
    end = module.outer_span(last).end
    around = module.parent(module.parent(last) or last)
    if isinstance(around, cst.List) and len(around.elements) == 1:
        end = module.span(around).end
    return Edit(Span(module.outer_span(before).end, end), ())


def _uses(module: Module, call: cst.Call) -> Iterator[cst.BaseExpression]:
    """Yield the reads of the name, or of the attribute of ``self``, that alone holds it."""
    match module.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)]):
            scope = module.scope_of(target)
            if len(scope.bindings.get(target.value, ())) == 1:
                yield from _others(scope.node, target)
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Attribute(value=cst.Name(value="self")) as target)]
        ):
            classes = [each for each in module.ancestors(call) if isinstance(each, cst.ClassDef)]
            if classes:
                yield from _others(classes[0], target)


def _others(
    node: cst.CSTNode, target: cst.Name | cst.Attribute
) -> Iterator[cst.Name | cst.Attribute]:
    for each in descendants(node):
        same = isinstance(each, type(target)) and each.deep_equals(target)
        if same and each is not target and isinstance(each, cst.Name | cst.Attribute):
            yield each


def _with_training(module: Module, use: cst.BaseExpression, *, alone: bool) -> list[Edit] | None:
    """Return the edits of ``f([a, 0])``, None where it is no such call.

    ``alone``: the list of outputs has one element. A model gives that element without the list.
    """
    call = module.parent(use)
    if not isinstance(call, cst.Call) or call.func is not use or len(call.args) != 1:
        return None
    passed = call.args[0]
    pair = None if passed.star or passed.keyword else _last_of(passed.value)
    if pair is None:
        return None
    written = module.source(pair[1])
    if "\n" in written:
        return None
    training = _PHASES.get(written, f"bool({written})")
    behind = module.span(passed.value).end
    edits = [_without_last(module, pair), Edit(Span(behind, behind), (f", training={training}",))]
    return [*edits, *_as_a_list(module, call)] if alone else edits


def _as_a_list(module: Module, call: cst.Call) -> list[Edit]:
    """Put the result into a list, or take the index away that takes it out of one."""
    span, parent = module.span(call), module.parent(call)
    taken = isinstance(parent, cst.Subscript) and parent.value is call
    if parent is not None and taken and module.source(parent).endswith(")[0]"):
        return [Edit(Span(span.end, module.span(parent).end), ())]
    return [
        Edit(Span(span.start, span.start), ("[",)),
        Edit(Span(span.end, span.end), ("]",)),
    ]
