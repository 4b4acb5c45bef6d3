"""Rewrites of definitions for Keras 3, right and wrong on purpose: the trial of the verifier."""
