"""Expected results of the reference in NumPy's float64, written from the papers, not its code.

Some sums are written element by element, to be independent of the code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def dice(t: Array, p: Array, axis: Any = None, smooth: float = 1.0) -> Array:
    """2 |T∩P| / (|T| + |P|), smoothed."""
    counts = confusion(t, p, axis)
    twice = 2 * counts["hit"]
    return np.asarray((twice + smooth) / (twice + counts["false"] + counts["missed"] + smooth))


def jaccard(t: Array, p: Array, axis: Any = None, smooth: float = 1.0) -> Array:
    """|T∩P| / |T∪P|, smoothed."""
    counts = confusion(t, p, axis)
    union = counts["hit"] + counts["false"] + counts["missed"]
    return np.asarray((counts["hit"] + smooth) / (union + smooth))


def tversky(  # noqa: PLR0913, PLR0917 - the paper's parameters
    t: Array, p: Array, alpha: float, beta: float, axis: Any = None, smooth: float = 1.0
) -> Array:
    """Salehi 2017, equation 4: α weighs false positives."""
    counts = confusion(t, p, axis)
    below = counts["hit"] + alpha * counts["false"] + beta * counts["missed"]
    return np.asarray((counts["hit"] + smooth) / (below + smooth))


def confusion(t: Array, p: Array, axis: Any) -> dict[str, Array]:
    """Return true positives, false positives and false negatives."""
    t, p = t.astype(np.float64), p.astype(np.float64)
    return {
        "hit": (t * p).sum(axis),
        "false": ((1 - t) * p).sum(axis),
        "missed": (t * (1 - p)).sum(axis),
    }


def huber(t: Array, p: Array, delta: float = 1.0) -> Array:
    """Huber 1964, the mean over the last axis."""
    e = np.abs(t.astype(np.float64) - p)
    inside = np.minimum(e, delta)
    return np.asarray((0.5 * inside**2 + delta * (e - inside)).mean(-1))


def binary_focal(t: Array, logits: Array, alpha: float | None = 0.25, gamma: float = 2.0) -> Array:
    """Lin 2017, equation 5, from logits, the mean over the last axis."""
    z = np.where(t == 1, logits, -logits.astype(np.float64))
    log_p = -np.logaddexp(0, -z)
    weight = 1.0 if alpha is None else np.where(t == 1, alpha, 1 - alpha)
    return np.asarray((-weight * (1 - np.exp(log_p)) ** gamma * log_p).mean(-1))


def categorical_focal(t: Array, logits: Array, alpha: Any = 0.25, gamma: float = 2.0) -> Array:
    """Lin 2017 for exclusive classes."""
    logits = logits.astype(np.float64)
    highest = logits.max(-1, keepdims=True)
    log_p = logits - highest - np.log(np.exp(logits - highest).sum(-1, keepdims=True))
    return np.asarray((-alpha * t * (1 - np.exp(log_p)) ** gamma * log_p).sum(-1))


def variance_regularized(t: Array, p: Array, factor: float = 0.1) -> Array:
    """mean(e²) + λ (mean(e²) − mean(e)²)."""
    e = t.astype(np.float64) - p
    return np.asarray((1 + factor) * np.mean(e**2) - factor * np.mean(e) ** 2)


def sample_variance_penalty(losses: Array, factor: float = 0.1) -> Array:
    """Maurer and Pontil 2009: V(l) is half of the mean squared difference of two samples."""
    losses = losses.astype(np.float64)
    n = len(losses)
    pairs = (losses[:, None] - losses[None, :]) ** 2
    variance = pairs.sum() / (2 * n * (n - 1))
    return np.asarray(losses.mean() + factor * np.sqrt(variance / n))


def sigmoid(x: Array) -> Array:
    """1 / (1 + e^−x)."""
    return np.asarray(1 / (1 + np.exp(-x.astype(np.float64))))


def clipped(gradient: Array, clipvalue: float | None, clipnorm: float | None) -> Array:
    """Return a gradient clipped by value, then by norm."""
    gradient = gradient.astype(np.float64)
    if clipvalue is not None:
        gradient = np.clip(gradient, -clipvalue, clipvalue)
    if clipnorm is not None:
        gradient = gradient * min(1.0, clipnorm / np.linalg.norm(gradient))
    return np.asarray(gradient)


def clipped_together(gradients: list[Array], limit: float) -> list[Array]:
    """Return gradients with a common norm of ``limit`` at most."""
    norm = np.linalg.norm(np.concatenate([each.ravel() for each in gradients]))
    return [each * min(1.0, limit / norm) for each in gradients]
