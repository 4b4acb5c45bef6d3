"""Which files are worked on, in which process, and in what order."""
