"""What is done with the result of a function of ``keras.backend``, as questions for rewrites."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.dataflow.uses import is_keyword_or_member
from kdoctor.keras_api import split_root
from kdoctor.rewrite.common_guards import Guard, GuardAnswer, Question, UseSite
from kdoctor.rules.names._backend.later_reads import read_again
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.scopes import ScopeKind

# Functions that take int32 as well as int64, by the position of the argument.
_TAKE_EITHER: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("cast", "one_hot"), (0,)),
    **dict.fromkeys(("gather", "take"), (1,)),
    **dict.fromkeys(("equal", "not_equal", "greater", "less"), (0, 1)),
}
_CHANGES = frozenset({"update", "update_add", "update_sub", "set_value", "moving_average_update"})
# Functions whose result may be what they were given.
_HAND_ON = frozenset({"cast", "cast_to_floatx", "eval", "get_value", "in_train_phase",
    "in_test_phase", "switch"})  # fmt: skip
_ASKS = frozenset({"hasattr", "is_keras_tensor", "is_tensor", "isinstance", "type"})
_OPERATIONS = (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.ComparisonTarget)


def indexed() -> Guard:
    """Each use of the result takes one of its elements: on the spot, or by the name it is given.

    None of them is used as only a tensor can be: an element is a plain number where it is known.
    """

    def answer(use_site: UseSite) -> GuardAnswer:
        module = use_site.module
        taken = _elements(module, use_site.node)
        return GuardAnswer.of(bool(taken) and not any(is_asked_as_tensor(module, e) for e in taken))

    return Question("indexed()", "the result of the call is not indexed", answer)


def asked_for(member: str) -> Guard:
    """This member of the result is read on the spot."""

    def answer(use_site: UseSite) -> GuardAnswer:
        read = use_site.module.parent(use_site.node)
        return GuardAnswer.of(isinstance(read, cst.Attribute) and read.attr.value == member)

    return Question(f"asked_for({member!r})", f"`{member}` of the result is not read", answer)


def calculated_with() -> Guard:
    """The result, or a slice of it, is an operand: on the spot, or by the name it is given.

    Or it is taken apart as no tuple can be: `shape[..., ::-1]`. Or one of its elements is used as
    no number can be: `shape[0].dtype`.
    """

    def answer(use_site: UseSite) -> GuardAnswer:
        module, node = use_site.module, use_site.node
        return GuardAnswer.of(
            _is_operand(module, node)
            or _is_sliced_as_tensor(module, node)
            or any(is_asked_as_tensor(module, each) for each in _elements(module, node))
        )

    return Question("calculated_with()", "the result of the call is not an operand", answer)


def no_tensor_by_use() -> Guard:
    """Nothing is done with the result that only a tensor can do.

    `2 * (1, 2)` is another thing for a tuple than for a tensor, and a tuple has no `shape`.
    """

    def answer(use_site: UseSite) -> GuardAnswer:
        module, node = use_site.module, use_site.node
        is_tensor = _is_operand(module, node) or _is_used_as_tensor(module, node)
        asked = any(is_asked_as_tensor(module, each) for each in _elements(module, node))
        return GuardAnswer.of(not is_tensor and not asked)

    return Question("no_tensor_by_use()", "the result is a tuple, but is used as a tensor", answer)


def dtype_does_not_matter() -> Guard:
    """The result goes straight into a function of Keras that takes any integers."""

    def answer(use_site: UseSite) -> GuardAnswer:
        argument = use_site.module.parent(use_site.node)
        if not isinstance(argument, cst.Arg) or argument.star or argument.keyword is not None:
            return GuardAnswer.NO
        call = use_site.module.parent(argument)
        if not isinstance(call, cst.Call):
            return GuardAnswer.NO
        split = split_root(use_site.module.qualified(call.func) or "")
        parent, _, leaf = split[1].rpartition(".") if split else ("", "", "")
        positions = _TAKE_EITHER.get(leaf, ())
        fits = parent in ("backend", "ops") and list(call.args).index(argument) in positions
        return GuardAnswer.of(fits)

    return Question(
        "dtype_does_not_matter()",
        "int32 may not be enough for the result",
        answer,
    )


def is_read_only() -> Guard:
    """Nothing is assigned to what the call makes: it goes into a calculation."""

    def answer(use_site: UseSite) -> GuardAnswer:
        found = _is_read(use_site.module, use_site.node)
        uses = uses_of_its_name(use_site.module, use_site.node)
        if found is GuardAnswer.UNKNOWN and uses:
            answers = {_is_read(use_site.module, each) for each in uses}
            return answers.pop() if len(answers) == 1 else GuardAnswer.UNKNOWN
        return found

    return Question(
        "is_read_only()",
        "Keras 2 makes a variable here, which may be assigned to",
        answer,
    )


def read_at_once() -> Guard:
    """The result is an operand or an argument of a calculation: nobody keeps it."""

    def answer(use_site: UseSite) -> GuardAnswer:
        module = use_site.module
        parent = module.parent(use_site.node)
        if isinstance(parent, cst.Arg) and isinstance(call := module.parent(parent), cst.Call):
            name = module.qualified(call.func) or ""
            if name.rpartition(".")[2] in _HAND_ON:
                return GuardAnswer.NO
        return _is_read(module, use_site.node)

    return Question("read_at_once()", "the result may be kept while the variable changes", answer)


def _is_operand(module: Module, node: cst.CSTNode) -> bool:
    whole = _with_slices(module, node)
    return isinstance(module.parent(whole), _OPERATIONS) or any(
        isinstance(module.parent(_with_slices(module, each)), _OPERATIONS)
        for each in uses_of_its_name(module, whole)
    )


def _is_used_as_tensor(module: Module, node: cst.CSTNode) -> bool:
    """Say whether an attribute of it is read, or several axes are sliced."""
    return _is_sliced_as_tensor(module, node) or any(
        isinstance(parent := module.parent(each), cst.Attribute) and parent.value is each
        for each in _slices_and_uses(module, node)
    )


def _is_sliced_as_tensor(module: Module, node: cst.CSTNode) -> bool:
    """Say whether it is given an index that a tuple does not take."""
    return any(
        isinstance(parent := module.parent(each), cst.Subscript)
        and parent.value is each
        and (len(parent.slice) > 1 or _is_ellipsis(parent.slice[0].slice))
        for each in _slices_and_uses(module, node)
    )


def _is_ellipsis(index: cst.BaseSlice) -> bool:
    return isinstance(index, cst.Index) and isinstance(index.value, cst.Ellipsis)


def _slices_and_uses(module: Module, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the whole of it with its slices, here and wherever the name it is given is read."""
    whole = _with_slices(module, node)
    yield whole
    yield from (_with_slices(module, each) for each in uses_of_its_name(module, whole))


def _with_slices(module: Module, node: cst.CSTNode) -> cst.CSTNode:
    """Return ``K.shape(x)[1:3]`` for its call: as much of a tuple or a tensor as the whole."""
    parent = module.parent(node)
    while (
        isinstance(parent, cst.Subscript)
        and parent.value is node
        and len(parent.slice) == 1
        and isinstance(parent.slice[0].slice, cst.Slice)
    ):
        node, parent = parent, module.parent(parent)
    return node


def takes_an_element(module: Module, node: cst.CSTNode) -> bool:
    parent = module.parent(node)
    if not isinstance(parent, cst.Subscript) or parent.value is not node:
        return False
    index = parent.slice[0].slice
    return len(parent.slice) == 1 and isinstance(index, cst.Index) and not _is_ellipsis(index)


def _elements(module: Module, node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return the elements that are taken of it; none where it is used as a whole, too."""
    uses: list[cst.CSTNode] = [node] if takes_an_element(module, node) else []
    uses = uses or [*uses_of_its_name(module, node)]
    if not all(takes_an_element(module, each) for each in uses):
        return []
    return [element for each in uses if (element := module.parent(each)) is not None]


def is_asked_as_tensor(module: Module, element: cst.CSTNode) -> bool:
    """Say whether an attribute of it is read, or what it is, here or wherever it is kept."""
    return any(_is_a_tensors(module, each) for each in read_again(module, element))


def _is_a_tensors(module: Module, node: cst.CSTNode) -> bool:
    match module.parent(node):
        case cst.Attribute(value=owner):
            return owner is node
        case cst.Arg() as argument:
            call = module.parent(argument)
            asked = call.func if isinstance(call, cst.Call) else None
            leaf = asked.attr if isinstance(asked, cst.Attribute) else asked
            return isinstance(leaf, cst.Name) and leaf.value in _ASKS
    return False


def uses_of_its_name(module: Module, node: cst.CSTNode) -> list[cst.Name]:
    """Return the reads of the local name that a value, and nothing else, is assigned to."""
    assign = module.parent(node)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return []
    target = assign.targets[0].target
    if not isinstance(target, cst.Name):
        return []
    scope = module.scope_of(target)
    if scope.kind is not ScopeKind.FUNCTION or len(scope.bindings.get(target.value, ())) != 1:
        return []
    return [
        each
        for each in descendants(scope.node)
        if isinstance(each, cst.Name)
        and each.value == target.value
        and each is not target
        and not is_keyword_or_member(module, each)
    ]


def _is_read(module: Module, node: cst.CSTNode) -> GuardAnswer:
    """Say whether a value goes into a calculation; NO where something is assigned to it."""
    parent = module.parent(node)
    if isinstance(parent, cst.BinaryOperation | cst.UnaryOperation | cst.ComparisonTarget):
        return GuardAnswer.YES
    if isinstance(parent, cst.Comparison):
        return GuardAnswer.YES
    if isinstance(parent, cst.Element):
        parent = module.parent(parent)
        parent = None if parent is None else module.parent(parent)
    if isinstance(parent, cst.Arg):
        call = module.parent(parent)
        name = module.qualified(call.func) if isinstance(call, cst.Call) else None
        split = split_root(name or "")
        if split and split[1].rpartition(".")[0] in ("backend", "ops"):
            return GuardAnswer.NO if split[1].rpartition(".")[2] in _CHANGES else GuardAnswer.YES
    return GuardAnswer.UNKNOWN
