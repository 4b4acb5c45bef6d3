"""``efficientnet.keras`` fails on Keras 3; ``efficientnet.tfkeras`` still works."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import package
from kdoctor.keras_api import Presence
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.environment._documentation_pages import NOT_IN_A_TEXT, is_a_text
from kdoctor.rules.environment._import_failures import failure_is_caught
from kdoctor.rules.rule import Rule
from kdoctor.syntax import ImportBinding, Module

_LIBRARY = "efficientnet"
_MODULE = f"{_LIBRARY}.keras"
_ERROR = "AttributeError: module 'keras.utils' has no attribute 'generic_utils'"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each import of the module or from it."""
    if facts.lookup("keras.utils.generic_utils").presence is not Presence.MISSING:
        return
    if module.is_project_module(_LIBRARY):
        return  # what fails in a copy in the project is told there
    for binding in module.imports:
        is_it = binding.imported == _MODULE or binding.imported.startswith(f"{_MODULE}.")
        if not is_it or failure_is_caught(module, binding.statement):
            continue
        fix = None if is_a_text(module) else _import_the_twin(module, facts, binding)
        yield rule.finding(
            module.place(binding.alias or binding.statement),
            f"`{_MODULE}` cannot be imported: {_ERROR}",
            symbol=_MODULE,
            confidence=Confidence.CERTAIN,
            help="Import `efficientnet.tfkeras`.",
            fix=fix or NoFix(_why_not(module)),
        )


def _import_the_twin(module: Module, facts: TargetFacts, binding: ImportBinding) -> Fix | None:
    """Return the change of the module's name, where no use depends on it."""
    name = _last_part(binding)
    if name is None or name.value != "keras":
        return None
    edit = Edit(module.span(name), ("tfkeras",))
    return Fix("Import `efficientnet.tfkeras`", (edit,), facts.applicability(*rule.invalid))


def _why_not(module: Module) -> str:
    return NOT_IN_A_TEXT if is_a_text(module) else "its uses write out the module's name"


def _last_part(binding: ImportBinding) -> cst.Name | None:
    """Return where ``keras`` of ``efficientnet.keras`` is written, if no use writes it, too."""
    statement, alias = binding.statement, binding.alias
    dotted: cst.BaseExpression | None = None
    if isinstance(statement, cst.ImportFrom) and isinstance(statement.module, cst.Attribute):
        dotted = statement.module  # from efficientnet.keras import …
    elif alias is not None and alias.asname is not None:
        dotted = alias.name  # import efficientnet.keras as …, from efficientnet import keras as …
    last = dotted.attr if isinstance(dotted, cst.Attribute) else dotted
    return last if isinstance(last, cst.Name) else None


rule = Rule(
    code="KD702",
    name="efficientnet-framework",
    family="environment",
    severity=Severity.ERROR,
    check=check,
    triggers=package(_MODULE),
)
