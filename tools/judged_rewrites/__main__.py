"""Let the verifier judge rewrites that are right, and others that are wrong on purpose.

    python -m tools.judged_rewrites [WORD …]            # those with a word in their title
    python -m tools.judged_rewrites --sample 8           # some of each sort, drawn at random
    python -m tools.judged_rewrites --rest               # those without a record that holds

It must call each wrong one bad, and of a model name the layer that is wrong; of the right ones
none. What came out is written into ``record.json``, but for a sample.
"""

from __future__ import annotations

import json
import random
import secrets
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kdoctor.interpreters import Interpreter
from kdoctor.verify.user.definitions import Source
from kdoctor.verify.user.results import Verdict, VerdictState
from kdoctor.verify.user.running import Limits
from kdoctor.verify.user.verifying import verify
from tools.judged_rewrites.material import HERE, Rewrite, rewrites

RECORD = HERE / "record.json"
LIMITS = Limits(seconds=40.0)
_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the verifier says of one rewrite, and whether that is so. ``found``: what differs."""

    holds: bool
    state: str
    found: str


def main(arguments: list[str]) -> int:
    """Try the chosen rewrites."""
    chosen = rewrites()
    if arguments[:1] == ["--sample"]:
        chosen = sample(int(arguments[1]), secrets.randbits(32))
    elif arguments[:1] == ["--rest"]:
        record = _record()
        chosen = tuple(e for e in chosen[::-1] if not record.get(e.title, {}).get("holds"))
    elif arguments:
        chosen = tuple(each for each in chosen if any(word in each.title for word in arguments))
    outcomes: dict[str, Outcome] = {}
    for start in range(0, len(chosen), _AT_ONCE):
        for title, outcome in judged(chosen[start : start + _AT_ONCE]).items():
            outcomes[title] = outcome
            word = "ok    " if outcome.holds else "FAILED"
            print(word, title, "-", outcome.state, outcome.found, flush=True)
        if arguments[:1] != ["--sample"]:
            _write(outcomes)
    return int(not all(outcome.holds for outcome in outcomes.values()))


def sample(count: int, seed: int) -> tuple[Rewrite, ...]:
    """Draw so many right rewrites and so many wrong ones."""
    draw = random.Random(seed)  # noqa: S311 - told, so that it can be drawn again
    print(f"sample {seed}")
    right = [each for each in rewrites() if not each.spoilt]
    wrong = [each for each in rewrites() if each.spoilt]
    return (*draw.sample(right, count), *draw.sample(wrong, count))


def judged(chosen: tuple[Rewrite, ...]) -> dict[str, Outcome]:
    """Return what the verifier says of each, by its title."""
    here = Interpreter(sys.executable, "the one that runs kdoctor")
    # Not in this project: how it calls what has the same name would be taken for calls of these.
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, f"rewrite_{number}.py")) for number in range(len(chosen))]
        sources = [
            Source(path, each.before, each.after) for path, each in zip(paths, chosen, strict=True)
        ]
        report = verify(sources, lambda _: None, here, LIMITS)
    return {
        each.title: _outcome(each, [v for v in report.verdicts if v.path == path])
        for path, each in zip(paths, chosen, strict=True)
    }


def _outcome(rewrite: Rewrite, verdicts: list[Verdict]) -> Outcome:
    own = [verdict for verdict in verdicts if verdict.name == rewrite.name]
    # What another definition did may stand in this one now.
    gone = "the fix removes it"
    bad = [verdict for verdict in verdicts if verdict.is_bad and verdict.why != gone]
    verdict = own[0] if own else None
    if verdict is None:
        return Outcome(False, "no verdict", "")
    told = " ".join(filter(None, (verdict.where, verdict.told, verdict.why)))
    if not rewrite.spoilt:
        said = "; ".join(f"{each.name}: {each.where} {each.told} {each.why}" for each in bad)
        return Outcome(
            verdict.state is VerdictState.EQUAL and not bad,
            verdict.state.value,
            said or verdict.why,
        )
    names_it = rewrite.layer in verdict.where
    return Outcome(verdict.is_bad and names_it, verdict.state.value, told)


def _record() -> dict[str, Any]:
    return dict(json.loads(RECORD.read_text("utf-8"))) if RECORD.exists() else {}


def _write(outcomes: dict[str, Outcome]) -> None:
    record = _record() | {title: asdict(outcome) for title, outcome in outcomes.items()}
    kept = {each.title: record[each.title] for each in rewrites() if each.title in record}
    RECORD.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for word, spoilt in (("wrong ones found", True), ("right ones equal", False)):
        sort = [r.title for r in rewrites() if bool(r.spoilt) is spoilt and r.title in kept]
        print(f"{sum(kept[title]['holds'] for title in sort)} of {len(sort)} {word}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
