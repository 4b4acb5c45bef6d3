"""What exists for speed alone: libcst trees built from Python's own, and spans of their nodes."""
