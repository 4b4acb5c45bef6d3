"""What takes the place of a training step with a gradient tape, in forms that people write."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix, scan

HEAD = "import keras\nimport tensorflow as tf\n\n\nclass Own(keras.Model):\n"
STEP = """\
    def train_step(self, data):
        {unpack}
        with tf.GradientTape() as tape:
            {forward}
            loss = keras.ops.mean(keras.ops.square(y - out))
        {apply}
        {report}
"""
PLAIN = {
    "unpack": "x, y = data",
    "forward": "out = self(x, training=True)",
    "apply": "self.optimizer.apply(tape.gradient(loss, self.trainable_weights), "
    "self.trainable_weights)",
    "report": "return {'loss': loss}",
}
IN_TWO_LINES = (
    "grads = tape.gradient(loss, self.trainable_variables)\n"
    "        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))"
)


def fixed(**parts: str) -> str:
    source = HEAD + STEP.format_map(PLAIN | parts)
    result = fix(["-"], stdin=source.encode(), select=["KD815"], backend="all", unsafe=True)
    return result.files[0].after.decode() if result.files else ""


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"apply": IN_TWO_LINES},
        {"unpack": "x, y, sample_weight = data"},
        {"unpack": "x, y, w = keras.utils.unpack_x_y_sample_weight(data)"},
        {"forward": "out = self(x)"},
        {"report": "return {m.name: m.result() for m in self.metrics}"},
        {"report": "return self.get_metrics_result()"},
        {"report": "self.compiled_metrics.update_state(y, out)\n        return {'loss': loss}"},
    ],
)
def test_a_step_with_a_loss_of_its_own_becomes_a_loss(parts):
    after = fixed(**parts)
    assert "def compute_loss(self, x=None, y=None, y_pred=None," in after
    assert "train_step" not in after
    assert "compute_metrics" not in after
    assert "return loss" in after


@pytest.mark.parametrize(
    "parts",
    [
        {"forward": "out = self.inner(self.outer(x))"},
        {"report": "return {'loss': loss, 'size': keras.ops.sum(out + loss)}"},
        {"unpack": "x, y = data['image'], data['label']"},
    ],
)
def test_a_step_that_does_more_is_written_for_each_backend(parts):
    after = fixed(**parts)
    assert 'if keras.backend.backend() == "jax":' in after
    assert after.count("loss = keras.ops.mean") == 1


@pytest.mark.parametrize(
    "parts",
    [
        {"apply": IN_TWO_LINES.replace("self.optimizer", "self.other_optimizer")},
        {"apply": IN_TWO_LINES.replace("self.trainable", "self.inner.trainable")},
        {"apply": "grads = tape.gradient(loss, self.trainable_weights)\n"
                  "        grads = [g / 2 for g in grads]\n"
                  "        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))"},
        {"forward": "out = self(x)\n            tape.watch(x)"},
        {"report": "return"},
        {"report": "if self.done:\n            return {}\n        return {'loss': loss}"},
        {"forward": "out = self(x)\n            scaled = self.optimizer.scale_loss(out)"},
    ],
)  # fmt: skip
def test_a_step_that_is_not_understood_is_told_and_left_alone(parts):
    source = HEAD + STEP.format_map(PLAIN | parts)
    assert fixed(**parts) == ""
    found = scan(["-"], stdin=source.encode(), select=["KD815"], backend="all").findings
    assert [each.code for each in found] == ["KD815"]


def test_a_class_with_a_loss_of_its_own_keeps_its_step_for_each_backend():
    own = "    def compute_loss(self, *args, **kwargs):\n        return 0.0\n\n"
    source = HEAD + own + STEP.format_map(PLAIN)
    result = fix(["-"], stdin=source.encode(), select=["KD815"], backend="all", unsafe=True)
    assert "_loss_and_logs" in result.files[0].after.decode()


def test_a_step_that_does_what_keras_does_goes():
    step = STEP.replace("keras.ops.mean(keras.ops.square(y - out))", "self.compute_loss(x, y, out)")
    source = HEAD + step.format_map(PLAIN) + "\n    def call(self, x):\n        return x\n"
    result = fix(["-"], stdin=source.encode(), select=["KD815"], backend="all", unsafe=True)
    after = result.files[0].after.decode()
    assert after == HEAD.replace("import tensorflow as tf\n", "") + (
        "    def call(self, x):\n        return x\n"
    )


def test_what_the_steps_of_all_backends_share_is_fixed_as_well():
    source = HEAD + STEP.format_map(PLAIN | {"forward": "out = tf.square(self.inner(x))"})
    result = fix(["-"], stdin=source.encode(), select=["KD8"], backend="all", unsafe=True)
    after = result.files[0].after.decode()
    assert "out = keras.ops.square(self.inner(x))" in after
    assert not scan(["-"], stdin=after.encode(), select=["KD8"], backend="all").findings
