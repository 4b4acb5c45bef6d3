"""The patterns that break real code: what does is reported, what does not is no error.

The programs are those of ``tools/check_breakages.py``, which holds them against a table of how
often each is met.
"""

import sys
from pathlib import Path

import pytest

from kdoctor.engine import scan
from kdoctor.model import Severity
from kdoctor.rules.arguments.weight_argument import AGGREGATIONS

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(TOOLS))
    try:
        import check_breakages  # noqa: PLC0415
    finally:
        sys.path.remove(str(TOOLS))
    return check_breakages


# What Keras 3 refuses and kdoctor does not see yet.
UNSEEN = {
    "Model of a tensor that is none",  # only a run tells which values are no symbolic tensors
}


@pytest.mark.frameworks
def test_what_breaks_is_reported_and_what_runs_is_no_error(tool, drawn_of):
    cases = tool.seen(dict(drawn_of((tool.PROGRAMS | tool.FACTS).items(), 2)), {})

    wrong = [(each.is_wrong, each.pattern, each.raised) for each in cases if each.is_wrong]
    assert [each for each in wrong if each[1] not in UNSEEN] == []
    broken = [each for each in cases if each.raised]
    assert len(broken) > len(cases) / 2
    assert all(each.is_explained for each in broken if each.pattern not in UNSEEN)


def test_what_is_fine_on_keras_3_is_no_error(tool):
    # These run on 3.15.1, as the test above finds out where the frameworks are.
    fine = ("layer(input_shape=)", "layer(input_length=)", "._keras_history", "model._layers")
    for pattern in fine:
        program = f"{tool.PRELUDE}\n{tool.PROGRAMS[pattern][0]}\n"
        found = scan(["-"], stdin=program.encode()).findings
        assert [each.message for each in found if each.severity is Severity.ERROR] == []


@pytest.mark.frameworks
def test_the_aggregations_are_those_of_tensorflow():
    import tensorflow as tf  # noqa: PLC0415

    assert set(AGGREGATIONS) == {each.name for each in tf.VariableAggregation}
