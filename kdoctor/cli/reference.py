"""``kdoctor reference``: correct Keras 3 code to read and copy."""

from __future__ import annotations

from typing import Annotated

import typer

from kdoctor.cli import choices, options, streams
from kdoctor.errors import UsageProblem


def reference(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A function, class or file from the list, or a name of tensorflow_addons or "
            "keras_contrib.",
            show_default=False,
        ),
    ] = None,
    *,
    color: options.ColorOption = choices.Color.AUTO,
) -> None:
    """List correct losses, metrics, layers and clipping in keras.ops, or print one to copy.

    \b
    kdoctor reference
    kdoctor reference dice > overlap.py
    kdoctor reference tfa.optimizers.LAMB > lamb.py
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.report.reference import (  # noqa: PLC0415
        write_list,
        write_source,
        write_stand_ins,
    )
    from kdoctor.rules.dead_packages import stand_ins, stand_ins_for  # noqa: PLC0415
    from kdoctor.verify.reference.catalogue import find, holding, modules  # noqa: PLC0415

    page = streams.output(color)
    if name is None:
        write_list(modules(), page, stand_ins())
    elif (of_package := stand_ins().get(name)) is not None:
        write_stand_ins(of_package, page)
    elif find(name) is None and (found := stand_ins_for(name)):
        if len(found) > 1:
            names = " or ".join(each.name for each in found)
            raise UsageProblem(f"{name!r} is several: ask for {names}")
        page.line(found[0].text)
    else:
        write_source(holding(name).source, page)
