"""Optimizers for Keras 2: which classes are rewritten, what stops it, what must not get lost."""

import pytest

from kdoctor.engine import fix, scan

HEAD = """import tensorflow as tf
from tensorflow import keras


class Mine(keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, name="Mine", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
"""
OLD_HEAD = """import keras
from keras import backend as K


class Mine(keras.optimizers.Optimizer):
    def __init__(self, lr=0.1, **kwargs):
        super().__init__(**kwargs)
        self.lr = K.variable(lr)
"""


def found(source):
    return scan(["-"], stdin=source.encode(), select=["KD511", "KD512"]).findings


def mended(source):
    result = fix(["-"], stdin=source.encode(), unsafe=True)
    assert not result.left_alone
    return result.files[0].after.decode()


def why_not(source):
    (finding,) = found(source)
    assert finding.fix is None
    return finding.no_fix_because


DENSE = """
    def _resource_apply_dense(self, grad, var):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("return var.assign_sub(grad * self._hyper['x'])", "self._hyper"),
        ("return log(self, var.assign_sub(grad))", "log(self, var.assign_sub(grad))"),
        ("return elsewhere(var)", "elsewhere(var)"),
        ("return self.get_slot(var, 'm').assign(grad)", "self.get_slot(var, 'm')"),
        ("return super()._resource_apply_dense(grad, var)", "super()._resource_apply_dense"),
    ],
)
def test_a_statement_that_is_not_understood_is_named_and_nothing_is_rewritten(body, place):
    source = HEAD + DENSE.format(body=body) + "\nfrom somewhere import elsewhere, log\n"
    reason = why_not(source)
    assert place in reason
    assert "line 11" in reason


def test_a_slot_that_not_every_variable_has_is_not_rewritten():
    source = (
        HEAD
        + "\n    def _create_slots(self, var_list):\n        for var in var_list:\n"
        + "            if 'bias' not in var.name:\n                self.add_slot(var, 'm')\n"
        + DENSE.format(body="return var.assign_sub(grad)")
    )
    assert "which slots are made for which variables" in why_not(source)


def test_a_method_that_keras_3_never_calls_stops_the_rewrite():
    source = HEAD + DENSE.format(body="return var.assign_sub(grad)")
    source += "\n    def minimize(self, loss, var_list):\n        pass\n"
    assert "Keras 3 never calls it" in why_not(source)


def test_a_class_on_top_of_adam_is_reported_but_not_rewritten():
    source = HEAD.replace("optimizers.Optimizer", "optimizers.Adam")
    assert "base class" in why_not(source + DENSE.format(body="return var.assign_sub(grad)"))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("self.updates.append(K.update(m, g)); self.updates.append(K.update(p, p - m))", "`m`"),
        ("self.updates.append(K.update(norm, g))", "what is updated"),
        ("self.lr = self.lr * 0.5", "changes the learning rate"),
        ("p = p - sum(grads)", "all variables at once"),
        ("for _ in range(3):\n                pass", "not followed"),
    ],
)
def test_a_loop_that_is_not_understood_is_not_rewritten(body, reason):
    lines = body.replace("; ", "\n            ")
    source = (
        f"{OLD_HEAD}\n    def get_updates(self, loss, params):\n"
        "        grads = self.get_gradients(loss, params)\n        self.updates = []\n"
        "        ms = [K.zeros(K.int_shape(p)) for p in params]\n"
        f"        for p, g, m in zip(params, grads, ms):\n            {lines}\n"
        "        return self.updates\n"
    )
    assert reason in why_not(source)


def test_comments_stay_and_what_is_used_no_more_goes():
    source = (
        f"{OLD_HEAD}        self.iterations = K.variable(0)  # counted from 0\n\n"
        "    def get_updates(self, loss, params):\n"
        "        # The gradients.\n        grads = self.get_gradients(loss, params)\n"
        "        updates = [K.update_add(self.iterations, 1)]\n"
        "        for p, g in zip(params, grads):  # each of them\n"
        "            # Down the hill.\n            new = p - self.lr * g  # by a step\n"
        "            if getattr(p, 'constraint', None) is not None:\n"
        "                new = p.constraint(new)\n"
        "            updates.append(K.update(p, new))\n        return updates\n"
    )
    after = mended(source)
    for comment in (
        "counted from 0",
        "The gradients.",
        "each of them",
        "Down the hill",
        "by a step",
    ):
        assert f"# {comment}" in after
    assert after.startswith("import keras\n\n\nclass Mine")
    assert "    def update_step(self, g, p, learning_rate):\n" in after
    assert "        new = p - keras.ops.cast(learning_rate, p.dtype) * g  # by a step\n" in after
    assert "        self.assign(p, new)\n" in after
    assert mended_again_changes_nothing(after)


def mended_again_changes_nothing(source):
    return not fix(["-"], stdin=source.encode(), unsafe=True).files


def test_an_attribute_that_keras_3_has_too_gets_another_name():
    source = HEAD + (
        "        self._set_hyper('weight_decay', 0.5)\n"
        "        self.clipnorm = None\n"
        + DENSE.format(
            body="return var.assign_sub(grad + self._get_hyper('weight_decay', var.dtype) * var)"
        )
        + "\n    def get_config(self):\n        config = super().get_config()\n"
        "        config.update({'weight_decay': self._serialize_hyperparameter('weight_decay')})\n"
        "        return config\n"
    )
    after = mended(source)
    assert "self._weight_decay = 0.5" in after
    assert "self._clipnorm = None" in after
    assert "cast(self._weight_decay, var.dtype)" in after
    assert "{'weight_decay': self._weight_decay}" in after


def test_the_members_of_such_a_class_are_told_of_once():
    source = HEAD + DENSE.format(body="return var.assign_sub(grad * self._decayed_lr(var.dtype))")
    assert [each.code for each in scan(["-"], stdin=source.encode()).findings] == ["KD511"]


def test_what_keras_takes_out_of_kwargs_is_set_after_the_base_class_has_started():
    source = OLD_HEAD.replace(
        "        super()", "        self.initial_decay = kwargs.pop('decay', 0.0)\n        super()"
    ) + (
        "\n    def get_updates(self, loss, params):\n"
        "        grads = self.get_gradients(loss, params)\n        updates = []\n"
        "        lr = self.lr * self.initial_decay\n"
        "        for p, g in zip(params, grads):\n"
        "            updates.append((p, p - lr * g))\n        return updates\n"
    )
    after = mended(source)
    start = after.index("initial_decay = kwargs.pop('decay', 0.0)")
    assert start < after.index("super().__init__(") < after.index("self.initial_decay = initial")


def test_updates_that_are_made_in_one_expression_are_an_update_of_each_variable():
    after = mended(
        f"{OLD_HEAD}\n    def get_updates(self, loss, params):\n"
        "        grads = self.get_gradients(loss, params)\n"
        "        return [K.update(p, p - self.lr * g) for p, g in zip(params, grads)]\n"
    )
    assert "        self.assign(p, p - keras.ops.cast(learning_rate, p.dtype) * g)\n" in after
