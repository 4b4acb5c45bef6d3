"""``kdoctor rules``: all rules, or one of them whole."""

from __future__ import annotations

from typing import Annotated

import typer

from kdoctor.cli import choices, options, streams
from kdoctor.cli.completion import complete_rules


def rules(
    code: Annotated[
        str | None,
        typer.Argument(
            metavar="RULE",
            help="A code (KD101) or a name.",
            show_default=False,
            autocompletion=complete_rules,
        ),
    ] = None,
    *,
    color: options.ColorOption = choices.Color.AUTO,
) -> None:
    """List all rules, or tell all about one: why it breaks, what to write, examples, proofs.

    \b
    kdoctor rules
    kdoctor rules KD101
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.engine.selection import choose, rule_named  # noqa: PLC0415 - imports libcst
    from kdoctor.report.rules import write_page, write_table  # noqa: PLC0415
    from kdoctor.rules.facts import proof_record  # noqa: PLC0415

    page = streams.output(color)
    if code is None:
        write_table(choose(), page)
    else:
        write_page(rule_named(code), proof_record(), page)
