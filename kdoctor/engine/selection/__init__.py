"""Which files, rules and targets count for a run."""
