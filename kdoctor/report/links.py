"""Terminal hyperlinks, and the URLs of files and rules."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TextIO

from kdoctor.report.output import is_terminal

# As https://github.com/zkat/supports-hyperlinks has it, by what each terminal says of itself.
_PROGRAMS = frozenset(
    {"Hyper", "iTerm.app", "terminology", "WezTerm", "vscode", "ghostty", "zed", "Tabby", "rio"}
)
_TERMS = frozenset(
    {"xterm-kitty", "alacritty", "alacritty-direct", "xterm-ghostty", "foot", "foot-extra"}
)
_MARKS = ("DOMTERM", "WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID")
_FIRST_VTE = 5000  # VTE 0.50: GNOME Terminal and its like
_KDOCTORS = "KD"  # so begins the code of each of its rules, and of no other
_FAMILIES = Path(__file__).resolve().parent.parent / "rules"


def wants_links(stream: TextIO) -> bool:
    """Tell whether to write links: as FORCE_HYPERLINK says, else if the terminal supports them."""
    forced = os.environ.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in {"", "0"}
    return is_terminal(stream) and _has_links()


def _has_links() -> bool:
    told = os.environ.get
    if told("CI") or told("TMUX") or told("TERM", "").startswith(("screen", "tmux")):
        return False
    vte = told("VTE_VERSION", "")
    return (
        (vte.isdecimal() and int(vte) >= _FIRST_VTE)
        or told("TERM_PROGRAM", "") in _PROGRAMS
        or told("TERM", "") in _TERMS
        or any(map(told, _MARKS))
    )


def linked(text: str, url: str | None) -> str:
    """Return ``text`` as a link (OSC 8), unchanged without a URL."""
    return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if url else text


def file_url(path: str) -> str | None:
    """Return the URL of a file; None for standard input."""
    return None if path == "-" else Path(os.path.abspath(path)).as_uri()  # noqa: PTH100 - no links


def rule_url(code: str, name: str) -> str | None:
    """Return the URL of a rule's page, else of the file that its page is made from."""
    if code.startswith(_KDOCTORS):
        return page_url(code) or _rule_file(name)
    from kdoctor.rules.own import in_use  # noqa: PLC0415 - most projects have none of their own

    own = in_use().files.get(code)
    return file_url(own) if own else None


def home_url() -> str | None:
    """Return the home page in this distribution's metadata, if any."""
    return _urls().get("Homepage") or _urls().get("Repository")


@cache
def page_url(code: str) -> str | None:
    """Return the rule's page in the documentation that the metadata names, if any.

    A rule of one's own has none there.
    """
    base = _urls().get("Documentation")
    return f"{base.rstrip('/')}/rules/{code}/" if base and code.startswith(_KDOCTORS) else None


@cache
def _urls() -> dict[str, str]:
    """Return the addresses in the metadata, the one place that says them: ``hatch_build.py``."""
    from importlib import metadata  # noqa: PLC0415 - slow, and most runs have no links

    try:
        named = metadata.metadata("keras-doctor").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:  # run from its source
        return {}
    return dict(url.split(", ", 1) for url in named)


@cache
def _rule_file(name: str) -> str | None:
    found = sorted(_FAMILIES.glob(f"*/{name.replace('-', '_')}.py"))
    return found[0].as_uri() if found else None
