"""The guards that functions of ``keras.backend`` need: what is known of their arguments' values."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.text_mentions import mentions
from kdoctor.keras_api import split_root
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.rewrite.common_guards import Guard, GuardAnswer, Question, UseSite, of_value
from kdoctor.rules.names._backend.plain_numbers import (
    becomes_plain_number,
    is_plain_number,
    may_be_array,
    may_be_plain_number,
)
from kdoctor.rules.names._backend.value_facts import ValueFacts, inference_of
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Context, Kind


def is_tensor(parameter: str) -> Guard:
    """The argument surely is one tensor: no list of them, no NumPy array."""
    return of_values(
        "is_tensor", "`{}` is not known to be one tensor", parameter, ValueFacts.is_tensor
    )


def no_tensor(parameter: str) -> Guard:
    """The argument surely is a number or a NumPy array."""
    return of_values("no_tensor", "`{}` may be a tensor", parameter, ValueFacts.is_no_tensor)


def text(parameter: str) -> Guard:
    """The argument surely is a string."""
    return of_values("text", "`{}` is not known to be a string", parameter, ValueFacts.is_text)


def is_scalar(parameter: str) -> Guard:
    """The tensor surely has no axes."""
    return of_values(
        "is_scalar",
        "`{}` is not known to be a scalar",
        parameter,
        lambda inference, node: inference.shape(node) == frozenset(),
    )


def same_shape(*parameters: str) -> Guard:
    """The tensors surely have one shape: all are made, element by element, of the same tensors."""

    def answer(use_site: UseSite) -> GuardAnswer:
        inference = inference_of(use_site.module)
        nodes = [use_site.value(each) for each in parameters]
        shapes = {None if node is None else inference.shape(node) for node in nodes}
        return GuardAnswer.YES if len(shapes) == 1 and shapes.pop() else GuardAnswer.UNKNOWN

    names = [f"`{each}`" for each in parameters]
    return Question(
        f"same_shape({', '.join(map(repr, parameters))})",
        f"{', '.join(names[:-1])} and {names[-1]} are not known to have the same shape",
        answer,
        parameters=frozenset(parameters),
    )


def not_symbolic(parameter: str) -> Guard:
    """The tensor has values: it is not one of a model that is being built, nor of a graph."""

    def answer(use_site: UseSite) -> GuardAnswer:
        node = use_site.value(parameter)
        kind = None if node is None else use_site.module.type_of(node)
        in_graph = use_site.module.context_of(use_site.node) in (
            Context.CALL,
            Context.LOSS_OR_METRIC,
        )
        symbolic = kind is not None and kind.kind is Kind.TENSOR
        return GuardAnswer.NO if symbolic or in_graph else GuardAnswer.YES

    return Question(
        f"not_symbolic({parameter!r})",
        f"`{parameter}` is symbolic here: it has no values",
        answer,
        parameters=frozenset({parameter}),
    )


def never_variable(parameter: str) -> Guard:
    """The argument surely is no variable: a symbolic tensor, or what an operation gives."""
    return of_values(
        "never_variable", "`{}` may be a variable", parameter, ValueFacts.is_never_variable
    )


def no_variable(parameter: str) -> Guard:
    """The argument is not known to be a variable."""

    def answer(use_site: UseSite) -> GuardAnswer:
        node = use_site.value(parameter)
        found = None if node is None else use_site.module.type_of(node)
        is_one = found is not None and found.kind is Kind.VARIABLE
        return GuardAnswer.of(not is_one)

    return Question(
        f"no_variable({parameter!r})",
        f"`{parameter}` is a variable",
        answer,
        parameters=frozenset({parameter}),
    )


def no_variables(parameter: str) -> Guard:
    """None of several tensors is known to be a variable."""

    def answer(use_site: UseSite) -> GuardAnswer:
        node = use_site.value(parameter)
        return GuardAnswer.of(node is None or not _has_variables(use_site.module, node))

    return Question(
        f"no_variables({parameter!r})",
        f"`{parameter}` contains variables, which are not tensors",
        answer,
        parameters=frozenset({parameter}),
    )


def _has_variables(module: Module, node: cst.BaseExpression) -> bool:
    found = module.type_of(node)
    if found is not None and found.item is not None and found.item.kind is Kind.VARIABLE:
        return True
    value = value_of(module, node)
    elements = value.elements if isinstance(value, cst.List | cst.Tuple) else ()
    types = (module.type_of(each.value) for each in elements)
    return any(each is not None and each.kind is Kind.VARIABLE for each in types)


def plain_number(parameter: str) -> Guard:
    """The argument surely is a number of Python's own."""
    return Question(
        f"plain_number({parameter!r})",
        f"`{parameter}` is not known to be a plain number",
        lambda use_site: GuardAnswer.of(_holds_of(is_plain_number, use_site, parameter)),
        parameters=frozenset({parameter}),
    )


def no_plain_number(parameter: str) -> Guard:
    """Nothing says that it may be a number of Python's own."""
    return Question(
        f"no_plain_number({parameter!r})",
        f"`{parameter}` may be a plain number",
        lambda use_site: GuardAnswer.of(not _holds_of(may_be_plain_number, use_site, parameter)),
        parameters=frozenset({parameter}),
    )


def no_array(parameter: str) -> Guard:
    """Nothing says that it may be a NumPy array."""
    return Question(
        f"no_array({parameter!r})",
        f"`{parameter}` may be a NumPy array",
        lambda use_site: GuardAnswer.of(not _holds_of(may_be_array, use_site, parameter)),
        parameters=frozenset({parameter}),
    )


def made_a_number() -> Guard:
    """The result goes into ``float(…)`` or ``int(…)`` at once."""

    def answer(use_site: UseSite) -> GuardAnswer:
        call = use_site.node
        return GuardAnswer.of(
            isinstance(call, cst.Call) and becomes_plain_number(use_site.module, call)
        )

    return Question("made_a_number()", "the result is not converted to a number right away", answer)


def _holds_of(
    holds: Callable[[Module, cst.BaseExpression], bool], use_site: UseSite, parameter: str
) -> bool:
    node = use_site.value(parameter)
    return node is not None and holds(use_site.module, node)


def plain_name(parameter: str) -> Guard:
    """The name is not given, or is a string without the slash that Keras 3 does not take."""

    def answer(use_site: UseSite) -> GuardAnswer:
        node = use_site.value(parameter)
        if node is None or (isinstance(node, cst.Name) and node.value == "None"):
            return GuardAnswer.YES
        if not isinstance(node, cst.SimpleString):
            return GuardAnswer.UNKNOWN
        return GuardAnswer.NO if "/" in str(literal(node)) else GuardAnswer.YES

    return Question(
        f"plain_name({parameter!r})",
        f"`{parameter}` may contain a slash, which Keras 3 rejects",
        answer,
        parameters=frozenset({parameter}),
    )


def no_slash_in(parameter: str) -> Guard:
    """No slash can be seen in the text that is passed: nobody knows the parts put in later."""

    def answer(use_site: UseSite) -> GuardAnswer:
        node = use_site.value(parameter)
        if node is None:
            return GuardAnswer.YES
        texts = (each for each in descendants(node) if isinstance(each, cst.SimpleString))
        return (
            GuardAnswer.NO if any("/" in str(literal(each)) for each in texts) else GuardAnswer.YES
        )

    return Question(
        f"no_slash_in({parameter!r})",
        f"`{parameter}` contains a slash, which Keras 3 rejects",
        answer,
        parameters=frozenset({parameter}),
    )


# Not that of a loss for labels that are numbers.
# Code of other files, not words of a comment: `tf.sparse`, `sparse.eye`, `Input(sparse=True)`.
_MAKE_SPARSE = (".sparse", "sparse.", "sparse=", "SparseTensor")
_SPARSE = pattern(r"(?<![A-Za-z])sparse(?!_(?:categorical|softmax|top_k))|Sparse(?!Categ|Top)")
_KEEP_NO_WEIGHTS = ("callbacks.", "constraints.", "initializers.", "regularizers.")


def outside_of_classes() -> Guard:
    """The line stands in no class that makes weights of its attributes."""

    def answer(use_site: UseSite) -> GuardAnswer:
        module = use_site.module
        around = [e for e in module.ancestors(use_site.node) if isinstance(e, cst.ClassDef)]
        return GuardAnswer.of(*(_keeps_no_weights(module, each) for each in around))

    return Question("outside_of_classes()", "it may become a weight of a layer", answer)


def _keeps_no_weights(module: Module, node: cst.ClassDef) -> bool:
    """Say whether each base is known, and none is a layer, a model, a metric or an optimizer."""
    names = [module.qualified(each.value) or module.source(each.value) for each in node.bases]
    return all(
        name in ("object", "unittest.TestCase")
        or (split_root(name) or ("", ""))[1].startswith(_KEEP_NO_WEIGHTS)
        for name in names
    )


def somewhere() -> Guard:
    """Always yes, and never proven: a last resort, for rows that may be right."""
    return Question("somewhere()", "", lambda _: GuardAnswer.YES)


_FLOATX = pattern(r"set_floatx|keras\.json|KERAS_FLOATX|floatx['\"]\s*:")
_SETS_FLOATX = ("set_floatx", "KERAS_FLOATX")  # in other files
_NARROW = pattern(r"(?<![A-Za-z0-9])u?int(?:8|16)(?![0-9])")


def floatx_is_default() -> Guard:
    """Nothing in the project sets the default float type that Keras works in: it is float32."""

    def answer(use_site: UseSite) -> GuardAnswer:
        module = use_site.module
        is_set = mentions(module, _FLOATX) or any(map(module.is_written_in_project, _SETS_FLOATX))
        return GuardAnswer.of(not is_set)

    return Question("floatx_is_default()", "the project sets the default float type", answer)


def no_narrow_integers(parameter: str) -> Guard:
    """The tensor holds no integers of 8 or 16 bits: the file names none, or it has floats.

    What runs in a model or a loss has the types of its layers: those only where a model takes or
    makes them.
    """

    def answer(use_site: UseSite) -> GuardAnswer:
        module, node = use_site.module, use_site.value(parameter)
        if not mentions(module, _NARROW):
            return GuardAnswer.YES
        if module.context_of(use_site.node) in _IN_MODELS and not _models_have_narrow(module):
            return GuardAnswer.YES
        known = node is not None and inference_of(module).works_as_no_integer(node)
        return GuardAnswer.of(known)

    return Question(
        f"no_narrow_integers({parameter!r})",
        "this file uses 8- or 16-bit integers: in Keras 2 their sums and products overflow, Keras "
        "3 returns wider ones",
        answer,
        parameters=frozenset({parameter}),
    )


@once
def _models_have_narrow(module: Module) -> bool:
    """Say whether integers of 8 or 16 bits are named inside of a model, or by a call of Keras."""
    named: list[cst.CSTNode] = [*module.nodes(cst.SimpleString), *module.attributes]
    return any(
        _NARROW.fullmatch(each.raw_value if isinstance(each, cst.SimpleString) else each.attr.value)
        and (module.context_of(each) in _IN_MODELS or _is_given_to_keras(module, each))
        for each in named
        if isinstance(each, cst.SimpleString | cst.Attribute)
    )


def _is_given_to_keras(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a type is an argument of a class or function of Keras: ``Input(dtype=…)``."""
    argument = module.parent(node)
    call = module.parent(argument) if isinstance(argument, cst.Arg) else None
    name = module.qualified(call.func) if isinstance(call, cst.Call) else None
    split = None if name is None else split_root(name)
    return split is not None and not split[1].startswith("backend.")


_IN_MODELS = (Context.CALL, Context.LOSS_OR_METRIC, Context.FUNCTIONAL)


def nothing_sparse() -> Guard:
    """The file speaks of no sparse tensors, and no file that may hand it any."""

    def answer(use_site: UseSite) -> GuardAnswer:
        module = use_site.module
        return GuardAnswer.of(not (mentions(module, _SPARSE) or may_be_given_sparse(module)))

    return Question("nothing_sparse()", "its argument may be a sparse tensor", answer)


@once
def may_be_given_sparse(module: Module) -> bool:
    """Say whether a file of the project that imports this one may make sparse tensors."""
    return any(map(module.is_written_by_importers, _MAKE_SPARSE))


def of_rank(rank: int, parameter: str) -> Guard:
    """The tensor surely has so many axes."""

    def answer(use_site: UseSite) -> GuardAnswer:
        node = use_site.value(parameter)
        is_it = node is not None and ValueFacts(use_site.module).rank(node) == rank
        return GuardAnswer.YES if is_it else GuardAnswer.UNKNOWN

    return Question(
        f"of_rank({rank}, {parameter!r})",
        f"`{parameter}` is not known to have {rank} axes",
        answer,
        parameters=frozenset({parameter}),
    )


def both_of_rank(rank: int, *parameters: str) -> Guard:
    """The tensors surely have so many axes."""

    def answer(use_site: UseSite) -> GuardAnswer:
        inference = inference_of(use_site.module)
        nodes = [use_site.value(each) for each in parameters]
        known = all(each is not None and inference.rank(each) == rank for each in nodes)
        return GuardAnswer.YES if known else GuardAnswer.UNKNOWN

    names = ", ".join(map(repr, parameters))
    return Question(
        f"both_of_rank({rank}, {names})",
        f"{' and '.join(f'`{each}`' for each in parameters)} are not known to have {rank} axes",
        answer,
        parameters=frozenset(parameters),
    )


def builds_nothing() -> Guard:
    """The line runs while something is computed: no variable can be meant to stay."""

    def answer(use_site: UseSite) -> GuardAnswer:
        found = use_site.module.context_of(use_site.node)
        if found in (Context.CALL, Context.LOSS_OR_METRIC, Context.TRAIN_LOOP, Context.FUNCTIONAL):
            return GuardAnswer.YES
        return GuardAnswer.UNKNOWN

    return Question("builds_nothing()", "it may be meant as a variable", answer)


def of_values(
    name: str,
    sentence: str,
    parameter: str,
    holds: Callable[[ValueFacts, cst.BaseExpression], bool],
) -> Guard:
    """Ask what is known of the value passed for a parameter, or of its default."""

    def answer(use_site: UseSite, node: cst.BaseExpression) -> GuardAnswer:
        is_passed = use_site.value(parameter) is not None
        # A default is written out: what cannot be told of it is a no.
        known = is_passed or isinstance(node, cst.Integer | cst.Float | cst.SimpleString)
        if known and holds(inference_of(use_site.module), node):
            return GuardAnswer.YES
        return GuardAnswer.UNKNOWN if is_passed else GuardAnswer.NO

    return of_value(name, sentence, parameter, answer)
