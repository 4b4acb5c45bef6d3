"""Names that are missing, moved or private, or that never existed."""
