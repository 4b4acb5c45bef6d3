"""segmentation_models is imported before it is told to use ``tf.keras``."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.imports import imports
from kdoctor.keras_api import Presence
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, NoFix, Severity, Span
from kdoctor.rewrite.source_lines import margin
from kdoctor.rewrite.visibility import readable_import
from kdoctor.rules.environment._documentation_pages import NOT_IN_A_TEXT, is_a_text
from kdoctor.rules.environment._import_failures import failure_is_caught
from kdoctor.rules.rule import rule
from kdoctor.syntax import ImportBinding, Module
from kdoctor.syntax.literals import literal

_LIBRARY = "segmentation_models"
_VARIABLE = "SM_FRAMEWORK"
_ERROR = "AttributeError: module 'keras.utils' has no attribute 'generic_utils'"


@rule("KD701", severity=Severity.ERROR, look_for=files(imports(_LIBRARY)))
def check(file: File) -> Finding | None:
    """Report the first import of the library that runs before the variable is set."""
    module = file.module
    if file.facts.lookup("keras.utils.generic_utils").presence is not Presence.MISSING:
        return None
    binding = next(filter(_is_of_the_library, module.imports), None)
    if binding is None or failure_is_caught(module, binding.statement):
        return None
    if module.is_project_module(_LIBRARY):
        return None  # a copy in the project may ask for the framework otherwise, or not at all
    if _speaks_of_the_variable(module, Span(0, module.place(binding.statement).span.start)):
        return None  # whatever is done with it there, it is not forgotten
    too_late = _VARIABLE in module.text or "set_framework" in module.text
    return file.finding(
        f"`{_LIBRARY}` is imported {'before' if too_late else 'without'} "
        f"{_VARIABLE} {'is set' if too_late else 'being set'}: {_ERROR}",
        at=binding.statement,
        symbol=_LIBRARY,
        confidence=Confidence.CERTAIN,
        help=f'Set `os.environ["{_VARIABLE}"] = "tf.keras"` before this import.',
        fix=NoFix(NOT_IN_A_TEXT) if is_a_text(module) else _set_before(file, binding),
    )


def _is_of_the_library(binding: ImportBinding) -> bool:
    return binding.imported.partition(".")[0] == _LIBRARY


def _speaks_of_the_variable(module: Module, within: Span) -> bool:
    magics = [
        part  # `%env SM_FRAMEWORK=tf.keras`
        for mask in module.unit.masks
        if within.covers(mask.span)
        for part in mask.parts
        if isinstance(part, str)
    ]
    return any(_VARIABLE in text for text in [module.text[within.start : within.end], *magics])


def _set_before(file: File, binding: ImportBinding) -> Fix | NoFix:
    module = file.module
    line = module.parent(binding.statement)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        return NoFix("the import shares its line with other statements")
    span = module.span(binding.statement)
    indent = margin(module.text, span.start)
    set_below = _setting_right_below(module, line)
    at_hand = readable_import(module, "os", binding.statement, None)
    if set_below is not None and at_hand is not None:
        between = module.text[span.end : set_below.start]
        parts: tuple[str | Hole, ...] = (Hole(set_below), between, Hole(span))
        edit = Edit(Span(span.start, set_below.end), parts)
    elif at_hand is None and not _may_import_os(module, binding):
        return NoFix("`os` means something else here")
    else:
        setting = f'{at_hand.local if at_hand else "os"}.environ["{_VARIABLE}"] = "tf.keras"'
        bind_os = "" if at_hand else f"import os\n\n{indent}"
        edit = Edit(span, (f"{bind_os}{setting}\n{indent}", Hole(span)))
    return file.fix(f'Set `os.environ["{_VARIABLE}"]` before the import', edit)


def _setting_right_below(module: Module, line: cst.SimpleStatementLine) -> Span | None:
    """Return where the variable is set to ``tf.keras``, if the next line does nothing else."""
    block = module.parent(line)
    if not isinstance(block, cst.IndentedBlock | cst.Module):
        return None
    index = next(index for index, each in enumerate(block.body) if each is line)
    following = block.body[index + 1] if index + 1 < len(block.body) else None
    if not isinstance(following, cst.SimpleStatementLine) or len(following.body) != 1:
        return None
    match following.body[0]:
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Subscript(value=mapping))],
            value=value,
        ) if (
            literal(value) == "tf.keras"
            and module.qualified(mapping) == "os.environ"
            and _VARIABLE in module.source(following)
        ):
            setting = module.span(following.body[0])
        case _:
            return None
    between = module.text[module.span(line.body[0]).end : setting.start]
    return None if between.strip() else setting


def _may_import_os(module: Module, binding: ImportBinding) -> bool:
    """Say whether ``import os`` before the import leaves all other uses of ``os`` as they are."""
    owner = binding.scope.owner("os")
    imported = {each.alias for each in module.imports if each.name == "os"}
    return owner is None or (
        owner is binding.scope and all(each.node in imported for each in owner.bindings["os"])
    )
