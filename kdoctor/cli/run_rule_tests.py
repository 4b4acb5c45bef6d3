"""``kdoctor rules --test``: test rules of one's own by their examples, and prove them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kdoctor.report.output import Page
    from kdoctor.rules.own import OwnRules


def run(paths: Sequence[str], page: Page, notes: Page, *, prove: bool) -> int:
    """Test the rules in files and folders; return the exit code.

    Raises:
        UsageProblem: there is no such file or folder, or no rule in it.
    """
    from kdoctor.engine.example_tests import tested_examples  # noqa: PLC0415
    from kdoctor.own_rules.activating import use_rules_in  # noqa: PLC0415
    from kdoctor.project.root import shown  # noqa: PLC0415
    from kdoctor.report import own_rules as report  # noqa: PLC0415
    from kdoctor.rules.own import in_use  # noqa: PLC0415

    use_rules_in(paths)
    own = in_use()
    broken = report.write_not_loaded(notes)
    tests = []
    for rule in own.rules:
        report.write_rule_head(rule, shown(Path(own.files[rule.code])), page)
        for test in tested_examples(rule, paths):
            report.write_test(test, page)
            tests.append(test)
    failed = any(test.problem for test in tests)
    if prove and not failed:
        failed = not _prove(own, page)
        use_rules_in(paths)  # with the record that was written
        broken = bool(in_use().problems)
    if own.rules or not broken:
        command = "" if prove else f"kdoctor rules --test {shlex.join(paths)} --prove"
        report.write_test_summary(tests, _unproven(in_use()), command, page)
    return 2 if broken else int(failed)


def _prove(own: OwnRules, page: Page) -> bool:
    """Run the rules' examples and record what held; say whether all did."""
    from kdoctor.own_rules.activating import use_rules_in  # noqa: PLC0415
    from kdoctor.own_rules.folder import RECORD  # noqa: PLC0415
    from kdoctor.report.own_rules import write_proof  # noqa: PLC0415
    from kdoctor.rules.own import in_use  # noqa: PLC0415
    from kdoctor.verify.own_proofs import prove  # noqa: PLC0415

    holds = True
    for folder in dict.fromkeys(Path(file).parent for file in own.files.values()):
        rules = [rule for rule in own.rules if Path(own.files[rule.code]).parent == folder]
        names = {
            example.id: f"{rule.code} INVALID[{number}]"
            for rule in rules
            for number, example in enumerate(rule.invalid)
        }
        use_rules_in([str(folder)])
        beside = {example.id for rule in in_use().rules for example in rule.invalid}
        # Whose examples those of a broken file are, nobody knows.
        kept = None if in_use().problems else beside - names.keys()
        for outcome in prove(rules, folder / RECORD, kept):
            write_proof(outcome, names[outcome.id], page)
            holds = holds and outcome.holds
    return holds


def _unproven(own: OwnRules) -> list[str]:
    """Return the codes of the rules whose fixes are not safe for want of a run."""
    return [
        rule.code
        for rule in own.rules
        if any(
            example.after is not None and not example.unsafe and example.id not in own.proven
            for example in rule.invalid
        )
    ]
