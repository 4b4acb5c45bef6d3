"""The arguments in a configuration that a class of the target does not take: dropped or renamed.

Whether one may go is for ``kdoctor.models.arguments`` to say, which the verdict follows, too.
``tools/model_conversions`` runs a model of each built-in layer before and after.
"""

from __future__ import annotations

from typing import Any

from kdoctor.models.arguments import argument_obstacles
from kdoctor.models.at import At, shown
from kdoctor.models.convert.record import Record
from kdoctor.models.obstacle import Remedy


def converted_arguments(
    config: dict[str, Any], leaf: str, home: str, place: str, record: Record
) -> dict[str, Any]:
    """Return a configuration with the arguments that the class at ``home`` takes."""
    made = dict(config)
    for each in argument_obstacles(leaf, home, config, At(record.target, place)):
        name = each.subject
        if each.remedy is not Remedy.CONVERT or name not in made:
            record.refusals.append(each)
            continue
        value = made.pop(name)
        if each.became:
            made[each.became] = value
            record.change(place, f"`{shown(name)}` of `{leaf}` is `{each.became}`")
        else:
            record.change(
                place, f"`{leaf}` no longer takes `{shown(name)}={shown(value)}`: dropped"
            )
    return made
