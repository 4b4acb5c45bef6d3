"""Arguments that are gone, renamed or mean something else."""
