"""Left-over folders, and files that hide others."""

from __future__ import annotations

import site
import sys

import pytest


def test_a_stale_folder_that_hides_a_module_is_named_and_taken_away(room):
    room.keras_2_10()
    stale = room.site / "keras" / "backend"
    stale.mkdir()
    (stale / "__init__.py").write_text("")
    (stale / "tensorflow_backend.py").write_text("")
    check = room.check("keras")
    assert check.state == "broken"
    assert check.message.startswith(
        "keras/backend/ was left over by another version and hides keras/backend.py of keras 2.10.0"
    )
    assert room.cure("keras") == f"rm -r {stale}"
    assert room.examine().healthy
    assert (room.site / "keras" / "backend.py").exists()


def test_a_folder_without_init_hides_nothing(room):
    room.keras_2_10()
    (room.site / "keras" / "backend").mkdir()
    (room.site / "keras" / "backend" / "__pycache__").mkdir()
    assert {check.state for check in room.checks("keras")} == {"ok"}


def test_left_over_modules_that_hide_nothing_are_a_warning(room):
    room.keras_2_10()
    (room.site / "keras" / "wrappers").mkdir()
    (room.site / "keras" / "wrappers" / "__init__.py").write_text("")
    (room.site / "keras" / "wrappers" / "scikit_learn.py").write_text("")
    check = room.check("keras")
    assert check.state == "warning"
    assert not check.remedy.command  # who put them there, nobody knows
    assert "put there on purpose" in check.remedy.note


def test_metadata_of_a_version_that_is_gone_is_a_warning_and_the_files_say_which(room):
    room.keras_3()
    stale = room.site / "keras-2.10.0.dist-info"
    stale.mkdir()
    (stale / "METADATA").write_text("Metadata-Version: 2.1\nName: keras\nVersion: 2.10.0\n\n")
    (room.site / "keras/src").mkdir()
    (room.site / "keras/src/version.py").write_text('__version__ = "3.15.1"\n')
    record = room.site / "keras-3.15.1.dist-info/RECORD"
    record.write_text(record.read_text() + "keras/src/version.py,,\n")
    check = room.check("keras")
    assert (check.state, "keras-2.10.0.dist-info" in check.message) == ("warning", True)
    room.cure("keras")
    assert {check.state for check in room.checks("keras")} == {"ok"}


def test_an_empty_metadata_folder_of_an_uninstall_is_passed_over(room):
    room.keras_3()
    (room.site / "keras-2.10.0.dist-info").mkdir()
    (room.site / "~eras-2.9.0.dist-info").mkdir()
    assert room.examine().healthy
    assert room.check("keras").message == "3.15.1"


def test_files_that_are_gone_are_broken_and_files_that_were_changed_a_warning(room):
    room.keras_2_10()
    (room.site / "keras/engine/__init__.py").write_text("# changed by hand, and longer now\n")
    assert room.state("keras") == "warning"
    assert not room.check("keras").remedy.command  # a change on purpose would be lost
    (room.site / "keras/backend.py").unlink()
    check = room.check("keras")
    assert check.state == "broken"
    assert check.message.startswith("keras/backend.py of keras 2.10.0 is missing")
    assert check.remedy.command.endswith("install --force-reinstall --no-deps keras==2.10.0")


def test_tests_that_an_image_goes_without_are_not_missed(room):
    room.keras_3().uninstall("keras")
    files = ["keras/__init__.py", "keras/src/losses_test.py", "keras/src/testing/case.py"]
    room.install("keras", "3.15.1", files=files)
    (room.site / files[1]).unlink()
    (room.site / files[2]).unlink()
    assert room.examine().healthy


def test_a_file_on_pythonpath_in_the_working_folder_hides_a_framework_too(room):
    room.keras_3().write("keras.py").set(PYTHONPATH=str(room.work))
    assert room.state("keras.py") == "broken"


def test_keras_without_metadata_is_broken(room):
    room.keras_3().uninstall("keras")
    (room.site / "keras").mkdir()
    (room.site / "keras/__init__.py").write_text("")
    said = [check for check in room.checks("keras") if check.state == "broken"]
    found = [each for each in said if "no metadata says which version it is" in each.message]
    assert [each.remedy.command for each in found] == [""]


def test_keras_and_keras_nightly_over_each_other_are_broken(room):
    room.keras_3().install("keras-nightly", "3.16.0.dev1", files=["keras/__init__.py"])
    assert "keras 3.15.1 and keras-nightly 3.16.0.dev1" in room.check("keras").message
    assert room.state("keras") == "broken"


def test_an_environment_that_stands_before_another_is_not_to_be_uninstalled(room):
    room.keras_3()
    other = room.work / "lib" / "site-packages"
    (other / "keras-3.12.0.dist-info").mkdir(parents=True)
    headers = "Metadata-Version: 2.1\nName: keras\nVersion: 3.12.0\n\n"
    (other / "keras-3.12.0.dist-info" / "METADATA").write_text(headers)
    room.set(PYTHONPATH=str(other))
    said = [each for each in room.checks("keras") if " hides " in each.message]
    assert [each.remedy.command for each in said] == [""]


def test_two_tensorflows_of_different_versions_are_broken(room):
    room.keras_3().install("tensorflow-cpu", "2.10.1", files=["tensorflow/other.py"])
    check = room.check("tensorflow")
    assert (check.state, "on top of each other" in check.message) == ("broken", True)


def test_tensorflow_and_its_windows_half_are_one(room):
    room.keras_3().install("tensorflow-intel", "2.21.0", files=["tensorflow/intel.py"])
    assert room.examine().healthy


@pytest.mark.parametrize("name", ["keras.py", "tensorflow.py", "keras/__init__.py", "numpy.py"])
def test_a_file_of_the_users_that_hides_a_framework_is_broken(room, name):
    room.keras_3().write(name)
    top = name.split("/")[0]
    assert room.state(top) == "broken"
    assert "is in the working directory" in room.check(top).message
    room.cure(top)
    assert room.examine().healthy


@pytest.mark.parametrize("name", ["keras/notes.txt", "keras/train.py", "my_keras.py", "keras.txt"])
def test_what_python_does_not_take_for_the_package_is_left_alone(room, name):
    room.keras_3().write(name)
    assert room.examine().healthy
    assert not room.checks("keras.py")


@pytest.mark.skipif(not site.ENABLE_USER_SITE and sys.prefix == sys.base_prefix, reason="no users")
def test_a_package_that_hides_another_version_of_itself_is_a_warning(room):
    room.keras_3()
    first = room.work.parent / "first"
    room.install("keras", "3.12.0", site=first).set(PYTHONPATH=str(first))
    said = [check for check in room.checks("keras") if "hides" in check.message]
    assert [check.state for check in said] == ["warning"]
    assert "3.12.0" in said[0].message
    assert "3.15.1" in said[0].message
    assert room.check("tf.keras").message == "is keras 3.12.0"
