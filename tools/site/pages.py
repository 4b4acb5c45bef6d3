"""Generated pages of the documentation: one per rule, one per command, and files of the root.

What a page says comes from the rule's own file, from the proof record, from the program's help, and
from CONTRIBUTING.md and CHANGELOG.md, which platforms look for in the root of a repository.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from kdoctor.analysis.facts import proof_record
from kdoctor.cli.app import app
from kdoctor.report.rule_page import page_of
from kdoctor.rules import Rule, all_rules
from kdoctor.rules.rule import FAMILIES

WIDTH = 100  # characters of a help text's line
ROOT = Path(__file__).resolve().parents[2]
OF_THE_ROOT = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
LINK = re.compile(r"\]\((?!https?://|#)(?P<path>[^)]+)\)")


def all_pages() -> dict[str, str]:
    """Return each generated page's Markdown by its path below ``docs/``."""
    record = proof_record()
    rules = all_rules()
    pages = {f"rules/{rule.code}.md": page_of(rule, record) for rule in rules}
    pages["rules/index.md"] = "\n".join(_rule_list(rules)) + "\n"
    commands = dict(_commands())
    pages |= {f"commands/{name.replace(' ', '-')}.md": page for name, page in commands.items()}
    pages["commands/index.md"] = _command_list(list(commands))
    return pages | {path: _of_the_root(name) for path, name in OF_THE_ROOT.items()}


def with_generated_pages(navigation: list[Any]) -> list[Any]:
    """Return the navigation with each rule below its family, and each command."""
    rules = [
        {f"{start} {family}": [f"rules/{rule.code}.md" for rule in members]}
        for family, start in FAMILIES.items()
        if (members := [rule for rule in all_rules() if rule.family == family])
    ]
    commands = [
        {f"kdoctor {name}": f"commands/{name.replace(' ', '-')}.md"} for name, _ in _commands()
    ]
    below = [("rules/index.md", rules), ("commands/index.md", commands)]
    return [
        {title: pages + [page for index, made in below if index in pages for page in made]}
        if isinstance(pages, list)
        else entry
        for entry in navigation
        for title, pages in entry.items()
    ]


def _of_the_root(name: str) -> str:
    """Return a file of the repository's root, with links as they are from ``docs/``."""

    def link(found: re.Match[str]) -> str:
        path = found["path"]
        return f"]({path.removeprefix('docs/')})" if path.startswith("docs/") else f"](../{path})"

    return LINK.sub(link, (ROOT / name).read_text("utf-8"))


def _rule_list(rules: tuple[Rule, ...]) -> Iterator[str]:
    yield "# Rules\n"
    yield f"{len(rules)} rules in {len(FAMILIES)} families. `kdoctor rules KD101` prints a page in"
    yield "the terminal; each example on these pages is run by the proofs."
    for family, start in FAMILIES.items():
        members = [rule for rule in rules if rule.family == family]
        about = inspect.getdoc(importlib.import_module(f"kdoctor.rules.{family}"))
        yield f"\n## {start} {family}\n\n{about}\n"
        yield "| code | name | severity | |\n|---|---|---|---|"
        for rule in members:
            link = f"[{rule.code}]({rule.code}.md)"
            yield f"| {link} | {rule.name} | {rule.severity.value} | {_cell(rule.summary)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _commands() -> Iterator[tuple[str, str]]:
    program = typer.main.get_command(app)
    yield from _below(program, _context(program, "kdoctor"), "")


def _context(command: Any, name: str, parent: Any = None) -> Any:
    """Return what a help text is written with: Typer brings its own click."""
    return command.context_class(
        command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH
    )


def _below(group: Any, context: Any, prefix: str) -> Iterator[tuple[str, str]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command.hidden:
            continue
        own = _context(command, name, context)
        yield f"{prefix}{name}", _command_page(f"kdoctor {prefix}{name}", command, own)
        if hasattr(command, "list_commands"):
            yield from _below(command, own, f"{prefix}{name} ")


def _command_page(title: str, command: Any, context: Any) -> str:
    summary = command.get_short_help_str(limit=400).rstrip(".")
    return f"# {title}\n\n{summary}.\n\n```text\n{command.get_help(context).rstrip()}\n```\n"


def _command_list(names: list[str]) -> str:
    program = typer.main.get_command(app)
    links = "\n".join(f"- [kdoctor {name}]({name.replace(' ', '-')}.md)" for name in names)
    told = program.get_help(_context(program, "kdoctor")).rstrip()
    return f"# Commands\n\n{links}\n\n```text\n{told}\n```\n"
