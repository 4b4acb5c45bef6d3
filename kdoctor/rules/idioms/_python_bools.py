"""Replace boolean tensors of TensorFlow functions with Python bools."""

from __future__ import annotations

from typing import Final

import libcst as cst
from msgspec import Struct, field

from kdoctor.analysis.models.user_classes import methods_in
from kdoctor.analysis.tensors.tensorflow_calls import returns_tensor
from kdoctor.model import Edit, Hole, Precedence
from kdoctor.rewrite.precedence import precedence_of, required_precedence
from kdoctor.rules.idioms._tensorflow import canonical
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import Binding, BindingKind

_JOINED: Final = {
    "tensorflow.logical_and": (" and ", Precedence.AND),
    "tensorflow.logical_or": (" or ", Precedence.OR),
}
_ANY: Final = Precedence.LAMBDA
_TRAINING: Final = "training"


def is_tensor(
    module: Module,
    function: cst.FunctionDef,
    node: cst.BaseExpression,
    seen: frozenset[Binding] = frozenset(),
) -> bool:
    """Say whether a value is a tensor that the function itself makes, on each way to it."""
    match node:
        case cst.Call():
            return returns_tensor(module.qualified(node.func) or "")
        case cst.IfExp():
            return all(is_tensor(module, function, each, seen) for each in (node.body, node.orelse))
        case cst.Name():
            found = frozenset(module.bindings_at(node))
            return bool(found) and all(
                each not in seen
                and (value := _assigned(module, function, each)) is not None
                and is_tensor(module, function, value, seen | found)
                for each in found
            )
    return False


def _canonical(name: str) -> str:
    """Return the name of a function of TensorFlow as the tables have it."""
    for old in ("compat.v1.", "compat.v2."):
        name = name.replace(f"tensorflow.{old}", "tensorflow.")
    return canonical(name)


def _assigned(
    module: Module, function: cst.FunctionDef, binding: Binding
) -> cst.BaseExpression | None:
    """Return what a statement of the function binds a name to."""
    target = module.parent(binding.node)
    statement = None if target is None else module.parent(target)
    if binding.kind is not BindingKind.ASSIGN or binding.path or binding.remote:
        return None
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return None
    return binding.value if function in module.ancestors(statement) else None


class PythonBools(Struct):
    """Makes bools of Python of what a ``call`` makes tensors of."""

    module: Module
    function: cst.FunctionDef
    edits: list[Edit] = field(default_factory=list)
    names: set[str] = field(default_factory=set)  # that are bound to bools now
    reads: set[cst.CSTNode] = field(default_factory=set)
    done: set[Binding] = field(default_factory=set)

    def converts(self, node: cst.BaseExpression) -> bool:
        """Say whether an expression can be one, having gathered the edits that make it one."""
        match node:
            case cst.Call():
                return self._converts_call(node)
            case cst.Name(value="True" | "False"):
                return True
            case cst.Name():
                self.reads.add(node)
                found = self.module.bindings_at(node)
                return bool(found) and all(map(self._converts_binding, found))
            case cst.Attribute(attr=cst.Name(value="trainable")):
                return self._is_own(node)
        return False

    def covers_all_reads(self) -> bool:
        """Say whether nobody else in the function wants a tensor in the names."""
        return not any(
            isinstance(each, cst.Name)
            and each.value in self.names
            and each not in self.reads
            and self._wants_a_tensor(each)
            for each in descendants(self.function.body)
        )

    def _wants_a_tensor(self, name: cst.Name) -> bool:
        match self.module.parent(name):
            case cst.Attribute(attr=attribute) if attribute is name:
                return False
            case cst.Arg(keyword=cst.Name() as keyword):
                return keyword is not name and keyword.value != _TRAINING
            case cst.AssignTarget() | cst.If() | cst.UnaryOperation(operator=cst.Not()):
                return False
            case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=how)]):
                return not isinstance(how, cst.Is | cst.IsNot)
        return True

    def _is_own(self, attribute: cst.Attribute) -> bool:
        """Say whether it is ``self.trainable`` as Keras defines it."""
        first = next(iter(self.function.params.params), None)
        owner = next(
            (e for e in self.module.ancestors(self.function) if isinstance(e, cst.ClassDef)), None
        )
        return (
            isinstance(attribute.value, cst.Name)
            and first is not None
            and attribute.value.value == first.name.value
            and owner is not None
            and "trainable" not in methods_in(owner)
        )

    def _converts_binding(self, binding: Binding) -> bool:
        if binding in self.done:
            return True
        self.done.add(binding)
        if binding.kind is BindingKind.PARAMETER:
            # Keras passes a bool or None, both of which Python and the layers take for what it is.
            return (
                binding.name == _TRAINING
                and self.module.parent(binding.node) is self.function.params
            )
        value = _assigned(self.module, self.function, binding)
        self.names.add(binding.name)
        return value is not None and self.converts(value)

    def _converts_call(self, call: cst.Call) -> bool:
        name = _canonical(self.module.qualified(call.func) or "")
        given = [each.value for each in call.args]
        if any(each.keyword or each.star for each in call.args) or "#" in self.module.source(call):
            return False
        if name in _JOINED and len(given) == 2:
            (left, right), (word, own) = given, _JOINED[name]
            tighter = Precedence(own + 1)
            self._replace(call, own, self._hole(left, own), word, self._hole(right, tighter))
        elif name == "tensorflow.logical_not" and len(given) == 1:
            hole = self._hole(given[0], Precedence.NOT)
            self._replace(call, Precedence.NOT, "not ", hole)
        elif name == "tensorflow.constant" and len(given) == 1:
            wanted = required_precedence(self.module.parent(call), call)
            self._replace(call, precedence_of(given[0]), self._hole(given[0], wanted))
        elif name == "tensorflow.cast" and len(given) == 2 and self._is_bool(given.pop()):
            self._replace(call, Precedence.PRIMARY, "bool(", self._hole(given[0], _ANY), ")")
        else:
            return False
        return all(map(self.converts, given))

    def _is_bool(self, kind: cst.BaseExpression) -> bool:
        name = self.module.qualified(kind)
        is_builtin = self.module.scope_of(kind).owner("bool") is None
        return is_builtin and (
            name == "tensorflow.bool"
            or literal(kind) == "bool"
            or (name is None and isinstance(kind, cst.Name) and kind.value == "bool")
        )

    def _hole(self, node: cst.BaseExpression, required: Precedence) -> Hole:
        return Hole(self.module.outer_span(node), required, precedence_of(node))

    def _replace(self, call: cst.Call, own: Precedence, *parts: str | Hole) -> None:
        wanted = required_precedence(self.module.parent(call), call)
        self.edits.append(Edit(self.module.span(call), parts, own, wanted))
