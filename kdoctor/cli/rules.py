"""``kdoctor rules``: list all rules, or show one in full."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kdoctor.cli import choices, options, streams
from kdoctor.cli.completion import complete_rules
from kdoctor.errors import UsageProblem

if TYPE_CHECKING:
    from kdoctor.report.output import Page


def rules(  # noqa: PLR0913 - the options of the command
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
    test: Annotated[
        list[str] | None,
        typer.Option(
            "--test",
            metavar="PATH",
            help="Test rules of your own, a file or a folder of them, by their VALID and INVALID "
            "examples. It runs their code.",
        ),
    ] = None,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="With --test, also run the examples with the TensorFlow and Keras installed here, "
            "and record beside the rules what holds: only that makes a fix safe.",
        ),
    ] = False,
    trust_rules: options.TrustRules = False,
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
    kdoctor rules --trust-rules                   also those of your own, which the settings name
    kdoctor rules --test tools/kdoctor_rules      test them by their examples
    kdoctor rules --test tools/kdoctor_rules --prove

    Exit code: 0, with --test 1 if an example does not hold; 2 wrong usage, or a file of your own
    holds no rule that can be used.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.engine.selection.codes import choose  # noqa: PLC0415 - imports libcst
    from kdoctor.report.rules import write_table, write_table_json  # noqa: PLC0415
    from kdoctor.report.topics import topics_shown, write_topics, write_topics_json  # noqa: PLC0415

    page, notes = streams.output(color), streams.notes(color)
    if test:
        if code is not None or topics or json:
            raise typer.BadParameter("--test stands by itself: leave out RULE, --topics and --json")
        from kdoctor.cli.run_rule_tests import run  # noqa: PLC0415

        raise typer.Exit(run(test, page, notes, prove=prove))
    if prove:
        raise typer.BadParameter("--prove goes with --test PATH")
    broken = use_rules_here(notes, trusted=trust_rules)
    if topics:
        (write_topics_json if json else write_topics)(topics_shown(code), page)
        raise typer.Exit(2 if broken else 0)
    named = choose(None if code is None else [code])
    if len(named) == 1:
        write_rule(named[0].code, page, json=json)
    else:
        (write_table_json if json else write_table)(named, page)
    if broken:
        raise typer.Exit(2)


def use_rules_here(notes: Page, *, trusted: bool) -> bool:
    """Use the rules of one's own of the working folder; say whether one could not be used."""
    from kdoctor.own_rules.activating import use_rules_of  # noqa: PLC0415
    from kdoctor.project import Configs  # noqa: PLC0415
    from kdoctor.project.settings import NO_SETTINGS  # noqa: PLC0415
    from kdoctor.report.own_rules import write_not_loaded  # noqa: PLC0415

    try:
        settings = Configs().of(str(Path.cwd()))
    except UsageProblem:
        if trusted:
            raise
        settings = NO_SETTINGS  # kdoctor's own rules are listed whatever a project says
    use_rules_of(settings, trusted=trusted)
    return write_not_loaded(notes)


def write_rule(code: str, page: Page, *, json: bool) -> None:
    """Write all about one rule, given by its code or its name.

    Raises:
        UsageProblem: there is no such rule.
    """
    from kdoctor.analysis.facts import proof_record  # noqa: PLC0415
    from kdoctor.engine.selection.codes import rule_named  # noqa: PLC0415 - imports libcst
    from kdoctor.report.rules import write_page, write_page_json  # noqa: PLC0415
    from kdoctor.rules.own import in_use  # noqa: PLC0415

    proofs = {**proof_record(), **in_use().record}
    (write_page_json if json else write_page)(rule_named(code), proofs, page)
