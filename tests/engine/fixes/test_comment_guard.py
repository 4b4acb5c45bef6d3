"""A comment stays, wherever it stands, in whatever a rule rewrites."""

from __future__ import annotations

import io
import secrets
import tokenize

import pytest

from kdoctor.engine import fix, scan
from kdoctor.rules import all_rules

MARK = "# why this is so"
FIXABLE = [
    (rule.code, example)
    for rule in all_rules()
    for example in rule.invalid
    if example.after is not None
]


def places(source: str) -> list[tuple[int, int]]:
    """Return row and column behind each bracket, comma and statement: a comment may stand there."""
    found, depth = [], 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        depth += (token.string in {"(", "[", "{"}) - (token.string in {")", "]", "}"})
        within = depth > 0 and token.string in {"(", "[", "{", ","}
        if within or token.type == tokenize.NEWLINE:
            found.append(token.end if within else token.start)
    return found


def with_comment(source: str, row: int, column: int) -> str | None:
    lines = source.splitlines(keepends=True)
    line = lines[row - 1]
    before, behind = line[:column], line[column:].lstrip()
    lines[row - 1] = f"{before}  {MARK}\n" + (f"        {behind}" if behind else "")
    changed = "".join(lines)
    try:
        compile(changed, "x.py", "exec")
    except SyntaxError:
        return None
    return None if "#" in line else changed


@pytest.mark.sampled(3)
@pytest.mark.parametrize("_", range(60))
def test_a_comment_in_an_example_that_is_drawn_anew_stays(_):
    code, example = secrets.choice(FIXABLE)
    for place in places(example.before):
        source = with_comment(example.before, *place)
        if source is None:
            continue
        options = {"select": [code], "target": example.on, "namespace": example.namespace}
        options |= {"backend": "all"}  # so that each rule is asked
        done = fix(["-"], stdin=source.encode(), unsafe=True, **options)
        fixed = done.files[0].after.decode() if done.files else source
        assert MARK in fixed, (code, source)


def test_a_fix_that_has_no_place_for_a_comment_is_withheld_and_says_so():
    source = (
        "import keras\nfrom keras import backend as K\n\nx = keras.Variable([1.0])\n"
        "value = K.get_session().run(  # {}\n    x\n)\n"
    )
    [finding] = scan(["-"], stdin=source.encode()).findings
    assert finding.fix is None
    assert finding.no_fix_because == "it would lose the comment `# {}`"


def test_what_looks_like_a_comment_in_a_string_is_none():
    source = (
        "import keras\nfrom keras import backend as K\n\nx = {'# x': keras.Variable([1.0])}\n"
        "value = K.get_session().run(x['# x'])\n"
    )
    [finding] = scan(["-"], stdin=source.encode()).findings
    assert finding.fix is not None
