"""What is known of arrays and tensors: rank, shape, elements, symbolic or not."""
