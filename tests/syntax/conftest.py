"""A small world to parse in: a package `k` in which some names are missing."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst
import pytest

from kdoctor.documents import Document
from kdoctor.syntax import Module
from kdoctor.value_types import EAGER_TENSOR, Context, Kind, ReceiverHint, Type

CLASSES = {
    "k.Model": Type(Kind.MODEL, "Model", "k.Model"),
    "k.Sequential": Type(Kind.MODEL, "Sequential", "k.Sequential"),
    "k.layers.Layer": Type(Kind.LAYER, "Layer", "k.layers.Layer"),
    "k.layers.Dense": Type(Kind.LAYER, "Dense", "k.layers.Dense"),
    "k.SGD": Type(Kind.OPTIMIZER, "SGD", "k.SGD"),
    "k.losses.Loss": Type(Kind.LOSS, "Loss", "k.losses.Loss"),
    "k.metrics.Metric": Type(Kind.METRIC, "Metric", "k.metrics.Metric"),
}
TENSOR = Type(Kind.TENSOR, "KerasTensor")
CLASSES["k.KerasTensor"] = TENSOR
FUNCTIONS = {
    "k.Input": TENSOR,
    "k.load": Type(Kind.MODEL),
    "k.clone": Type(Kind.MODEL, "Functional"),
    "np.ones": EAGER_TENSOR,
}
MEMBERS = {
    (Kind.MODEL, "layers", False): Type(Kind.LIST, item=Type(Kind.LAYER)),
    (Kind.MODEL, "fit", True): Type(Kind.HISTORY, "History"),
    (Kind.MODEL, "get_layer", True): Type(Kind.LAYER),
    (Kind.MODEL, "optimizer", False): Type(Kind.OPTIMIZER),
    (Kind.MODEL, "__enter__", True): Type(Kind.MODEL),
    (Kind.MODEL, "__call__", True): TENSOR,
    (Kind.LAYER, "__call__", True): TENSOR,
    (Kind.LAYER, "add_weight", True): Type(Kind.VARIABLE),
    (Kind.TENSOR, "_history", False): Type(Kind.KERAS_HISTORY),
    (Kind.TENSOR, "__getitem__", True): TENSOR,
}
METHODS = {
    (Kind.LAYER, "call"): Context.CALL,
    (Kind.MODEL, "call"): Context.CALL,
    (Kind.LOSS, "call"): Context.LOSS_OR_METRIC,
    (Kind.METRIC, "update_state"): Context.LOSS_OR_METRIC,
}
ARGUMENTS = {
    ("compile", "loss"): Context.LOSS_OR_METRIC,
    ("compile", "metrics"): Context.LOSS_OR_METRIC,
    ("compile", 1): Context.LOSS_OR_METRIC,
    ("k.layers.Lambda", 0): Context.CALL,
}
MISSING = ("k.old", "k.ops.gone", "k.layers.gone", "k.gone")
MOVED = {"k.more.sum": ("k.layers.sum",)}
THERE = ("k", "k2", "json")


@dataclass(eq=False)
class World:
    """Knows `k`, version 3.15.1, and its older twin `k2`, in which nothing is missing."""

    versions: dict[str, str] = field(default_factory=lambda: {"k": "3.15.1"})

    def class_type(self, qualified):
        return CLASSES.get(qualified)

    def result_type(self, qualified):
        return FUNCTIONS.get(qualified)

    def applied_type(self, qualified, tensor):
        return tensor if qualified.startswith("k.ops.") else None

    def has_weights(self, layer):
        return layer.cls == "Dense"

    def defines(self, qualified, member):  # noqa: ARG002
        return False

    def member_type(self, owner, member, *, called):
        if called and owner.kind is Kind.LIST and member in {"__iter__", "__getitem__", "pop"}:
            return owner.item
        if owner.cls == "Functional" and member == "__call__" and called:
            return Type(Kind.TENSOR)  # one, or several
        return MEMBERS.get((owner.kind, member, called))

    @property
    def typed_members(self):
        return {member for _, member, called in MEMBERS if not called}

    @property
    def typed_methods(self):
        called = {member for _, member, called in MEMBERS if called}
        return called | {"__iter__", "__getitem__", "__call__", "pop"}

    @property
    def methods_that_tell_types(self):
        return ("compile",)

    def receiver_type(self, method, given):
        tells = "loss" in given or (given.get(0) and given[0].kind is Kind.OPTIMIZER and 1 in given)
        return Type(Kind.MODEL) if method == "compile" and tells else None

    @property
    def methods_that_hint(self):
        return ("fit", "save_weights")

    @property
    def attributes_that_hint(self):
        return {}

    def receiver_hint(self, method, given):
        strong = method == "save_weights"
        return (
            ReceiverHint(Type(Kind.MODEL), method, strong) if strong or "epochs" in given else None
        )

    def may_be_known(self, qualified):
        return "k" in qualified

    def is_called_like(self, qualified):
        return any(qualified.endswith(name.removeprefix("k")) for name in CLASSES)

    def star_names(self, module):
        return {
            "k.layers": {"Dense", "Layer", "sum"},
            "k.models": {"Model"},
            "k.more": {"Layer", "sum"},
        }.get(module)

    def exists(self, qualified):
        if any(qualified == name or qualified.startswith(f"{name}.") for name in MISSING):
            return False
        return True if qualified.partition(".")[0] in THERE else None

    def moved_to(self, qualified):
        return MOVED.get(qualified, ())

    def is_module(self, qualified):
        return False if qualified in CLASSES else None

    def common_name_of(self, names):
        """`k` and its older twin are the same where the same name is taken from both."""
        same = {name.removeprefix("k2").removeprefix("k") for name in names}
        roots = {name.partition(".")[0] for name in names}
        return min(names) if len(same) == 1 and roots == {"k", "k2"} else None

    def version(self, module):
        return self.versions.get(module)

    def answers(self, function):
        return {"one", "two"} if function == "k.engine" else None

    def method_context(self, owner, method):
        return METHODS.get((owner.kind, method))

    def argument_context(self, callee, argument):
        return ARGUMENTS.get((callee, argument))

    def function_context(self, parameters):
        return Context.LOSS_OR_METRIC if list(parameters) == ["y_true", "y_pred"] else None

    def block_context(self, qualified):
        return Context.TRAIN_LOOP if qualified == "k.Tape" else None


@pytest.fixture(scope="session")
def parse():
    def parse(source, path="code.py", package=None, **versions):
        text = textwrap.dedent(source)
        unit = Document.parse(text.encode(), path).units[0]
        world = World(versions) if versions else World()
        return Module.parse(unit, world, package)

    return parse


@pytest.fixture(scope="session")
def names(parse):
    """The dotted names of all references that are no imports, in source order."""

    def names(source, **options):
        return [
            ref.name for ref in parse(source, **options).references if ref.kind.name != "IMPORT"
        ]

    return names


@pytest.fixture(scope="session")
def node_of(parse):
    """The module, and the last node of which the source reads ``text``."""

    def node_of(source, text, **options):
        module = parse(source, **options)
        from kdoctor.syntax.libcst_walk import descendants  # noqa: PLC0415

        found = [each for each in descendants(module.tree) if module.source(each) == text]
        return module, found[-1]

    return node_of


def every_node(tree: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a node and all below it, blanks and punctuation too (``descendants`` leaves them out)."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children
