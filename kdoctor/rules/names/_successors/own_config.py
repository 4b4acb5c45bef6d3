"""`model_from_config` of a configuration that the same run has made of a model."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import binding_of, is_builtin
from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.rewrite import given, not_given, rewrite
from kdoctor.rewrite.common_guards import Guard, GuardAnswer, Question, UseSite
from kdoctor.rules.names._successors.successor import Successor
from kdoctor.syntax import Module
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.literals import literal


def made_of_a_model(parameter: str) -> Guard:
    """It is `{'class_name': m.__class__.__name__, 'config': m.get_config()}`, for this alone."""
    return Question(
        f"made_of_a_model({parameter!r})",
        f"`{parameter}` may come from a file that Keras 2 has written",
        lambda use_site: GuardAnswer.of(_is_made_of_a_model(use_site, parameter)),
        parameters=frozenset({parameter}),
    )


def _is_made_of_a_model(use_site: UseSite, parameter: str) -> bool:
    node = use_site.value(parameter)
    made = _written_for(use_site.module, node) if isinstance(node, cst.Name) else node
    if not isinstance(made, cst.Dict):
        return False
    parts = {
        literal(each.key): each.value for each in made.elements if isinstance(each, cst.DictElement)
    }
    if parts.keys() != {"class_name", "config"} or len(made.elements) != len(parts):
        return False
    model = _model_of_config(parts["config"])
    return model is not None and model == _model_of_class_name(use_site.module, parts["class_name"])


def _written_for(module: Module, name: cst.Name) -> cst.BaseExpression | None:
    """Return what a name is assigned in the same block, if it is read nowhere but here.

    Keras 3 takes the configuration apart: a second reader would find less in it.
    """
    binding = binding_of(module, name)
    if binding is None or binding.path or [*reads_of(module, binding.node)] != [name]:
        return None
    blocks = {_block(module, each) for each in (binding.node, name)}
    return binding.value if len(blocks) == 1 else None


def _block(module: Module, node: cst.CSTNode) -> cst.CSTNode | None:
    lines = (each for each in module.ancestors(node) if isinstance(each, cst.SimpleStatementLine))
    line = next(lines, None)
    return None if line is None else module.parent(line)


def _model_of_config(node: cst.BaseExpression) -> str | None:
    """Return ``m`` of ``m.get_config()``."""
    match node:
        case cst.Call(func=cst.Attribute(value=model, attr=cst.Name("get_config")), args=[]):
            return dotted_name(model)
    return None


def _model_of_class_name(module: Module, node: cst.BaseExpression) -> str | None:
    """Return ``m`` of ``m.__class__.__name__`` or ``type(m).__name__``."""
    match node:
        case cst.Attribute(value=made, attr=cst.Name("__name__")):
            pass
        case _:
            return None
    match made:
        case cst.Attribute(value=model, attr=cst.Name("__class__")):
            return dotted_name(model)
        case cst.Call(func=cst.Name("type") as function, args=[cst.Arg(value=model)]):
            return dotted_name(model) if is_builtin(module, function) else None
    return None


ROWS = tuple(
    Successor(
        rewrite(
            "keras.models.model_from_config(config, custom_objects=None)",
            # The public Functional is none that can be read: `keras.Model` reads what it wrote.
            # What this very run has made is safe to read, also the code of a Lambda.
            "keras.saving.deserialize_keras_object({'module': 'keras', **config}, "
            f"custom_objects={own}, safe_mode=False)",
            made_of_a_model("config") & when,
        ),
        proven_by="own-config",
    )
    for own, when in (
        ("{'Functional': keras.Model}", not_given("custom_objects")),
        ("{'Functional': keras.Model, **(custom_objects or {})}", given("custom_objects")),
    )
)
