"""What a baseline knows again, and what it calls new or fixed."""

import json
import os
from pathlib import Path

import pytest

from kdoctor.engine import scan
from kdoctor.engine.baseline import FILE_NAME, Baseline, compare
from kdoctor.errors import UsageProblem

LOSSES = """\
from keras import backend as K


class Dice:
    def __call__(self, y_true, y_pred):
        both = K.sum(y_true * y_pred)
        return both / (K.sum(y_true) + K.sum(y_pred))


def focal(p, gamma=2.0):
    return K.mean(K.pow(1 - p, gamma))
"""
LAYERS = """\
from keras import backend as K


def squash(x):
    norm = K.sum(K.square(x), axis=-1, keepdims=True)
    return x * K.sqrt(norm) / (1 + norm)
"""


class Tree:
    """A folder of sources with a baseline of all that is found in it."""

    def __init__(self, folder: Path, **files: str) -> None:
        self.folder = folder
        self.file = folder / FILE_NAME
        for name, text in files.items():
            self.write(f"{name}.py", text)
        compared = compare(self.scan(), Baseline(self.file), [folder])
        Baseline(self.file).write(compared.entries)

    def write(self, name: str, text: str | bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def rename(self, old: str, new: str) -> None:
        (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / old).rename(self.folder / new)

    def scan(self, *paths: str):
        named = [self.folder / path for path in paths] or [self.folder]
        return scan(named, diffs=False, jobs=1)

    def compare(self, *paths: str, **how):
        named = [self.folder / path for path in paths] or [self.folder]
        return compare(self.scan(*paths), Baseline.read(self.file), named, **how)

    def verdict(self, *paths: str, **how) -> tuple[int, int, int]:
        """Return how many findings are new, known, fixed."""
        compared = self.compare(*paths, **how)
        return len(compared.result.findings), len(compared.result.known), len(compared.fixed)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path, losses=LOSSES, layers=LAYERS)


def test_nothing_is_new_where_nothing_changed(tree: Tree) -> None:
    assert tree.verdict() == (0, 8, 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from keras", '"""Losses."""\n\nimport os\n\nfrom keras'),
        ("from keras import backend as K", "import keras.backend as K"),
        ("class Dice", "class SoftDice"),
        ("class Dice:", "class Outer:\n  pass\n\n\nclass Dice:"),
        ("(y_true * y_pred)", "(y_true * y_pred, axis=-1)"),
        ("both = K", "intersection = both = 2 * K"),
        (
            "both / (K.sum(y_true) + K.sum(y_pred))",
            "(\n  both\n  / (K.sum(y_true) # all\n + K.sum(y_pred)))",
        ),
        ("\n", "\r\n"),
        ("    ", "\t"),
    ],
)
def test_edits_nearby_change_nothing(tree: Tree, old: str, new: str) -> None:
    tree.edit("losses.py", old, new)

    assert tree.verdict() == (0, 8, 0)


def test_functions_may_change_places(tree: Tree) -> None:
    head, dice, focal = LOSSES.split("\n\n\n")
    tree.write("losses.py", f"{head}\n\n\n{focal}\n\n\n{dice}")

    assert tree.verdict() == (0, 8, 0)


def test_a_copy_of_a_known_line_is_new_and_named_where_it_stands(tree: Tree) -> None:
    tree.edit("losses.py", "        both =", "        one = K.sum(y_true)\n        both =")

    compared = tree.compare()
    assert [each.place.line for each in compared.result.findings] == [6]
    assert len(compared.result.known) == 8


def test_the_same_call_in_another_function_is_new(tree: Tree) -> None:
    tree.edit("losses.py", "both = K.sum(y_true * y_pred)", "both = (y_true * y_pred).sum()")
    tree.write(
        "losses.py",
        (tree.folder / "losses.py").read_text() + "\n\ndef other(x):\n    return K.sum(x)\n",
    )

    assert tree.verdict() == (1, 7, 1)


def test_what_is_gone_is_fixed(tree: Tree) -> None:
    tree.edit("losses.py", "K.mean(K.pow(1 - p, gamma))", "(1 - p) ** gamma")

    compared = tree.compare()
    assert [each.symbol for each in compared.fixed] == ["keras.backend.mean", "keras.backend.pow"]
    assert set(compared.pruned) < set(compared.baseline.entries)
    assert len(compared.pruned) == 6


def test_a_renamed_file_is_known_by_its_content(tree: Tree) -> None:
    tree.rename("losses.py", "package/dice.py")
    tree.edit("package/dice.py", "from keras", "import os\nfrom keras")

    assert tree.verdict() == (0, 8, 0)
    assert tree.compare().renamed == 5


def test_a_file_that_is_split_in_two_is_known(tree: Tree) -> None:
    head, dice, focal = LOSSES.split("\n\n\n")
    (tree.folder / "losses.py").unlink()
    tree.write("losses/dice.py", f"{head}\n\n\n{dice}\n")
    tree.write("losses/focal.py", f"{head}\n\n\n{focal}\n")

    assert tree.verdict() == (0, 8, 0)


def test_a_copy_of_a_file_is_new(tree: Tree) -> None:
    tree.write("copy.py", LOSSES)

    compared = tree.compare()
    assert {each.place.path for each in compared.result.findings} == {str(tree.folder / "copy.py")}
    assert len(compared.result.findings) == 5


def test_of_two_renamed_files_each_goes_to_its_own(tree: Tree) -> None:
    tree.rename("losses.py", "a.py")
    tree.rename("layers.py", "losses_of_layers.py")
    tree.edit("a.py", "both = K", "both = 2.0 * K")

    assert tree.verdict() == (0, 8, 0)


def test_a_deleted_file_is_fixed(tree: Tree) -> None:
    (tree.folder / "layers.py").unlink()

    assert tree.verdict() == (0, 5, 3)


def test_what_was_not_looked_at_is_neither_new_nor_fixed(tree: Tree) -> None:
    assert tree.verdict("losses.py") == (0, 5, 0)
    assert tree.verdict(is_selected=lambda _path, code: code == "KD999")[2] == 0
    tree.write("layers.py", "def broken(:\n" + LAYERS)
    assert tree.verdict() == (0, 5, 0)


def test_with_one_file_named_the_entries_of_gone_ones_help_and_are_not_pruned(tree: Tree) -> None:
    tree.rename("losses.py", "dice.py")

    assert tree.verdict("dice.py") == (0, 5, 0)
    (tree.folder / "dice.py").unlink()
    assert tree.verdict("layers.py") == (0, 3, 0)
    assert tree.verdict() == (0, 3, 5)


def test_notebooks_and_markdown_are_known_again(tmp_path: Path) -> None:
    def notebook(*cells: str) -> str:
        return json.dumps(
            {
                "cells": [
                    {
                        "cell_type": "code",
                        "metadata": {},
                        "source": cell,
                        "outputs": [],
                        "execution_count": None,
                    }
                    for cell in cells
                ],
                "metadata": {},
                "nbformat": 4,
                "nbformat_minor": 4,
            }
        )

    cells = ["from keras import backend as K\n", "%time K.sum(x)\n", "K.mean(x)\n"]
    tree = Tree(tmp_path)
    tree.write("a.ipynb", notebook(*cells))
    tree.write("README.md", f"# Use\n\n```python\n{LAYERS}```\n")
    compared = tree.compare()
    assert len(compared.result.findings) == 5
    Baseline(tree.file).write(compared.entries)

    tree.write("b.ipynb", notebook("import os", cells[0], cells[2], "1 + 1", cells[1]))
    (tmp_path / "a.ipynb").unlink()
    tree.write(
        "README.md",
        "# Use\n\n```python\nx = 1\n```\n\n> ```python\n> "
        + LAYERS.replace("\n", "\n> ")
        + "\n> ```\n",
    )
    assert tree.verdict() == (0, 5, 0)


# -- the file


def test_the_file_is_the_same_wherever_and_however_it_is_written(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tree.file.read_bytes()
    monkeypatch.chdir(tree.folder)
    for paths, jobs in ([["."], 2], [["losses.py", "layers.py"], 1]):
        result = scan(paths, diffs=False, jobs=jobs)
        compared = compare(result, Baseline(Path(FILE_NAME)), paths)
        Baseline(Path(FILE_NAME)).write(reversed(compared.entries))
        assert tree.file.read_bytes() == first


def test_its_paths_are_its_own_and_its_lines_are_findings(tree: Tree) -> None:
    lines = tree.file.read_text().splitlines()

    assert json.loads("\n".join(lines))["kdoctor-baseline"] == 1
    assert '    "losses.py": [' in lines
    assert sum('"rule": "KD' in line for line in lines) == 8
    assert str(tree.folder) not in "".join(lines)


def test_pruning_only_takes_lines_away(tree: Tree) -> None:
    before = tree.file.read_text().replace("},", "}").splitlines()
    tree.edit("losses.py", "K.sum(y_true) +", "")
    compared = tree.compare()
    Baseline(tree.file).write(compared.pruned)

    after = tree.file.read_text().replace("},", "}").splitlines()
    assert len(after) == len(before) - 1
    assert set(after) <= set(before)


def test_what_is_pruned_to_nothing_reads_as_nothing(tree: Tree) -> None:
    Baseline(tree.file).write([])

    assert Baseline.read(tree.file).entries == ()
    assert tree.verdict() == (8, 0, 0)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is not a valid baseline"),
        (b"import keras\n", "is not a valid baseline"),
        (b'{"results": []}', "is not a valid baseline"),
        (b"\xff\xfe{}", "is not a valid baseline"),
        (b'{"kdoctor-baseline": 1, "files": {"a.py": [{"rule": 3}]}}', "not a valid baseline"),
        (b'{"kdoctor-baseline": 2, "files": {}}', "newer kdoctor"),
        (b'{"kdoctor-baseline": 1,\n<<<<<<< HEAD\n=======\n>>>>>>> a\n', "merge conflict"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused_in_a_sentence(
    tree: Tree, data: bytes, says: str
) -> None:
    tree.file.write_bytes(data)

    with pytest.raises(UsageProblem, match=says):
        Baseline.read(tree.file)


def test_a_file_name_that_is_no_utf_8_is_kept(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    try:
        (tmp_path / name).write_text(LAYERS)
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    tree = Tree(tmp_path)

    assert tree.verdict() == (0, 3, 0)
