"""Select the files, rules and targets of a run."""
