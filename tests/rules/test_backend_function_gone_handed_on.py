"""`K.relu` that is no call: where a layer calls it, and where anyone may."""

import pytest

from kdoctor.engine import fix, scan

K = "from keras import backend as K\n"
LAYERS = "from keras.layers import LSTM, Activation, Dense, TimeDistributed\n"


def applicability(source: str) -> str:
    (found,) = scan(["-"], stdin=source.encode(), select=["KD101"], target="keras==3.15.1").findings
    return str(found.fix.applicability)


@pytest.mark.parametrize(
    "use",
    [
        "Activation(K.relu)",
        "Activation(activation=K.relu)",
        "TimeDistributed(Activation(name='a', activation=K.relu))",
        "Dense(3, activation=K.relu)(x)",
        "LSTM(3, recurrent_activation=K.relu)",
    ],
)
def test_a_layer_calls_its_activation_with_one_argument(use):
    assert applicability(f"{K}{LAYERS}{use}\n") == "safe"


@pytest.mark.parametrize(
    "use",
    [
        "functions = [K.relu]",
        "block(activation=K.relu)",
        "Dense(3, K.relu)",
        "Dense(*[K.relu])",
        "def f(x, activation=K.relu): return activation(x, alpha=0.1)",
    ],
)
def test_what_others_call_may_name_alpha(use):
    assert applicability(f"{K}{LAYERS}{use}\n") == "unsafe"


def test_an_imported_relu_takes_the_import_with_it():
    source = "from keras.backend import relu\nfrom keras.layers import Dense\nDense(1, activation=relu)\n"
    (file,) = fix(["-"], stdin=source.encode(), select=["KD101"], target="keras==3.15.1").files
    assert file.after.decode() == (
        "from keras import activations\nfrom keras.layers import Dense\n"
        "Dense(1, activation=activations.relu)\n"
    )
