"""Hold kdoctor to a table of what breaks in old Keras code, and to what is fine there.

    python tools/check_breakages.py /path/to/breakages.csv
    python tools/check_breakages.py breakages.csv --list    # each program, and what is said

The table has the columns ``pattern``, ``occurrences`` and ``verdict``. For each pattern
``breakage_programs.py`` has programs, and ``breakage_facts.py`` for what is not in the table; each
is run on the installed Keras, scanned, mended with every fix, and what the fixes make of it is run
again: only what runs then counts as rewritten. The facts which the table does not have are counted
apart, each as one.

Exit code 1 if an error is reported where the program runs, or none where it does not.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from breakage_code import PRELUDE
from breakage_facts import FACTS
from breakage_programs import PROGRAMS

from kdoctor.engine import fix, scan
from kdoctor.model import Applicability, Finding, Severity

RUN = Path(__file__).with_name("run_programs.py").resolve()


@dataclasses.dataclass(frozen=True)
class Case:
    """One program of a pattern: what it does, what is said of it, what the fixes make of it."""

    pattern: str
    occurrences: float
    verdict: str
    program: str
    raised: str | None
    findings: tuple[Finding, ...]
    fixed: str = ""
    raised_after: str | None = None

    @property
    def errors(self) -> list[Finding]:
        """What is reported as raising."""
        return [each for each in self.findings if each.severity is Severity.ERROR]

    @property
    def is_wrong(self) -> str:
        """Say what kdoctor gets wrong, "" for nothing."""
        if self.raised is None:
            return "FALSE ALARM" if self.errors else ""
        return "" if self.findings else "MISSED"

    @property
    def is_rewritten(self) -> bool:
        """Whether it did not run, and runs when all is mended."""
        return bool(self.raised and self.fixed and self.raised_after is None)

    @property
    def is_safe(self) -> bool:
        """Whether it is rewritten, and each of the fixes is safe."""
        return self.is_rewritten and all(
            each.fix is not None and each.fix.applicability is Applicability.SAFE
            for each in self.errors
        )

    @property
    def is_explained(self) -> bool:
        """Whether something is said that tells what to write."""
        return bool(self.findings) and all(each.help or each.fix for each in self.findings)


def main() -> int:
    """Read the table, try, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--list", action="store_true", help="also list each program")
    parser.add_argument("--only", default="", help="patterns whose name holds this")
    arguments = parser.parse_args()
    with arguments.table.open(encoding="utf-8") as file:
        rows = {each["pattern"]: each for each in csv.DictReader(file)}
    unknown = [each for each in rows if each not in PROGRAMS]
    for each in unknown:
        print(f"NO PROGRAM {each}")
    counted = {
        pattern: (float(row["occurrences"]), row["verdict"]) for pattern, row in rows.items()
    }
    cases = mended(seen(PROGRAMS | FACTS, counted, arguments.only))
    table = [each for each in cases if each.pattern in rows]
    facts = [each for each in cases if each.pattern not in rows]
    for case in cases:
        if arguments.list or case.is_wrong or (case.raised and not case.is_rewritten):
            show(case)
    for title, part in (("the table", table), ("other facts", facts)):
        shares(title, part)
    return 1 if unknown or any(each.is_wrong for each in cases) else 0


def seen(
    programs: dict[str, tuple[str, ...]], counted: dict[str, tuple[float, str]], only: str = ""
) -> list[Case]:
    """Run and scan each program; a pattern's share out its occurrences."""
    chosen = [
        (pattern, f"{PRELUDE}\n{code}\n", len(codes))
        for pattern, codes in programs.items()
        for code in codes
        if only in pattern
    ]
    raised = run([program for _, program, _ in chosen])
    cases = []
    for (pattern, program, count), error in zip(chosen, raised, strict=True):
        number, verdict = counted.get(pattern, (1.0, ""))
        cases.append(Case(pattern, number / count, verdict, program, error, _findings(program)))
    return cases


def mended(cases: list[Case]) -> list[Case]:
    """Mend each program that has a fix, and run what comes of it."""
    fixed = [_fixed(each.program) for each in cases]
    raised = run([each for each in fixed if each])
    left = iter(raised)
    return [
        dataclasses.replace(each, fixed=new, raised_after=next(left)) if new else each
        for each, new in zip(cases, fixed, strict=True)
    ]


def _findings(program: str) -> tuple[Finding, ...]:
    return tuple(scan(["-"], stdin=program.encode(), diffs=False).findings)


def _fixed(program: str) -> str:
    result = fix(["-"], stdin=program.encode(), unsafe=True)
    return result.files[0].after.decode() if result.files else ""


def run(programs: list[str]) -> list[str | None]:
    """Run programs in an empty folder; return the exception of each, or None."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(RUN)], input=json.dumps(programs), text=True,
            capture_output=True, check=True, cwd=folder,
        )  # fmt: skip
    answers: list[str | None] = json.loads(done.stdout.splitlines()[-1])
    return answers


def show(case: Case) -> None:
    """Print one program, what it raises, and what is said of it."""
    code = case.program.removeprefix(PRELUDE).strip().replace("\n", "; ")
    word = case.is_wrong or ("rewritten" if case.is_rewritten else "not rewritten")
    word = word if case.raised or case.is_wrong else "runs"
    print(f"\n{word}: {case.pattern} ({case.occurrences:.0f} times)\n    {code[:300]}")
    print(f"    Keras: {(case.raised or 'runs').splitlines()[0][:150]}")
    for each in case.findings:
        cure = each.fix.title if each.fix else each.no_fix_because
        print(f"    {each.code} {each.severity} {each.message[:130]} | {each.help[:200]} | {cure}")
    if case.fixed and case.raised_after:
        print(f"    after: {case.raised_after.splitlines()[0][:200]}")


def shares(title: str, cases: list[Case]) -> None:
    """Print how much of what breaks is reported, rewritten and explained."""
    broken = [each for each in cases if each.raised]
    total = sum(each.occurrences for each in broken) or 1.0

    def share(chosen: list[Case]) -> str:
        return f"{sum(each.occurrences for each in chosen) / total:.1%}"

    fine = [each for each in cases if not each.raised]
    print(
        f"\n{title}: {len(broken)} programs break, {total:.0f} occurrences: "
        f"{share([each for each in broken if each.findings])} reported, "
        f"{share([each for each in broken if each.is_rewritten])} rewritten "
        f"({share([each for each in broken if each.is_safe])} safely), "
        f"{share([e for e in broken if e.is_rewritten or e.is_explained])} rewritten or explained; "
        f"{len(fine)} programs run, {sum(bool(each.is_wrong) for each in fine)} false alarms"
    )


if __name__ == "__main__":
    sys.exit(main())
