"""What the status of a load can be asked, held against the installed TensorFlow."""

import pytest

from kdoctor.rules.members.load_status import STATUS_METHODS


@pytest.mark.frameworks
def test_the_methods_are_those_of_tensorflow():
    from tensorflow.python.checkpoint import checkpoint  # noqa: PLC0415

    public = {each for each in dir(checkpoint.CheckpointLoadStatus) if not each.startswith("_")}
    assert public == STATUS_METHODS
