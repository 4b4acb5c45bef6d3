"""The comments by which findings are silenced."""
