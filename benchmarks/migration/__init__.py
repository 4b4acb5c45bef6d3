"""Packages written for Keras 2 and their own tests, on Keras 3 before and after the fix."""
