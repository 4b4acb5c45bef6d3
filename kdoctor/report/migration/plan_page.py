"""The HTML page on the plan of a migration: its steps in order, each with what it is about."""

from __future__ import annotations

from kdoctor import __version__
from kdoctor.migrate import Plan, Step, StepKind
from kdoctor.model import Finding
from kdoctor.progress.grouping import by_folder, by_rule
from kdoctor.report.locations import where
from kdoctor.report.migration import charts
from kdoctor.report.migration.elements import (
    Content,
    Markup,
    code,
    element,
    entries,
    folded,
    join,
    listed,
    prose,
    rule_code,
    rule_link,
    table,
)
from kdoctor.report.migration.files import breaks_first
from kdoctor.report.migration.html_document import figures, html_document
from kdoctor.report.output import Page
from kdoctor.report.plan import ADVICE, TITLES, counted, cure, owner, way
from kdoctor.report.summary import count


def plan_page(plan: Plan, page: Page) -> str:
    """Return the page; ``page`` knows the arguments that the commands on it need."""
    scan = plan.overview.scan
    sections = [
        (
            step.kind.name.lower().replace("_", "-"),
            f"{number}. {TITLES[step.kind][0]}",
            _step(step, plan, page),
        )
        for number, step in enumerate(plan.steps, 1)
    ]
    if plan.owners:
        sections.append(("owners", "By owner", _owners(plan)))
    unhandled: list[Content] = [join(code(each.path), f": {each.why}") for each in scan.unhandled]
    if unhandled:
        sections.append(("not-checked", "Not checked", listed(unhandled)))
    title = f"{plan.overview.name}: the way to {plan.then}"
    return html_document(title, _header(plan, page), sections)


def _owners(plan: Plan) -> Markup:
    rows: list[tuple[Content, ...]] = [
        (code(owner(each)) if each.owner else owner(each), each.places, each.files)
        for each in plan.owners
    ]
    return table(("Owner", "Places", "Files"), rows, f"By {plan.owned_by}, most places first.")


def _header(plan: Plan, page: Page) -> Markup:
    files = plan.overview.files
    done = sum(each.is_done for each in files)
    places = dict.fromkeys(StepKind, 0)
    places |= {step.kind: step.places for step in plan.steps}
    if plan.steps:
        apply = code(page.command("migrate", "--apply"))
        after = join(prose(ADVICE), " ", apply, " does it on a branch; your tests judge.")
    else:
        after = Markup("Nothing is left to do.")
    return join(
        element("p", f"kdoctor {__version__}: {way(plan)}", class_="quiet"),
        figures(
            [
                ("Files done", f"{done} of {len(files)}", charts.share(done, len(files))),
                ("Requirements to write anew", places[StepKind.PINS], None),
                ("Fixes that are proven safe", places[StepKind.SAFE], None),
                ("Fixes that tests must judge", places[StepKind.JUDGED], None),
                ("Left for people", places[StepKind.BY_HAND], None),
            ]
        ),
        element("p", after),
    )


def _step(step: Step, plan: Plan, page: Page) -> Markup:
    inside = f" in {count(step.files, 'file')}" if step.places != step.files else ""
    said = f"{counted(step.places, TITLES[step.kind][1])}{inside}"
    return join(
        element("p", f"{said}.", class_="quiet"),
        element("p", "Next: ", code(page.command(*step.command)), class_="next")
        if step.command
        else None,
        _about(step, plan),
    )


def _about(step: Step, plan: Plan) -> Markup:
    match step.kind:
        case StepKind.PINS:
            rows: list[tuple[Content, ...]] = [
                (code(pin.place), code(pin.requirement), code(pin.instead)) for pin in plan.pins
            ]
            return table(("Place", "Requirement", "Instead"), rows, "What installs Keras 2")
        case StepKind.NEIGHBOURS:
            return entries([_told(each) for each in step.findings])
        case StepKind.IMPORTS:
            return breaks_first(plan.overview)
        case StepKind.MODELS:
            return entries([code(each) for each in plan.models])
        case _:
            return _by_rule_and_folder(step)


def _told(finding: Finding) -> Markup:
    return join(
        element("div", element("strong", code(where(finding))), " ", rule_link(finding.code)),
        element("div", prose(finding.message)),
        element("div", prose(cure(finding))),
    )


def _by_rule_and_folder(step: Step) -> Markup:
    rules: list[tuple[Content, ...]] = [
        (join(rule_code(each.name), " ", prose(each.what)), each.left.total, each.files)
        for each in by_rule(step.findings)
    ]
    folders: list[tuple[Content, ...]] = [
        (code(each.name), each.left.total, each.files) for each in by_folder(step.findings)
    ]
    shown = table(("Rule", "Places", "Files"), rows=rules, caption="Most places first.")
    if len(folders) < 2:
        return shown
    by = table(("Folder", "Places", "Files"), rows=folders, caption="Most places first.")
    return join(shown, folded("By folder", by))
