"""Graph-time and training-loop code."""
