import pytest

from kdoctor.errors import UsageProblem
from kdoctor.keras_api import newest_target, resolve_target


@pytest.mark.parametrize(
    ("spec", "shown", "keras", "tf_keras"),
    [
        ("keras==3.15.1", "keras 3.15.1", "3.15.1", "3.15.1"),
        ("keras 3.15", "keras 3.15.1", "3.15.1", "3.15.1"),
        ("keras==2.15", "keras 2.15.0", "2.15.0", "2.15.0"),
        ("Keras==2.3.1", "keras 2.3.1", "2.3.1", ""),
        ("tensorflow==2.21", "tensorflow 2.21", "3.15.1", "3.15.1"),
        ("tensorflow==2.10.1", "tensorflow 2.10.1", "2.10.0", "2.10.0"),
        ("tensorflow", "tensorflow 2.21", "3.15.1", "3.15.1"),
        ("tensorflow==2.6", "tensorflow 2.6", "2.6.0", "2.6.0"),
        ("tensorflow==2.5.1", "tensorflow 2.5.1", "", "2.5.3"),
        ("tensorflow-gpu==2.0.0", "tensorflow 2.0.0", "", "2.0.4"),
        ("tensorflow==1.15", "tensorflow 1.15", "", "1.15.5"),
        ("tf_keras==2.21", "tf_keras 2.21.0", "3.15.1", "2.21.0"),
        ("tf-keras==2.15.1", "tf_keras 2.15.1", "2.15.0", "2.15.1"),
    ],
)
def test_a_target_says_which_keras_and_which_tf_keras_it_has(spec, shown, keras, tf_keras):
    target = resolve_target(spec, "--target")
    assert (str(target), target.keras_version, target.tf_keras_version) == (shown, keras, tf_keras)


def test_a_known_release_keeps_its_source_as_it_was_given():
    assert resolve_target("keras==3.15.1", "--target").source == "--target"


@pytest.mark.parametrize("minor", range(6, 22))
def test_every_tensorflow_since_2_6_has_the_keras_that_it_asks_for(minor):
    target = resolve_target(f"tensorflow==2.{minor}", "--target")
    assert target.tf_keras_version == target.keras_version
    expected = f"2.{minor}." if minor < 16 else "3.15.1"
    assert target.keras_version.startswith(expected)


@pytest.mark.parametrize("version", ["1.15", "2.0", "2.1", "2.2", "2.3", "2.4", "2.5"])
def test_an_older_tensorflow_has_its_own_tf_keras_and_any_keras(version):
    target = resolve_target(f"tensorflow=={version}", "--target")
    assert target.tf_keras_version.startswith(f"{version}.")
    assert target.keras_version == ""
    assert target.source == "--target, with its own tf.keras"


@pytest.mark.parametrize(
    ("spec", "known"),
    [
        ("keras==3.14.2", "3.14.1"),
        ("keras==3.14.0", "3.14.1"),  # its names are those of 3.14.1
        ("keras==3.11.0", "3.11.3"),
        ("keras==2.1.2", "2.1.0"),
        ("keras==2.1.5", "2.1.6"),
        ("keras==3.0.3", "3.0.5"),
        ("keras==3.0.1", "3.0.0"),
        ("keras==2.0.1", "2.0.0"),
        ("keras==2.5.0", "2.4.3"),
    ],
)
def test_a_release_between_known_ones_is_read_as_its_neighbour_and_says_so(spec, known):
    target = resolve_target(spec, "--target")
    assert target.keras_version == known
    assert target.version == spec.partition("==")[2]
    assert target.source == f"--target; treated as keras {known}, the nearest known release"


@pytest.mark.parametrize(
    ("spec", "known"),
    [
        ("keras==9", "keras 2.0 to 3.15.1"),
        ("keras==3.99", "keras 2.0 to 3.15.1"),
        ("keras==1.2", "keras 2.0 to 3.15.1"),
        ("tensorflow==0.1", "tensorflow 1.15 to 2.21.0"),
        ("tensorflow==1.4", "tensorflow 1.15 to 2.21.0"),
        ("tensorflow==3.0", "tensorflow 1.15 to 2.21.0"),
        ("tf_keras==3", "tf_keras 2.14 to 2.21.0"),
    ],
)
def test_an_unknown_release_is_a_usage_problem_that_names_what_is_known(spec, known):
    with pytest.raises(UsageProblem) as caught:
        resolve_target(spec, "--target")
    name, _, version = spec.partition("==")
    assert str(caught.value) == f"{name} {version} is not a known release: kdoctor knows {known}."


@pytest.mark.parametrize("spec", ["pytorch==1", "", "keras=3", "keras==three", "keras>=3"])
def test_what_is_no_target_is_a_usage_problem_in_one_sentence(spec):
    with pytest.raises(UsageProblem) as caught:
        resolve_target(spec, "--target")
    assert "\n" not in str(caught.value)
    assert "keras==3.15.1" in str(caught.value)
    assert str(caught.value).endswith(
        "kdoctor knows keras 2.0 to 3.15.1, tensorflow 1.15 to 2.21.0 and tf_keras 2.14 to 2.21.0."
    )


def test_without_a_target_it_is_the_newest_keras_that_the_data_knows():
    assert str(newest_target()) == "keras 3.15.1"
