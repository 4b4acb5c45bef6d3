"""Run ``kdoctor migrate --apply``, ``--resume`` and ``--undo``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from kdoctor import engine
from kdoctor.errors import UsageProblem
from kdoctor.report.output import Page, printable
from kdoctor.target import Target

if TYPE_CHECKING:
    from kdoctor.migrate import Plan
    from kdoctor.migrate.outcome import Outcome

_MINUTE = 60.0


class Carried(NamedTuple):
    """How a plan is carried out, as it was typed; None where nothing was."""

    test: str | None = None
    run: str | None = None
    python: str | None = None
    old_python: str | None = None
    seconds: float | None = None
    test_seconds: float | None = None
    budget: float | None = None


class Work(NamedTuple):
    """Which of the three was asked for."""

    apply: bool
    resume: bool
    undo: bool

    @property
    def is_asked(self) -> bool:
        """Whether any was."""
        return any(self)


class Written(NamedTuple):
    """What is written of it: text or JSON, and the file of the HTML page, None for no page."""

    as_json: bool
    html: str | None

    def write_plan(self, plan: Plan, page: Page, notes: Page) -> None:
        """Write the page of a plan, if one was asked for; ``page`` knows what was typed.

        Raises:
            UsageProblem: it cannot be written.
        """
        if self.html is not None:
            from kdoctor.report.migration.plan_page import plan_page  # noqa: PLC0415

            self._write(self.html, plan_page(plan, page), notes)

    def write_outcome(self, outcome: Outcome, notes: Page) -> None:
        """Write the page of what a migration came to, if one was asked for.

        Raises:
            UsageProblem: it cannot be written.
        """
        if self.html is not None:
            from kdoctor.report.migration.outcome_page import outcome_page  # noqa: PLC0415

            self._write(self.html, outcome_page(outcome), notes)

    @staticmethod
    def _write(path: str, text: str, notes: Page) -> None:
        from kdoctor.report.output_files import write_whole  # noqa: PLC0415

        write_whole(path, text, f"--html {path}")
        if notes.verbosity >= 0:
            notes.line(f"kdoctor: wrote {printable(path)}")


def check(work: Work, how: Carried, paths: Sequence[str] | None, to: Written) -> None:
    """Check that the options go together, and that the page can be written.

    Raises:
        UsageProblem: they do not, or it cannot.
    """
    if to.html is not None:
        from kdoctor.report.output_files import check_place  # noqa: PLC0415

        if work.undo:
            raise UsageProblem("--undo writes no page: leave --html out")
        check_place(to.html, f"--html {to.html}")
    if sum(work) > 1:
        raise UsageProblem("only one of --apply, --resume and --undo can be asked for")
    given = [f"--{name.replace('_', '-')}" for name, value in how._asdict().items() if value]
    if given and not work.is_asked:
        raise UsageProblem(f"{given[0]} says how a plan is carried out: add --apply")
    if work.undo and (given or paths):
        raise UsageProblem("--undo takes no paths, and no options of --apply")
    if work.resume and (paths or set(given) - {"--budget"}):
        raise UsageProblem("--resume goes on as it was begun: it takes only --budget and --html")
    if how.test and how.run:
        raise UsageProblem("--test and --run cannot be combined: name one command")


def carry_out(  # noqa: PLR0913, PLR0917 - what a migration needs to know
    work: Work,
    how: Carried,
    paths: Sequence[str],
    options: engine.Options,
    targets: tuple[Target | None, Target] | None,
    pages: tuple[Page, Page],
    *,
    to: Written,
) -> int:
    """Carry a plan out, or go on with it; write what it came to and return the exit code.

    Raises:
        UsageProblem: it cannot be done as asked.
        KeyboardInterrupt: with a sentence that says how to go on.
    """
    from kdoctor.migrate import begin  # noqa: PLC0415
    from kdoctor.migrate.state import Settings  # noqa: PLC0415
    from kdoctor.report import migrated  # noqa: PLC0415
    from kdoctor.verify.user.running import exit_on_signals  # noqa: PLC0415

    page, notes = pages

    def tell(sentence: str) -> None:
        if notes.verbosity >= 0:
            notes.line(f"kdoctor: {printable(sentence)}")
            notes.stream.flush()

    budget = None if how.budget is None else how.budget * _MINUTE
    try:
        with exit_on_signals():
            if work.resume:
                outcome = begin.resume(budget, tell)
            else:
                assert targets is not None
                named, within = begin.inside(paths)
                python = begin.python_named(how.python, "--python")
                old = begin.python_named(how.old_python, "--old-python") if how.old_python else ""
                default = Settings((), "", "")
                settings = Settings(
                    named,
                    within,
                    python,
                    old,
                    how.test or "",
                    how.run or "",
                    how.seconds or default.seconds,
                    how.test_seconds or default.test_seconds,
                    budget or 0.0,
                )
                outcome = begin.begin(settings, options, targets, tell)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            "interrupted; `kdoctor migrate --resume` goes on, `kdoctor migrate --undo` removes "
            "what was done"
        ) from None
    (migrated.write_json if to.as_json else migrated.write_text)(outcome, page)
    to.write_outcome(outcome, notes)
    return 0 if outcome.is_complete else 1


def undo(page: Page) -> int:
    """Remove branch and working tree; return the exit code.

    Raises:
        UsageProblem: there is none, or it has commits of others.
    """
    from kdoctor.migrate.begin import undo as undone  # noqa: PLC0415

    state = undone()
    page.line(
        f"Removed the branch {state.branch} and its working tree; your files are as they were."
    )
    return 0
