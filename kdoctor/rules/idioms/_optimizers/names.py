"""Attributes of ``self``: those of the class, of Keras 3, and those that only Keras 2 had."""

from __future__ import annotations

import libcst as cst
from msgspec import Struct, field

from kdoctor.analysis.calls import call_of_super
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import member_of_self, receiver
from kdoctor.keras_api import Presence
from kdoctor.rules.idioms._optimizers.plan import Plan
from kdoctor.rules.idioms._optimizers.protocols import (
    OldOptimizer,
    call_of_self,
    text_of,
)
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind, Type

_BASE = Type(Kind.OPTIMIZER, "Optimizer", "keras.optimizers.Optimizer")

OF_KERAS_2 = frozenset(
    {
        *("_HAS_AGGREGATE_GRAD", "_aggregate_gradients"),
        *("_assert_valid_dtypes", "_call_if_callable", "_clipnorm", "_clipnorm_fn", "_clipvalue"),
        *("_clipvalue_fn", "_compute_gradients", "_create_all_weights", "_create_hypers"),
        *("_create_or_restore_slot_variable", "_create_slots", "_decayed_lr"),
        *("_deferred_slot_restorations",),
        *("_create_slots_for_sharded_variables", "_dense_apply_args", "_distributed_apply"),
        *("_distribution_strategy_scope", "_fallback_apply_state", "_get_gradients", "_get_hyper"),
        *("_global_clipnorm", "_global_clipnorm_fn", "_hyper", "_hypers_created"),
        *("_init_set_name", "_initial_decay", "_name", "_prepare", "_prepare_local"),
        *("_resource_apply_dense", "_resource_apply_sparse", "_resource_scatter_add"),
        *("_resource_apply_sparse_duplicate_indices", "_resource_scatter_update"),
        *("_restore_slot_variable", "_serialize_hyperparameter", "_set_hyper", "_slot_names"),
        *("_slots", "_sparse_apply_args", "_transform_gradients", "_transform_loss"),
        *("_transform_unaggregated_gradients", "_use_locking", "_valid_dtypes", "_weights"),
        *("add_slot", "add_weight", "get_gradients", "get_slot", "get_slot_names", "get_updates"),
        *("get_weights", "gradient_aggregator", "gradient_transformers", "minimize", "weights"),
    }
)
"""What an optimizer of Keras 2 had and one of Keras 3 lacks; a test asks the two for it."""

OF_2_11 = frozenset(
    {
        *("_build_index_dict", "_build_learning_rate", "_compute_current_learning_rate"),
        *("_create_iteration_variable", "_create_or_restore_slot_variable"),
        *("_deduplicate_sparse_grad", "_distributed_apply_gradients_fn", "_index_dict"),
        *("_internal_apply_gradients", "_mesh", "_process_kwargs", "_run_with_dtensor"),
        *("_serialize_hyperparameter", "_sharded_variable_builders", "_update_step"),
        *("_update_step_xla", "aggregate_gradients", "compute_gradients", "jit_compile", "lr"),
        *("minimize",),
    }
)
"""The same for optimizers of TensorFlow 2.11 to 2.15."""
LAST_2 = "2.15.0"
"""The last release of Keras 2."""

_HOOKS = frozenset(
    {
        *("__init__", "get_config", "from_config", "_create_slots", "_prepare_local"),
        *("_resource_apply_dense", "_resource_apply_sparse", "get_updates", "set_weights"),
    }
)
_CALLED = frozenset({"variables", "iterations", "learning_rate", "name"})
_RATES = ("lr", "learning_rate")


class Names(Struct):
    """What the attributes of one class are called in the new one.

    ``stored`` are those that the class itself has, ``read`` those that it asks for; ``old_style``:
    hyperparameters are ``K.variable(…)``; ``is_of_2_11``: the class is for TensorFlow 2.11 to 2.15,
    whose base class had most attributes of Keras 3's; ``decays``: there is a decay of the learning
    rate; ``dropped`` are methods that go.
    """

    facts: TargetFacts
    old_style: bool
    is_of_2_11: bool
    methods: frozenset[str]
    stored: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    decays: bool = False
    dropped: set[str] = field(default_factory=set)
    base: Type = _BASE

    @classmethod
    def of(
        cls,
        optimizer: OldOptimizer,
        facts: TargetFacts,
        *,
        old_style: bool = False,
        is_of_2_11: bool = False,
        base: Type = _BASE,
    ) -> Names:
        """Return the names that a class uses, right below ``base``."""
        names = cls(facts, old_style, is_of_2_11, frozenset(optimizer.methods), base=base)
        for function in optimizer.methods.values():
            for each in descendants(function):
                names._note(each, function)
        for each in optimizer.node.body.body:
            if isinstance(each, cst.SimpleStatementLine):
                names.stored |= {
                    target.target.value
                    for small in each.body
                    if isinstance(small, cst.Assign)
                    for target in small.targets
                    if isinstance(target.target, cst.Name)
                }
        return names

    def _note(self, node: cst.CSTNode, function: cst.FunctionDef) -> None:
        called = call_of_self(node, function)
        if called is not None and called[0] == "_set_hyper" and called[1].args:
            name = text_of(called[1].args[0].value)
            self.stored |= {name} if name else set()
        match node:
            case cst.AssignTarget(target=target):
                elements = target.elements if isinstance(target, cst.Tuple | cst.List) else ()
                targets = [target, *(each.value for each in elements)]
                self.stored |= {m for each in targets if (m := member_of_self(each, function))}
            case cst.AnnAssign(target=target) | cst.AugAssign(target=target):
                member = member_of_self(target, function)
                self.stored |= {member} if member else set()
            case cst.Attribute():
                member = member_of_self(node, function)
                self.read |= {member} if member else set()

    def attribute(self, name: str) -> str:
        """Return what ``self.name`` is called where Keras 3 means something by that name."""
        if name in _RATES:
            return "learning_rate"
        return self.free(f"_{name}") if self._is_taken(name) else name

    def free(self, wanted: str) -> str:
        """Return an attribute name like this one that neither the class nor Keras 3 has."""
        while wanted in self.stored | self.methods or self._is_taken(wanted):
            wanted += "_"
        return wanted

    def _is_taken(self, name: str) -> bool:
        """Say whether Keras 3 means by it what the class cannot have meant."""
        return self._is_of_base(name) and not (self.is_of_2_11 and self._was_of_base(name))

    def _is_of_base(self, name: str) -> bool:
        return self.facts.member(self.base, name) is Presence.EXISTS

    def _was_of_base(self, name: str) -> bool:
        if name == "_learning_rate":
            return True  # the class itself had to set it
        return self.facts.at_release(LAST_2).member(self.base, name) is Presence.EXISTS

    def is_of_base_alone(self, name: str) -> bool:
        """Say whether the base has a member that not each optimizer of Keras has."""
        is_own = name in self.stored or name in self.methods
        of_all = self.facts.member(_BASE, name) is Presence.EXISTS
        return not is_own and not of_all and self._is_of_base(name)

    @property
    def _gone(self) -> frozenset[str]:
        return OF_2_11 if self.is_of_2_11 else OF_KERAS_2

    # -- the last look

    def check_methods(self, plan: Plan, optimizer: OldOptimizer) -> None:
        """Stop at methods that Keras 3 would call for something else, or not at all."""
        for name, function in optimizer.methods.items():
            if name in _HOOKS or name in self.dropped:
                continue
            if name.startswith("__"):
                plan.stop(function.name, "its purpose is not known")
            elif self._is_taken(name):
                plan.stop(function.name, "the base class of Keras 3 already defines it")
            elif name in self._gone:
                plan.stop(function.name, "Keras 3 never calls it")

    def check_members(self, plan: Plan, function: cst.FunctionDef) -> None:
        """Rename what clashes, and stop at what the class of Keras 3 lacks."""
        for node in descendants(function):
            if node in plan.settled:
                continue
            above = call_of_super(node)
            if above is not None and not self._may_be_called_above(above[0]):
                plan.stop(node, "the base class of Keras 3 has no such method")
            member = member_of_self(node, function)
            if member is not None:
                assert isinstance(node, cst.Attribute)
                self._check_member(plan, function, node, member)

    def _may_be_called_above(self, name: str) -> bool:
        if name in {"__init__", "get_config", "from_config"}:
            return True
        return self.is_of_2_11 and self._is_of_base(name) and self._was_of_base(name)

    def _check_member(
        self, plan: Plan, function: cst.FunctionDef, node: cst.Attribute, member: str
    ) -> None:
        mine = receiver(function)
        parent = plan.module.parent(node)
        if member.startswith("__"):
            return
        if member == "lr" and "lr" not in self.methods:
            plan.replace(node, f"{mine}.learning_rate")
        elif member in self.stored and member not in _RATES:
            if self.attribute(member) != member and member != "iterations":
                plan.replace(node, f"{mine}.{self.attribute(member)}")
        elif member == "_initial_decay" and self.decays:
            plan.replace(node, f"{mine}.{self.attribute('decay')}")
        elif member in self.methods and member not in self.dropped and member not in self._gone:
            return
        elif self._is_of_base(member):
            if isinstance(parent, cst.Call) and parent.func is node and member in _CALLED:
                plan.stop(node, "it is not a method in Keras 3")
            if isinstance(parent, cst.AssignTarget) and member == "iterations":
                plan.stop(node, "Keras 3 counts the steps itself")
        else:
            plan.stop(node, f"a Keras 3 optimizer has no `{member}`")
