"""The table of ``docs/backends.md``: the functions that Keras' guide names, and what kdoctor does.

The names are those of "Migrating Keras 2 code to multi-backend Keras 3" (keras.io/guides), in its
order; the rest comes from the tables of KD801 and the proof record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from kdoctor.analysis.facts import BACKEND_NAMES, proof_record
from kdoctor.rewrite import Rewrite
from kdoctor.rules.backends._tensorflow import BY_HAND, REWRITES, UNPROVEN, canonical

GUIDE: Final = {
    "abs": "absolute",
    "reduce_all": "all",
    "reduce_max": "amax",
    "reduce_min": "amin",
    "reduce_any": "any",
    "concat": "concatenate",
    "range": "arange",
    "acos": "arccos",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "convert_to_tensor": "convert_to_tensor",
    "reduce_mean": "mean",
    "clip_by_value": "clip",
    "math.conj": "conjugate",
    "linalg.diag_part": "diagonal",
    "reverse": "flip",
    "gather": "take",
    "math.is_finite": "isfinite",
    "math.is_inf": "isinf",
    "math.is_nan": "isnan",
    "rank": "ndim",
    "math.pow": "power",
    "reduce_prod": "prod",
    "math.reduce_std": "std",
    "reduce_sum": "sum",
    "gather_nd": "take_along_axis",
    "math.reduce_variance": "var",
    "nn.sigmoid_cross_entropy_with_logits": "binary_crossentropy",
    "nn.sparse_softmax_cross_entropy_with_logits": "sparse_categorical_crossentropy",
    "nn.softmax_cross_entropy_with_logits": "categorical_crossentropy",
    "nn.conv1d": "conv",
    "nn.conv2d": "conv",
    "nn.conv3d": "conv",
    "nn.convolution": "conv",
    "nn.conv_transpose": "conv_transpose",
    "nn.conv1d_transpose": "conv_transpose",
    "nn.conv2d_transpose": "conv_transpose",
    "nn.conv3d_transpose": "conv_transpose",
    "nn.depthwise_conv2d": "depthwise_conv",
    "nn.separable_conv2d": "separable_conv",
    "nn.batch_normalization": "",
    "nn.dropout": "",
    "nn.embedding_lookup": "take",
    "nn.l2_normalize": "",
    "compat.v1.scatter_nd_update": "scatter_update",
    "tensor_scatter_nd_update": "slice_update",
    "signal.fft2d": "fft2",
    "signal.inverse_stft": "istft",
}
"""By the name in ``tf``, what the guide names in ``keras.ops``; "" for something else."""
_ALL: Final = ("TensorFlow", *BACKEND_NAMES.values())


def table() -> str:
    """Return the table as Markdown."""
    lines = [
        "| TensorFlow | the guide | written by `kdoctor fix` | proven on |",
        "|---|---|---|---|",
    ]
    lines += [f"| {' | '.join(cells)} |" for name in GUIDE for cells in _rows(name)]
    return "\n".join(lines)


def _rows(name: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield a line for each right side; one with advice where there is none."""
    known = canonical(f"tensorflow.{name}")
    guide = f"`keras.ops.{GUIDE[name]}`" if GUIDE[name] else ""
    by_right: dict[str, list[Rewrite]] = {}
    for row in (*REWRITES, *UNPROVEN):
        if row.pattern.name == known:
            by_right.setdefault(row.right, []).append(row)
    for right, rows in by_right.items():
        best = max((_proven(row) for row in rows), key=len)
        told = ", ".join(best) if len(best) < len(_ALL) else "all"
        yield f"`tf.{name}`", guide, f"`{right}`", told or "unsafe"
    if not by_right:
        advice = BY_HAND[known.removeprefix("tensorflow.")].replace("|", "\\|")
        yield f"`tf.{name}`", guide, f"by hand: {advice}", ""


def _proven(row: Rewrite) -> list[str]:
    entry: dict[str, Any] = dict(proof_record().get(row.id, {}))
    if row in UNPROVEN or not entry.get("holds"):
        return []
    elsewhere = entry.get("backends", {})
    return [
        "TensorFlow",
        *(shown for each, shown in BACKEND_NAMES.items() if elsewhere.get(each, {}).get("holds")),
    ]


if __name__ == "__main__":
    print(table())
