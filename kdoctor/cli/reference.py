"""``kdoctor reference``: correct Keras 3 code to read and copy."""

from __future__ import annotations

from typing import Annotated

import typer

from kdoctor.cli import choices, options, streams


def reference(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="A function, class or file from the list.", show_default=False
        ),
    ] = None,
    *,
    color: options.ColorOption = choices.Color.AUTO,
) -> None:
    """List correct losses, metrics, layers and clipping in keras.ops, or print one to copy.

    \b
    kdoctor reference
    kdoctor reference dice > overlap.py
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.report.reference import write_list, write_source  # noqa: PLC0415
    from kdoctor.verify.reference.catalogue import holding, modules  # noqa: PLC0415

    page = streams.output(color)
    if name is None:
        write_list(modules(), page)
    else:
        write_source(holding(name), page)
