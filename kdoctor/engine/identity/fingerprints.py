"""Fingerprints of findings: hashes of their code, not of their line.

A fingerprint is made of the rule, the symbol, the definition that the finding stands in and the
finding's own source. Other lines, other arguments and the name of the file do not count, nor does
anything that a formatter may change. Nothing in it depends on the version of Python.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from kdoctor.digests import sha256
from kdoctor.engine.result import Anchor, ScanResult
from kdoctor.model import Finding

# Characters of source that are kept as they are; the rest counts by its hash.
_MAX_TEXT_LENGTH = 160


def fingerprints(result: ScanResult) -> dict[Finding, str]:
    """Return each finding's fingerprint (32 hex digits), suppressed ones included.

    Within a file no two are the same: of equal findings the first, the second… are told apart.
    Files are not: a finding keeps its fingerprint when its file is renamed.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    found = {}
    # Those that comments silence count: a comment on the first of two makes no first of the second.
    silenced = (each.finding for each in result.suppressed)
    every = {*result.findings, *result.known, *silenced}
    for finding in sorted(every, key=lambda each: (each.place, each.code, each.message)):
        features = features_of(finding, result)
        key = (finding.place.path, *features)
        seen[key] += 1
        found[finding] = _digest("\0".join([*features, str(seen[key])]))[:32]
    return found


def features_of(finding: Finding, result: ScanResult) -> tuple[str, str, str, str]:
    """Return a finding's rule, symbol, enclosing definition and own source."""
    anchor = result.anchors.get(finding.place)
    if anchor is None:  # no rule found it in a module: it is about its line
        anchor = Anchor("", normalized_source(result.lines.get(finding.place, "")))
    return finding.code, finding.symbol, anchor.scope, anchor.source


def normalized_source(source: str) -> str:
    r"""Return Python source without comments and layout, quotes unified.

    A long piece is cut, and identified by a hash of its whole.

    >>> normalized_source('K.sum(x,\n      axis = "a",  # all\n)')
    "K.sum(x,axis='a')"
    """
    pieces = [""]
    for token in _token().finditer(source):
        if token.lastgroup == "nothing":
            continue
        piece = token[0]
        if token.lastgroup == "string":
            piece = "'" + re.sub(r"\\([\"'])", r"\1", token["body"]) + "'"
        isolated = _is_word(pieces[-1][-1:]) and _is_word(piece[:1])
        pieces.append(f" {piece}" if isolated else piece)
    text = "".join(pieces)
    return (
        text
        if len(text) <= _MAX_TEXT_LENGTH
        else f"{text[:_MAX_TEXT_LENGTH]}… {_digest(text)[:12]}"
    )


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def _token() -> re.Pattern[str]:
    """Return the token pattern, compiled on first use: that is slow."""
    return re.compile(
        r"""
    (?P<string>(?:\b[A-Za-z]{1,2})?
        (?P<quote>"{3}|'{3}|"|')(?P<body>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote))
    |(?P<nothing>\s+|\\\r?\n|\#[^\r\n]*|,(?=(?:\s|\#[^\r\n]*(?:[\r\n]|$))*[)\]}]))
    |(?P<word>\w+)
    |(?P<sign>.)
        """,
        re.VERBOSE | re.DOTALL,
    )
