"""A project with rules of its own, for a library that wraps Keras."""

from __future__ import annotations

from pathlib import Path

SETTINGS = '[tool.kdoctor]\nrules = ["tools/kdoctor_rules"]\n'
FOLDER = "tools/kdoctor_rules"
RULE = f"{FOLDER}/units_of_dense_block.py"
TRAIN = "from acme_nn import dense_block\n\nfeatures = dense_block(images, units=64)\n"
FIXED = TRAIN.replace("units=", "width=")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "own-rules.md"


def page_block(title: str) -> str:
    """Return a file as the page shows it: a fence with this title."""
    text = PAGE.read_text("utf-8")
    return text.partition(f'title="{title}"\n')[2].partition("\n```")[0] + "\n"


# The rule of the page, without a query: what can be wrong with a rule, shows here.
BY_HAND = r'''"""`dense_block` takes `width`, not `units`.

## What it does
Reports the keyword `units` in a call of `acme_nn.dense_block`.

## Why it breaks
acme_nn 2 renamed it: `TypeError: dense_block() got an unexpected keyword argument 'units'`.

## What to write instead
`width`, with the same value.
"""

from kdoctor.rule import Edit, Example, Fix, Rule, Severity, argument, named

LIBRARIES = ["acme_nn"]


def check(module, facts):
    """Report each such call."""
    for use in module.references:
        if use.name != "acme_nn.dense_block" or use.call is None:
            continue
        given = argument(use.call, "units")
        if given is None or module.is_guarded(use.node):
            continue
        edit = Edit(module.span(given.keyword), ("width",))
        yield rule.finding(
            module.place(given),
            "dense_block() got an unexpected keyword argument 'units'",
            symbol="acme_nn.dense_block(units)",
            confidence=use.confidence,
            help="Write `width`.",
            fix=Fix("Write `width`", (edit,), rule.applicability()),
        )


rule = Rule(
    code="ACME001",
    name="units-of-dense-block",
    severity=Severity.ERROR,
    check=check,
    triggers=named("acme_nn.dense_block"),
)

CALL = "import keras\nfrom acme_nn import dense_block\n\ny = dense_block(keras.Input((4,)), {}=8)\n"

VALID = [
    CALL.format("width"),
    # A function of the user's own.
    "import keras\n\n\ndef dense_block(x, units): ...\n\n\ndense_block(keras.Input((4,)), units=8)\n",
]
INVALID = [
    Example(
        before=CALL.format("units"),
        after=CALL.format("width"),
        raises="TypeError: dense_block() got an unexpected keyword argument 'units'",
        check="assert y.shape == (None, 8)",
    ),
]
'''


def rule_text(**changes: str) -> str:
    """Return the rule that is written by hand, with some of its text replaced."""
    text = BY_HAND
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def written(project, **files):
    """Write the project, and more rules by the names of their files."""
    return project.write(
        {
            "pyproject.toml": SETTINGS,
            RULE: page_block(RULE),
            "train.py": TRAIN,
            **{f"{FOLDER}/{name}.py": text for name, text in files.items()},
        }
    )
