"""`isinstance(input_shape, list)` in `build` is true for every layer loaded from a `.keras` file."""  # noqa: E501 - as on its page

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import holds_original_argument, kind_of_class
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, NoFix, Precedence, Severity
from kdoctor.rules.behaviour._several_inputs import takes_several_inputs
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.blocks import last_statement
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_MAKES_SHAPES = frozenset({"build_from_config", "get_build_config"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such question."""
    if not (facts.runs_keras_3("keras") or facts.runs_keras_3("tf.keras")):
        return
    for node in module.nodes(cst.ClassDef):
        build = _build(node)
        if build is None or kind_of_class(module, node) is not Kind.LAYER:
            continue
        if not takes_several_inputs(module, node):
            yield from _in_build(module, build)


def _build(node: cst.ClassDef) -> cst.FunctionDef | None:
    """Return the ``build`` that Keras calls with shapes of its own."""
    methods = {e.name.value: e for e in node.body.body if isinstance(e, cst.FunctionDef)}
    return None if _MAKES_SHAPES & set(methods) else methods.get("build")


def _in_build(module: Module, build: cst.FunctionDef) -> Iterator[Finding]:
    parameters = [each.name.value for each in build.params.params]
    if len(parameters) != 2:
        return
    shape = parameters[1]
    asked = [each for each in descendants(build.body) if isinstance(each, cst.BaseExpression)]
    if any(_is_of_first(each, shape) for each in asked):
        return  # it looks into the shape already
    may_be_a_dict = any(_asked_for(module, each, shape, {"dict", "Mapping"}) for each in asked)
    for each in asked:
        if not _asked_for(module, each, shape, {"list"}) or module.is_guarded(each):
            continue
        if module.scope_of(each).node is not build or not _is_parameter(module, each, build):
            continue
        if not _is_demanded(module, each):
            yield _finding(module, each, shape, may_be_a_dict=may_be_a_dict)


def _is_demanded(module: Module, question: cst.BaseExpression) -> bool:
    """Say whether `build` raises where the answer is no: so it was yes before there was a file."""
    goes_on = True
    test: cst.CSTNode = question
    above = module.parent(test)
    while isinstance(above, cst.BooleanOperation | cst.UnaryOperation):
        if isinstance(above, cst.UnaryOperation):
            goes_on = not goes_on
        test, above = above, module.parent(above)
    match above:
        case cst.Assert():
            return goes_on and above.test is test
        case cst.If(orelse=cst.Else(body=otherwise)) if above.test is test and goes_on:
            return isinstance(last_statement(otherwise), cst.Raise)
        case cst.If(body=then) if above.test is test:
            return not goes_on and isinstance(last_statement(then), cst.Raise)
    return False


def _is_parameter(module: Module, question: cst.BaseExpression, build: cst.FunctionDef) -> bool:
    """Say whether the name still holds what ``build`` was called with."""
    asked = question.args[0].value if isinstance(question, cst.Call) else None
    if isinstance(question, cst.Comparison) and isinstance(question.left, cst.Call):
        asked = question.left.args[0].value
    return asked is not None and holds_original_argument(module, asked, build.params.params[1])


def _asked_for(module: Module, node: cst.BaseExpression, shape: str, types: set[str]) -> bool:
    match node:
        case cst.Call(
            func=cst.Name(value="isinstance"),
            args=[cst.Arg(value=cst.Name(value=name)), cst.Arg(value=asked)],
        ):
            return name == shape and bool(types & _names(module, asked))
        case cst.Comparison(
            left=cst.Call(func=cst.Name(value="type"), args=[cst.Arg(value=cst.Name(value=name))]),
            comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.Equal(), comparator=asked)],
        ):
            return name == shape and bool(types & _names(module, asked))
    return False


def _names(module: Module, asked: cst.BaseExpression) -> set[str]:
    several = [each.value for each in asked.elements] if isinstance(asked, cst.Tuple) else [asked]
    return {module.source(each).rpartition(".")[2] for each in several}


def _is_of_first(node: cst.BaseExpression, shape: str) -> bool:
    match node:
        case cst.Call(
            func=cst.Name(value="isinstance" | "hasattr" | "len"),
            args=[cst.Arg(value=cst.Subscript(value=cst.Name(value=name))), *_],
        ):
            return name == shape
    return False


def _finding(
    module: Module, question: cst.BaseExpression, shape: str, *, may_be_a_dict: bool
) -> Finding:
    written = f"isinstance({shape}[0], (list, tuple))"
    fix = Fix(
        "Check the first element of the shape",
        (Edit(module.span(question), (written,), Precedence.PRIMARY),),
        Applicability.UNSAFE,
        unsafe_because="an empty shape has no first element",
    )
    told = (
        "this is also true for one input: `build` gets a tuple, or a list when the layer is "
        "loaded from a `.keras` file"
        if "tuple" in module.source(question)
        else "this is also true for one input when the layer is loaded from a `.keras` file: "
        "`build` gets a list"
    )
    return rule.finding(
        module.place(question),
        told,
        symbol="Layer.build",
        confidence=Confidence.LIKELY,
        help=f"Write `{written}`: one shape holds numbers and None, several hold shapes.",
        fix=NoFix("the shape may be a dict, which has no first element") if may_be_a_dict else fix,
    )


def _may_ask(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Name)
        and each.func.id in {"isinstance", "type"}
        and bool(each.args)
        and isinstance(each.args[0], ast.Name)
        and each.args[0].id == node.args.args[1].arg
        for node in quick.nodes.get(ast.FunctionDef, ())
        if node.name == "build" and len(node.args.args) == 2
        for statement in node.body
        for each in ast.walk(statement)
    )


rule = Rule(
    code="KD431",
    name="build-asks-for-a-list",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word("build") & Trigger(_may_ask),
    since="3.0",
)
