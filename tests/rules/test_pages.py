"""Pages of rules: what a Markdown file says, and what is wrong with one."""

from __future__ import annotations

import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

from kdoctor import rules
from kdoctor.rules import Example, all_rules
from kdoctor.rules.names._backend.rewrite_call import RATED
from kdoctor.rules.names._successors import HELD, IN_TF_KERAS, SUCCESSORS
from kdoctor.rules.pages import HEADINGS, page_of, parsed

RULES = Path(rules.__file__).parent
DOCS = "Epochs are text.\n\n" + "\n\n".join(f"{heading}\nSo." for heading in HEADINGS)
HEAD = f"# {DOCS}\n\n## Examples\n\n"


def test_an_example_is_what_its_blocks_say():
    page = parsed(
        HEAD
        + """\
### Given

```python name=model
import keras

model = keras.Model()


```

```python name=count
model.count
```

### Reported

First a sentence,
over two lines.

```python given=model findings=2 on="keras==3.0.0" needs="a==1, b" same=count keras-2 group=one,two
def train(): pass
```

```text
TypeError: 'str' object
```

```python fixed unsafe
def train(): ...
```

```python check
assert model

```

```python prelude
import numpy
```

```python namespace="keras" check="assert True" same="model.name"
import tf_keras
```

### Not reported

A sentence.

```python given=model
model.fit()
```

````python
'''
```
'''
````
""",
        "page.md",
    )
    model = "import keras\n\nmodel = keras.Model()\n\n\n"
    assert page.docs == DOCS
    assert page.invalid == (
        Example(
            before=f"{model}def train(): pass\n",
            after=f"{model}def train(): ...\n",
            raises="TypeError: 'str' object",
            unsafe=True,
            findings=2,
            on="keras==3.0.0",
            prelude="import numpy\n",
            check="assert model\n\n",
            needs=("a==1", "b"),
            on_keras_2=True,
            same="model.count",
            note="First a sentence, over two lines.",
            groups=("one", "two"),
        ),
        Example(
            before="import tf_keras\n", namespace="keras", check="assert True", same="model.name"
        ),
    )
    assert page.valid == (f"{model}model.fit()\n", "'''\n```\n'''\n")


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("x", 1, "a page begins with `# `"),
        ("### Wrong\n\n```python\nx\n```", 19, "examples stand under one of `### Given`"),
        ("### Reported\n\n```python\nx\n", 19, "this block has no end"),
        ("### Reported\n\n```python unsfe\nx\n```", 19, "no such option: `unsfe`"),
        ("### Reported\n\n```python findings=many\nx\n```", 19, "no such option: `findings`"),
        ("### Reported\n\n```python !\nx\n```", 19, "no options: `!`"),
        ("### Reported\n\n```python given=model\nx\n```", 19, "there is no block 'model' above"),
        ("### Reported\n\n```python fixed\nx\n```", 19, "there is no example above"),
        ("### Reported\n\n```\nx\n```", 19, "examples are `python`"),
        (
            "### Reported\n```python\nx\n```\n```python fixed\nx\n```\n```python fixed\nx\n```",
            24,
            "the example above has its `after` already",
        ),
        (
            "### Reported\n```python\nx\n```\n```python fixed findings=2\nx\n```",
            21,
            "`findings` belongs to the example above",
        ),
        ("### Given\n\n```python\nx\n```", 19, "a block under `### Given` has one option"),
        (
            "### Given\n```python name=a\nx\n```\n```python name=a\nx\n```",
            21,
            "there is a block 'a' already",
        ),
        ("### Not reported\n\n```python unsafe\nx\n```", 19, "no option but `given=…`"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence_with_its_line(text, line, sentence):
    with pytest.raises(ValueError, match=rf"^page\.md:{line}: {re.escape(sentence)}"):
        parsed(text if line == 1 else HEAD + text, "page.md")


def test_a_page_without_a_heading_is_none():
    with pytest.raises(ValueError, match=r"^page\.md: its documentation lacks `## How we know`$"):
        parsed(HEAD.replace("## How we know", "## How"), "page.md")


def test_a_rule_in_a_single_file_is_its_own_page(monkeypatch, tmp_path):
    module = types.ModuleType("single", DOCS)
    module.__file__ = str(tmp_path / "single.py")
    module.VALID, module.INVALID = ["a"], [Example(before="b")]
    monkeypatch.setitem(sys.modules, "single", module)
    page = page_of.__wrapped__("single")
    assert (page.docs, page.valid, page.invalid) == (DOCS, ("a",), (Example(before="b"),))


def test_every_group_rates_a_fix_and_every_block_with_a_name_is_used():
    code = "".join(path.read_text("utf-8") for path in RULES.rglob("*.py"))
    tables = [*SUCCESSORS, *HELD.values()]
    asked = {
        *re.findall(r'group\(\s*"([^"]+)"', code),
        *RATED,
        *IN_TF_KERAS.values(),
        *(each.proven_by for each in tables if each.proven_by),
    }
    groups = {group for rule in all_rules() for each in rule.invalid for group in each.groups}
    assert groups == asked
    for path in RULES.rglob("*.md"):
        infos = re.findall(r"^```python (.*)", path.read_text("utf-8"), re.MULTILINE)
        words = {word for info in infos for word in info.split()}
        for name in (word.removeprefix("name=") for word in words if word.startswith("name=")):
            ways = {f"{option}={name}" for option in ("given", "same", "check", "prelude")}
            assert words & ways, (path, name)


def test_a_scan_reads_a_page_when_a_fix_is_rated_and_not_before():
    program = (
        "from kdoctor.engine import scan\n"
        "from kdoctor.rules.pages import page_of\n"
        "fit = b'import keras\\nmodel = keras.Sequential()\\nmodel.fit(x, y)\\n'\n"
        "scan(['-'], stdin=fit)\n"
        "print(page_of.cache_info().currsize)\n"
        "scan(['-'], stdin=fit + b'model.optimizer.lr\\n')\n"
        "print(page_of.cache_info().currsize)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "0\n1\n"
