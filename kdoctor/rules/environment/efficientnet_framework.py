"""``efficientnet.keras`` fails on Keras 3; ``efficientnet.tfkeras`` still works."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries.imports import Import, imports
from kdoctor.keras_api import Presence
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.environment._documentation_pages import NOT_IN_A_TEXT, is_a_text
from kdoctor.rules.environment._import_failures import failure_is_caught
from kdoctor.rules.rule import rule
from kdoctor.syntax import ImportBinding

_LIBRARY = "efficientnet"
_MODULE = f"{_LIBRARY}.keras"
_ERROR = "AttributeError: module 'keras.utils' has no attribute 'generic_utils'"


@rule("KD702", severity=Severity.ERROR, look_for=imports(_MODULE))
def check(found: Import) -> Finding | None:
    """Report each import of the module or from it."""
    module = found.module
    if found.facts.lookup("keras.utils.generic_utils").presence is not Presence.MISSING:
        return None
    # What fails in a copy in the project is told there.
    if module.is_project_module(_LIBRARY) or failure_is_caught(module, found.statement):
        return None
    return found.finding(
        f"`{_MODULE}` cannot be imported: {_ERROR}",
        symbol=_MODULE,
        help="Import `efficientnet.tfkeras`.",
        fix=_import_the_twin(found),
    )


def _import_the_twin(found: Import) -> Fix | NoFix:
    """Return the change of the module's name, where no use depends on it."""
    if is_a_text(found.module):
        return NoFix(NOT_IN_A_TEXT)
    name = _last_part(found.binding)
    if name is None or name.value != "keras":
        return NoFix("its uses write out the module's name")
    edit = Edit(found.module.span(name), ("tfkeras",))
    return found.fix("Import `efficientnet.tfkeras`", edit)


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
