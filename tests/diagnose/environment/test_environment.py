"""What an environment is said to be, and that each cure cures."""

from __future__ import annotations

import shlex

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from kdoctor.diagnose.environment.facts import releases


def test_a_sound_environment_is_healthy_and_each_line_is_ok(room):
    room.keras_3()
    health_report = room.examine()
    assert health_report.healthy
    assert {check.state for check in health_report.checks} == {"ok"}
    said = {check.subject: check.message for check in health_report.checks}
    assert said["keras"] == "3.15.1"
    assert said["tf.keras"] == "is keras 3.15.1"
    assert said["numpy"] == "2.4.6"


def test_nothing_installed_is_broken_and_says_what_to_install(room):
    check = room.check("tensorflow")
    assert (check.state, check.message) == (
        "broken",
        "neither TensorFlow nor Keras is installed here",
    )
    assert "-m pip install tensorflow==2.21.0" in check.remedy.command


def test_keras_2_15_beside_tensorflow_2_21_is_broken_and_tensorflow_says_what_it_wants(room):
    room.keras_3().uninstall("keras").install("keras", "2.15.0")
    check = room.check("keras")
    assert check.state == "broken"
    assert check.message == (
        "2.15.0 is for TensorFlow 2.15 and does not work with tensorflow 2.21.0, nor does tf.keras"
    )
    assert check.remedy.command == f"{room.python} -m pip install 'keras>=3.12.0'"
    assert room.state("tf.keras") == "broken"
    room.uninstall("keras").install("keras", "3.12.0", "numpy")
    assert room.examine().healthy


@pytest.mark.parametrize(
    ("keras", "tensorflow", "state"),
    [
        ("2.3.1", "1.15.5", "ok"),
        ("2.2.4", "1.15.5", "ok"),
        ("2.2.4", "2.4.4", "broken"),
        ("2.3.1", "2.2.3", "ok"),
        ("2.3.1", "2.3.4", "broken"),
        ("2.4.3", "2.4.4", "ok"),
        ("2.4.3", "1.15.5", "broken"),
        ("2.6.0", "2.4.4", "broken"),
        ("2.10.0", "2.10.1", "ok"),
        ("2.11.0", "2.10.1", "broken"),
        ("2.15.0", "2.15.1", "ok"),
        ("3.0.5", "2.15.1", "warning"),
        ("3.0.5", "2.14.1", "broken"),
        ("3.0.5", "2.16.2", "ok"),
        ("2.15.0", "2.16.2", "broken"),
    ],
)
def test_a_keras_goes_with_some_releases_of_tensorflow_only(room, keras, tensorflow, state):
    room.install("tensorflow", tensorflow).install("keras", keras)
    assert room.state("keras") == state


def test_tf_keras_is_what_tensorflow_and_the_flag_make_it(room):
    room.keras_3()
    assert room.check("tf.keras").message == "is keras 3.15.1"
    room.set(TF_USE_LEGACY_KERAS="1")
    check = room.check("tf.keras")
    assert check.state == "broken"
    assert check.message == (
        "not available: TF_USE_LEGACY_KERAS=1 makes it tf_keras, which is not installed"
    )
    assert check.remedy.command == f"{room.python} -m pip install 'tf_keras==2.21.*'"
    room.install("tf-keras", "2.21.0", "tensorflow<2.22,>=2.21")
    assert room.check("tf.keras").message == "is tf_keras 2.21.0 (TF_USE_LEGACY_KERAS=1)"
    assert room.examine().healthy
    assert "`import keras` is still keras 3.15.1" in room.check("TF_USE_LEGACY_KERAS").message


def test_tf_keras_is_not_put_over_a_tensorflow_of_another_name(room):
    room.keras_3().uninstall("tensorflow")
    room.install("tensorflow-cpu", "2.21.0", files=["tensorflow/__init__.py"])
    room.set(TF_USE_LEGACY_KERAS="1")
    assert "install --no-deps 'tf_keras==2.21.*'" in room.check("tf.keras").remedy.command


@pytest.mark.parametrize(
    ("version", "flag", "state"),
    [
        ("2.21.0", "1", "ok"),
        ("2.20.1", "1", "warning"),
        ("2.22.0", "1", "broken"),
        ("2.15.1", "1", "broken"),
        ("2.15.1", "0", "warning"),
    ],
)
def test_a_tf_keras_of_another_tensorflow_is_broken_only_where_it_is_used(
    room, version, flag, state
):
    room.keras_3().install("tf-keras", version).set(TF_USE_LEGACY_KERAS=flag)
    assert room.state("tf_keras") == state
    assert (room.state("tf.keras") == "broken") is (state == "broken")


@pytest.mark.parametrize(
    ("value", "state", "word"),
    [
        ("0", "ok", "does not change"),
        ("false", "ok", "does not change"),
        ("yes", "warning", "does not enable it"),
        ("TRUE", "warning", "does not enable it"),
    ],
)
def test_only_three_spellings_switch_legacy_keras_on(room, value, state, word):
    room.keras_3().set(TF_USE_LEGACY_KERAS=value)
    assert room.state("TF_USE_LEGACY_KERAS") == state
    assert word in room.check("TF_USE_LEGACY_KERAS").message
    assert room.check("tf.keras").message == "is keras 3.15.1"


def test_a_tensorflow_that_does_not_read_the_flag_is_said_not_to(room):
    room.keras_2_10().set(TF_USE_LEGACY_KERAS="1")
    assert "has no effect" in room.check("TF_USE_LEGACY_KERAS").message
    room.cure("TF_USE_LEGACY_KERAS")
    assert not room.checks("TF_USE_LEGACY_KERAS")


def test_theano_is_broken_on_keras_3_without_effect_on_2_10_and_fine_on_2_3(room):
    room.keras_3().set(KERAS_BACKEND="theano")
    assert "importing keras 3.15.1 raises ValueError" in room.check("KERAS_BACKEND").message
    assert room.state("KERAS_BACKEND") == "broken"
    assert room.cure("KERAS_BACKEND") == "unset KERAS_BACKEND"
    assert room.examine().healthy


def test_keras_3_without_tensorflow_runs_on_what_is_there(room):
    room.install("keras", "3.15.1")
    assert "which is not installed" in room.check("KERAS_BACKEND").message
    assert room.check("KERAS_BACKEND").remedy.command.endswith("-m pip install tensorflow")
    room.install("torch", "2.13.0").write("home/.keras/keras.json", '{"backend": "tensorflow"}')
    assert room.state("KERAS_BACKEND") == "broken"
    assert room.cure("KERAS_BACKEND") == "export KERAS_BACKEND=torch"
    assert room.examine().healthy


def test_keras_2_10_reads_no_backend_from_anywhere(room):
    room.keras_2_10().set(KERAS_BACKEND="jax")
    assert room.state("KERAS_BACKEND") == "warning"
    assert "has no effect: keras 2.10.0 runs only on TensorFlow" in (
        room.check("KERAS_BACKEND").message
    )


def test_a_backend_that_is_not_installed_is_broken_and_one_that_is_there_is_not(room):
    room.keras_3().set(KERAS_BACKEND="jax")
    assert room.state("KERAS_BACKEND") == "broken"
    room.install("jax", "0.10.2")
    assert room.state("KERAS_BACKEND") == "ok"
    assert "tf.keras included" in room.check("KERAS_BACKEND").message


def test_the_backend_of_keras_json_is_corrected_in_its_place_and_the_variable_goes_before_it(room):
    room.keras_3().write(
        "home/.keras/keras.json", '{\n    "backend": "theano",\n    "epsilon": 1e-7\n}'
    )
    assert room.state("keras.json") == "broken"
    room.set(KERAS_BACKEND="tensorflow")
    assert room.examine().healthy
    del room.variables["KERAS_BACKEND"]
    room.cure("keras.json")
    assert room.examine().healthy
    text = (room.work / "home/.keras/keras.json").read_text()
    assert text == '{\n    "backend": "tensorflow",\n    "epsilon": 1e-7\n}'


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ('{"image_data_format": "channels_first"}', "warning"),
        ('{"image_data_format": "channels_last", "floatx": "float32"}', "ok"),
        ('{"floatx": "float128"}', "broken"),
        ('{"floatx": "float16"}', "warning"),
        ('{"image_dim_ordering": "th"}', "warning"),
        ("{not json", "warning"),
        ("[]", "warning"),
    ],
)
def test_keras_json_is_read_as_keras_reads_it_and_its_cure_cures(room, text, state):
    room.keras_3().write("elsewhere/keras.json", text)
    room.set(KERAS_HOME=str(room.work / "elsewhere"))
    assert room.state("keras.json") == state
    if state != "ok":
        room.cure("keras.json")
        assert all(check.state == "ok" for check in room.checks("keras.json"))


def test_numpy_2_under_tensorflow_2_10_is_broken_though_its_wheel_allows_it(room):
    room.keras_2_10().uninstall("numpy").install("numpy", "2.2.6")
    check = room.check("numpy")
    assert check.state == "broken"
    assert "2.2.6 is too new for tensorflow 2.10.1" in check.message
    assert check.remedy.command == f"{room.python} -m pip install 'numpy>=1.20,<2'"


@pytest.mark.parametrize("version", releases("tensorflow"))
def test_what_is_told_to_install_is_what_the_tensorflow_asks_for(room, version):
    asked = releases("tensorflow")[version].requires
    room.install("tensorflow", version, *(f"{name}{bounds}" for name, bounds in asked.items()))
    room.install("numpy", "2.4.6").install("protobuf", "7.36.2").install("h5py", "3.16.0")
    for check in room.examine().checks:
        if check.subject in {"numpy", "protobuf", "h5py"} and check.remedy is not None:
            told = Requirement(shlex.split(check.remedy.command)[-1])
            assert set(SpecifierSet(asked[check.subject])) <= set(told.specifier)


def test_a_release_that_was_not_tried_is_judged_by_those_around_it(room):
    room.install("tensorflow", "2.11.1", "numpy>=1.20").install("keras", "2.11.0")
    room.install("numpy", "2.2.6")
    check = room.check("numpy")
    assert check.state == "broken"
    assert "too new for tensorflow 2.11.1" in check.message
    room.uninstall("numpy").install("numpy", "1.26.4")
    assert room.state("numpy") == "ok"


def test_what_ran_with_an_older_tensorflow_is_not_said_to_run_with_this_one(room):
    room.keras_3().uninstall("protobuf")
    room.install("protobuf", "4.25.3", files=["google/protobuf/__init__.py"])
    check = room.check("protobuf")
    assert (check.state, "seen to run" in check.message) == ("warning", False)


def test_what_a_wheel_does_not_ask_for_and_was_not_tried_is_a_warning(room):
    room.keras_3().uninstall("h5py").install("h5py", "3.10.0")
    check = room.check("h5py")
    assert (check.state, check.remedy.command) == (
        "warning",
        f"{room.python} -m pip install 'h5py<3.15.0,>=3.11.0'",
    )


def test_what_a_framework_imports_and_is_not_there_is_broken(room):
    room.keras_3().uninstall("numpy")
    assert room.state("numpy") == "broken"
    assert "requires numpy" in room.check("numpy").message


def test_a_requirement_for_another_platform_or_an_extra_is_not_missed(room):
    room.keras_3().uninstall("tensorflow")
    room.install(
        "tensorflow",
        "2.21.0",
        'absent; sys_platform == "win32"',
        'nvidia-cudnn; extra == "and-cuda"',
        'tensorflow-intel==2.21.0; platform_system == "Windows"',
    )
    assert room.examine().healthy


def test_segmentation_models_without_its_variable_is_broken_on_keras_3_only(room):
    room.keras_3().install("segmentation-models", "1.0.1")
    assert "SM_FRAMEWORK is not set" in room.check("SM_FRAMEWORK").message
    assert not room.examine().healthy
    assert room.cure("SM_FRAMEWORK") == "export SM_FRAMEWORK=tf.keras"
    assert room.examine().healthy


def test_segmentation_models_needs_no_variable_where_keras_has_what_it_reads(room):
    room.keras_2_10().install("segmentation-models", "1.0.1")
    assert not room.checks("SM_FRAMEWORK")
    assert room.examine().healthy


def test_a_program_that_speaks_of_the_variable_is_trusted(room):
    room.keras_3().install("segmentation-models", "1.0.1")
    room.write("src/train.py", 'import os\nos.environ["SM_FRAMEWORK"] = "tf.keras"\n')
    assert room.check("SM_FRAMEWORK").message.endswith("src/train.py mentions it")
    assert room.examine().healthy


def test_a_wrong_framework_is_broken(room):
    room.keras_3().install("segmentation-models", "1.0.1").set(SM_FRAMEWORK="tensorflow")
    assert "raises ValueError" in room.check("SM_FRAMEWORK").message
    room.cure("SM_FRAMEWORK")
    assert room.examine().healthy


def test_a_library_that_misses_a_package_is_broken(room):
    room.keras_3().install("image-classifiers", "1.0.0", "keras-applications<=1.0.8,>=1.0.7")
    check = room.check("image-classifiers")
    assert check.state == "broken"
    assert "needs keras-applications<=1.0.8,>=1.0.7, which is not installed" in check.message
    room.install("keras-applications", "1.0.8")
    assert room.state("image-classifiers") == "ok"


def test_libraries_of_keras_2_are_broken_on_keras_3(room):
    room.keras_3().install("tensorflow-addons", "0.23.0").install("keras-contrib", "2.0.8")
    assert room.state("tensorflow-addons") == "broken"
    assert room.state("keras-contrib") == "warning"


def test_without_pip_the_cure_is_for_uv_where_uv_made_the_environment(room):
    room.keras_3().uninstall("keras").uninstall("pip")
    config = room.prefix / "pyvenv.cfg"
    config.write_text(config.read_text() + "\nuv = 0.13.9\n")
    command = room.check("keras").remedy.command
    assert command == f"env UV_PYTHON={room.python} uv pip install 'keras>=3.12.0'"
