"""The config of a model is read in the form that Keras 2 wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.calls import is_hidden, is_keras_3
from kdoctor.analysis.dataflow.parts import Part, parts_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import attribute, string
from kdoctor.analysis.roots import USES_KERAS_3, uses_keras_3
from kdoctor.keras_api import split_root
from kdoctor.memoize import once
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.fixes.helper_definition import (
    definition_edits,
    is_name_of_module,
    top_statement,
)
from kdoctor.rules.names._definitions.definitions import definition
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._config_reads import HELPER, ConfigRead, Form, config_reads
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind

_READ = string("batch_input_shape", "inbound_nodes", "input_layers", "output_layers")
_WRITES = ("get_config", "to_json")
_LOADS = frozenset({
    "deserialize", "deserialize_keras_object", "dump", "dumps", "from_config", "model_from_config",
    "model_from_json",
})  # fmt: skip
_UNLIKE = (
    "operations on tensors are other layers than in Keras 2, and what a layer of one's own takes "
    "by position has no name"
)


@rule(
    "KD620",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(attribute(*_WRITES), _READ, USES_KERAS_3),
    only_alone=True,
)
def check(file: File) -> Iterator[Finding]:
    """Report each config of a model that is read so."""
    if not uses_keras_3(file.module, file.facts):
        return
    found: dict[cst.Call, list[ConfigRead]] = {}
    for read in config_reads(file.module):
        if _is_config(file, read):
            found.setdefault(read.part.call, []).append(read)
    for call, reads in found.items():
        yield _finding(file, call, reads, [*found])


def _finding(
    file: File, call: cst.Call, reads: Sequence[ConfigRead], calls: Sequence[cst.Call]
) -> Finding:
    is_silent = {Form.SHAPE_IF_ANY, Form.CALL_PARTS}
    first = next((each for each in reads if each.form not in is_silent), reads[0])
    line = file.module.place(first.node).line
    return file.finding(
        f"line {line} reads it as Keras 2 wrote it; {first.form.value}",
        at=call,
        symbol=_writer(file.module, call).func.attr.value,  # type: ignore[union-attr]
        severity=Severity.CHANGE if first.form in is_silent else Severity.ERROR,
        help="Read what Keras 3 writes, or make the old form of it in one place.",
        fix=_fix(file, call, calls),
    )


def _is_config(file: File, read: ConfigRead) -> bool:
    """Say whether a read is of the config of a model or an input layer of Keras 3."""
    module = file.module
    writer = _writer(module, read.part.call)
    if writer is None or module.is_guarded(writer):
        return False
    assert isinstance(writer.func, cst.Attribute)
    use = _uses(module).get(writer.func)
    if use is None:
        return read.is_of_a_model and _may_be_a_model(module, writer.func.value)
    if use.owner_defines or not is_keras_3(file.facts, use.owner.qualified):
        return False
    if use.owner.kind is Kind.MODEL:
        return read.is_of_a_model
    is_input = use.owner.kind is Kind.LAYER and use.owner.cls == "InputLayer"
    return is_input and read.form is Form.SHAPE and not read.part.path


def _may_be_a_model(module: Module, owner: cst.BaseExpression) -> bool:
    """Say whether an object of no known type may be a model: the keys are those of one's config.

    It is none where it is of a class of the file, or made by something imported but Keras.
    """
    made = [
        module.qualified(each.call.func) for each in points_to_of(module).made_in_function(owner)
    ]
    return module.type_of(owner) is None and all(
        name is not None and split_root(name) is not None for name in made
    )


def _writer(module: Module, call: cst.Call) -> cst.Call | None:
    """Return the call of `get_config` or `to_json` whose result a call gives, maybe parsed."""
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="get_config")), args=[]):
            return call
        case cst.Call(args=[cst.Arg(star="", keyword=None, value=text)]) if (
            module.qualified(call.func) == "json.loads"
        ):
            made = parts_of(module).of(text)
            if len(made) != 1:
                return None
            (part,) = made
            return part.call if _is_to_json(part) else None
    return None


def _is_to_json(part: Part) -> bool:
    match part.call:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="to_json"))):
            return not part.path and not is_hidden(part.call)
    return False


@once
def _uses(module: Module) -> dict[cst.Attribute, MemberUse]:
    return {each.node: each for each in module.members_named(*_WRITES)}


def _fix(file: File, call: cst.Call, calls: Sequence[cst.Call]) -> Fix | NoFix:
    module = file.module
    if _is_loaded(module, call):
        return NoFix("it is also loaded or written, and Keras 3 does not load the old form")
    before = top_statement(module, min(calls, key=module.span))
    added = definition_edits(module, before, HELPER, definition(HELPER).text)
    if added is None or not is_name_of_module(module, HELPER, call):
        return NoFix(f"`{HELPER}` is something else in this file")
    place = module.outer_span(call)
    config = Hole(place, Precedence.LAMBDA, precedence_of(call))
    return file.fix(
        f"Make the form of Keras 2 of it, with `{HELPER}`, a class of this file",
        *added,
        Edit(place, (f"{HELPER}.of(", config, ")"), Precedence.PRIMARY),
        unsafe_because=_UNLIKE,
    )


def _is_loaded(module: Module, call: cst.Call) -> bool:
    """Say whether a config, or a part of it, is given to what makes objects or files of it."""
    for each in module.nodes(cst.Call):
        name = each.func.attr if isinstance(each.func, cst.Attribute) else each.func
        if isinstance(name, cst.Name) and name.value in _LOADS:
            given = (part for one in each.args for part in parts_of(module).of(one.value))
            if any(part.call is call for part in given):
                return True
    return False
