"""``kdoctor rules``: list all rules, or show one in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kdoctor.cli import choices, options, streams
from kdoctor.cli.completion import complete_rules

if TYPE_CHECKING:
    from kdoctor.report.output import Page


def rules(
    code: Annotated[
        str | None,
        typer.Argument(
            metavar="RULE",
            help="A code (KD101), a prefix of codes (KD1), a name or a topic (freezing).",
            show_default=False,
            autocompletion=complete_rules,
        ),
    ] = None,
    *,
    topics: Annotated[
        bool, typer.Option("--topics", help="List the topics: what several rules are about.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    color: options.ColorOption = choices.Color.AUTO,
) -> None:
    """List the rules, or show all about one: why it breaks, what to write, examples, proofs.

    \b
    kdoctor rules
    kdoctor rules KD101
    kdoctor rules KD6
    kdoctor rules freezing
    kdoctor rules --topics
    kdoctor rules --json
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.engine.selection.codes import choose  # noqa: PLC0415 - imports libcst
    from kdoctor.report.rules import write_table, write_table_json  # noqa: PLC0415
    from kdoctor.report.topics import topics_shown, write_topics, write_topics_json  # noqa: PLC0415

    page = streams.output(color)
    if topics:
        (write_topics_json if json else write_topics)(topics_shown(code), page)
        return
    named = choose(None if code is None else [code])
    if len(named) == 1:
        write_rule(named[0].code, page, json=json)
    else:
        (write_table_json if json else write_table)(named, page)


def write_rule(code: str, page: Page, *, json: bool) -> None:
    """Write all about one rule, given by its code or its name.

    Raises:
        UsageProblem: there is no such rule.
    """
    from kdoctor.analysis.facts import proof_record  # noqa: PLC0415
    from kdoctor.engine.selection.codes import rule_named  # noqa: PLC0415 - imports libcst
    from kdoctor.report.rules import write_page, write_page_json  # noqa: PLC0415

    (write_page_json if json else write_page)(rule_named(code), proof_record(), page)
