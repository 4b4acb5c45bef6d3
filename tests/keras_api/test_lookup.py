import pytest

from kdoctor.keras_api import (
    EntryKind,
    Presence,
    error_text,
    error_type,
    ever_members,
    lookup,
    methods,
    newest_target,
    resolve_target,
    signature,
    split_root,
)

KERAS_3 = newest_target()
KERAS_2_15 = resolve_target("keras==2.15", "test")
KERAS_2_4 = resolve_target("keras==2.4.3", "test")
LEGACY = resolve_target("tf_keras==2.21", "test")


@pytest.mark.parametrize(
    ("qualified", "split"),
    [
        ("keras.backend.sum", ("keras", "backend.sum")),
        ("keras", ("keras", "")),
        ("tensorflow.keras.backend.sum", ("tf.keras", "backend.sum")),
        ("tf_keras.Model", ("tf_keras", "Model")),
        ("keras_core.Model", ("keras_core", "Model")),
        ("tensorflow.python.keras.Model", ("tensorflow.python.keras", "Model")),
        ("tensorflow.compat.v1.keras.Model", ("tf.compat.v1.keras", "Model")),
        # `tf.compat.v1.keras` after `import tensorflow.compat.v1 as tf`.
        ("tensorflow.compat.v1.compat.v1.keras.Model", ("tf.compat.v1.keras", "Model")),
        ("tensorflow.compat.v1.compat.v2.keras.Model", ("tf.compat.v2.keras", "Model")),
        ("tensorflow.compat.v1.compat.v1.Session", None),
        ("tensorflow.constant", None),
        ("kerastuner.Tuner", None),
        ("numpy.sum", None),
    ],
)
def test_the_root_is_told_from_the_rest(qualified, split):
    assert split_root(qualified) == split


def test_the_root_decides_whether_a_name_exists():
    assert lookup("keras.backend.sum", KERAS_3).presence is Presence.MISSING
    assert lookup("tensorflow.keras.backend.sum", KERAS_3).presence is Presence.EXISTS
    assert lookup("tf_keras.backend.sum", KERAS_3).presence is Presence.EXISTS


def test_the_target_decides_whether_a_name_exists():
    assert lookup("keras.backend.sum", KERAS_2_15).presence is Presence.EXISTS
    assert lookup("keras.ops.sum", KERAS_2_15).presence is Presence.MISSING
    assert lookup("tensorflow.keras.backend.learning_phase", LEGACY).presence is Presence.EXISTS
    assert lookup("tensorflow.keras.backend.learning_phase", KERAS_3).presence is Presence.MISSING


def test_the_first_prefix_that_is_missing_is_named():
    found = lookup("keras.utils.np_utils.to_categorical", KERAS_3)
    assert found.missing_prefix == "keras.utils.np_utils"


def test_a_missing_name_says_in_which_releases_it_was():
    found = lookup("keras.utils.multi_gpu_model", KERAS_3)
    assert (found.since, found.until) == ("2.0.9", "2.3.1")
    assert lookup("keras.backend.squeeze_it", KERAS_3).periods == ()


def test_a_name_that_only_another_root_has_says_which():
    found = lookup("keras.preprocessing.image.ImageDataGenerator", KERAS_3)
    assert found.presence is Presence.MISSING
    assert "tensorflow.keras.preprocessing.image.ImageDataGenerator" in found.elsewhere


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("keras.models.Input", "keras.Input"),
        ("keras.utils.np_utils.to_categorical", "keras.utils.to_categorical"),
        ("keras.layers.core.Dense", "keras.layers.Dense"),
        ("keras.layers.advanced_activations.LeakyReLU", "keras.layers.LeakyReLU"),
        ("keras.layers.normalization.BatchNormalization", "keras.layers.BatchNormalization"),
        ("keras.layers.recurrent.LSTM", "keras.layers.LSTM"),
        ("keras.engine.topology.Layer", "keras.Layer"),
        ("keras.optimizers.adam", "keras.optimizers.Adam"),
        ("keras.objectives.mse", "keras.losses.mean_squared_error"),
    ],
)
def test_a_moved_object_is_found_under_its_new_name(old, new):
    found = lookup(old, KERAS_3)
    assert found.presence is Presence.MISSING
    assert found.moved_to[0] == new
    assert lookup(new, KERAS_3).presence is Presence.EXISTS


def test_what_moved_is_spelled_with_the_root_that_was_asked_with():
    found = lookup("tensorflow.keras.layers.experimental.preprocessing.Normalization", KERAS_3)
    assert found.moved_to[0] == "tensorflow.keras.layers.Normalization"


@pytest.mark.parametrize(
    "name", ["keras.backend.sum", "keras.backend.flatten", "keras.layers.Merge"]
)
def test_a_name_alike_is_no_proof_of_a_move(name):
    assert lookup(name, KERAS_3).moved_to == ()


def test_a_stub_exists_and_says_what_it_raises_and_is_no_place_to_move_to():
    found = lookup("keras.optimizers.legacy.Adam", KERAS_3)
    assert found.presence is Presence.EXISTS
    assert found.stub.startswith("ImportError: `keras.optimizers.legacy` is not supported")
    assert lookup("keras.optimizers.Adam", KERAS_3).stub == ""
    assert "keras.optimizers.legacy.Adam" not in lookup("keras.optimizers.adam", KERAS_3).moved_to


@pytest.mark.parametrize(
    "name",
    [
        "keras.src.engine.base_layer",
        "keras.api.layers",
        "keras._tf_keras.keras",
        "keras.backend._BACKEND",
        "keras.backend.__doc__",
        "keras.layers.Dense.__init__",
        "keras.backend.epsilon.cache_clear",
        "tensorflow.python.keras.backend._GRAPH",
        "tensorflow.python.keras.tests.model_architectures",
        "tensorflow.nn.relu",
        "numpy.sum",
    ],
)
def test_what_the_data_cannot_tell_is_unknown_and_never_missing(name):
    assert lookup(name, KERAS_3).presence is Presence.UNKNOWN


def test_a_module_that_was_filled_from_elsewhere_is_never_said_to_lack_a_name():
    module = "tf_keras.protobuf.versions_pb2"
    assert lookup(f"{module}.VersionDef", LEGACY).presence is Presence.EXISTS
    assert lookup(f"{module}.anything", LEGACY).presence is Presence.UNKNOWN


def test_tf_keras_of_a_keras_that_could_stand_beside_any_tensorflow_is_unknown():
    target = resolve_target("keras==2.3.1", "test")
    assert lookup("tensorflow.keras.layers.Dense", target).presence is Presence.UNKNOWN


def test_a_class_has_its_methods_and_lacks_what_no_base_of_it_defines():
    assert lookup("keras.layers.Dense.from_config", KERAS_3).presence is Presence.EXISTS
    assert lookup("keras.layers.Layer.get_updates", KERAS_3).presence is Presence.MISSING


def test_a_module_behind_an_alias_has_its_own_names():
    found = lookup("keras.layers.core.K.sum", resolve_target("keras==2.3.1", "x"))
    assert found.presence is Presence.EXISTS


def test_a_module_that_only_import_finds_says_so():
    found = lookup("tensorflow.keras.saving", KERAS_3)
    assert found.presence is Presence.EXISTS
    assert found.import_only
    assert not lookup("keras.saving", KERAS_3).import_only


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("keras.layers.Dnse", "keras.layers.Dense"),
        ("keras.optimizers.adamw", "keras.optimizers.AdamW"),
        ("keras.backend.Flatten", "keras.layers.Flatten"),
        ("keras.callback", "keras.callbacks"),
    ],
)
def test_a_name_that_never_was_gets_a_suggestion(wrong, right):
    assert lookup(wrong, KERAS_3).suggestions[0] == right


def test_a_suggestion_is_of_the_kind_that_the_name_was():
    assert (
        "keras.initializers.constant" not in lookup("keras.backend.constant", KERAS_3).suggestions
    )


@pytest.mark.parametrize(
    ("name", "form", "kind", "text"),
    [
        (
            "keras.backend.sum",
            "attribute",
            "AttributeError",
            "module 'keras.backend' has no attribute 'sum'",
        ),
        (
            "tensorflow.keras.backend.learning_phase",
            "attribute",
            "AttributeError",
            "module 'keras._tf_keras.keras.backend' has no attribute 'learning_phase'",
        ),
        (
            "keras.models.Input",
            "from-import",
            "ImportError",
            "cannot import name 'Input' from 'keras.models'",
        ),
        (
            "keras.utils.np_utils.to_categorical",
            "from-import",
            "ModuleNotFoundError",
            "No module named 'keras.utils.np_utils'",
        ),
        (
            "keras.utils.np_utils",
            "import",
            "ModuleNotFoundError",
            "No module named 'keras.utils.np_utils'",
        ),
    ],
)
def test_the_error_is_the_one_that_python_gives_for_the_form_of_access(name, form, kind, text):
    assert error_text(name, KERAS_3, form) == text
    assert error_type(name, KERAS_3, form) == kind


def test_a_name_that_exists_has_no_error():
    assert error_text("keras.layers.Dense", KERAS_3, "attribute") == ""
    assert lookup("keras.layers.Dense", KERAS_3).error == ""


def test_a_signature_keeps_order_and_defaults():
    found = signature("keras.backend.sum", KERAS_2_15)
    assert found.text == "x, axis=None, keepdims=False"
    assert [(p.name, p.default) for p in found.parameters] == [
        ("x", None),
        ("axis", "None"),
        ("keepdims", "False"),
    ]


def test_the_signature_of_a_class_is_that_of_making_an_instance():
    found = signature("tensorflow.keras.layers.Dense", KERAS_3)
    assert found.parameters[0].name == "units"
    assert found.parameter("use_bias").default == "True"
    assert found.takes_any_keyword


def test_the_signature_of_an_inherited_method_leaves_self_out():
    assert signature("keras.Sequential.fit", KERAS_3).parameters[0].name == "x"


@pytest.mark.parametrize("cls", ["Sequential", "layers.LSTM", "optimizers.SGD", "losses.Huber"])
@pytest.mark.parametrize("target", [KERAS_3, KERAS_2_15])
def test_the_methods_of_a_class_are_all_that_have_a_signature(cls, target):
    found = methods(f"keras.{cls}", target)
    assert "from_config" in found
    assert not [
        each
        for each in ever_members() - found
        if signature(f"keras.{cls}.{each}", target) is not None
    ]


def test_what_is_no_class_on_a_target_has_no_methods():
    assert not methods("keras.backend.sum", KERAS_2_15)
    assert not methods("keras.layers.CuDNNLSTM", KERAS_3)
    assert not methods("numpy.ndarray", KERAS_3)


def test_what_is_missing_or_no_callable_has_no_signature():
    assert signature("keras.backend.sum", KERAS_3) is None
    assert signature("keras.layers", KERAS_3) is None
    assert signature("numpy.sum", KERAS_3) is None


def test_the_kind_of_a_name_is_known():
    assert lookup("keras.layers", KERAS_3).kind is EntryKind.MODULE
    assert lookup("keras.layers.Dense", KERAS_3).kind is EntryKind.CLASS
    assert lookup("keras.ops.sum", KERAS_3).kind is EntryKind.FUNCTION
    assert lookup("keras.__version__", KERAS_3).kind is EntryKind.VALUE


TENSORFLOW = [resolve_target(f"tensorflow==2.{minor}", "test") for minor in range(22)]
TENSORFLOW_1 = resolve_target("tensorflow==1.15", "test")


def test_the_tf_keras_of_old_tensorflows_is_their_own():
    assert lookup("tensorflow.keras.layers.CuDNNLSTM", TENSORFLOW_1).presence is Presence.EXISTS
    assert lookup("tensorflow.keras.layers.CuDNNLSTM", TENSORFLOW[0]).presence is Presence.MISSING
    found = lookup("tensorflow.keras.layers.experimental.preprocessing.Resizing", TENSORFLOW[3])
    assert (found.presence, found.since) == (Presence.EXISTS, "2.2.3")
    assert found.home == "tensorflow.python.keras.layers.preprocessing.image_preprocessing.Resizing"
    assert lookup("keras.layers.Dense", TENSORFLOW[3]).presence is Presence.UNKNOWN


def test_one_name_has_one_history_across_the_packages_that_made_it():
    found = lookup("tensorflow.keras.models.Model.predict_classes", KERAS_3)
    assert found.presence is Presence.MISSING
    found = lookup("tensorflow.keras.wrappers.scikit_learn.KerasClassifier", KERAS_3)
    assert found.periods == (("1.15.5", "2.12.0"),)


def test_a_module_of_an_old_tensorflow_is_named_as_python_names_it():
    name = "tensorflow.keras.layers.Dnse"
    assert lookup(name, TENSORFLOW[4]).error == (
        "module 'tensorflow.keras.layers' has no attribute 'Dnse'"
    )
    assert lookup(name, TENSORFLOW_1).error == (
        "module 'tensorflow.python.keras.api._v1.keras.layers' has no attribute 'Dnse'"
    )


def test_keras_2_4_has_the_names_of_tensorflow():
    assert lookup("keras.layers.Dense", KERAS_2_4).home == (
        "tensorflow.python.keras.layers.core.Dense"
    )
    assert lookup("keras.layers.Dnse", KERAS_2_4).presence is Presence.MISSING
    assert signature("keras.layers.Dense", KERAS_2_4).parameters[0].name == "units"
    assert lookup("keras.models.Sequential.fit_generator", KERAS_2_4).presence is Presence.EXISTS


@pytest.mark.parametrize(
    ("name", "target", "presence", "public"),
    [
        ("layers.Dense", KERAS_3, Presence.EXISTS, "layers.Dense"),
        ("layers.LSTM", KERAS_3, Presence.MISSING, "layers.LSTM"),
        ("layers.LSTM", TENSORFLOW[5], Presence.EXISTS, "layers.LSTM"),
        ("engine.training.Model", KERAS_3, Presence.EXISTS, "Model"),
        ("layers.core.Dense", TENSORFLOW[10], Presence.EXISTS, "layers.Dense"),
        ("utils.to_categorical", KERAS_3, Presence.MISSING, "utils.to_categorical"),
        ("utils.np_utils.to_categorical", TENSORFLOW[2], Presence.EXISTS, "utils.to_categorical"),
        ("applications.vgg16.VGG16", KERAS_3, Presence.MISSING, "applications.VGG16"),
        ("backend.sum", TENSORFLOW_1, Presence.EXISTS, "backend.sum"),
    ],
)
def test_tensorflows_private_copy_is_looked_up_like_any_root(name, target, presence, public):
    found = lookup(f"tensorflow.python.keras.{name}", target)
    assert found.private
    assert found.presence is presence
    assert f"tensorflow.keras.{public}" == found.public[0]
    assert lookup(found.public[0], target).presence is Presence.EXISTS


def test_the_error_of_the_private_copy_names_its_own_modules():
    name = "tensorflow.python.keras.layers.LSTM"
    assert error_text(name, KERAS_3, "from-import") == (
        "cannot import name 'LSTM' from 'tensorflow.python.keras.layers'"
    )
    name = "tensorflow.python.keras.applications.vgg16"
    assert error_text(name, KERAS_3, "from-import") == (
        "No module named 'tensorflow.python.keras.applications'"
    )


def test_contrib_ended_with_tensorflow_1():
    name = "tensorflow.contrib.keras.layers.Dense"
    assert lookup(name, TENSORFLOW_1).presence is Presence.EXISTS
    # Measured on TensorFlow 1.15.5: its submodules are attributes alone.
    module = "tensorflow.contrib.keras.layers"
    assert error_text(name, TENSORFLOW_1, "attribute") == ""
    assert error_text(module, TENSORFLOW_1, "from-import") == ""
    assert error_text(name, TENSORFLOW_1, "from-import") == f"No module named '{module}'"
    assert error_text(module, TENSORFLOW_1, "import") == f"No module named '{module}'"
    for target in (TENSORFLOW[0], KERAS_3):
        found = lookup(name, target)
        assert (found.presence, found.missing_prefix) == (Presence.MISSING, "tensorflow.contrib")
        assert "tensorflow.keras.layers.Dense" in found.elsewhere
        assert found.error == "module 'tensorflow' has no attribute 'contrib'"
        assert error_text(name, target, "from-import") == "No module named 'tensorflow.contrib'"
    assert lookup(name, resolve_target("keras==2.3.1", "x")).presence is Presence.UNKNOWN


@pytest.mark.parametrize("root", ["tensorflow.compat.v1.keras", "tensorflow.compat.v2.keras"])
def test_beside_keras_3_the_compatible_roots_are_tf_keras_by_attribute_alone(root):
    found = lookup(f"{root}.layers.Dense", KERAS_3)
    assert found.presence is Presence.EXISTS
    assert found.attribute_only
    assert lookup(f"{root}.backend.get_session", KERAS_3).presence is Presence.MISSING
    for form in ("import", "from-import"):
        text = error_text(f"{root}.layers", KERAS_3, form)
        assert text == f"No module named '{root}'"
        assert error_type(f"{root}.layers", KERAS_3, form) == "ModuleNotFoundError"
    assert error_text(f"{root}.layers.Dense", KERAS_3, "attribute") == ""
    assert error_text(root, KERAS_3, "from-import") == ""
    name = f"{root}.backend.get_session"
    assert error_text(name, KERAS_3, "from-import") == f"No module named '{root}'"
    assert error_text(name, KERAS_3, "attribute") == (
        "module 'keras._tf_keras.keras.backend' has no attribute 'get_session'"
    )


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("backend.get_session", "2.15.0"),  # gone from tf.keras with 2.0
        ("losses.mean_squared_error", "3.3.0"),  # of tf.keras, which it is since 3.0
        ("layers.Dense", "3.15.1"),
    ],
)
def test_beside_keras_3_compat_v1_had_a_name_for_as_long_as_it_had_it(name, last):
    assert lookup(f"tensorflow.compat.v1.keras.{name}", KERAS_3).periods[-1][1] == last


@pytest.mark.parametrize("target", [TENSORFLOW_1, *TENSORFLOW[:16]])
def test_before_keras_3_compat_v1_has_what_tensorflow_1_had(target):
    found = lookup("tensorflow.compat.v1.keras.backend.get_session", target)
    assert found.presence is Presence.EXISTS
    assert not found.attribute_only
    assert lookup("tensorflow.compat.v1.keras.layers.Dnse", target).presence is Presence.MISSING


def test_with_tf_keras_compat_v1_has_what_it_had():
    name = "tensorflow.compat.v1.keras.backend.get_session"
    assert lookup(name, LEGACY).presence is Presence.EXISTS
    assert error_text(name, LEGACY, "from-import") == ""


def test_compat_v2_is_tf_keras_from_tensorflow_2_on():
    name = "tensorflow.compat.v2.keras.layers.Dense"
    for target in (TENSORFLOW_1, TENSORFLOW[0], KERAS_2_15):
        assert lookup(name, target).presence is Presence.EXISTS
    cudnn = "tensorflow.compat.v2.keras.layers.CuDNNLSTM"
    assert lookup(cudnn, TENSORFLOW_1).presence is Presence.MISSING
