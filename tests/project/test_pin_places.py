"""Requirements are found where they stand, and written anew there; all else stays."""

from __future__ import annotations

import pytest

from kdoctor.model import Span
from kdoctor.project.pin_places import Lines
from kdoctor.rewrite import render


def written(text: str, requirement: str, instead: str, line: int = 1, *, in_shell=False):
    """Return the text with the requirement written anew, or why it is not."""
    found = Lines(text).written(line, requirement, instead, in_shell=in_shell)
    if found.edit is None:
        return found.why_not
    return render(text, [found.edit], Span(0, len(text)), "\n")


PLACES = [
    ("keras==2.2.4\r\n", "keras==2.2.4", "keras==3.1\r\n"),
    ("  'keras[a] == 2.2.4; x == y',", "keras==2.2.4", "  'keras[a]==3.1; x == y',"),
    ("  - keras=2.2.4  # conda", "keras=2.2.4", "  - keras==3.1  # conda"),
    ("keras>=2,<3.0,!=2.1", "keras!=2.1,<3.0,>=2", "keras==3.1"),
    ("pip install my-keras==1 keras~=2.2", "keras~=2.2", "pip install my-keras==1 keras==3.1"),
    ("pip install keras==3 keras==2.2", "keras==2.2", "pip install keras==3 keras==3.1"),
    ('keras = "^2.4"  # old', "keras ^2.4", 'keras = "==3.1"  # old'),
    ("Keras = {version = '*', extras = ['a']}", "Keras *",
     "Keras = {version = '==3.1', extras = ['a']}"),
    ("pip install \\\n  h5py \\\n  keras==2.2 && x", "keras==2.2",
     "pip install \\\n  h5py \\\n  keras==3.1 && x"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "requirement", "after"), PLACES)
def test_only_a_requirement_and_its_versions_change(text, requirement, after):
    assert written(text, requirement, "keras==3.1") == after


REFUSED = [
    ("tf-keras==2", "keras==2", "its version stands elsewhere"),
    ("nothing", "keras==2", "its version stands elsewhere"),
    ("keras (>=2,<3)", "keras>=2,<3", "its version stands elsewhere"),
    ("- keras=2.2.4=py36_0", "keras=2.2.4=py36_0", "it names one build: let conda find one of"),
    ("keras==2.2 \\\n    --hash=sha256:ab", "keras==2.2", "its hashes are those of the release"),
    ("keras @ https://a/keras-2.2.tar.gz", "keras @ https://a/keras-2.2.tar.gz", "it is installed"),
]


@pytest.mark.parametrize(("text", "requirement", "why_not"), REFUSED)
def test_what_cannot_be_written_says_why(text, requirement, why_not):
    assert written(text, requirement, "keras==3.1").startswith(why_not)


SHELL = [
    ("pip install keras~=2.2 h5py", "pip install 'keras>=3' h5py"),
    ('pip install "keras~=2.2" h5py', 'pip install "keras>=3" h5py'),
    ("bash -c 'pip install keras~=2.2'", "the quotes around the command leave no room for those"),
]


@pytest.mark.parametrize(("text", "after"), SHELL)
def test_in_a_command_a_range_is_quoted(text, after):
    assert written(text, "keras~=2.2", "keras>=3", in_shell=True).startswith(after)


@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("tensorflow-gpu", "tensorflow==2.21"),
        ("tensorflow_cpu", "tensorflow_cpu==2.21"),
        ("TensorFlow", "TensorFlow==2.21"),
    ],
)
def test_a_package_that_ended_gets_the_name_that_goes_on(name, after):
    assert written(f"{name}==1.13", f"{name}==1.13", "tensorflow==2.21") == after
