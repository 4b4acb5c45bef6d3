"""Apply fixes: from findings to files on disk, and undo them."""
