"""Random numbers without a seed, drawn in code that Keras runs: JAX compiles no such code."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.dataflow.statements import is_docstring
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import class_around, kind_of_class, methods_in, receiver
from kdoctor.analysis.queries import Call, imported_calls
from kdoctor.analysis.queries.run_by_keras import run_by_keras
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite.source_lines import line_end, margin
from kdoctor.rules.backends._tensorflow.guards import runs_once
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_GENERATOR: Final = "keras.random.SeedGenerator"
_NAME: Final = "seed_generator"
_SEED: Final = "seed"
_OWNERS: Final = (Kind.LAYER, Kind.MODEL)
_NO_OWNER: Final = "it stands in no layer or model that could hold a generator"
_NOT_THERE: Final = "there is no place in `__init__` where a generator could be created"
_OTHER_NUMBERS: Final = "it draws other numbers, and the layer holds a variable for their state"


def _draws(_: TargetFacts, name: str) -> bool:
    split = split_root(name)
    return split is not None and split[1].startswith("random.")


@rule(
    "KD817",
    severity=Severity.ERROR,
    since="3.0",
    look_for=run_by_keras(imported_calls(_draws)),
)
def check(call: Call) -> Finding | None:
    """Report each call that is given no seed."""
    if "jax" not in call.facts.backends or not call.takes(_SEED):
        return None
    given = call.given(_SEED)
    if given is not None and not _is_none(given.value):
        return None
    if runs_once(call.module, call.node):
        return None
    return call.finding(
        f"`{call.source(call.call.func)}` is given no seed: on JAX, ValueError: [JAX RNG] When "
        "tracing a JAX function, you should only use seeded random ops",
        help=f"Create `self.{_NAME} = {_GENERATOR}()` in `__init__`, and pass `seed=self.{_NAME}`.",
        fix=_fix(call, given),
    )


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _fix(call: Call, given: cst.Arg | None) -> Fix | NoFix:
    module, owner = call.module, class_around(call.module, call.node)
    if owner is None or kind_of_class(module, owner) not in _OWNERS:
        return NoFix(_NO_OWNER)
    method = next((e for e in module.ancestors(call.node) if e in owner.body.body), None)
    instance = receiver(method) if isinstance(method, cst.FunctionDef) else None
    if instance is None or not call.call.args:
        return NoFix(_NO_OWNER)
    if given is not None:
        seeded = Edit(module.span(given.value), (f"{instance}.{_NAME}",))
    else:
        last = module.span(call.call.args[-1]).end
        seeded = Edit(Span(last, last), (f", {_SEED}={instance}.{_NAME}",))
    if _NAME in _members(module, owner):
        made = _is_made(module, owner)
        return call.fix("Pass the generator of the layer", seeded) if made else NoFix(_NOT_THERE)
    spelled, need = speller_at(module, call.call.func).spell(_GENERATOR)
    created = _created(module, owner, f"{_NAME} = {spelled}()")
    return call.fix(
        f"Create a `{_GENERATOR}`, and pass it",
        created,
        seeded,
        imports=(need,),
        unsafe_because=_OTHER_NUMBERS,
    )


def _members(module: Module, owner: cst.ClassDef) -> set[str]:
    return {
        each.attr.value
        for each in descendants(owner)
        if isinstance(each, cst.Attribute) and isinstance(module.parent(each), cst.AssignTarget)
    }


def _is_made(module: Module, owner: cst.ClassDef) -> bool:
    """Say whether the generator of the class is one, wherever it is set."""
    values = [
        each.value
        for each in descendants(owner)
        if isinstance(each, cst.Assign)
        and any(
            isinstance(target.target, cst.Attribute) and target.target.attr.value == _NAME
            for target in each.targets
        )
    ]
    return all(
        isinstance(each, cst.Call)
        and (module.qualified(each.func) or "").endswith(_GENERATOR.rpartition(".")[2])
        for each in values
    )


def _created(module: Module, owner: cst.ClassDef, text: str) -> Edit | NoFix:
    """Return the edit that creates a member: below ``super().__init__``, or in a new method."""
    init = methods_in(owner).get("__init__")
    if init is None:
        return _new_init(module, owner, text)
    instance = receiver(init)
    for each in init.body.body if isinstance(init.body, cst.IndentedBlock) else ():
        if _calls_init_of_base(each):
            span = module.span(each)
            indent = margin(module.text, span.start)
            at = line_end(module.text, span.end)
            if instance and not indent.strip():
                return Edit(Span(at, at), (f"\n{indent}{instance}.{text}",))
    return NoFix(_NOT_THERE)


def _calls_init_of_base(statement: cst.CSTNode) -> bool:
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Expr(value=cst.Call(func=cst.Attribute(attr=cst.Name(value="__init__"))))]
        ):
            return True
    return False


def _new_init(module: Module, owner: cst.ClassDef, text: str) -> Edit | NoFix:
    """Return the edit that writes ``__init__`` above the first method of a class."""
    if not isinstance(owner.body, cst.IndentedBlock):
        return NoFix(_NOT_THERE)
    first = next((each for each in owner.body.body if not is_docstring(each)), None)
    if not isinstance(first, cst.FunctionDef) or first.decorators:
        return NoFix(_NOT_THERE)
    start = module.span(first).start
    indent = margin(module.text, start)
    if indent.strip():
        return NoFix(_NOT_THERE)
    step = indent * 2
    lines = (
        "def __init__(self, *args, **kwargs):",
        f"{step}super().__init__(*args, **kwargs)",
        f"{step}self.{text}",
    )
    return Edit(Span(start, start), ("\n".join(lines) + f"\n\n{indent}",))
