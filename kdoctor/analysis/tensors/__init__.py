"""Properties of arrays and tensors: rank, shape, elements, symbolic or eager."""
