"""Rules of one's own with a page in Markdown beside them, and what their record says of a fix."""

from __future__ import annotations

import json

import pytest

from kdoctor.rules.pages import parsed
from tests.cli.own_rules import FIXED, FOLDER, RULE, SETTINGS, TRAIN, page_block

TRUST = "--trust-rules"
PAGE = RULE.replace(".py", ".md")
CODE = page_block(RULE).partition('"""\n\n')[2].partition("CALL = ")[0]
TEXT = """# `dense_block` takes `width`, not `units`.

## Why it breaks
acme_nn 2 renamed it.

## Examples

### Given

```python name=block
import keras
from acme_nn import dense_block
x = keras.Input((4,))
```

### Reported

```python given=block check="assert y.shape == (None, 8)"
y = dense_block(x, units=8)
```

```text
TypeError: dense_block() got an unexpected keyword argument 'units'
```

```python fixed
y = dense_block(x, width=8)
```

### Also reported

```python
import acme_nn as a
a . dense_block(x, units = 1)
```

### Not reported

```python given=block
y = dense_block(x, width=8)
```
"""


@pytest.fixture
def paged(project):
    """A project whose rule has its examples on a page."""
    return project.write({"pyproject.toml": SETTINGS, RULE: CODE, PAGE: TEXT, "train.py": TRAIN})


def recorded(text):
    """Return the record of a run of all examples of a page, which held."""
    examples = parsed(text, PAGE, headings=()).invalid
    return json.dumps({each.id: {"holds": True} for each in examples})


def applicabilities(ended):
    return [each["fix"]["applicability"] for each in ended.json["findings"]]


def test_its_examples_and_its_documentation_are_those_of_the_page(paged):
    ended = paged.kdoctor("rules", "--test", FOLDER)

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[:4] == [
        f"ACME001 units-of-dense-block  {RULE}",
        "  VALID[0]  silent",
        "  INVALID[0]  found, fixed, and only once",
        "  Also reported[0]  found",
    ]
    shown = paged.kdoctor("rules", TRUST, "ACME001").out
    assert "`dense_block` takes `width`, not `units`.\n\n## Why it breaks\n" in shown
    assert "x = keras.Input((4,))\n    y = dense_block(x, units=8)\n" in shown
    assert "ACME001" in paged.kdoctor("scan", "train.py", TRUST).out


def test_a_spelling_that_is_not_found_is_told(paged):
    paged.write({PAGE: TEXT.replace("units = 1", "width = 1")})
    ended = paged.kdoctor("rules", "--test", FOLDER)
    assert ended.code == 1
    assert "  Also reported[0]  failed\n    it is not found\n" in ended.out


@pytest.mark.parametrize(
    ("changes", "place", "why"),
    [
        ({"python fixed": "python fixd"}, f"{PAGE}:26", "no such option: `fixd`, as it is written"),
        ({"# `dense": "`dense"}, f"{PAGE}:1", "a page begins with `# ` and what the rule is about"),
        ({"# `dense_block` takes `width`, not `units`.": "# ", "## Why it breaks\nacme_nn 2 renamed it.\n": ""}, RULE, "it has no docstring: its first line says"),
        ({"renamed": "\udcff"}, PAGE, "it is no UTF-8: "),
    ],
)  # fmt: skip
def test_a_mistake_on_a_page_is_told_with_its_line(paged, changes, place, why):
    text = TEXT
    for old, new in changes.items():
        text = text.replace(old, new)
    paged.write({PAGE: text.encode(errors="surrogateescape")})

    ended = paged.kdoctor("scan", "train.py", TRUST)

    assert ended.code == 2
    assert ended.err.startswith(f"kdoctor: {place}: {why}"), ended.err
    assert ended.err.count("\n") == 1


def test_examples_in_both_places_are_told(paged):
    paged.write({RULE: f"{CODE}\nVALID = ['x = 1']\n"})
    assert paged.kdoctor("scan", TRUST).err.startswith(
        f"kdoctor: {RULE}: units_of_dense_block.md beside it has the examples; move VALID and "
        "INVALID there; "
    )


def test_a_file_of_one_word_cannot_name_a_rule(project):
    project.write({"pyproject.toml": SETTINGS, f"{FOLDER}/units.py": CODE})
    ended = project.kdoctor("scan", TRUST)
    assert "(a rule made by @rule has the name of its file, units_by_keyword.py)" in ended.err


def test_what_is_recorded_of_a_page_makes_its_fix_safe_in_each_process(paged):
    filler = "".join(f"x{number} = {number}\n" for number in range(30_000))
    paged.write({f"more/{name}.py": TRAIN + filler for name in "abc"})
    several = ("scan", "more", TRUST, "--jobs", 3, "--format", "json")
    assert applicabilities(paged.kdoctor(*several)) == ["unsafe"] * 3

    paged.write({f"{FOLDER}/proofs.json": recorded(TEXT)})

    assert applicabilities(paged.kdoctor(*several)) == ["safe"] * 3
    spawned = paged.python(
        "import multiprocessing as m\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "import kdoctor\n"
        "if __name__ == '__main__':\n"
        "    with ProcessPoolExecutor(1, m.get_context('spawn')) as pool:\n"
        "        found = kdoctor.scan('train.py', executor=pool, trust_rules=True).findings\n"
        "    print([each.fix.applicability.value for each in found])\n"
    )
    assert spawned.out == "['safe']\n", spawned.err


def test_another_example_was_not_run_whatever_is_cached(paged, monkeypatch):
    monkeypatch.delenv("KDOCTOR_NO_CACHE")
    paged.write({f"{FOLDER}/proofs.json": recorded(TEXT)})
    scan = ("scan", "train.py", TRUST, "--format", "json")
    assert applicabilities(paged.kdoctor(*scan)) == ["safe"]

    paged.write({PAGE: TEXT.replace("(None, 8)", "(None, 9)")})

    assert applicabilities(paged.kdoctor(*scan)) == ["unsafe"]
    paged.write({PAGE: TEXT})
    paged.kdoctor("fix", "train.py", TRUST, "--apply")
    assert paged.read("train.py").decode() == FIXED


@pytest.mark.frameworks
def test_a_page_is_proven(paged):
    paged.write({"acme_nn/__init__.py": page_block("acme_nn/__init__.py")})

    ended = paged.started("rules", "--test", FOLDER, "--prove")

    assert ended.code == 0, ended.out + ended.err
    assert (
        json.loads(paged.read(f"{FOLDER}/proofs.json")).keys() > json.loads(recorded(TEXT)).keys()
    )
