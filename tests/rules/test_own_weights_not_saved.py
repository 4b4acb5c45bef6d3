"""KD609 where the class is written otherwise than in its examples; what Keras itself says of it."""

import pytest

from kdoctor import fix, scan

_CLASS = (
    "import keras\n\n\n{outer}class Mine(keras.layers.Dense):\n"
    "{outer}    def build(self, input_shape):\n"
    "{outer}        super().build(input_shape)\n"
    "{outer}        self.gain = self.add_weight(shape=(1,))  # of its own"
)


def _fixed(source: str) -> str:
    (written,) = fix(["-"], stdin=source.encode(), unsafe=True).files
    return written.after.decode()


def _codes(source: str) -> list[str]:
    return [each.code for each in scan(["-"], stdin=source.encode()).findings]


def test_the_methods_are_added_behind_the_comment_of_the_last_line() -> None:
    written = _fixed(_CLASS.format(outer=""))
    assert "(1,))  # of its own\n\n    def save_own_variables(self, store):\n" in written
    assert written.endswith("        keras.layers.Layer.load_own_variables(self, store)")


def test_a_class_in_a_function_keeps_its_indentation() -> None:
    source = "def made():\n" + _CLASS.format(outer="    ").replace("import keras\n\n\n", "")
    written = _fixed(f"import keras\n\n\n{source}\n\n    return Mine\n")
    assert "\n        def save_own_variables(self, store):\n            keras.layers" in written
    assert written.endswith("(self, store)\n\n    return Mine\n")
    compile(written, "written", "exec")


def test_a_base_by_its_older_name_is_the_same_base() -> None:
    source = _CLASS.format(outer="").replace("Dense", "Convolution2D")
    assert "KD609" in _codes(source)


def test_a_weight_of_a_guarded_branch_is_left_alone() -> None:
    source = _CLASS.format(outer="").replace(
        "        self.gain", "        if keras.__version__ < '3':\n            self.gain"
    )
    assert "KD609" not in _codes(source)


@pytest.mark.frameworks
def test_the_layers_that_leave_out_what_is_added_are_those() -> None:
    import keras  # noqa: PLC0415

    from kdoctor.rules.saving.own_weights_not_saved import SINCE  # noqa: PLC0415

    told = {"Conv1D": (2, 3), "Conv2D": (2, 3), "Conv3D": (2, 3), "Dense": (2,)}
    told |= {"EinsumDense": ("ab,bc->ac", 3), "Embedding": (5, 3)}
    shapes = {"Conv1D": (1, 6, 3), "Conv2D": (1, 6, 6, 3), "Conv3D": (1, 6, 6, 6, 3)}
    assert SINCE.keys() == told.keys()
    for cls, arguments in told.items():
        layer = getattr(keras.layers, cls)(*arguments)
        layer.add_weight(shape=(1,))
        layer.build(shapes.get(cls, (1, 4)))
        store: dict[str, object] = {}
        layer.save_own_variables(store)
        assert len(store) == len(layer.weights) - 1
