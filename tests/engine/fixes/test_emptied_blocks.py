"""A block of which several fixes take every statement keeps a `pass`."""

from __future__ import annotations

import ast

import pytest

from kdoctor.engine import fix

HEAD = "import keras\nimport tensorflow as tf\nfrom keras import backend as K\n\n"
OFF = "tf.compat.v1.disable_eager_execution()"
V2 = "tf.compat.v1.disable_v2_behavior()"
PHASE = "K.set_learning_phase(0)"
BLOCKS = {
    "elif": "if a:\n    x = 1\nelif a():\n    {}\n    {}\n",
    "if": "if a:\n    {}\n    {}\nelif b:\n    x = 1\n",
    "except": "try:\n    x = 1\nexcept ValueError:\n    {}\n\n    {}\n",
    "finally": "try:\n    x = 1\nfinally:\n    {}\n    {}\n",
    "for": "for each in x:\n    {}\n    {}\n",
    "with": "with x:\n    {}\n    {}\n",
    "def": "def start():\n    {}\n    {}\n",
    "nested": "if a:\n    if b():\n        {}\n        {}\n",
    "both": "if a():\n    {0}\n    {1}\nelif b():\n    {1}\n    {0}\n",
}


def fixed(source):
    result = fix(["-"], stdin=source.encode(), unsafe=True)
    assert not result.left_alone
    return result.files[0].after.decode() if result.files else source


@pytest.mark.parametrize(("one", "two"), [(OFF, V2), (OFF, PHASE), (PHASE, V2)])
@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_that_is_emptied_keeps_a_pass(block, one, two):
    after = fixed(HEAD + BLOCKS[block].format(one, two))
    ast.parse(after)
    assert not any(each in after for each in (OFF, V2, PHASE))
    assert after.count("pass") == (2 if block == "both" else 1)


def test_line_endings_and_indents_stay():
    source = (HEAD + f"if a():\n\t{OFF}\n\t{V2}\nx = 1\n").replace("\n", "\r\n")
    after = fixed(source)
    assert "if a():\r\n\tpass\r\nx = 1\r\n" in after


@pytest.mark.parametrize("kept", ["x = 1", '"""What this is for."""'])
def test_a_block_with_another_statement_needs_none(kept):
    after = fixed(HEAD + f"def start():\n    {kept}\n    {OFF}\n    {V2}\n")
    assert "pass" not in after


def test_time_does_not_grow_with_the_square_of_what_is_taken_away():
    source = HEAD + "".join(f"if a{n}():\n    {OFF}\n    {V2}\n" for n in range(300))
    assert fixed(source).count("pass") == 300
