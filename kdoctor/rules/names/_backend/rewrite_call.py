"""What is written instead of one use of a function of ``keras.backend``, or why nothing is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import Lookup, split_root
from kdoctor.model import Applicability, Fix, NoFix
from kdoctor.rewrite import ONLY_IN_DEAD_CODE, Rewrite, RewriteTable
from kdoctor.rules.loading import load_rule
from kdoctor.rules.names._backend import BY_HAND, REWRITES, statement_rewrites
from kdoctor.rules.names._backend.accumulators import as_beginning_of_a_sum
from kdoctor.rules.names._backend.branch_effects import with_one_branch
from kdoctor.rules.names._backend.differences import DIFFERENCES
from kdoctor.rules.names._backend.dim_ordering import compared_ordering
from kdoctor.rules.names._backend.functions import as_function
from kdoctor.rules.names._backend.generators import with_generator
from kdoctor.rules.names._backend.gradients import as_gradients
from kdoctor.rules.names._backend.handed_on import handed_on_relu
from kdoctor.rules.names._backend.keras_1_orders import may_be_swapped
from kdoctor.rules.names._backend.learning_phase import decorator_fix, phase_fix
from kdoctor.rules.names._backend.learning_phase_inputs import function_around, with_phase
from kdoctor.rules.names._backend.refuses_arrays import if_an_array
from kdoctor.rules.names._backend.session_runs import session_fix
from kdoctor.rules.names._backend.unknown_rank import may_be_unknown, why_unsafe
from kdoctor.syntax import Module, Reference

_MODULE = "backend."
# What no template can say: by name, a group of examples shows how safe it is.
RATED = (
    "activation",
    "function",
    "image_dim_ordering",
    "modules",
    "set_value",
    "shape",
    "symbolic",
)
_MODULES = frozenset({"np", "tf"})  # that the module itself imported: the very objects
_NOT_EQUAL = "the results differ for some arguments, see `kdoctor rules KD101`"


def function(name: str) -> str | None:
    """Return ``sum`` for ``keras.backend.sum``, under any root; None for all else."""
    split = split_root(name)
    if split is None or not split[1].startswith(_MODULE):
        return None
    return split[1].removeprefix(_MODULE).partition(".")[0]


@cache
def table(facts: TargetFacts) -> RewriteTable:
    """Return what stands for the functions of ``keras.backend``."""
    return RewriteTable(REWRITES, facts.signature, unproven=facts.unproven_elsewhere)


def attempted(
    module: Module, facts: TargetFacts, reference: Reference, rows: RewriteTable, name: str
) -> Fix | NoFix:
    """Return the fix of one use of ``keras.backend.<name>``, or why there is none."""
    leaf = reference.name.rpartition(".")[2]  # of `backend.tensorflow_backend.set_session`
    special = _special(module, facts, reference, leaf)
    if special is not None:
        return special
    attempt = rows.attempt(
        module,
        reference,
        _as_examples_say(facts, "modules") if name in _MODULES else facts.applicability,
        lambda use: attempted(module, facts, use, rows, name),
    )
    if isinstance(attempt, Fix) and reference.call is not None:
        attempt = may_be_swapped(module, facts, reference, leaf, attempt)
        attempt = with_one_branch(module, leaf, reference.call, attempt)
        attempt = if_an_array(module, leaf, reference.call, attempt)
    if isinstance(attempt, Fix):
        attempt = with_generator(module, reference, leaf, attempt)
    if isinstance(attempt, Fix):
        reason = attempt.unsafe_because or _why_unsafe(module, reference, rows, name)
        told = replace(attempt, unsafe_because=reason)
        return statement_rewrites.with_the_name_of_today(module, reference.call, told)
    phase = phase_fix(module, leaf, reference.call) if reference.call is not None else None
    if phase is not None and reference.call is not None:
        return with_one_branch(module, leaf, reference.call, phase)
    return attempt


def _why_unsafe(module: Module, reference: Reference, rows: RewriteTable, name: str) -> str:
    """Return what may differ, should a fix be unsafe."""
    needs_a_rank = any("rank_is_known" in row.id for row in rows.rows_for(f"keras.backend.{name}"))
    if needs_a_rank and may_be_unknown(module, reference.node):
        return why_unsafe(name)
    return DIFFERENCES.get(name) or BY_HAND.get(name, _NOT_EQUAL)


def _as_examples_say(facts: TargetFacts, group: str) -> Callable[[Rewrite], Applicability]:
    rated = facts.applicability(*load_rule("names.backend_function_gone").group(group))
    return lambda _: rated


def _special(
    module: Module, facts: TargetFacts, reference: Reference, leaf: str
) -> Fix | NoFix | None:
    """Return what is known of this one function alone, None where nothing is."""
    rated_by = load_rule("names.backend_function_gone")
    proven = {each: facts.applicability(*rated_by.group(each)) for each in RATED}
    if reference.call is not None:
        statement = statement_rewrites.special_fix(module, leaf, reference.call, proven)
    else:
        statement = decorator_fix(module, leaf, reference.node, proven["symbolic"])
    if statement is not None:
        return statement
    match leaf:
        case "function":
            with_it = with_phase(module, reference)
            return with_it or as_function(module, reference, proven["function"])
        case "gradients":
            return as_gradients(module, reference)
        case "learning_phase":
            with_it = with_phase(module, reference)
            if with_it is None and function_around(module, reference) is not None:
                return as_function(module, reference, proven["function"])
            return with_it
        case "get_session":
            return session_fix(module, reference)
        case "variable" if reference.call is not None:
            return as_beginning_of_a_sum(module, reference.call)
        case "relu" if reference.call is None:
            return handed_on_relu(module, facts, reference, proven["activation"])
        case "image_dim_ordering":
            return compared_ordering(module, reference, proven["image_dim_ordering"])
    return None


def help_for(name: str, attempt: Fix | NoFix, found: Lookup | None = None) -> str:
    """Return what to write instead of ``keras.backend.<name>``."""
    if isinstance(attempt, Fix):
        return f"{attempt.title}."
    text = BY_HAND.get(name, "")
    if text.startswith("keras."):
        return f"{text}."
    if not text and (meant := _may_be_meant(name, found)):
        return f"Did you mean `{meant}`?"
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def reason_for(name: str, refused: NoFix, rows: RewriteTable, found: Lookup) -> NoFix:
    """Return why there is no fix of a use of ``keras.backend.<name>``."""
    has_rows = bool(rows.rows_for(f"keras.backend.{name}"))
    if has_rows or name in ("function", "gradients") or refused == ONLY_IN_DEAD_CODE:
        return refused
    if _may_be_meant(name, found):
        return NoFix("no release had this name: kdoctor can only guess what is meant")
    return NoFix("no single expression replaces it in Keras 3")


def _may_be_meant(name: str, found: Lookup | None) -> str:
    """Return the function of `keras.ops` that is called so, for a name that no Keras ever had."""
    if found is None or found.periods:
        return ""
    return next((each for each in found.suggestions if each.endswith(f".ops.{name}")), "")
