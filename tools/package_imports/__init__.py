"""What packages that were written for Keras 2 raise where they are imported with Keras 3."""
