"""Programs of real repositories that use what died with Keras 2, before and after the fixes."""
