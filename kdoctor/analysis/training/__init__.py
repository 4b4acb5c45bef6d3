"""Training code: generators, losses, logs, freezing."""
