"""Schedule work on files: which, in which process, in what order."""
