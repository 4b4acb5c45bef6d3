"""Members of models, layers, optimizers and tensors."""
