"""KD502 on models whose layers are more than literals."""

import pytest

import kdoctor

CODE = """
from keras import Sequential, layers

labels = ["a", "b"]
{before}
model = Sequential([layers.Dense({units})])
model.compile(loss="mse")
loss, accuracy = model.evaluate(x, y)
"""


def codes(folder, **parts):
    file = folder / "train.py"
    file.write_text(CODE.format(**parts))
    return [finding.code for finding in kdoctor.scan([str(file)]).findings]


@pytest.mark.parametrize("units", ["3", "len(labels)", "int(2.0 * max(1, len(labels)))"])
def test_builtins_that_give_numbers_hide_no_metrics(tmp_path, units):
    assert codes(tmp_path, before="", units=units) == ["KD502"]


@pytest.mark.parametrize(
    ("before", "units"),
    [("", "units()"), ("", "len(layers_of())"), ("def len(x): return spy(x)", "len(labels)")],
)
def test_what_may_make_a_layer_of_its_own_is_not_trusted(tmp_path, before, units):
    assert codes(tmp_path, before=before, units=units) == []
