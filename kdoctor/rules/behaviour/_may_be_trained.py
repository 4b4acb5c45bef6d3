"""Tell whether a model that contains a tensor may be trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import passed
from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.analysis.tensors.symbolic import holds_symbolic
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

# What a model is for that infers, or is kept for that.
_INFERS: Final = frozenset({
    *("evaluate", "export", "predict", "predict_on_batch", "save", "test_on_batch"),
})  # fmt: skip
_SAYS_NOTHING: Final = frozenset({
    *("compile", "count_params", "get_config", "get_weights", "load_weights", "name"),
    *("save_weights", "set_weights", "summary", "to_json", "trainable", "weights"),
})  # fmt: skip
_KEEPS: Final = frozenset({"convert_keras", "from_keras", "from_keras_model", "save_keras_model"})
_SHOWS: Final = frozenset({"plot_model", "print", "type"})


def may_be_trained(module: Module, call: cst.Call) -> bool:
    """Say whether a model with the tensor that ``call`` gives may come to ``fit``.

    It may, unless the function around shows all models that are made with the tensor, each of them
    infers or is written to a file, and none is trained, returned, kept or given away.
    """
    made = _Reached(module, call).models()
    return not made or any(_may_be_trained(module, each) for each in made)


class _Reached:
    """What a tensor becomes part of, in the function that makes it."""

    def __init__(self, module: Module, call: cst.Call) -> None:
        self._module = module
        self._start = call
        self._function = _function_around(module, call)
        around = module.tree if self._function is None else self._function.body
        self._own = [e for e in descendants(around) if self._is_own(e)]
        self._names: set[str] = set()

    def models(self) -> Sequence[cst.Call]:
        """Return the models that are made with it; none where it goes where nobody can follow."""
        known = -1
        while known < len(self._names):
            known = len(self._names)
            for each in self._own:
                if not isinstance(each, cst.Assign) or self._is_model(each.value):
                    continue
                targets = each.targets if self._is_part(each.value) else ()
                if not all(self._takes(target.target) for target in targets):
                    return ()
        if any(self._leaves(each) for each in self._own) or self._is_read_elsewhere():
            return ()
        return [
            each
            for each in self._own
            if isinstance(each, cst.Call) and self._is_model(each) and self._is_part(each)
        ]

    def _is_own(self, node: cst.CSTNode) -> bool:
        return _function_around(self._module, node) is self._function

    def _takes(self, target: cst.BaseExpression) -> bool:
        """Note the names that hold the tensor now; say whether it is names that do."""
        if isinstance(target, cst.Tuple | cst.List):
            return all(self._takes(each.value) for each in target.elements)
        if isinstance(target, cst.Name):
            self._names.add(target.value)
        return isinstance(target, cst.Name)

    def _is_part(self, node: cst.CSTNode) -> bool:
        return any(
            each is self._start or (isinstance(each, cst.Name) and each.value in self._names)
            for each in (node, *descendants(node))
        )

    def _is_model(self, node: cst.BaseExpression) -> bool:
        name = self._module.qualified(node.func) if isinstance(node, cst.Call) else None
        made = self._module.oracle.class_type(name) if name else None
        return made is not None and made.kind is Kind.MODEL

    def _leaves(self, node: cst.CSTNode) -> bool:
        """Say whether a node hands the tensor on: returned, passed to a function, put into a list.

        A model that is made of it on the spot is looked at by itself.
        """
        match node:
            case cst.Return(value=value) | cst.Yield(value=value) if value is not None:
                return self._is_part(value)
            case cst.Expr(value=value):
                return self._is_part(value) and not any(
                    isinstance(each, cst.Call) and self._is_model(each)
                    for each in (value, *descendants(value))
                )
            case cst.Call(func=cst.Name() as called):
                is_function = any(
                    isinstance(each.node, cst.FunctionDef)
                    for each in self._module.bindings_at(called)
                )
                return is_function and any(self._is_part(each) for each in node.args)
        return False

    def _is_read_elsewhere(self) -> bool:
        return any(
            each.value in self._names
            and not self._is_own(each)
            and any(self._is_own(binding.node) for binding in self._module.bindings_at(each))
            for each in self._module.nodes(cst.Name)
        )


def _function_around(module: Module, node: cst.CSTNode) -> cst.FunctionDef | cst.Lambda | None:
    return next(
        (e for e in module.ancestors(node) if isinstance(e, cst.FunctionDef | cst.Lambda)), None
    )


def _may_be_trained(module: Module, made: cst.Call) -> bool:
    """Say whether a model may be trained: none is that surely infers, and is not given away."""
    assign = module.parent(made)
    if not isinstance(assign, cst.Assign):
        return _use_of(module, made) is not False
    names = [each.target for each in assign.targets if isinstance(each.target, cst.Name)]
    if len(names) < len(assign.targets):
        return True
    uses = [_use_of(module, read) for name in names for read in reads_of(module, name)]
    return True in uses or False not in uses


def _use_of(module: Module, model: cst.BaseExpression) -> bool | None:
    """Return whether a use of a model may train it; None where it tells nothing."""
    above = module.parent(model)
    match above:
        case cst.Attribute(attr=cst.Name(value=member)):
            return None if member in _SAYS_NOTHING else member not in _INFERS
        case cst.Call() if above.func is model:
            return _call_trains(module, above)
        case cst.Arg():
            call = module.parent(above)
            name = module.source(call.func) if isinstance(call, cst.Call) else ""
            leaf = name.rpartition(".")[2]
            if leaf in _SHOWS:
                return None
            return leaf not in _KEEPS | {"save_model"}
    return True


def _call_trains(module: Module, call: cst.Call) -> bool:
    """Say whether a call of the model makes another model of it, or asks for its training phase."""
    if not call.args or holds_symbolic(module, call.args[0].value):
        return True
    return literal(passed(call, "training", 1), absent=False) is not False
