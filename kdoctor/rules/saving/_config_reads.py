"""Where code reads a model's config in a form that only Keras 2 wrote."""

from __future__ import annotations

import enum
from collections.abc import Iterator

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.dataflow.parts import ANY, Part, Path, parts_of
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal

HELPER = "Keras2Config"
_KEY = "batch_input_shape"
_CALLS = "inbound_nodes"
_ENDS = ("input_layers", "output_layers")
_DECIDES = (cst.BaseComp, cst.BooleanOperation, cst.If, cst.IfExp, cst.While)
_MODEL = frozenset({_CALLS, "layers", *_ENDS})


class Form(enum.Enum):
    """What of a config has another form in Keras 3; the value is what then goes wrong."""

    SHAPE = "Keras 3 writes `batch_shape`: KeyError: 'batch_input_shape'"
    SHAPE_IF_ANY = "Keras 3 writes `batch_shape`, so nothing is found"
    CALLS = "Keras 3 writes each call in `inbound_nodes` as a dict: KeyError: 0"
    CALL_PARTS = "Keras 3 writes each call in `inbound_nodes` as a dict, so these are its keys"
    ENDS = (
        "Keras 3 writes a single input or output as a flat list: "
        "TypeError: 'int' object is not subscriptable"
    )


class ConfigRead(Struct, frozen=True):
    """A read of what may be a part of a config, in the form of Keras 2."""

    node: cst.CSTNode
    part: Part
    form: Form

    @property
    def is_of_a_model(self) -> bool:
        """Whether the keys that lead to it are those of a model of Keras."""
        return not _MODEL.isdisjoint(self.part.path)


@once
def config_reads(module: Module) -> tuple[ConfigRead, ...]:
    """Return all such reads of a module, in the order of its lines."""
    found = [
        ConfigRead(node, part, form)
        for node, of, form in _candidates(module)
        for part in parts_of(module).of(*of)
        if _fits(form, part.path) and not module.is_guarded(node)
    ]
    return tuple(sorted(found, key=lambda each: module.span(each.node)))


def _fits(form: Form, path: Path) -> bool:
    """Say whether keys lead to what such a read asks."""
    if form in (Form.SHAPE, Form.SHAPE_IF_ANY):
        return not path or path[-1] == "config" or _is_place_of(path, "layers")
    if form is Form.ENDS:
        return any(_is_place_of(path, each) for each in _ENDS)
    return _is_place_of(path, _CALLS)


def _is_place_of(path: Path, key: str) -> bool:
    return len(path) > 1 and path[-2] == key and (path[-1] == ANY or path[-1].isdecimal())


_Of = tuple[cst.BaseExpression, Path]  # an expression, and the part of it that is meant
_Candidate = tuple[cst.CSTNode, _Of, Form]


def _candidates(module: Module) -> Iterator[_Candidate]:
    """Yield what may be such a read, what it reads from, and the form that it takes that to have.

    Nothing where the code knows what Keras 3 writes in its place.
    """
    known = _strings(module)
    if "batch_shape" not in known:
        yield from _shapes(module)
    if known.isdisjoint({"__keras_tensor__", "keras_history", "args"}):
        yield from _lists(module)


def _shapes(module: Module) -> Iterator[_Candidate]:
    for key in _keys(module).get(_KEY, ()):
        match module.parent(key):
            case cst.Index() as index:
                element = module.parent(index)
                subscript = element and module.parent(element)
                if isinstance(subscript, cst.Subscript) and _is_read(module, subscript):
                    is_sure = not (_is_caught(module, key) or _is_asked_before(module, key))
                    form = Form.SHAPE if is_sure else Form.SHAPE_IF_ANY
                    yield subscript, (subscript.value, ()), form
            case cst.ComparisonTarget(operator=cst.In() | cst.NotIn()):
                continue  # it is what is searched
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget() as target]):
                if left is key and isinstance(target.operator, cst.In | cst.NotIn):
                    yield key, (target.comparator, ()), Form.SHAPE_IF_ANY
            case cst.Arg() as given:
                call = module.parent(given)
                match call:
                    case cst.Call(
                        func=cst.Attribute(value=owner, attr=cst.Name(value="get" | "pop" as how)),
                        args=[first, *rest],
                    ) if first is given:
                        raises = how == "pop" and not rest
                        yield call, (owner, ()), Form.SHAPE if raises else Form.SHAPE_IF_ANY


def _is_caught(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a statement catches what goes wrong at a node."""
    inside = node
    for each in module.ancestors(node):
        if isinstance(each, cst.Try) and each.handlers and each.body is inside:
            return True
        if isinstance(each, cst.FunctionDef | cst.ClassDef):
            return False
        inside = each
    return False


def _is_asked_before(module: Module, key: cst.CSTNode) -> bool:
    """Say whether a read stands under a condition that asks whether the key is there."""
    return any(each in _conditions(module) for each in module.ancestors(key))


@once
def _conditions(module: Module) -> frozenset[cst.CSTNode]:
    """Return the nearest statement or expression that decides by each test for the key."""
    tests = [each for each in _keys(module).get(_KEY, ()) if _is_searched_for(module, each)]
    found = (
        next((each for each in module.ancestors(test) if isinstance(each, _DECIDES)), None)
        for test in tests
    )
    return frozenset(each for each in found if each is not None)


def _is_searched_for(module: Module, key: cst.SimpleString) -> bool:
    parent = module.parent(key)
    return isinstance(parent, cst.Comparison) and parent.left is key


def _lists(module: Module) -> Iterator[_Candidate]:
    for node in module.nodes(cst.Subscript):
        if isinstance(_place_in(node), int) and _is_read(module, node):
            yield node, (node.value, ()), Form.CALLS
            yield node, (node.value, ()), Form.ENDS
    loops: list[cst.For | cst.CompFor] = [*module.nodes(cst.For), *module.nodes(cst.CompFor)]
    for loop in loops:
        yield loop.iter, (loop.iter, ()), Form.CALL_PARTS
        if isinstance(loop.target, cst.Tuple | cst.List):
            yield loop.iter, (loop.iter, (ANY,)), Form.CALL_PARTS
            yield loop.iter, (loop.iter, (ANY,)), Form.ENDS
    for assign in module.nodes(cst.Assign):
        if any(isinstance(each.target, cst.Tuple | cst.List) for each in assign.targets):
            yield assign.value, (assign.value, ()), Form.CALL_PARTS
            yield assign.value, (assign.value, ()), Form.ENDS


def _place_in(node: cst.Subscript) -> object:
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=index))]:
            return literal(index)
    return None


def _is_read(module: Module, node: cst.Subscript) -> bool:
    return not isinstance(module.parent(node), cst.AssignTarget | cst.Del | cst.AugAssign)


@once
def _keys(module: Module) -> dict[str, list[cst.SimpleString]]:
    found: dict[str, list[cst.SimpleString]] = {}
    for each in module.nodes(cst.SimpleString):
        if isinstance(text := literal(each), str):
            found.setdefault(text, []).append(each)
    return found


@once
def _strings(module: Module) -> frozenset[str]:
    """Return the strings of a module, without those of the class that a fix wrote there."""
    return frozenset(
        text
        for text, nodes in _keys(module).items()
        if any(not _is_in_the_helper(module, each) for each in nodes)
    )


def _is_in_the_helper(module: Module, node: cst.CSTNode) -> bool:
    return any(
        isinstance(each, cst.ClassDef) and each.name.value == HELPER
        for each in module.ancestors(node)
    )
