"""Spoil the reference in one place after the other, and tell which of its checks see it.

``python sabotage.py [HOW_MANY]`` runs in a process of its own (it imports Keras) and prints one
line of JSON a spoiled place: the place, and the first check that failed (null: none did, and it ends
with 1). Of so many places it draws some anew each time; `make mutants` spoils all.
"""

import importlib
import json
import secrets
import sys
from pathlib import Path

PLACES = [
    # module, what stands there, what is put in its place
    ("overlap", "(2.0 * both + smooth) / (true", "(both + smooth) / (true"),
    ("overlap", "(true + predicted + smooth)", "(true + predicted)"),
    ("overlap", "true + predicted - both + smooth)", "true + predicted + smooth)"),
    ("overlap", "alpha * false_positives + beta", "beta * false_positives + alpha"),
    ("overlap", '(y_pred.dtype, "float32")', '(y_pred.dtype, "float16")'),
    ("overlap", "both = ops.sum(y_true * y_pred, axis=axis)", "both = ops.sum(y_true * y_pred)"),
    ("overlap", "self.predicted.assign_add(", "self.predicted.assign("),
    ("huber", "size - 0.5 * delta", "size - delta"),
    ("huber", "axis=-1)", "axis=0)"),
    ("huber", "size <= delta", "size > delta"),
    ("focal", "1.0 - alpha) * zeros", "alpha) * zeros"),
    ("focal", "-ops.softplus(-y_pred), -ops.softplus(y_pred)",
     "ops.log(ops.sigmoid(y_pred)), ops.log(1 - ops.sigmoid(y_pred))"),
    ("focal", "gamma) * log_p", "gamma) * ops.stop_gradient(log_p)"),
    ("variance", "/ (n - 1.0) / n", "/ n / n"),
    ("variance", "ops.square(apart) * self.count", "apart * self.count"),
    ("layers", "shape = (input_shape[-1],) if self.per_feature", "shape = (1,) if self.per_feature"),
    ("layers", "self.slope * ops.sigmoid(inputs)", "ops.stop_gradient(self.slope) * ops.sigmoid(inputs)"),
    ("layers", "ops.mean(projected, axis=0)", "ops.sum(projected, axis=0)"),
    ("layers", 'training or self.moves == "always"', "training"),
    ("gradient_clipping_layer", "return self.clipped(upstream)", "return upstream"),
    ("gradient_clipping_layer", "-self.clipvalue, self.clipvalue)", "0.0, self.clipvalue)"),
    ("gradient_clipping_layer", "ops.maximum(norm, self.clipnorm)", "norm"),
    ("clipping", "limit / ops.maximum(ops.sqrt(squares), limit)", "limit / ops.maximum(squares, limit)"),
    ("clipping", "limit * scale)", "limit)"),
    ("clipping", "scaled = optimizer.scale_loss(loss)", "scaled = loss"),
    ("gradients", "ops.argmax(outputs, axis=-1)", "ops.argmin(outputs, axis=-1)"),
    ("gradients", "ops.mean(slopes, axis=(1, 2), keepdims=True)", "slopes[:, :1, :1] * 2"),
    ("gradients", "ops.relu(ops.sum(weights * maps, axis=-1))", "ops.sum(weights * maps, axis=-1)"),
    ("gradients", "ops.max(ops.abs(slopes), axis=-1)", "ops.max(slopes, axis=-1)"),
    ("gradients", "share * real + (1 - share) * fake", "real"),
    ("gradients", "ops.maximum(squares, 1e-12)) - 1", "ops.maximum(squares, 1e-12))"),
    ("gradients", "4.0 * channels**2", "4.0 * channels"),
    ("inspection", "if any(output is tensor", "if not any(output is tensor"),
]  # fmt: skip


def main(how_many):
    names = ("functions", "classes", "gradients", "layers", "training")
    unseen = 0
    for module_name, right, wrong in secrets.SystemRandom().sample(PLACES, how_many):
        module = importlib.import_module(f"kdoctor.reference.{module_name}")
        source = Path(module.__file__).read_text("utf-8")
        if right not in source:
            sys.exit(f"{module_name} has no {right!r}")
        exec(compile(source.replace(right, wrong), module.__file__, "exec"), vars(module))  # noqa: S102
        seen = None
        for name in names:
            part = importlib.import_module(f"kdoctor.verify.reference.{name}")
            seen = _first_failure(importlib.reload(part).checks(), module_name)
            if seen:
                break
        print(json.dumps({"place": [module_name, right], "seen": seen}), flush=True)
        exec(compile(source, module.__file__, "exec"), vars(module))  # noqa: S102
        unseen += seen is None
    return int(unseen > 0)


def _first_failure(checks, module):
    for check in checks:
        if check.module != module:
            continue
        try:
            measured = check.measure()
        except Exception:  # noqa: BLE001 - a check that raises has seen it as well
            return f"{check.subject}: {check.check}"
        if not measured.error <= measured.tolerance:
            return f"{check.subject}: {check.check}"
    return None


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else len(PLACES)))
