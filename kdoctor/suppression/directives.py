"""Parse suppression comments: the grammar of ``# kdoctor: …`` and ``# noqa``."""

from __future__ import annotations

import difflib
import enum
import re
from collections.abc import Iterator

from msgspec import Struct

from kdoctor.lazy_regex import pattern
from kdoctor.model import Span
from kdoctor.suppression.comments import Comment

# Of several comments on one line, each begins with its own "#"; "see #12" begins none.
_PARTS = pattern(r"(?:^|(?<=\s))#(?!\d)")
_DIRECTIVE = pattern(
    r"#+\s*kdoctor:\s*(?P<word>[A-Za-z][\w-]*)?\s*"
    r"(?P<list>\[(?P<entries>[^\]]*)(?P<closed>\])?)?(?P<rest>.*)",
    re.DOTALL,
)
_CODE = r"[A-Za-z]+\d+"
_NOQA = pattern(
    rf"#+\s*noqa\b(?:\s*:\s*(?P<codes>{_CODE}(?:[,\s]+{_CODE})*))?(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_ENTRY = pattern(r"[^\s,]+")
_OWN_CODE = pattern(r"KD\d*", re.IGNORECASE)
_BARE_CODE = pattern(r"[\s:(]*KD\d+", re.IGNORECASE)
_BEFORE_A_REASON = " \t:;,-\u2013\u2014"


class Form(enum.StrEnum):
    """The kinds of suppression comments."""

    IGNORE = "ignore"
    FILE = "ignore-file"
    OFF = "off"
    ON = "on"
    NOQA = "noqa"
    UNKNOWN = "unknown"  # ``Directive.problem`` says what is wrong


class Entry(Struct, frozen=True):
    """A code or name in a suppression list, with its span.

    ``codes`` are those that it means beyond its text: the codes of a topic.
    """

    text: str
    span: Span
    codes: frozenset[str] = frozenset()

    @property
    def is_about_comments(self) -> bool:
        """Whether it names the rules on suppression comments themselves."""
        return self.text.upper().startswith("KD9") or self.text.lower() in ABOUT_COMMENTS

    def covers(self, code: str, name: str) -> bool:
        """Say whether it means a rule: by code, code prefix, name, or its ``codes``."""
        if code.startswith("KD9") and not self.is_about_comments:
            return False
        own = _OWN_CODE.fullmatch(self.text) is not None
        if own and code.startswith(self.text.upper()):
            return True
        return self.text.lower() == name or code in self.codes


ABOUT_COMMENTS = frozenset({"unused-ignore", "invalid-ignore"})


class Directive(Struct, frozen=True):
    """One suppression comment.

    ``entries`` is empty where it means every rule. ``others``: it lists codes of other tools too.
    ``span`` is that of its part of the comment ``comment``. ``problem`` says, with ``help``, why it
    is not understood.
    """

    form: Form
    span: Span
    comment: Comment
    entries: tuple[Entry, ...] = ()
    others: bool = False
    reason: str = ""
    problem: str = ""
    help: str = ""

    @property
    def is_blanket(self) -> bool:
        """Whether it suppresses every rule."""
        return not self.entries


def directives_of(comment: Comment) -> Iterator[Directive]:
    """Yield the directives in one comment."""
    starts = [found.start() for found in _PARTS.finditer(comment.text)]
    for start, end in zip(starts, [*starts[1:], len(comment.text)], strict=True):
        part = comment.text[start:end].rstrip()
        at = comment.span.start + start
        if found := _DIRECTIVE.fullmatch(part):
            directive = _own(found, at, comment)
        elif found := _NOQA.fullmatch(part):
            directive = _noqa(found, at, comment)
        else:
            continue
        if directive is not None:
            yield directive


def _own(found: re.Match[str], at: int, comment: Comment) -> Directive | None:
    span = Span(at, at + len(found[0]))
    word = found["word"] or ""
    forms = {form.value: form for form in Form if form not in {Form.NOQA, Form.UNKNOWN}}
    if word not in forms:
        return _misspelt(word, found, span, comment)
    problem, advice = _problem(found, forms[word], comment)
    if problem:
        return Directive(Form.UNKNOWN, span, comment, problem=problem, help=advice)
    return Directive(
        forms[word],
        span,
        comment,
        _entries(found["entries"] or "", at + found.start("entries")),
        reason=found["rest"].strip(_BEFORE_A_REASON),
    )


def _misspelt(word: str, found: re.Match[str], span: Span, comment: Comment) -> Directive | None:
    """Return what is to be told of another word, nothing where the comment only speaks of us."""
    words = ["ignore", "ignore-file", "off", "on"]
    close = difflib.get_close_matches(word.lower(), words, n=1, cutoff=0.75)
    instead = {"noqa": "ignore", "disable": "off", "enable": "on", "skip-file": "ignore-file"}
    meant = instead.get(word.lower(), close[0] if close else "")
    if not meant and not found["list"]:
        return None
    what = f"`{word}` is no word of kdoctor's" if word else "a word is missing before the `[`"
    advice = f"Write `# kdoctor: {meant or 'ignore'}{found['list'] or ''}`."
    return Directive(Form.UNKNOWN, span, comment, problem=what, help=advice)


def _problem(found: re.Match[str], form: Form, comment: Comment) -> tuple[str, str]:
    word = form.value
    if found["list"] and not found["closed"]:
        return "its `[` is not closed", f"Write `# kdoctor: {word}[KD101] reason`."
    if found["list"] and not _ENTRY.search(found["entries"]):
        return (
            "its list names no rule",
            f"Name the rules, or write `# kdoctor: {word}` for all of them.",
        )
    bare = _BARE_CODE.match(found["rest"])
    if bare and not found["list"]:
        code = bare[0].strip(" \t:(").upper()
        return (
            f"`{code}` stands outside of brackets, and every rule would be silenced",
            f"Write `# kdoctor: {word}[{code}]`.",
        )
    if form is not Form.IGNORE and not comment.alone:
        return (
            f"`{word}` counts only where it stands alone on its line",
            "Put it on a line of its own, or write `# kdoctor: ignore[…]` for this line.",
        )
    return "", ""


def _noqa(found: re.Match[str], at: int, comment: Comment) -> Directive | None:
    span = Span(at, at + len(found[0]))
    listed = _entries(found["codes"] or "", at + found.start("codes"))
    own = tuple(entry for entry in listed if _OWN_CODE.fullmatch(entry.text))
    if listed and not own:
        return None  # it speaks to other tools
    reason = found["rest"].strip(_BEFORE_A_REASON)
    return Directive(Form.NOQA, span, comment, own, others=len(own) < len(listed), reason=reason)


def _entries(text: str, at: int) -> tuple[Entry, ...]:
    return tuple(
        Entry(found[0], Span(at + found.start(), at + found.end()))
        for found in _ENTRY.finditer(text)
    )
