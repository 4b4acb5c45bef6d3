import activation
import common
import pytest
from harness import real, trains

LAYERS = {
    "conv": lambda: common.Conv2d(3, 4, 3, padding=1),
    "pool": lambda: common.MaxPool2d(2, 2),
    "squeeze": lambda: common.SEBlock(8, 2),
    "flatten": lambda: common.Flatten(),
    "shuffle": lambda: common.ChannelShuffle(),
    "gem": lambda: common.GeMPooling(),
    "relu6": lambda: activation.ReLU6("relu6"),
    "swish": lambda: activation.Swish(),
    "hsigmoid": lambda: activation.HSigmoid(),
    "hswish": lambda: activation.HSwish(),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name):
    trains(LAYERS[name](), real(8, 8, 3 if name == "conv" else 8))
