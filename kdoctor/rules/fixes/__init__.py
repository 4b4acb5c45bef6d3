"""What the fixes of several rules write: helper definitions, seeds, names."""
