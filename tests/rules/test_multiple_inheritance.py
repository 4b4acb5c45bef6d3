"""A second base, or a metaclass, hides of a class what it may define, and no more.

What is told of each class was run on Keras 3.15.1, with a `Mixin` that defines both methods itself:
behind `Layer` it gives `add_update`, and Keras' `add_weight` stays; before it, it gives both.
"""

import contextlib

import pytest

from kdoctor.engine import scan
from tests.frameworks import keras

HEAD = (
    "import abc\nimport typing\nfrom abc import ABC, ABCMeta\nfrom typing import Generic, TypeVar\n"
    "import keras\nfrom elsewhere import Meta, Mixin\n\nT = TypeVar('T')\n\n\n"
    "class Own:\n    def hello(self):\n        return self\n\n\n"
    "class Adder:\n    def add_weight(self, name, shape):\n        return name\n\n\n"
    "class Plain(type):\n    def hello(cls):\n        return cls\n\n\n"
    "class Doing(type):\n    def __new__(mcs, name, bases, body):\n"
    "        return super().__new__(mcs, name, bases, body)\n\n\n"
)
BODY = (
    "    def build(self, shape):\n        self.w = self.add_weight('w', shape=(3,))\n"
    "        self.add_update([])\n"
)
BOTH = ["KD212", "KD205"]


def told(bases, head=HEAD, **options):
    source = f"{head}class Mine({bases}):\n{BODY}"
    found = scan(["-"], stdin=source.encode(), select=["KD2"], **options).findings
    return [each.code for each in found]


@pytest.mark.parametrize(
    "bases",
    [
        *("keras.layers.Layer, abc.ABC", "ABC, keras.layers.Layer", "keras.layers.Layer, object"),
        *("keras.layers.Layer, Generic[T]", "typing.Generic[T], keras.layers.Layer"),
        *("keras.layers.Layer, metaclass=ABCMeta", "keras.layers.Layer, metaclass=Plain"),
        *("keras.layers.Layer, Own", "Own, keras.layers.Layer", "keras.layers.Layer, Own, abc.ABC"),
    ],
)
def test_a_base_that_is_known_hides_nothing(bases):
    assert told(bases) == BOTH


@pytest.mark.parametrize("others", ["Mixin", "*others", "Own, Mixin"])
def test_an_unknown_base_behind_keras_own_hides_only_what_keras_lacks(others):
    assert told(f"keras.layers.Layer, {others}") == ["KD212"]


@pytest.mark.parametrize(
    "bases",
    [
        "Mixin, keras.layers.Layer",
        # It may be made from `Layer`, and stand before that and behind `Dense`.
        "keras.layers.Dense, Mixin",
        *("keras.layers.Layer, metaclass=Doing", "keras.layers.Layer, metaclass=Meta"),
        *("*others, keras.layers.Layer", "keras.layers.Layer, option=True"),
    ],
)
def test_what_may_define_all_of_it_hides_all(bases):
    assert told(bases) == []


def test_what_a_base_of_the_file_defines_is_the_users():
    assert told("Adder, keras.layers.Layer") == ["KD205"]


def test_a_generic_class_of_the_file_is_the_same_with_its_parameter():
    head = f"{HEAD}class Base(keras.layers.Layer, Generic[T]):\n    pass\n\n\n"
    assert told("Base[int]", head) == BOTH


def test_what_super_gives_is_known_beside_a_base_that_has_nothing():
    source = (
        "import abc\nimport keras\n\n\nclass Mine(keras.layers.Layer, abc.ABC):\n"
        "    def build(self, shape):\n        super().add_weight('w', shape=(3,))\n"
    )
    found = scan(["-"], stdin=source.encode(), select=["KD212"]).findings
    assert len(found) == 1


@pytest.mark.parametrize(
    ("bases", "codes"),
    [
        ("Layer, abc.ABC", BOTH),
        ("Layer, Generic[T]", BOTH),
        ("Layer, metaclass=abc.ABCMeta", BOTH),
        ("Layer, metaclass=Meta", []),
        ("Mixin, Layer", []),
    ],
)
def test_a_class_of_another_file_is_seen_in_the_same_way(tmp_path, bases, codes):
    (tmp_path / "base.py").write_text(
        "import abc\nfrom typing import Generic, TypeVar\nfrom keras.layers import Layer\n"
        f"from elsewhere import Meta, Mixin\n\nT = TypeVar('T')\n\n\nclass Base({bases}):\n    pass\n"
    )
    path = tmp_path / "mine.py"
    path.write_text(f"from base import Base\n\n\nclass Mine(Base):\n{BODY}")
    for gate in (True, False):
        found = scan([path], select=["KD2"], gate=gate).findings
        assert [each.code for each in found] == codes


def test_a_rule_of_classes_with_one_base_takes_no_notice_of_abc(tmp_path):
    source = (
        "import abc\nimport keras\n\n\nclass Data(keras.utils.Sequence, abc.ABC):\n"
        "    def __init__(self):\n        self.x = [1]\n\n    def __len__(self):\n        return 1\n"
    )
    path = tmp_path / "data.py"
    path.write_text(source)
    for gate in (True, False):
        assert [each.code for each in scan([path], select=["KD418"], gate=gate).findings] == [
            "KD418"
        ]


def refused(bases, base="BatchNormalization", keyword="fused"):
    source = (
        f"{HEAD}from keras.layers import BatchNormalization, GlobalAveragePooling2D, Layer\n\n\n"
        "class Taking:\n    def __init__(self, **options):\n        pass\n\n\n"
        "class TakingLayer(Layer):\n    def __init__(self, **options):\n        pass\n\n\n"
        f"class Mine({bases}):\n    def __init__(self, **kwargs):\n"
        f"        super().__init__({keyword}=False, **kwargs)\n"
    )
    found = scan(["-"], stdin=source.encode(), select=["KD303"]).findings
    return [f"`{base}` no longer accepts `{keyword}=`" in each.message for each in found]


@pytest.mark.parametrize("others", ["Taking", "Own, Taking", "abc.ABC", "Taking, abc.ABC"])
def test_init_of_the_first_base_is_called_whatever_stands_behind_it(others):
    assert refused(f"BatchNormalization, {others}") == [True]


@pytest.mark.parametrize(
    "bases",
    [
        *("Mixin, BatchNormalization", "Taking, BatchNormalization", "*others, BatchNormalization"),
        # Made from `Layer`, they stand before it: what `BatchNormalization` hands on, they may take.
        *("BatchNormalization, Mixin", "BatchNormalization, TakingLayer"),
    ],
)
def test_init_of_another_class_may_take_it(bases):
    assert refused(bases) == []


def test_behind_a_class_that_hands_nothing_on_an_unknown_base_takes_nothing():
    bases = "keras.callbacks.TensorBoard, Mixin"
    assert refused(bases, "TensorBoard", "write_grads") == [True]


@pytest.mark.frameworks
@pytest.mark.parametrize("is_layer", [True, False])
def test_python_asks_a_mixin_last_unless_it_is_made_from_keras_own(is_layer):
    class Mixin(keras.layers.Layer if is_layer else object):
        def __init__(self, **options):  # noqa: ARG002
            super().__init__()

    class Mine(keras.layers.BatchNormalization, Mixin):
        def __init__(self):
            super().__init__(fused=False)

    refusing = pytest.raises(ValueError, match="'fused': False")
    with contextlib.nullcontext() if is_layer else refusing:
        Mine()


def test_the_error_names_the_function_that_refuses():
    source = (
        "import keras\n\n\nclass Mine(keras.callbacks.TensorBoard):\n    def __init__(self):\n"
        "        super().__init__(batch_size=3)\n"
    )
    (found,) = scan(["-"], stdin=source.encode(), select=["KD303"]).findings
    assert "TypeError: TensorBoard.__init__() got an unexpected" in found.message
