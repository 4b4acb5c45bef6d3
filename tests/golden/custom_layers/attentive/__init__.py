"""Layers that weigh their inputs."""
from .attention import DotAttention, WordAttention
from .base import ScaledLayer
from .gradients import ClippedDense, normalised_weight

__all__ = ['ClippedDense', 'DotAttention', 'ScaledLayer', 'WordAttention', 'normalised_weight']
