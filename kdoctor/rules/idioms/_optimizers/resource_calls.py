"""Rewrite the calls on ``self`` and on slots in methods of the ``tf.keras`` protocol."""

from __future__ import annotations

import libcst as cst
from msgspec import Struct, field

from kdoctor.analysis.calls import call_of_super
from kdoctor.analysis.models.user_classes import member_of_self, receiver
from kdoctor.model import Precedence, Span
from kdoctor.rules.idioms._optimizers.names import Names
from kdoctor.rules.idioms._optimizers.plan import Plan
from kdoctor.rules.idioms._optimizers.protocols import (
    call_of_self,
    parameters,
    statements,
    text_of,
)
from kdoctor.syntax.libcst_walk import descendants

# What a `keras.Variable` does as a `tf.Variable` does.
_ALIKE = frozenset({"assign", "assign_add", "assign_sub", "shape"})
_ASSIGNMENTS = frozenset({"assign", "assign_add", "assign_sub"})
_STATE_OPS = ("tensorflow.python.ops.state_ops.", "tensorflow.compat.v1.")
_SCATTERS = {
    "_resource_scatter_add": "scatter_add",
    "_resource_scatter_update": "scatter_update",
}
_NAMED = (
    "`variable.path` replaces `variable.name`: it has no `:0` and does not contain the model's name"
)

_SCHEDULED = "a hyperparameter that is a schedule is stored in the configuration unchanged"


class Calls(Struct):
    """Rewrites the bodies of methods, one after the other.

    ``slots`` maps the names of slots to the attributes with their lists; ``prepared`` is the new
    name of ``_prepare_local``; ``variables`` are the parameters that hold variables of the model,
    by method.
    """

    plan: Plan
    names: Names
    slots: dict[str, str]
    prepared: str | None
    variables: dict[str, set[str]]
    _slot_locals: set[str] = field(default_factory=set)
    _kept: set[str] = field(default_factory=set)
    _schedules: bool = False
    _rate: str | None = None

    def rewrite(
        self,
        function: cst.FunctionDef,
        *,
        rate: str | None,
        state: str | None = None,
        dtype: str | None = None,
    ) -> None:
        """Rewrite one method.

        ``rate`` is the parameter that holds the learning rate, if one does; ``state`` and ``dtype``
        those of ``_prepare_local``.
        """
        self._slot_locals, self._kept = _locals(function)
        source = self.plan.module.source(function.body)
        self._schedules = "LearningRateSchedule" in source
        if self._schedules:
            self.plan.doubt(_SCHEDULED)
        mine = receiver(function)
        self._rate = rate or (f"{mine}.learning_rate" if mine else None)
        for statement in statements(function.body):
            if state is not None and dtype is not None:
                self._fill(function, statement, state, dtype)
            else:
                self._read_state(function, statement)
        for node in list(descendants(function)):
            if node not in self.plan.settled:
                self._node(function, node)

    def _node(self, function: cst.FunctionDef, node: cst.CSTNode) -> None:
        if isinstance(node, cst.Call):
            called = call_of_self(node, function)
            if called is not None:
                self._call(function, *called)
            self._locking(function, node)
            self._state_op(node)
        elif isinstance(node, cst.Attribute):
            self._attribute(function, node)
        elif isinstance(node, cst.Name) and node.value == "apply_state":
            self.plan.stop(node, "its content is not known")

    # -- calls on `self`

    def _call(self, function: cst.FunctionDef, name: str, call: cst.Call) -> None:
        match name:
            case "_get_hyper":
                self._hyper(function, call)
            case "_set_hyper" if function.name.value != "__init__":
                self._set_hyper(function, call)
            case "_serialize_hyperparameter" if call.args and text_of(call.args[0].value):
                read = text_of(call.args[0].value) or ""
                self.plan.replace(call, f"{receiver(function)}.{self.names.attribute(read)}")
            case "_decayed_lr" if len(call.args) == 1:
                self._decayed(call)
            case "get_slot":
                self._slot(function, call)
            case "_resource_apply_dense" if len(call.args) in {2, 3}:
                self._update(function, call)
            case "_resource_scatter_add" | "_resource_scatter_update" if len(call.args) == 3:
                self._scatter(name, call)

    def _hyper(self, function: cst.FunctionDef, call: cst.Call) -> None:
        name = text_of(call.args[0].value) if call.args else None
        if not call.args or len(call.args) > 2:
            return
        if name is None:
            if any(self.names.attribute(each) != each for each in self.names.stored):
                return  # which of them got another name cannot be told
            text = f"getattr({receiver(function)}, {self.plan.module.source(call.args[0].value)})"
        elif name == "learning_rate" and self._rate:
            text = self._rate
        else:
            text = f"{receiver(function)}.{self.names.attribute(name)}"
        self.plan.settled.update((call, call.func, call.args[0].value))
        if len(call.args) == 1 or self._schedules:
            if len(call.args) == 2:
                self.plan.settled.update(descendants(call))
            self.plan.write(self.plan.module.span(call), text)
            return
        self._cast(call, text, call.args[1].value)

    def _cast(self, call: cst.Call, text: str, dtype: cst.BaseExpression) -> None:
        cast = self.plan.spell("keras.ops.cast")
        self.plan.write(self.plan.module.span(call), f"{cast}({text}, ", self.plan.hole(dtype), ")")

    def _set_hyper(self, function: cst.FunctionDef, call: cst.Call) -> None:
        name = text_of(call.args[0].value) if len(call.args) == 2 else None
        if name is None or not isinstance(self.plan.module.parent(call), cst.Expr):
            return
        self.plan.settled.add(call.func)
        left = f"{receiver(function)}.{self.names.attribute(name)} = "
        self.plan.write(
            self.plan.module.span(call), left, self.plan.hole(call.args[1].value, Precedence.ANY)
        )

    def _decayed(self, call: cst.Call) -> None:
        self.plan.settled.update((call, call.func))
        if not self.names.decays and self._rate is not None:
            self._cast(call, self._rate, call.args[0].value)

    def _slot(self, function: cst.FunctionDef, call: cst.Call) -> None:
        passed = [each.value for each in call.args]
        name = text_of(passed[1]) if len(passed) == 2 else None
        attribute = self.slots.get(name or "")
        if attribute is None:
            self.plan.stop(call, "`_create_slots` makes no such slot")
            return
        mine = receiver(function)
        self.plan.settled.update((call, call.func))
        parent = self.plan.module.parent(call)
        value = ".value" if _is_of_tensorflow(parent, call) else ""
        self.plan.write(
            self.plan.module.span(call),
            f"{mine}.{attribute}[{mine}._get_variable_index(",
            self.plan.hole(passed[0]),
            f")]{value}",
        )

    def _update(self, function: cst.FunctionDef, call: cst.Call) -> None:
        """Rewrite a call of the method that is ``update_step`` now."""
        gradient, variable, *state = call.args
        is_state = all(self.plan.module.source(each.value) == "apply_state" for each in state)
        if any(each.star or each.keyword for each in (gradient, variable)) or not is_state:
            self.plan.stop(call, "what is passed")
            return
        self.plan.settled.update((call, call.func, *(n for e in state for n in descendants(e))))
        self.plan.write(
            self.plan.module.span(call),
            f"{receiver(function)}.update_step(",
            self.plan.hole(gradient.value),
            ", ",
            self.plan.hole(variable.value),
            f", {self._rate})",
        )

    def _scatter(self, name: str, call: cst.Call) -> None:
        target, indices, values = (each.value for each in call.args)
        is_slot = isinstance(target, cst.Name) and target.value in self._slot_locals
        self.plan.settled.update((call, call.func))
        if not isinstance(target, cst.Name):
            self.plan.stop(call, "what it adds to is not known")
            return
        rows = self.plan.spell("tensorflow.IndexedSlices")
        self.plan.write(
            self.plan.module.span(call),
            self.plan.hole(target, Precedence.PRIMARY),
            f"{'.value' if is_slot else ''}.{_SCATTERS[name]}({rows}(",
            self.plan.hole(values),
            ", ",
            self.plan.hole(indices),
            "))",
        )

    def _locking(self, function: cst.FunctionDef, call: cst.Call) -> None:
        """Leave out ``use_locking=self._use_locking``."""
        for position, each in enumerate(call.args):
            is_it = each.keyword is not None and each.keyword.value == "use_locking"
            if not is_it or member_of_self(each.value, function) != "_use_locking":
                continue
            if "_use_locking" in self.names.stored:
                continue
            start = self.plan.module.span(each).start
            end = self.plan.module.span(each).end
            if position:
                start = self.plan.module.outer_span(call.args[position - 1].value).end
            elif len(call.args) > 1:
                end = self.plan.module.span(call.args[1]).start
            if "#" in self.plan.module.text[start:end]:
                self.plan.stop(each, "there is a comment next to it")
            self.plan.settled.update(descendants(each))
            self.plan.write(Span(start, end), "")

    def _state_op(self, call: cst.Call) -> None:
        """Rewrite ``state_ops.assign(m, value)``."""
        name = self.plan.module.qualified(call.func) or ""
        prefix, _, leaf = name.rpartition(".")
        if f"{prefix}." not in _STATE_OPS or leaf not in _ASSIGNMENTS or not call.args:
            return
        first, *rest = call.args
        kept = [each for each in rest if each.keyword is None]
        others = [each for each in rest if each.keyword and each.keyword.value != "use_locking"]
        if first.keyword or first.star or len(kept) != 1 or kept[0].star or others:
            self.plan.stop(call, "what is assigned to what")
            return
        start = self.plan.module.span(call).start
        opened = self.plan.module.outer_span(kept[0].value).start
        self.plan.settled.update((call, *descendants(call.func)))
        self.plan.write(
            Span(start, opened), self.plan.hole(first.value, Precedence.PRIMARY), f".{leaf}("
        )

    # -- variables

    def _attribute(self, function: cst.FunctionDef, node: cst.Attribute) -> None:
        base, member = node.value, node.attr.value
        if isinstance(base, cst.Attribute) and member == "base_dtype":
            if base.attr.value == "dtype" and isinstance(base.value, cst.Name):
                self.plan.settled.update(descendants(node))
                self.plan.write(
                    Span(self.plan.module.span(base).end, self.plan.module.span(node).end), ""
                )
            return
        if not isinstance(base, cst.Name):
            return
        if base.value in self._slot_locals and member not in {*_ALIKE, "dtype"}:
            end = self.plan.module.span(base).end
            self.plan.write(Span(end, end), ".value")
        elif base.value in self._kept and member not in {"dtype", "shape"}:
            self.plan.stop(node, "`assign` gives the new value in Keras 3, not the variable")
        elif member == "name" and base.value in self.variables.get(function.name.value, ()):
            self._variable_name(function, node, base)

    def _variable_name(
        self, function: cst.FunctionDef, node: cst.Attribute, base: cst.Name
    ) -> None:
        mine = receiver(function)
        if mine is None:
            self.plan.stop(node, "the variable has another name in Keras 3")
            return
        self.plan.doubt(_NAMED)
        self.plan.replace(
            node,
            f"{mine}._trainable_variables[{mine}._get_variable_index({base.value})].path",
        )

    # -- `apply_state`

    def _read_state(self, function: cst.FunctionDef, statement: cst.CSTNode) -> None:
        """Rewrite the two statements by which an update gets its coefficients."""
        if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
            return
        target, value = statement.targets[0].target, statement.value
        text = "".join(self.plan.module.source(value).split())
        variable = parameters(function)[1] if len(parameters(function)) > 1 else ""
        if text == f"{variable}.device,{variable}.dtype.base_dtype" and isinstance(
            target, cst.Tuple
        ):
            device, dtype = (self.plan.module.source(each.value) for each in target.elements)
            if self._uses(function, device) <= 3:
                self.plan.replace(statement, f"{dtype} = {variable}.dtype")
            return
        if "_fallback_apply_state" not in text or "apply_state" not in parameters(function):
            return
        mine = receiver(function)
        asked = [
            each for each in descendants(value)
            if (called := call_of_self(each, function)) and called[0] == "_fallback_apply_state"
        ]  # fmt: skip
        call = asked[0] if asked else None
        if not isinstance(call, cst.Call) or len(call.args) != 2:
            return
        key = "".join(self.plan.module.source(each.value) + "," for each in call.args)[:-1]
        key = "".join(key.split())
        expected = (
            f"(apply_stateor{{}}).get(({key}))or{mine}._fallback_apply_state({key})",
            f"((apply_stateor{{}}).get(({key}))or{mine}._fallback_apply_state({key}))",
        )
        if text not in expected:
            return
        dtype_text = self.plan.module.source(call.args[1].value).replace(".base_dtype", "")
        self.plan.replace(value, self._coefficients(mine or "self", dtype_text))

    def _uses(self, function: cst.FunctionDef, name: str) -> int:
        return sum(
            isinstance(each, cst.Name) and each.value == name for each in descendants(function.body)
        )

    def _coefficients(self, mine: str, dtype: str) -> str:
        if self.prepared is not None:
            return f"{mine}.{self.prepared}({dtype})"
        return f'{{"lr_t": {self._rate_in(mine, dtype)}}}'

    def _rate_in(self, mine: str, dtype: str) -> str:
        if self.names.decays:
            return f"{mine}._decayed_lr({dtype})"
        return f"{self.plan.spell('keras.ops.cast')}({self._rate}, {dtype})"

    def _fill(
        self, function: cst.FunctionDef, statement: cst.CSTNode, state: str, dtype: str
    ) -> None:
        """Rewrite the statements of ``_prepare_local`` that fill the state."""
        mine = receiver(function) or "self"
        above = call_of_super(statement.value) if isinstance(statement, cst.Expr) else None
        if above is not None and above[0] == "_prepare_local":
            rate = self._rate_in(mine, dtype)
            self.plan.replace(statement, f'coefficients = {{"lr_t": {rate}}}')
            return
        for node in descendants(statement):
            if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Name):
                if node.value.value == state:
                    self.plan.replace(node, "coefficients")
            elif isinstance(node, cst.Name) and node.value == state:
                above_it = self.plan.module.parent(node)
                if not isinstance(above_it, cst.Subscript):
                    self.plan.stop(statement, "what becomes of the state is not known")


def _is_of_tensorflow(parent: cst.CSTNode | None, node: cst.CSTNode) -> bool:
    return (
        isinstance(parent, cst.Attribute)
        and parent.value is node
        and parent.attr.value not in {*_ALIKE, "dtype"}
    )


def _locals(function: cst.FunctionDef) -> tuple[set[str], set[str]]:
    """Return the variables that hold slots, and those that hold what ``assign`` gave."""
    slots, kept = set[str](), set[str]()
    for each in descendants(function.body):
        match each:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                called = call_of_self(value, function)
                if called is not None and called[0] == "get_slot":
                    slots.add(name)
                elif _assigns(value, slots):
                    kept.add(name)
    return slots, kept - slots


def _assigns(value: cst.BaseExpression, slots: set[str]) -> bool:
    match value:
        case cst.Call(func=cst.Attribute(value=cst.Name(value=target), attr=cst.Name(value=name))):
            return name in _ASSIGNMENTS and target in slots
    return False
