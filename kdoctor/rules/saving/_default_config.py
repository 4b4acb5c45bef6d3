"""Classes of the user's that leave it to Keras to say what their objects are made with.

Without a ``get_config`` of their own, Keras notes what ``__init__`` was called with, and makes the
object anew from that: of a file, or as a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import (
    add_keyword,
    argument,
    arguments,
    is_hidden,
    is_keras_3,
    passed,
    value_of,
)
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.points_to_by_call import points_to_by_call_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import (
    is_init_of_base,
    is_only_registered,
    methods_in,
    only_base,
)
from kdoctor.analysis.queries import Method, Query, imported_calls, methods
from kdoctor.analysis.queries.conditions import word
from kdoctor.analysis.queries.signatures import FormalSignature
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Span
from kdoctor.rules.saving._new_methods import at_the_end
from kdoctor.rules.saving._save_and_load_calls import file_uses, model_of
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import UNKNOWN, literal
from kdoctor.value_types import Kind

_BASES: Final = frozenset({"Layer", "Functional"})  # `keras.Model` goes by the latter
_SAYS_ITSELF: Final = ("get_config", "from_config", "_auto_config", "__new__")
_KEEPS: Final = file_uses("save", "to_json", "fit")
_COPIES: Final = imported_calls(
    lambda _, name: name.endswith("models.clone_model"), "clone_model"
).without("clone_function", 2)
_CHECKPOINT: Final = ".ModelCheckpoint"
OF_BASE: Final = frozenset({"name", "trainable", "dtype"})
"""What Keras says of every layer, whatever ``__init__`` takes."""


class UserConfig(Struct, frozen=True, eq=False):
    """A class of the file whose objects are made anew from what Keras notes of their making."""

    node: cst.ClassDef
    init: cst.FunctionDef
    kind: Kind
    to_base: cst.Call

    @property
    def parameters(self) -> list[cst.Param]:
        """The parameters of ``__init__`` behind the object itself."""
        return [*self.init.params.params[1:], *self.init.params.kwonly_params]

    @property
    def wanted(self) -> list[str]:
        """The names of those without a default."""
        return [each.name.value for each in self.parameters if each.default is None]

    @property
    def takes_what_is_said(self) -> bool:
        """Say whether ``__init__`` takes all that Keras says of every layer."""
        names = {each.name.value for each in self.parameters}
        return self.init.params.star_kwarg is not None or {"trainable", "dtype"} <= names


class KeptArgument(Struct, frozen=True, eq=False):
    """An object of such a class in a model that is saved as a whole, or copied; how it is made."""

    own: UserConfig
    call: cst.Call


def kept(module: Module, facts: TargetFacts) -> list[KeptArgument]:
    """Return the objects of such classes that surely are in models which are made anew."""
    own = {each.node: each for each in _classes(module, facts)}
    if not own:
        return []
    by_call = points_to_by_call_of(module)
    found: dict[cst.Call, UserConfig] = {}
    for call, model in _kept_models(module, facts):
        made = [by_call.made(model, frame) for frame in by_call.runs(call)]
        for inner in (call for each in made if each for call in by_call.inside(each)):
            cls = class_named(module, inner.func)
            if cls in own:
                found[inner] = own[cls]
    in_order = sorted(found, key=lambda call: module.span(call).start)
    return [KeptArgument(found[call], call) for call in in_order]


def _kept_models(
    module: Module, facts: TargetFacts
) -> Iterator[tuple[cst.Call, cst.BaseExpression]]:
    """Yield the calls that save a whole model or copy it, each with the model."""
    for use in (each.use for each in _KEEPS.find(module, facts)):
        if use.what == "save":
            model = model_of(use)
            if model is not None:
                yield use.call, model
        elif isinstance(use.call.func, cst.Attribute) and (
            use.what != "fit" or _keeps_whole_models(module, use.call)
        ):
            yield use.call, use.call.func.value
    for copy in _COPIES.find(module, facts):
        copied = passed(copy.node, "model", 0)
        if copied is not None:
            yield copy.node, copied


def _keeps_whole_models(module: Module, fit: cst.Call) -> bool:
    """Say whether one of the callbacks that are written out saves the model as a whole."""
    listed = value_of(module, passed(fit, "callbacks"))
    for each in listed.elements if isinstance(listed, cst.List | cst.Tuple) else ():
        made = value_of(module, each.value)
        if isinstance(made, cst.Call) and not is_hidden(made):
            name = module.qualified(made.func) or ""
            is_one = split_root(name) is not None and name.endswith(_CHECKPOINT)
            if is_one and argument(made, "save_weights_only", 4) is None:
                return True
    return False


def _classes(module: Module, facts: TargetFacts) -> Iterator[UserConfig]:
    for node in module.nodes(cst.ClassDef):
        base = only_base(module, node)
        name = module.qualified(base) if base is not None else None
        made = module.oracle.class_type(name) if name else None
        if made is None or made.cls not in _BASES or not is_keras_3(facts, name):
            continue
        init = methods_in(node).get("__init__")
        if init is None or node.keywords or init.decorators or module.is_guarded(node):
            continue
        if not is_only_registered(module, node) or any(
            each in module.source(node) for each in _SAYS_ITSELF
        ):
            continue
        params = init.params
        if not params.params or params.posonly_params or isinstance(params.star_arg, cst.Param):
            continue
        to_base = _call_of_base(module, node, init)
        if to_base is not None:
            yield UserConfig(node, init, made.kind, to_base)


def _call_of_base(module: Module, node: cst.ClassDef, init: cst.FunctionDef) -> cst.Call | None:
    """Return the one call of the base's ``__init__``, where nothing is given by position.

    A model that is given its inputs and outputs there is another thing.
    """
    found = [
        each
        for each in descendants(init.body)
        if isinstance(each, cst.Call) and is_init_of_base(module, node, each)
    ]
    if len(found) != 1 or any(
        each.star != "**" and (each.keyword is None or each.keyword.value not in OF_BASE)
        for each in arguments(found[0])
    ):
        return None
    return found[0]


def given_to(own: UserConfig, call: cst.Call) -> dict[str, cst.BaseExpression]:
    """Return what a call passes for the parameters of ``__init__``, by their names."""
    by_place = [each.name.value for each in own.init.params.params[1:]]
    found = {
        name: given.value
        for each in own.parameters
        if (name := each.name.value)
        and (given := argument(call, name, by_place.index(name) if name in by_place else None))
    }
    return {} if is_hidden(call) else found


def is_plain(module: Module, values: Iterable[cst.BaseExpression]) -> bool:
    """Say whether all of these surely are numbers, texts, truth values or None."""
    found = [literal(value_of(module, each)) for each in values]
    return all(each is not UNKNOWN and isinstance(each, str | int | float | None) for each in found)


def takes_keywords(module: Module, own: UserConfig) -> tuple[Edit, ...] | None:
    """Return the edits that make ``__init__`` take any keyword and hand it to the base.

    None where it hands on a name of its own making, which Keras says, too.
    """
    in_use = {each.value for each in descendants(own.init) if isinstance(each, cst.Name)}
    if "kwargs" in in_use or not all(_hands_on(each) for each in arguments(own.to_base)):
        return None
    last = [*own.init.params.params, *own.init.params.kwonly_params][-1]
    end = module.span(last).end
    added = Edit(Span(end, end), (", **kwargs",))
    return added, add_keyword(module, own.to_base, "**kwargs")


def _hands_on(given: cst.Arg) -> bool:
    """Say whether it is ``name=name``."""
    keyword, value = given.keyword, given.value
    return keyword is not None and isinstance(value, cst.Name) and value.value == keyword.value


def says_its_config(module: Module, own: UserConfig) -> Edit | None:
    """Return the edit that writes a ``get_config`` of what ``__init__`` keeps at the class' end.

    None where it does not keep all of its parameters under their names.
    """
    names = [each.name.value for each in own.parameters if each.name.value not in OF_BASE]
    owner = own.init.params.params[0].name.value
    if not set(names) <= _stored(own, owner):
        return None
    entries = ", ".join(f'"{each}": self.{each}' for each in names)
    line = f"return {{**super().get_config(), {entries}}}"
    return at_the_end(module, own.node, {"get_config(self)": line})


def _stored(own: UserConfig, owner: str) -> set[str]:
    """Return the parameters that ``__init__`` keeps as attributes of the same names."""
    found: set[str] = set()
    for line in own.init.body.body:
        for each in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            match each:
                case cst.Assign(
                    targets=[
                        cst.AssignTarget(
                            target=cst.Attribute(
                                value=cst.Name(value=held), attr=cst.Name(value=name)
                            )
                        )
                    ],
                    value=cst.Name(value=value),
                ) if held == owner and name == value:
                    found.add(name)
    return found


KEEPS_MODELS: Final = word("save", "save_model", "clone_model", "to_json", "ModelCheckpoint")
"""What a file has that saves or copies whole models."""


def inits(of: Kind, *, where: Callable[[FormalSignature], bool]) -> Query[Method]:
    """Return the query for the ``__init__`` of classes that leave their config to Keras."""
    return methods("__init__", of=of, where=where, lacking=_SAYS_ITSELF, made=True, guarded=True)


def wants_some(init: FormalSignature) -> bool:
    """Say whether a parameter behind the object has no default."""
    return any(not each.has_default for each in init.parameters[1:])


def takes_all(init: FormalSignature) -> bool:
    """Say the same as ``UserConfig.takes_what_is_said`` does."""
    names = {each.name for each in init.parameters}
    return bool(init.var_keyword) or {"trainable", "dtype"} <= names
