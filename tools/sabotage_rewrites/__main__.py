"""Run all rewrites, or a sample, and say which the verifier judged wrongly."""

from __future__ import annotations

import argparse
import json
import sys

from kdoctor.verify.user.results import State
from tools.sabotage_rewrites import RECORD, judged, names_in, sample

_MEANT = {"right": {State.EQUAL}, "wrong": {State.DIFFERENT, State.NOT_ON_KERAS_3}}


def main() -> int:
    """Return 0 where each right rewrite was called equal and no wrong one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", nargs=2, type=int, metavar=("N", "SEED"))
    asked = parser.parse_args().sample
    chosen = sample(*asked) if asked else {each: names_in(each) for each in _MEANT}
    record, missed = {}, 0
    for file, names in chosen.items():
        verdicts = judged(file, names)
        for name in names:
            verdict = verdicts[name]
            record[name] = {
                "meant": file,
                "state": verdict.state.value,
                "where": verdict.where,
                "told": verdict.told or verdict.why,
            }
            if verdict.state not in _MEANT[file]:
                missed += 1
                print(file, name, *record[name].values())
    print(f"{len(record) - missed} of {len(record)} judged rightly")
    if not asked:
        RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
