"""`TimeDistributed` over an open time axis: what only a run of the program knows."""

from kdoctor.engine import scan
from kdoctor.value_types import Observation

SOURCE = """\
import keras
from mine import Heads


def net():
    return keras.Sequential([Heads(), keras.layers.TimeDistributed(keras.layers.Flatten())])
"""
RAISED = (
    "InvalidArgumentError: Graph execution error: Detected at node "
    "sequential_1/Steps_1/loop_body/strided_slice/pfor/while/StridedSlice defined at (most recent "
    "call last): slice index 9 of dimension 0 out of bounds."
)


def test_the_error_that_it_raises_is_a_fact_where_the_axes_are_unknown(tmp_path):
    path = tmp_path / "net.py"
    path.write_text(SOURCE)
    assert not scan([str(path)], select=["KD424"]).findings
    for function, count in (("net", 1), ("other", 0)):
        seen = (Observation(str(path), function, "", raised=RAISED),)
        assert len(scan([str(path)], select=["KD424"], observations=seen).findings) == count
