"""Recognize optimizer classes of Keras 2 and their parts."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import is_call_of_super, is_keras_3
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import (
    is_old_optimizer,
    member_of_self,
    methods_in,
    optimizers_of_2_11,
)
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.node_predicates import is_of_named_base

BASES = frozenset({"Optimizer", "OptimizerV2"})


class OldOptimizer(Struct, frozen=True):
    """A class of the user's: an optimizer for Keras 2.

    ``base`` is its one base class where that is Keras' bare ``Optimizer``, None for any other.
    ``is_of_2_11``: it has the ``update_step`` of TensorFlow 2.11 to 2.15; others have none.
    """

    node: cst.ClassDef
    methods: dict[str, cst.FunctionDef]
    base: cst.BaseExpression | None
    qualified: str | None
    is_of_2_11: bool = False


def old_optimizers(
    module: Module, facts: TargetFacts, hooks: Collection[str]
) -> Iterator[OldOptimizer]:
    """Yield the optimizers that define one of ``hooks`` and not what Keras 3 calls."""
    for node in module.nodes(cst.ClassDef):
        if not isinstance(node.body, cst.IndentedBlock):
            continue
        methods = {
            each.name.value: each for each in node.body.body if isinstance(each, cst.FunctionDef)
        }
        if not methods.keys() & set(hooks) or not is_old_optimizer(module, node):
            continue
        name = _root_name(module, node)
        if _is_keras_3(facts, name):
            yield OldOptimizer(node, methods, _bare_base(module, node), name)


def old_optimizers_of_2_11(module: Module, facts: TargetFacts) -> Iterator[OldOptimizer]:
    """Yield the optimizers that use what only the base class of TensorFlow 2.11 to 2.15 had."""
    for node in module.nodes(cst.ClassDef):
        if node not in optimizers_of_2_11(module) or not isinstance(node.body, cst.IndentedBlock):
            continue
        name = _root_name(module, node)
        if _is_keras_3(facts, name):
            base = _bare_base(module, node)
            yield OldOptimizer(node, methods_in(node), base, name, is_of_2_11=True)


def _is_keras_3(facts: TargetFacts, name: str | None) -> bool:
    """Say whether ``model.compile`` is to take an object of a class of this name for an optimizer.

    TensorFlow's private copy of Keras 2 goes with ``tf.keras``, whatever that is.
    """
    split = split_root(name) if name else None
    if split is not None and split[0] == "tensorflow.python.keras":
        return facts.runs_keras_3("tf.keras")
    return is_keras_3(facts, name)


def _root_name(module: Module, node: cst.ClassDef) -> str | None:
    """Return the dotted name of the class of Keras that a class descends from."""
    for _ in range(9):
        own = next((o for a in node.bases if (o := class_named(module, a.value))), None)
        if own is None:
            names = [module.qualified(each.value) for each in node.bases]
            known = [each for each in names if each and split_root(each) is not None]
            return known[0] if known else None
        node = own
    return None


def _bare_base(module: Module, node: cst.ClassDef) -> cst.BaseExpression | None:
    if len(node.bases) != 1 or node.keywords or node.bases[0].star:
        return None
    base = node.bases[0].value
    name = module.qualified(base)
    return base if name is not None and name.rpartition(".")[2] in BASES else None


def parameters(function: cst.FunctionDef) -> list[str]:
    """Return the names of the parameters that may be passed by position, without the receiver."""
    plain = [*function.params.posonly_params, *function.params.params]
    return [each.name.value for each in plain[1:]]


def call_of_self(node: cst.CSTNode, function: cst.FunctionDef) -> tuple[str, cst.Call] | None:
    """Return ``x`` and the call of ``self.x(…)``."""
    if isinstance(node, cst.Call):
        name = member_of_self(node.func, function)
        return None if name is None else (name, node)
    return None


def init_of_base(node: cst.CSTNode) -> cst.Call | None:
    """Return ``super().__init__(…)``, or ``Base.__init__(self, …)``."""
    if not isinstance(node, cst.Call):
        return None
    return node if is_of_named_base(node) or is_call_of_super(node, "__init__") else None


def text_of(node: cst.BaseExpression | None) -> str | None:
    """Return what a string literal says."""
    text = literal(node)
    return text if isinstance(text, str) else None


def backend_name(module: Module, node: cst.CSTNode) -> str | None:
    """Return ``zeros`` of ``K.zeros``, by whatever name the file calls Keras' backend."""
    name = module.qualified(node)
    split = split_root(name) if name else None
    if split is None or not split[1].startswith("backend."):
        return None
    return split[1].removeprefix("backend.")


def backend_call(module: Module, node: cst.CSTNode, *names: str) -> cst.Call | None:
    """Return the call, if it is one of these functions of Keras' backend."""
    if isinstance(node, cst.Call) and backend_name(module, node.func) in names:
        return node
    return None


def statements(suite: cst.BaseSuite) -> list[cst.CSTNode]:
    """Return the statements of a block: small ones bare, others as they are."""
    return [
        small
        for each in suite.body
        for small in (each.body if isinstance(each, cst.SimpleStatementLine) else [each])
    ]


def is_text(node: cst.CSTNode) -> bool:
    """Say whether a statement is a docstring."""
    return isinstance(node, cst.Expr) and isinstance(
        node.value, cst.SimpleString | cst.ConcatenatedString
    )
