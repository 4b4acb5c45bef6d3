"""What helpers say of themselves fits into the lines of any project."""

import pytest

from kdoctor.rules import all_rules

EXAMPLES = [
    pytest.param(example, id=f"{rule.code}-{number}")
    for rule in all_rules()
    for number, example in enumerate(rule.invalid)
    if example.after and '"""' in example.after
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_docstrings_that_a_fix_writes_are_short(example):
    written = set(example.after.splitlines()) - set(example.before.splitlines())
    assert not [line for line in written if '"""' in line and len(line) > 79]
