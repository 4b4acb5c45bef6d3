"""What names mean in Keras, for the scanner: the ``Knowledge`` of ``kdoctor.syntax``.

Old code uses old names: what a name makes is looked up in all releases, not only the target's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final

from packaging.version import Version

from kdoctor.keras_api import receiver_hints, tables
from kdoctor.keras_api.instances import member_lookup
from kdoctor.keras_api.names import lookup, signature
from kdoctor.keras_api.presence import Presence
from kdoctor.keras_api.returns import (
    ARGUMENT_CONTEXTS,
    BLOCK_CONTEXTS,
    CALLED,
    LAYER,
    LAYERS_OF_SEVERAL,
    LIBRARY_FUNCTIONS,
    MEMBERS,
    MERGING_FUNCTIONS,
    METHOD_CONTEXTS,
    MODEL,
    NOT_TENSOR_FUNCTIONS,
    PARTS,
    RECEIVERS,
    RETURNS,
    TENSOR,
    TENSOR_FUNCTIONS,
    TENSOR_LIST_FUNCTIONS,
    WEIGHTED_LAYERS,
)
from kdoctor.keras_api.surface import (
    COMPATIBLE,
    PRIVATE_ROOT,
    newest,
    same_under_other_roots,
    split_root,
)
from kdoctor.keras_api.tables import ClassFamily, EntryKind, NameSpan
from kdoctor.keras_api.tensorflow_aliases import version_of
from kdoctor.target import Target
from kdoctor.value_types import Context, Kind, ReceiverHint, Type

KINDS: Final = {
    ClassFamily.LAYER: Kind.LAYER,
    ClassFamily.MODEL: Kind.MODEL,
    ClassFamily.OPTIMIZER: Kind.OPTIMIZER,
    ClassFamily.LOSS: Kind.LOSS,
    ClassFamily.METRIC: Kind.METRIC,
    ClassFamily.CALLBACK: Kind.CALLBACK,
    ClassFamily.VARIABLE: Kind.VARIABLE,
    ClassFamily.TENSOR: Kind.TENSOR,
}
"""What the objects are that the classes of a family make."""

# What the other roots were copied from, or are copies of.
_COPIES: Final = ("tf.keras", "keras", "tf_keras")

_TENSORFLOW: Final = frozenset(
    ("tensorflow", *(f"tensorflow.{each}" for each in ("math", "nn", "linalg", "image", "random")))
)

# What ``tf.keras.__version__`` is while TensorFlow's own. Read off tensorflow/python/keras/
# __init__.py from 2.3 on; before it the file chooses between two, and each release was run.
_OWN_VERSIONS: Final = {
    "1.15.5": "2.2.4-tf",
    "2.0.4": "2.2.4-tf",
    "2.1.4": "2.3.0-tf",
    "2.2.3": "2.3.0-tf",
    "2.3.4": "2.4.0",
    "2.4.4": "2.4.0",
    "2.5.3": "2.5.0",
}

_NEWEST_TENSORFLOW: Final = "2.21.0"


# What Keras can run on, by the folders of keras/src/backend. Keras 2.4 to 2.15 had TensorFlow
# alone; before it, Theano, CNTK and, in forks, others.
_ENGINES: Final = frozenset({"jax", "numpy", "openvino", "tensorflow", "torch"})
_ONE_ENGINE_SINCE: Final = Version("2.4")


# The class that all others of a kind are made from. A model's is a layer, too, and `keras.Model` is
# called `Functional` here.
_ROOTS: Final = {
    Kind.LAYER: Type(Kind.LAYER, "Layer", "keras.layers.Layer"),
    Kind.MODEL: Type(Kind.MODEL, "Functional", "keras.Model"),
    Kind.METRIC: Type(Kind.METRIC, "Metric", "keras.metrics.Metric"),
    Kind.LOSS: Type(Kind.LOSS, "Loss", "keras.losses.Loss"),
    Kind.OPTIMIZER: Type(Kind.OPTIMIZER, "Optimizer", "keras.optimizers.Optimizer"),
    Kind.CALLBACK: Type(Kind.CALLBACK, "Callback", "keras.callbacks.Callback"),
}

_OF_LISTS: Final = frozenset({"__getitem__", "__iter__", "pop"})
_TYPED_MEMBERS: Final = frozenset((*PARTS, *(member for _, member in MEMBERS)))
_TYPED_METHODS: Final = _OF_LISTS.union(member for _, member in CALLED)


class KerasOracle:
    """Answers from the release data; the few facts that releases cannot tell are in ``returns``."""

    def __init__(self, target: Target) -> None:
        self.target = target

    def class_type(self, qualified: str) -> Type | None:
        """Return what an instance of the class ``qualified`` is."""
        return _class_type(qualified)

    def result_type(self, qualified: str) -> Type | None:
        """Return what calling the function ``qualified`` gives."""
        if qualified in LIBRARY_FUNCTIONS:
            return LIBRARY_FUNCTIONS[qualified]
        split = split_root(qualified)
        return _function_type(*split) if split else None

    def applied_type(self, qualified: str, tensor: Type) -> Type | None:
        """Return what a function of Keras or TensorFlow gives when a tensor goes in."""
        split = split_root(qualified)
        one = TENSOR if tensor.kind is Kind.TENSOR else tensor
        if split is not None:
            parent, _, leaf = split[1].rpartition(".")
            if parent.startswith("layers") and leaf in MERGING_FUNCTIONS:
                return one
            if leaf in NOT_TENSOR_FUNCTIONS or parent.partition(".")[0] not in {"backend", "ops"}:
                return None
            return Type(Kind.LIST, item=one) if leaf in TENSOR_LIST_FUNCTIONS else one
        parent, _, leaf = qualified.rpartition(".")
        if parent.replace(".compat.v1", "").replace(".compat.v2", "") not in _TENSORFLOW:
            return None
        if leaf in TENSOR_LIST_FUNCTIONS:
            return Type(Kind.LIST, item=one)
        return one if leaf in TENSOR_FUNCTIONS else None

    def has_weights(self, layer: Type) -> bool:
        """Say whether a layer surely has weights."""
        return layer.kind is Kind.LAYER and layer.cls in WEIGHTED_LAYERS

    def defines(self, qualified: str, member: str) -> bool:
        """Say whether a class has a member that none has which others of its kind are made from.

        Of a class below the one that all are made from, such are the members that this one lacks,
        and ``__init__`` where it takes other arguments and hands none on.
        """
        made = self.class_type(qualified)
        root = _ROOTS.get(made.kind) if made is not None else None
        if made is None or root is None:
            return False
        if member == "__init__":
            return made.cls == root.cls or self._takes_other_arguments(qualified, root)
        if member.startswith("_"):
            return False
        lower = made.cls != root.cls or made.kind is Kind.MODEL
        behind = _ROOTS[Kind.LAYER] if made.cls == root.cls else root
        return _has(made, member, self.target) and not (lower and _has(behind, member, self.target))

    def _takes_other_arguments(self, qualified: str, root: Type) -> bool:
        own, other = (signature(each, self.target) for each in (qualified, root.qualified or ""))
        if own is None or other is None or own.takes_any_keyword:
            return False
        return own.parameters != other.parameters

    def member_type(self, owner: Type, member: str, *, called: bool) -> Type | None:
        """Return what ``owner.member`` is, or gives when it is called."""
        if called and owner.kind is Kind.LIST and member in _OF_LISTS:
            return owner.item
        if called and member == "__call__" and _gives_one(owner):
            return TENSOR
        if not called and owner.kind is Kind.LAYER and member in PARTS:
            made = (owner.qualified or "").rpartition(".")[2]
            return LAYER if made in PARTS[member] else None
        return (CALLED if called else MEMBERS).get((owner.kind, member))

    @property
    def typed_members(self) -> Collection[str]:
        """The members of which ``member_type`` can tell anything, of whatever object."""
        return _TYPED_MEMBERS

    @property
    def typed_methods(self) -> Collection[str]:
        """The members of which it can tell what they give when they are called."""
        return _TYPED_METHODS

    @property
    def methods_that_tell_types(self) -> Collection[str]:
        """The methods that tell what they are called on."""
        return RECEIVERS

    def receiver_type(self, method: str, given: Mapping[int | str, Type | None]) -> Type | None:
        """Return what an object must be of which ``method`` is called in this way."""
        wanted, kind = RECEIVERS.get(method, (frozenset(), None))
        tells = not wanted.isdisjoint(given) or (method == "compile" and _optimizes_a_loss(given))
        return kind if tells else None

    @property
    def methods_that_hint(self) -> Collection[str]:
        """The methods of which two different ones tell together what they are called on."""
        return receiver_hints.METHODS

    @property
    def attributes_that_hint(self) -> Mapping[str, ReceiverHint]:
        """The attributes that hint at what they are read of."""
        return receiver_hints.ATTRIBUTES

    def receiver_hint(self, method: str, given: Collection[int | str]) -> ReceiverHint | None:
        """Return what a call of ``method`` hints at that passes these positions and keywords."""
        return receiver_hints.receiver_hint(method, given)

    def may_be_known(self, qualified: str) -> bool:
        """Say whether a dotted name can have to do with Keras at all."""
        return "keras" in qualified or split_root(qualified) is not None

    def is_called_like(self, qualified: str) -> bool:
        """Say whether a name of the user's own ends like that of one of Keras' classes."""
        parts = qualified.split(".")
        ends = (".".join(parts[start:]) for start in range(1, len(parts)))
        return any(self.class_type(f"keras.{end}") is not None for end in ends)

    def star_names(self, module: str) -> Collection[str] | None:
        """Return what ``from module import *`` binds in any release, its own names only."""
        split = split_root(module)
        if split is None:
            return None
        root, name = split
        return _star_names(root, name)

    def star_modules(self, module: str) -> Mapping[str, str]:
        """Return the modules that ``from module import *`` bound in any release, by local name.

        ``K`` is ``keras.backend`` after ``from keras.layers import *`` of Keras 2.0.
        """
        split = split_root(module)
        return {} if split is None else _star_modules(*split)

    def exists(self, qualified: str) -> bool | None:
        """Say whether ``qualified`` can be imported or read on the target."""
        match lookup(qualified, self.target).presence:
            case Presence.EXISTS:
                return True
            case Presence.MISSING:
                return False
            case _:
                return False if self._is_of_the_engine(qualified) else None

    def moved_to(self, qualified: str) -> Collection[str]:
        """Return the names on the target of the very thing that a name that is gone stood for."""
        return lookup(qualified, self.target).moved_to

    def is_module(self, qualified: str) -> bool | None:
        """Say whether ``qualified`` is a module on the target."""
        match lookup(qualified, self.target).kind:
            case EntryKind.MODULE:
                return True
            # `keras.optimizers.adam` was a function, and a module of the same name.
            case EntryKind.CLASS | EntryKind.FUNCTION if not self.star_names(qualified):
                return False
            case _:
                return None

    def common_name_of(self, names: Collection[str]) -> str | None:
        """Return one of several names, where all are one thing of Keras under several roots."""
        same = same_under_other_roots(names, keras_3=self.target.keras_version.startswith("3."))
        public = [each for each in same if not each.startswith(PRIVATE_ROOT)]
        existing = (each for each in public if self.exists(each))
        return next(existing, public[0]) if public else None

    def _is_of_the_engine(self, qualified: str) -> bool:
        """Say whether it is in `keras.src.engine`, which went with Keras 2: the one gone module."""
        private = f"{qualified}.".startswith("keras.src.engine.")
        return private and self.target.keras_version.startswith("3.")

    def version(self, module: str) -> str | None:
        """Return what ``module.__version__`` is on the target."""
        match version_of(module):
            case "keras":
                return self.target.keras_version or None
            case "tensorflow.keras":
                release = self.target.tf_keras_version
                return _OWN_VERSIONS.get(release, release) or None
            case "tf_keras":
                return newest("tf_keras") if self.target.name != module else self.target.version
            case "tensorflow" if self.target.name == "tensorflow":
                return self.target.version
            case "tensorflow" if self.target.keras_version.startswith("3."):
                return _NEWEST_TENSORFLOW  # Keras 3 needs 2.16 or later; which one is not known
            case _:
                return None

    def answers(self, function: str) -> Collection[str] | None:
        """Return the names of the engines that ``keras.backend.backend()`` can give."""
        root, name = split_root(function) or ("", "")
        if name not in {"backend.backend", "config.backend"}:
            return None
        version = self.target.keras_version if root == "keras" else ""
        if root == "keras" and (not version or Version(version) < _ONE_ENGINE_SINCE):
            return None
        return _ENGINES if Version(version or "3") >= Version("3") else {"tensorflow"}

    def method_context(self, owner: Type, method: str) -> Context | None:
        """Return the context of the body of ``method`` in a subclass of ``owner``."""
        return METHOD_CONTEXTS.get((owner.kind, method))

    def argument_context(self, callee: str, argument: int | str) -> Context | None:
        """Return the context of the body of a function that is passed as this argument."""
        split = split_root(callee)
        name = split[1] if split else callee
        if (name, argument) in ARGUMENT_CONTEXTS:
            return ARGUMENT_CONTEXTS[name, argument]
        made = self.class_type(callee) if split else None
        if made is None:
            return None
        if made.kind is Kind.CALLBACK:
            return Context.EAGER
        return Context.CALL if made.kind is Kind.LAYER and argument == "activation" else None

    def function_context(self, parameters: Sequence[str]) -> Context | None:
        """Return the context of a function that has these parameters: ``(y_true, y_pred)``."""
        first = [name.lower().replace("_", "") for name in parameters[:2]]
        return Context.LOSS_OR_METRIC if first == ["ytrue", "ypred"] else None

    def block_context(self, qualified: str) -> Context | None:
        """Return the context of the body of ``with qualified():``."""
        return BLOCK_CONTEXTS.get(qualified)


def _optimizes_a_loss(given: Mapping[int | str, Type | None]) -> bool:
    """Say whether an optimizer is passed first, and a loss behind it.

    Agents take metrics there: ``agent.compile(Adam(0.1), ["mae"])``.
    """
    first, second = given.get(0), given.get(1)
    is_loss = 1 in given and (second is None or second.kind is Kind.LOSS)
    return is_loss and first is not None and first.kind is Kind.OPTIMIZER


@lru_cache(maxsize=32)
def oracle(target: Target) -> KerasOracle:
    """Return what names mean when code is to run on ``target``: the same object each time."""
    return KerasOracle(target)


@lru_cache(maxsize=2048)
def _has(made: Type, member: str, target: Target) -> bool:
    return member_lookup(made, member, target) is Presence.EXISTS


@lru_cache(maxsize=2048)
def _class_type(qualified: str) -> Type | None:
    split = split_root(qualified)
    if split is None:
        return None
    for table, span in _meanings(*split):
        if span.kind is EntryKind.CLASS and span.family in KINDS:
            kind, cls = KINDS[span.family], table.homes[span.home].rpartition(".")[2]
            # Called with tensors, as everyone does, keras.Model makes a Functional.
            return Type(kind, "Functional" if cls == "Model" else cls, qualified)
    return None


@lru_cache(maxsize=2048)
def _function_type(root: str, name: str) -> Type | None:
    for table, span in _meanings(root, name):
        if span.kind is not EntryKind.FUNCTION:
            continue
        leaf = table.homes[span.home].rpartition(".")[2]
        if name.startswith("applications.") and leaf[0].isupper():
            return MODEL  # VGG16, ResNet50 … beside preprocess_input and decode_predictions
        if leaf == "Input":
            return TENSOR
        if name in RETURNS:
            return RETURNS[name]
    return RETURNS.get(name)


@lru_cache(maxsize=2048)
def _gives_one(owner: Type) -> bool:
    """Say whether a model or layer that is called surely gives one tensor, no list of them."""
    if owner.qualified is None or _class_type(owner.qualified) != owner:
        return False  # the user's own class may give what it likes
    if owner.kind is Kind.MODEL:
        return owner.cls == "Sequential"
    return owner.kind is Kind.LAYER and owner.cls not in LAYERS_OF_SEVERAL


def _meanings(root: str, name: str) -> list[tuple[tables.NamesTable, NameSpan]]:
    """What ``name`` stood for: under its own root first, newest release first.

    ``tf.compat.v1.keras`` has been ``tf.keras`` since its own names ended.
    """
    found = []
    for known in dict.fromkeys((*_COPIES, root) if root in COMPATIBLE else (root, *_COPIES)):
        table = tables.names_table(known)
        row = table.names.get(name)
        if row is not None:
            found += [(table, span) for span in reversed(tables.name_spans(row))]
    return found


@lru_cache(maxsize=256)
def _star_modules(root: str, module: str) -> Mapping[str, str]:
    table = tables.names_table(root)
    prefix = f"{module}." if module else ""
    return {
        name.removeprefix(prefix): table.homes[span.home]
        for name, row in table.names.items()
        if name.startswith(prefix) and "." not in name[len(prefix) :]
        for span in tables.name_spans(row)
        if span.kind is EntryKind.ALIAS and not name[len(prefix) :].startswith("_")
    }


@lru_cache(maxsize=256)
def _star_names(root: str, module: str) -> frozenset[str] | None:
    table = tables.names_table(root)
    if module not in table.names:
        return None
    prefix = f"{module}." if module else ""
    own = set()
    for name, row in table.names.items():
        if name.startswith(prefix) and name and "." not in name[len(prefix) :]:
            kinds = {span.kind for span in tables.name_spans(row)}
            if kinds & {EntryKind.CLASS, EntryKind.FUNCTION, EntryKind.VALUE} or (
                module == "" and EntryKind.MODULE in kinds
            ):
                own.add(name[len(prefix) :])
    return frozenset(name for name in own if not name.startswith("_"))
