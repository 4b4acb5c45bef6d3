"""``kdoctor api``: the history of a name."""

from __future__ import annotations

from typing import Annotated

import typer

from kdoctor.cli import choices, options, streams


def api(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="As in your code: keras.backend.dot, K.dot, layers.Dense, Dense, Model.fit.",
            show_default=False,
        ),
    ],
    *,
    json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    color: options.ColorOption = choices.Color.AUTO,
) -> None:
    """Show in which releases a Keras name exists, its signatures, and what replaced it.

    \b
    kdoctor api keras.backend.dot
    kdoctor api np_utils.to_categorical
    kdoctor api Model.predict_classes --json

    Exit code: 0, or 1 if no known release has such a name.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.engine.fixes.rewrite_lookup import rewrite_lookup_of  # noqa: PLC0415 - imports the rules
    from kdoctor.keras_api.query_name import inquire  # noqa: PLC0415
    from kdoctor.report.api import write_json, write_text  # noqa: PLC0415

    answer = inquire(name)
    is_member = answer.owners or any(each.kind is None for each in answer.histories)
    cures = rewrite_lookup_of(answer.name, answer.name.rpartition(".")[2] if is_member else "")
    (write_json if json else write_text)(answer, cures, streams.output(color))
    if not answer.is_known:
        raise typer.Exit(1)
