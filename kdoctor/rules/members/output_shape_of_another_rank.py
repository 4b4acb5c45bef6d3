"""`b, v, d = input_shape` in `compute_output_shape`: it does not fit what the layer really does."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.models.layer_inputs import Input, inputs_of_layers
from kdoctor.analysis.models.stored_values import attributes_of
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.bodies import body_of
from kdoctor.analysis.queries.classes import is_made, lineage
from kdoctor.analysis.tensors.known_shapes import Shape, differ
from kdoctor.analysis.tensors.shape_runs import run
from kdoctor.analysis.tensors.shape_values import RefusedError, Sizes, Tensor, Value
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.members._lists_of_shapes import gives_as_is
from kdoctor.rules.members._output_specs import (
    ASK_CALL,
    ASK_NO_SHAPE,
    HELP,
    SHAPE,
    SPEC,
    OwnLayer,
    ask_call,
    own_layer,
)
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import own_nodes

_RANKS = range(2, 7)  # with the axis of the batch


@rule(
    "KD242",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(
        lineage(compute_output_shape=lambda body: not gives_as_is(body))
        | lineage(compute_output_shape=gives_as_is, made=True)
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each method that fails for a shape, or tells another one than `call` makes.

    One that gives back what it is given is most often right. It is looked at where the file makes
    such a layer; else every file that has one would be read for it.
    """
    seen: set[cst.FunctionDef] = set()
    for node in file.module.nodes(cst.ClassDef):
        layer = own_layer(file.module, file.facts, node)
        if layer is None or file.module.is_guarded(node) or not _is_believed(layer):
            continue
        shape = layer.methods[SHAPE]
        if gives_as_is(body_of(file.module, shape)) and not is_made(file.module, node):
            continue
        asked = _Asked(file, layer)
        if asked.method not in seen and (found := asked.finding(node)) is not None:
            seen.add(asked.method)
            yield found


def _is_believed(layer: OwnLayer) -> bool:
    """Say whether Keras asks the method, and not one of its own."""
    methods = layer.methods
    if SHAPE not in methods or SPEC in methods or layer.base in ASK_NO_SHAPE:
        return False
    shape = methods[SHAPE]
    has_call = "call" in methods or layer.base not in ASK_CALL
    return has_call and len(shape.params.params) > 1 and not shape.decorators


class _Asked:
    """A layer that is asked for its output shape."""

    def __init__(self, file: File, layer: OwnLayer) -> None:
        self._file, self._layer = file, layer
        self.method = layer.methods[SHAPE]
        self._call = layer.methods.get("call")
        self._of_self = attributes_of(file.module, layer.methods.values())

    def finding(self, node: cst.ClassDef) -> Finding | None:
        given = inputs_of_layers(self._file.module).get(node, [])
        for each in given:
            found = self._for_input(each)
            if found is not None:
                return found
        return None if given else self._for_any_rank()

    def _for_input(self, given: Input) -> Finding | None:
        try:
            said = self._said(given.shape)
        except RefusedError as refused:
            kind, _, detail = refused.error.partition(": ")
            called = given.wrapper or self._layer.name
            return self._file.finding(
                f"the layer is called with a tensor of shape {given.shape}: {kind}: "
                f"Exception encountered when calling {called}.call(). {detail}".rstrip(),
                at=refused.node,
                symbol=f"{self._layer.symbol}.{SHAPE}",
                help=f"Handle {len(given.shape)} dimensions, or let Keras run `call`. {HELP}",
                fix=NoFix(f"`{given.wrapper}` asks for `{SHAPE}`, not for `{SPEC}`")
                if given.wrapper
                else ask_call(self._file, self.method),
            )
        made = self._made(given.shape)
        if said is None or made is None or not differ(said, made):
            return None
        return self._contradiction(
            f"for an input of shape {given.shape} it says {said}, but `call` returns a "
            f"tensor of shape {made}"
        )

    def _for_any_rank(self) -> Finding | None:
        """Report what contradicts `call` for whatever tensor both take."""
        if self._call is None or _may_take_several(self._call):
            return None
        known = None
        for rank in _RANKS:
            shape = (None,) * rank
            try:
                said, made = self._said(shape), self._made(shape)
            except RefusedError:
                continue
            if made is None and known is None:
                continue  # an axis that it has not
            if said is None or made is None or len(said) == len(made):
                return None
            known = known or (rank, len(said), len(made))
        if known is None:
            return None
        rank, axes, others = known
        return self._contradiction(
            f"for an input of {rank} dimensions it says {axes}, but `call` returns a tensor of "
            f"{others}"
        )

    def _contradiction(self, what: str) -> Finding:
        return self._file.finding(
            f"{what}; Keras 2 asked `call` alone",
            at=self.method.name,
            symbol=f"{self._layer.symbol}.{SHAPE}",
            severity=Severity.CHANGE,
            help=f"Correct it, or let Keras run `call`. {HELP}",
            fix=ask_call(self._file, self.method),
        )

    def _said(self, shape: Shape) -> Shape | None:
        found = self._run(self.method, Sizes(shape))
        return found.sizes if isinstance(found, Sizes) else None

    def _made(self, shape: Shape) -> Shape | None:
        if self._call is None or self._call.decorators:
            return None
        try:
            found = self._run(self._call, Tensor(shape))
        except RefusedError:
            return None
        return found.shape if isinstance(found, Tensor) else None

    def _run(self, method: cst.FunctionDef, given: Value) -> Value | None:
        names = [each.name.value for each in method.params.params[1:2]]
        return run(self._file.module, method, dict.fromkeys(names, given), self._of_self)


def _may_take_several(call: cst.FunctionDef) -> bool:
    """Say whether it takes several tensors, or may: it asks for one item, or for how many."""
    if sum(each.default is None for each in call.params.params) > 2:  # self, x
        return True
    names = [each.name.value for each in call.params.params[1:2]]
    return any(_takes_item(each, names) for each in own_nodes(call.body))


def _takes_item(node: cst.CSTNode, names: list[str]) -> bool:
    match node:
        case cst.Subscript(
            value=cst.Name(value=name), slice=[cst.SubscriptElement(slice=cst.Index())]
        ):
            return name in names
        case cst.Assign(value=cst.Name(value=name), targets=[one]):
            return name in names and isinstance(one.target, cst.Tuple | cst.List)
        case cst.For(iter=cst.Name(value=name)):
            return name in names
        case cst.Call(func=cst.Name(), args=[cst.Arg(value=cst.Name(value=name)), *_]):
            return name in names
    return False
