"""Results as people and programs read them. Knows nothing of rules and files."""
