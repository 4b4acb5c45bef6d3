"""What `set_model` gets: a model, in a callback of the user's."""

import pytest

from kdoctor.engine.examine import Examiner
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.keras_api import newest_target

SOURCE = """from tensorflow import keras


class Own({base}):
    def {method}(self, net, other=None):
        print({read}.metrics_names)
"""
CALLBACK = "keras.callbacks.Callback"


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize(
    ("base", "method", "read", "codes"),
    [
        (CALLBACK, "set_model", "net", ["KD216"]),
        (CALLBACK, "set_model", "other", []),
        (CALLBACK, "set_params", "net", []),
        ("object", "set_model", "net", []),
    ],
)
def test_what_set_model_of_a_callback_gets_is_a_model(base, method, read, codes, gate):
    source = SOURCE.format(base=base, method=method, read=read)
    options = ScanOptions(newest_target(), diffs=False, anchors=False, gate=gate)
    findings = Examiner(options).examine("nowhere/f.py", source.encode()).scan.findings
    assert [each.code for each in findings] == codes
