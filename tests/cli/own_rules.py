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


def rule_text(**changes: str) -> str:
    """Return the rule of the page with some of its text replaced."""
    text = page_block(RULE)
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def written(project, **files):
    """Write the project, and more rules by the names of their files."""
    return project.write(
        {
            "pyproject.toml": SETTINGS,
            RULE: rule_text(),
            "train.py": TRAIN,
            **{f"{FOLDER}/{name}.py": text for name, text in files.items()},
        }
    )
