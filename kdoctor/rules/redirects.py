"""What became of codes and names that rules once had: other people's files still say them.

An old code or name goes on working wherever a rule is named: on the command line, in settings,
comments and baselines. A run then says once what it is called now. Such a code is never given to
another rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

# From an old code or name to the code or name that it has now, "" where the rule is retired: it
# then means no rule.
REDIRECTS: dict[str, str] = {
    "rate-is-an-int": "rate-is-no-float",
    "seed-of-tensorflow": "seeds-no-weights",
}


def redirected(entry: str) -> str | None:
    """Return what an old code or name means now, "" if nothing, None where it is no old one.

    >>> redirected("rate-is-an-int"), redirected("KD101")
    ('rate-is-no-float', None)
    """
    found: str | None = None
    now = entry
    for _ in range(len(REDIRECTS)):  # a rule may be renamed twice; a circle has an end, too
        then = REDIRECTS.get(now.upper(), REDIRECTS.get(now.lower()))
        if then is None:
            break
        found = now = then
    return found


def redirect_notes(entries: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each old code or name among the entries, once each.

    >>> list(redirect_notes(["KD101", "rate-is-an-int", "rate-is-an-int"]))
    ['rate-is-an-int is called rate-is-no-float now; the old name still works']
    """
    for entry in dict.fromkeys(entries):
        now = redirected(entry)
        if now:
            what = "code" if entry.upper() in REDIRECTS else "name"
            yield f"{entry} is called {now} now; the old {what} still works"
        elif now is not None:
            yield f"{entry} is retired: it means no rule any more"
