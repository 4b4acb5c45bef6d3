"""No trigger keeps a rule from what it would find: the gate is held against no gate at all."""

from __future__ import annotations

import json
import re
import secrets
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kdoctor.config import other_backends
from kdoctor.engine.examine import Examiner
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.keras_api import newest_target, resolve_target
from kdoctor.rules import all_rules
from kdoctor.rules.members._lost_members import GONE_OF_CLASSES
from kdoctor.rules.members._removed_members import GONE
from tools.gone_members import gone_of_classes_on, gone_on

RULES = [rule for rule in all_rules() if rule.family != "suppression"]
EXAMPLES = [each.before for rule in RULES for each in rule.invalid]
BACKENDS = other_backends("all")  # so that rules are asked that need them
FRAGMENTS = [source for rule in RULES for source in rule.valid]


def orders_for(example, **options):
    target = resolve_target(example.on, "a test") if example.on else newest_target()
    options |= {"namespace": example.namespace, "backends": BACKENDS}
    return ScanOptions(target, diffs=False, anchors=False, **options)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_finds_with_the_gate_what_its_examples_show(rule):
    for example in rule.invalid:
        examiner = Examiner(orders_for(example, codes=(rule.code,)))
        found = examiner.examine("nowhere/f.py", example.before.encode()).scan.findings
        assert len(found) == example.findings


# Other ways to write the same thing.


def in_a_function(source):
    if "import *" in source or "__future__" in source:
        return source
    return "def everything():\n" + textwrap.indent(source, "    ") + "\n    pass\n"


def in_a_branch(source):
    return (
        source if "__future__" in source else f"if 1:\n{textwrap.indent(source, '    ')}\n    pass"
    )


def by_assignment(source):
    return re.sub(r"^import keras$", "import keras as k_0\nkeras = k_0", source, flags=re.MULTILINE)


def under_tensorflow(source):
    return re.sub(r"^import keras$", "from tensorflow import keras", source, flags=re.MULTILINE)


def with_layers_aliased(source):
    changed = re.sub(r"\bkeras\.layers\.", "L_0.", source)
    return re.sub(
        r"^import keras$", "import keras\nL_0, K_0 = keras.layers, keras.backend", changed,
        count=1, flags=re.MULTILINE,
    )  # fmt: skip


def by_reading(source):
    """Read the name off its module instead of importing it."""
    return re.sub(
        r"^from (keras[\w.]*) import (\w+)$", r"import \1 as m_\2\n\2 = m_\2.\2", source,
        flags=re.MULTILINE,
    )  # fmt: skip


def by_star(source):
    return re.sub(
        r"^from (keras[\w.]*) import \w+$", r"from \1 import *", source, flags=re.MULTILINE
    )


def in_a_try(source):
    return re.sub(
        r"^import keras$", "try:\n    import keras\nexcept ImportError:\n    keras = None", source,
        flags=re.MULTILINE,
    )  # fmt: skip


def with_layers_kept(source):
    """Keep what is made in an attribute, and read it there."""
    return re.sub(
        r"^(model|x|layer) = ", r"class Kept: pass\nkept = Kept()\nkept.it = \1 = ", source
    )


def asynchronously(source):
    return re.sub(r"^( *)(def|for) (?=.*:)", r"\1async \2 ", source, flags=re.MULTILINE)


def beside_another_keras(source):
    """Import something of a Keras 2, too: then only what surely is of Keras 3 is told."""
    other = "from tensorflow.python.keras.layers import Conv2D as of_another\n"
    return source if "__future__" in source else other + source


WAYS = [beside_another_keras, in_a_function, asynchronously, in_a_branch, by_assignment, under_tensorflow, with_layers_aliased,
        by_reading, by_star, in_a_try, with_layers_kept]  # fmt: skip


def findings(source, *, gate):
    scan_options = ScanOptions(
        newest_target(), gate=gate, diffs=False, anchors=False, backends=BACKENDS
    )
    return Examiner(scan_options).examine("nowhere/f.py", source.encode()).scan.findings


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(EXAMPLES),
    st.sampled_from([*EXAMPLES, *FRAGMENTS, ""]),
    st.lists(st.sampled_from(WAYS), max_size=3, unique=True),
)
def test_the_gate_changes_nothing_however_the_code_is_written(one, other, ways):
    source = f"{one}\n{other}\n"
    for way in ways:
        source = way(source)
    assert findings(source, gate=True) == findings(source, gate=False)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_gate_changes_nothing_in_a_way_that_is_drawn_for_each_rule(rule):
    drawn = secrets.SystemRandom()
    for way in drawn.sample(WAYS, 2):
        source = way(f"{drawn.choice(rule.invalid).before}\n")
        assert findings(source, gate=True) == findings(source, gate=False), source


@pytest.mark.sampled(4)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_no_rule_leaves_to_the_gate_what_is_fine(rule):
    for source in rule.valid:
        assert findings(source, gate=True) == findings(source, gate=False)


def test_what_objects_of_a_kind_lack_on_the_newest_keras_is_written_down():
    for kind, members in gone_on(newest_target().version).items():
        assert members <= GONE[kind]


def test_what_objects_of_a_class_lack_on_the_newest_keras_is_written_down():
    names = (
        *("Model", "layers.LSTM", "layers.Merge", "optimizers.Adam", "callbacks.EarlyStopping"),
        *("metrics.Mean", "losses.Huber"),
    )
    found = gone_of_classes_on(newest_target().version, names)
    assert {"LSTM", "Adam", "EarlyStopping", "Mean"} <= found.keys()
    written = json.loads(GONE_OF_CLASSES.read_bytes())
    assert {name for name, gone in found.items() if not gone <= {*written.get(name, ())}} == set()
