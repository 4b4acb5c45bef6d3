"""Changes of spelling that change no meaning must not change what is found."""

import ast
import collections
import json
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
KDOCTOR = str(Path(sys.executable).with_name("kdoctor"))
# Files whose names no other file of their project imports, or that import only Keras themselves.
STANDALONE = (
    "segmentation/losses.py",
    "segmentation/unet.py",
    "custom_layers/attentive/gradients.py",
    "custom_layers/attentive/inspection.py",
    "text_classification/train.py",
)
EVERY_FILE = (
    *STANDALONE,
    "segmentation/train.py",
    "custom_layers/attentive/base.py",
    "custom_layers/attentive/attention.py",
    "custom_layers/classify.py",
)


def with_the_alias_renamed(source):
    renamed = re.sub(r"\bK\b", "keras_backend_", source)
    return renamed.replace("import keras_backend_", "import K as keras_backend_")


def with_keras_itself_renamed(source):
    kept = re.sub(r"^import keras$", "import keras as kr", source, flags=re.MULTILINE)
    return (
        re.sub(r"(?<!import )(?<!from )\bkeras\.(?=[A-Z])", "kr.", kept)
        if kept != source
        else source
    )


def inside_a_try(source):
    return f"try:\n{indented(source)}\nexcept ValueError:\n    raise\n"


def inside_a_function(source):
    return f"def program():\n{indented(source)}\n\nprogram()\n"


def with_comments(source):
    """A comment after each whole line and a comment line above it, outside of strings."""
    tree = ast.parse(source)
    ends = {
        node.end_lineno: node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and not hasattr(node, "body")
    }
    lines = source.splitlines()
    for end, start in sorted(ends.items(), reverse=True):
        if "#" not in lines[end - 1]:
            lines[end - 1] += "  # K.sum(x), in a comment"
        lines.insert(start - 1, re.match(r"\s*", lines[start - 1])[0] + "# keras.backend.mean(x)")
    return "\n".join(lines) + "\n"


def reflowed(source):
    return ast.unparse(ast.parse(source)) + "\n"


def with_windows_line_ends(source):
    return source.replace("\n", "\r\n")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What is found in each file as it stands."""
    return scanned(tmp_path_factory.mktemp("as_it_stands"), lambda source: source, EVERY_FILE)


@pytest.mark.parametrize(
    ("change", "files"),
    [
        (with_the_alias_renamed, EVERY_FILE),
        (with_keras_itself_renamed, EVERY_FILE),
        (inside_a_try, EVERY_FILE),
        (inside_a_function, STANDALONE),
        (with_comments, EVERY_FILE),
        (reflowed, EVERY_FILE),
        (with_windows_line_ends, EVERY_FILE),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_same_is_found(change, files, found, tmp_path):
    assert any(change(source_of(file)) != source_of(file) for file in files)
    changed = scanned(tmp_path, change, files)

    assert {file: changed[file] for file in files} == {file: found[file] for file in files}


def test_something_is_found_in_each_file(found):
    assert all(found[file] for file in EVERY_FILE)


def scanned(folder, change, files):
    """How often each code and symbol is found in each file after ``change``."""
    copy = folder / "fixtures"
    shutil.copytree(FIXTURES, copy)
    for file in files:
        text = change(source_of(file))
        ast.parse(text)
        (copy / file).write_text(text, newline="")
    done = subprocess.run(
        [KDOCTOR, "scan", "--format", "json", "."],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    result = collections.defaultdict(collections.Counter)
    for finding in json.loads(done.stdout)["findings"]:
        result[finding["path"].removeprefix("./")][finding["code"], finding["symbol"]] += 1
    return result


def source_of(file):
    """A file of the fixtures, without what may stand at the top of a file only."""
    source = (FIXTURES / file).read_text()
    return source.replace("from __future__ import print_function\n", "")


def indented(source):
    """The source one level deeper, the text of its strings untouched."""
    inside = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for line in range(node.lineno + 1, node.end_lineno + 1)
    }
    return "\n".join(
        line if number in inside else textwrap.indent(line, "    ")
        for number, line in enumerate(source.splitlines(), 1)
    )
