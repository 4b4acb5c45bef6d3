"""KD609 where the class is written otherwise than in its examples; what Keras itself says of it."""

from itertools import product

import pytest

from kdoctor import fix, scan
from kdoctor.keras_api.members import classes_of
from kdoctor.keras_api.tables import MemberKind, classes_table
from kdoctor.rules.members.read_only_member import OF_LAYERS

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


@pytest.mark.parametrize(
    ("base", "before", "since"), [("Dense", "3.0.0", "3.0.5"), ("Conv2D", "3.2.1", "3.3.0")]
)
def test_it_is_told_since_the_release_that_leaves_them_out(base, before, since) -> None:
    source = _CLASS.format(outer="").replace("Dense", base).encode()
    for release, is_told in ((before, False), (since, True)):
        found = scan(["-"], stdin=source, select=["KD609"], target=f"keras=={release}").findings
        assert bool(found) is is_told


def test_the_releases_have_kernel_as_a_property_where_they_have_lora() -> None:
    releases = [each for each in classes_table("keras").releases if each.startswith("3.")]
    for release, (cls, member) in product(releases, OF_LAYERS.items()):
        (info,) = (
            each
            for each in classes_of("keras", release).by_leaf(cls)
            if each.home.startswith("keras.src.layers.")
        )
        is_property = info.members[member].kind is MemberKind.PROPERTY
        assert is_property is ("enable_lora" in info.members), (release, cls)


@pytest.mark.frameworks
def test_the_layers_that_leave_out_what_is_added_are_those() -> None:
    import keras  # noqa: PLC0415

    told = {"Conv1D": (2, 3), "Conv2D": (2, 3), "Conv3D": (2, 3), "Dense": (2,)}
    told |= {"EinsumDense": ("ab,bc->ac", 3), "Embedding": (5, 3), "ReversibleEmbedding": (5, 3)}
    shapes = {"Conv1D": (1, 6, 3), "Conv2D": (1, 6, 6, 3), "Conv3D": (1, 6, 6, 6, 3)}
    having = {name for name, layer in vars(keras.layers).items() if hasattr(layer, "enable_lora")}
    assert {getattr(keras.layers, each).__name__ for each in having} == told.keys()
    for cls, arguments in told.items():
        layer = getattr(keras.layers, cls)(*arguments)
        layer.add_weight(shape=(1,))
        layer.build(shapes.get(cls, (1, 4)))
        store: dict[str, object] = {}
        layer.save_own_variables(store)
        assert len(store) == len(layer.weights) - 1
