"""The table of known messages: each entry is held to its own example."""

from __future__ import annotations

import ast
import re
from importlib import resources

import pytest

from kdoctor import explain
from kdoctor.diagnose import Fault
from kdoctor.diagnose.messages import Message, messages
from kdoctor.keras_api import Presence, lookup, newest_target, signature
from kdoctor.rules import all_rules
from tests.diagnose.proof_of_removals import guessed


def shown(entry):
    type_ = f"{entry.types[0]}: " if entry.types and entry.types[0] else ""
    return f"{type_}{entry.example}"


TOLD = [entry for entry in messages() if not entry.needs_frames]


@pytest.mark.parametrize("entry", TOLD, ids=lambda entry: entry.id)
def test_the_example_of_an_entry_is_explained_by_it(entry):
    found = explain(shown(entry))
    assert any(f"({entry.id})" in each for each in found.evidence), found
    assert found.steps
    assert not guessed(shown(entry), found)
    assert "<" not in re.sub(r"<(?:operation on t|learning rate|decay)>", "", found.meaning)


@pytest.mark.parametrize("entry", [e for e in TOLD if "`" in e.example], ids=lambda e: e.id)
def test_it_is_explained_too_where_an_issue_made_markup_of_the_backticks(entry):
    found = explain(shown(entry).replace("`", ""))
    assert any(f"({entry.id})" in each for each in found.evidence), found


@pytest.mark.parametrize("entry", messages(), ids=lambda entry: entry.id)
def test_an_entry_that_asks_for_frames_says_what_must_hold_without_them(entry):
    asks = bool(entry.raised_in or entry.line)
    assert asks <= bool(entry.only_if or entry.needs_frames)
    if entry.only_if:
        assert explain(shown(entry)).only_if


@pytest.mark.parametrize("entry", messages(), ids=lambda entry: entry.id)
def test_the_rules_that_an_entry_names_exist(entry):
    assert set(entry.rules) <= {rule.code for rule in all_rules()}


def test_the_readme_says_what_each_field_means():
    readme = resources.files("kdoctor.diagnose") / "messages" / "README.md"
    explained = re.findall(r"^\| `(\w+)` \|", readme.read_text("utf-8"), re.MULTILINE)
    assert sorted(explained) == sorted(Message.__struct_fields__)


def test_names_of_entries_are_unique():
    names = [entry.id for entry in messages()]
    assert len(names) == len(set(names))


def test_a_message_that_could_be_anyones_is_not_claimed_without_its_frames():
    text = (
        "Traceback (most recent call last):\n"
        '  File "/home/me/sums.py", line 3, in <module>\n'
        "    a, b = half(3)\n"
        "TypeError: cannot unpack non-iterable float object\n"
    )
    assert not explain(text).concerns_keras
    source = b"def half(x):\n    return x / 2\na, b = half(3)\n"
    assert explain(text, read=lambda _: source).fault is Fault.NOT_KERAS


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("name = data.decode()", "AttributeError: 'str' object has no attribute 'decode'"),
        ("code = marshal.loads(data)", "ValueError: bad marshal data (unknown type code)"),
        ("kind = node.layer", "AttributeError: 'tuple' object has no attribute 'layer'"),
        ("c = a + b", "ValueError: Shapes (2, 3) and (4, 5) are incompatible"),
        ("m = load(path)", "OSError: SavedModel file does not exist at: m/{saved_model.pb}"),
    ],
)
def test_what_keras_did_not_raise_is_not_claimed(line, error):
    text = f'Traceback (most recent call last):\n  File "/home/me/a.py", line 3, in f\n    {line}\n'
    assert not explain(f"{text}{error}\n", read=lambda _: None).concerns_keras


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("return keras.utils.deserialize_keras_object(", "module-objects-are-not-looked-at"),
        ("model = keras.models.load_model('a.keras')", "custom-class-is-not-found"),
    ],
)
def test_what_is_not_found_is_looked_for_where_the_line_asks_for_it(line, entry):
    below = "/v/lib/python3.11/site-packages/keras/src/saving/serialization_lib.py"
    text = (
        "Traceback (most recent call last):\n"
        f'  File "/home/me/get.py", line 5, in get\n    {line}\n'
        f'  File "{below}", line 613, in deserialize_keras_object\n'
        "    return deserialize_keras_object(\n"
        f'  File "{below}", line 899, in _retrieve_class_or_fn\n    raise TypeError(\n'
        "TypeError: Could not locate function 'mine'. Make sure custom classes and functions are\n"
    )
    found = explain(text)
    assert f"({entry})" in found.evidence[0]
    if entry.startswith("module"):
        assert "custom_objects={'mine': mine}" in found.steps[0].text


def parsed(code):
    """Return the tree of a cure: a statement, the body of a class or an argument."""
    code = re.sub(r"<operation on t>|<learning rate>|<decay>", "0.5", code.rpartition("->")[2])
    code = (
        re.sub(r"<(\w+)>", r"\1", code).replace("(…, ", "(").replace(", …", "").replace("…", "...")
    )
    for form in ("{}", "{}\n    pass", "{} ...", "f({})", "def f():\n    {}"):
        try:
            return ast.parse(form.format(code))
        except SyntaxError:
            continue
    raise AssertionError(code)


CODE = {
    f"{entry.id}-{number}": cure
    for entry in messages()
    for number, cure in enumerate(entry.fix)
    if cure.code
}


@pytest.mark.parametrize("cure", CODE.values(), ids=CODE)
def test_the_code_of_a_cure_can_be_read_and_names_what_the_newest_keras_has(cure):
    target = newest_target()
    for node in ast.walk(parsed(cure.code)):
        name = ast.unparse(node.func if isinstance(node, ast.Call) else node)
        if not re.fullmatch(r"keras(?:\.\w+)+", name) or "Keras 2" in cure.note:
            continue
        assert lookup(name, target).presence is Presence.EXISTS, name
        known = signature(name, target) if isinstance(node, ast.Call) else None
        if known is not None and "**" not in known.text:
            assert all(each.arg and known.parameter(each.arg) for each in node.keywords), name


@pytest.mark.parametrize(
    ("frame", "is_told"),
    [("keras/src/trainers/data_adapters/data_adapter_utils.py", True), ("mine/net.py", False)],
)
def test_a_batch_that_ends_with_none_is_told_by_the_frame_that_reads_it(frame, is_told):
    text = f"""Traceback (most recent call last):
  File "/home/u/train.py", line 9, in <module>
    model.predict(Batches(x), verbose=0)
  File "/usr/lib/python3.11/site-packages/{frame}", line 148, in get_single_tensor_spec
    rank = len(x.shape)
AttributeError: 'NoneType' object has no attribute 'shape'
"""
    assert ("KD489" in explain(text).rule) is is_told
