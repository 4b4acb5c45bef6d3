"""How a file trains: generators, losses, logs, and what is frozen."""
