"""Code that asks whether an object has a member that is gone does nothing on Keras 3, silently."""

import pytest

from kdoctor.engine import scan
from tests.rules.before_and_after import fixed

HEAD = "import keras\nfrom keras import backend as K\n\n\ndef f(model: keras.Model, logs):\n"
IN_VAIN = {
    "a rate is set by the backend": (
        "    if hasattr(model.optimizer, 'lr'):\n        K.set_value(model.optimizer.lr, 0.1)\n"
    ),
    # What a fix of another rule makes of it.
    "the new name is asked for by the old": (
        "    if hasattr(model.optimizer, 'lr'):\n        model.optimizer.learning_rate = 0.1\n"
    ),
    "the rest of the function": (
        "    opt = model.optimizer\n    if not hasattr(opt, 'lr'):\n        print('none')\n"
        "        return\n    opt.lr = 0.1\n"
    ),
    "the answer is kept": (
        "    has = hasattr(model.optimizer, 'lr')\n    if has:\n        model.optimizer.lr = 0.1\n"
    ),
    "the answer is turned round": (
        "    if not hasattr(model.optimizer, 'lr'):\n        pass\n    else:\n"
        "        model.optimizer.lr = 0.1\n"
    ),
    "one of two conditions": (
        "    if logs and hasattr(model.optimizer, 'lr'):\n        logs['lr'] = model.optimizer.lr\n"
    ),
    "a condition inside of another": (
        "    if hasattr(model.optimizer, 'lr') and model.optimizer.lr > 1:\n        print('high')\n"
    ),
    "a comprehension": "    return [o.lr for o in [model.optimizer] if hasattr(o, 'lr')]\n",
    "a fixed value instead": (
        "    return model.optimizer.lr if hasattr(model.optimizer, 'lr') else None\n"
    ),
    "a default": "    return getattr(model.optimizer, 'lr', 0.01)\n",
    "a default that is asked for": (
        "    rate = getattr(model.optimizer, 'lr', None)\n    if rate is not None:\n"
        "        logs['lr'] = rate\n"
    ),
}
OTHERS = {
    "a model": "    if hasattr(model, 'reset_states'):\n        model.reset_states()\n",
    "a layer": (
        "    for layer in model.layers:\n        if hasattr(layer, 'output_shape'):\n"
        "            print(layer.output_shape)\n"
    ),
    "an optimizer": "    logs['weights'] = getattr(model.optimizer, 'weights', [])\n",
}
FOR_BOTH = {
    "a branch for each": (
        "    if hasattr(model, 'predict_classes'):\n        return model.predict_classes(logs)\n"
        "    return model.predict(logs).argmax(axis=-1)\n"
    ),
    "the answer is kept": (
        "    old = hasattr(model.optimizer, 'lr')\n"
        "    return model.optimizer.lr if old else model.optimizer.learning_rate\n"
    ),
    "the new name afterwards": (
        "    rate = getattr(model.optimizer, 'lr', None)\n    if rate is None:\n"
        "        rate = model.optimizer.learning_rate\n    return rate\n"
    ),
    "a name for the member": (
        "    name = 'lr' if hasattr(model.optimizer, 'lr') else 'learning_rate'\n"
        "    return getattr(model.optimizer, name)\n"
    ),
    "by an exit in a loop": (
        "    for each in [model.optimizer]:\n        if hasattr(each, 'lr'):\n"
        "            each.lr = 0.1\n            continue\n        each.learning_rate = 0.1\n"
    ),
    "a version check": (
        "    if keras.__version__ < '3' and hasattr(model.optimizer, 'lr'):\n"
        "        model.optimizer.lr = 0.1\n"
    ),
}


def told(program):
    found = scan(["-"], stdin=f"{HEAD}{program}".encode(), select=["KD481"])
    return [each.code for each in found.findings]


@pytest.mark.parametrize("program", IN_VAIN.values(), ids=IN_VAIN)
def test_what_depends_on_a_gone_member_is_told_and_mended(program):
    assert told(program) == ["KD481"]
    mended = fixed(f"{HEAD}{program}", "KD1", "KD2", "KD4")
    assert "learning_rate" in mended
    assert "'lr')" not in mended
    assert ".lr" not in mended


@pytest.mark.parametrize("program", OTHERS.values(), ids=OTHERS)
def test_other_members_that_are_gone_are_told(program):
    assert told(program) == ["KD481"]


@pytest.mark.parametrize("program", FOR_BOTH.values(), ids=FOR_BOTH)
def test_code_for_both_is_left_alone(program):
    assert not told(program)


def test_the_new_name_elsewhere_in_a_script_does_not_make_it_code_for_both():
    source = (
        "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
        "model.compile('sgd', 'mse')\nprint(float(model.optimizer.learning_rate))\n"
        "if hasattr(model.optimizer, 'lr'):\n    model.optimizer.lr = 0.1\n"
    )
    found = scan(["-"], stdin=source.encode(), select=["KD481"])
    assert [each.code for each in found.findings] == ["KD481"]
