"""Prove fixes: run code before and after on real frameworks, and compare."""
