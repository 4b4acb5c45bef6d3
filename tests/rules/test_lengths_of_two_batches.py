"""Batches of several lengths: where the length comes from, and where it is one."""

import pytest

from kdoctor.engine import scan
from kdoctor.value_types import Observation

FED = "import keras\nimport numpy as np\n\n{}\n\n\ndef trained(model: keras.Model):\n    model.fit({})\n"
GENERATOR = """\
def batches(lengths):
    for length in lengths:
        yield {}, np.ones((2, 1))
"""
ARRAY = "np.ones((2, length))"


def _found(path, generator=GENERATOR, batch=ARRAY, given="batches(several)", **options):
    source = FED.format(generator.format(batch), given)
    path.write_text(source)
    return scan([str(path)], select=["KD528"], **options).findings


@pytest.mark.parametrize(
    ("batch", "is_reported"),
    [
        (ARRAY, False),  # `several` are no known lengths
        ("keras.utils.pad_sequences(length)", True),
        ("keras.utils.pad_sequences(length, None)", True),
        ("keras.utils.pad_sequences(length, 7)", False),
        ("keras.utils.pad_sequences(length, **how)", False),
    ],
)
def test_padding_to_the_longest_of_a_batch_gives_several_lengths(tmp_path, batch, is_reported):
    assert bool(_found(tmp_path / "net.py", batch=batch)) is is_reported


def test_a_generator_that_was_seen_to_yield_several_is_reported(tmp_path):
    path = tmp_path / "net.py"
    raised = (
        "InvalidArgumentError: Graph execution error: Detected at node PyFunc TypeError: Generator "
        "yielded an element of shape (2, 7) where an element of shape (None, 5) was expected."
    )
    seen = (Observation(str(path), "trained", "", raised=raised),)
    assert _found(path, observations=seen)
    assert not _found(path, given="np.ones((2, 5))", observations=seen)
    elsewhere = (Observation(str(path), "other", "", raised=raised),)
    assert not _found(path, observations=elsewhere)
