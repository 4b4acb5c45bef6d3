"""KD6: saving and loading models and weights."""
